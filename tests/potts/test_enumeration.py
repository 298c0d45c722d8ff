"""Exact enumeration: reference values, independent arithmetic with mpmath, limits and errors."""

from itertools import combinations, product

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.potts.reference import four_body_model, pair_model
from theory import potts
from theory.models import DensePottsModel, PottsModel, SquareLatticePotts
from theory.models.potts import complete_graph, random_color_couplings, random_graph

# values of the deterministic models of reference.py, computed by a program independent of this one
PAIR = pair_model(6, 3, 0.3, beta=0.8)
FOUR = four_body_model(5, 3, 0.5, beta=1.0)


def random_model(seed: int, n_sites: int = 4, n_colors: int = 3, beta: float = 0.9) -> PottsModel:
    rng = np.random.default_rng(seed)
    J = np.triu(rng.standard_normal((n_sites, n_sites)), 1)
    fields = rng.standard_normal((n_sites, n_colors))
    return PottsModel(J + J.T, random_color_couplings(n_colors, rng), fields, beta)


def test_reference_values():
    pair, four = potts.enumerate_states(PAIR), potts.enumerate_states(FOUR)
    assert pair.log_partition_function == pytest.approx(7.85718990204, abs=1e-11)
    assert pair.mean_score == pytest.approx(2.98058826948, abs=1e-11)
    assert four.log_partition_function == pytest.approx(6.08927866272, abs=1e-11)


def test_log_partition_function_and_mean_score_in_high_precision():
    model = random_model(1)
    with mpmath.workdps(40):
        weights, scores = [], []
        for s in product(range(3), repeat=4):
            score = sum(mpmath.mpf(float(h[a])) for h, a in zip(model.fields, s, strict=True))
            for i, j in combinations(range(4), 2):
                coupling = mpmath.mpf(float(model.site_couplings[i, j]))
                score += coupling * mpmath.mpf(float(model.color_couplings[s[i], s[j]]))
            scores.append(score)
            weights.append(mpmath.exp(mpmath.mpf(0.9) * score))
        Z = mpmath.fsum(weights)
        mean = mpmath.fsum(w * score for w, score in zip(weights, scores, strict=True)) / Z
        states = potts.enumerate_states(model)
        assert states.log_partition_function == pytest.approx(float(mpmath.log(Z)), abs=1e-13)
        assert states.mean_score == pytest.approx(float(mean), abs=1e-13)
        assert states.probabilities == pytest.approx([float(w / Z) for w in weights], abs=1e-15)


def test_scores_are_derivatives_of_log_z():
    model, h = random_model(2), 1e-4

    def log_z(shift: float) -> float:
        return potts.enumerate_states(model.at(0.9 + shift)).log_partition_function

    states = potts.enumerate_states(model)
    assert states.mean_score == pytest.approx((log_z(h) - log_z(-h)) / (2 * h), rel=1e-6)
    assert states.score_variance == pytest.approx((log_z(h) - 2 * log_z(0) + log_z(-h)) / h**2, rel=1e-5)
    assert states.entropy == pytest.approx(states.log_partition_function - 0.9 * states.mean_score, abs=1e-13)


def test_states_are_in_lexicographic_order_and_the_joint_follows_it():
    states = potts.enumerate_states(random_model(3, n_sites=3))
    assert states.states.tolist() == [list(s) for s in product(range(3), repeat=3)]
    assert states.joint[2, 0, 1] == states.probabilities[2 * 9 + 1]


@given(st.integers(0, 30))
def test_conditionals_are_those_of_the_joint(seed):
    states = potts.enumerate_states(random_model(seed))
    joint, conditionals = states.joint, states.model.conditionals(states.states)
    for i in range(4):
        expected = np.moveaxis(joint / joint.sum(axis=i, keepdims=True), i, -1)
        assert np.allclose(
            conditionals[:, i], np.take(expected.reshape(-1, 3), _contexts(states, i), axis=0), atol=1e-14
        )


def _contexts(states: potts.Enumeration, i: int) -> np.ndarray:
    others = np.delete(states.states, i, axis=1).astype(int)
    return others @ 3 ** np.arange(others.shape[1])[::-1]


@given(st.integers(0, 30))
def test_marginals_are_sums_of_the_joint(seed):
    states = potts.enumerate_states(random_model(seed))
    assert np.allclose(states.marginals(2), states.joint.sum(axis=(0, 1, 3)), atol=1e-15)
    assert np.allclose(states.marginals((3, 1)), states.joint.sum(axis=(0, 2)).T, atol=1e-15)
    assert np.allclose(states.marginals(range(4)), states.joint, atol=0)


def test_covariance_is_that_of_the_one_hot_variables():
    states = potts.enumerate_states(random_model(4))
    x = np.eye(3)[states.states].reshape(-1, 12)
    centered = x - states.mean(x)
    expected = (centered * states.probabilities[:, None]).T @ centered
    assert np.allclose(states.covariance, expected, atol=1e-15)
    assert np.allclose(states.covariance.reshape(12, 4, 3).sum(axis=2), 0, atol=1e-15)


@given(st.integers(0, 30))
def test_permuting_sites_or_colors_permutes_the_joint(seed):
    model, rng = random_model(seed), np.random.default_rng(seed)
    sites, colors = rng.permutation(4), rng.permutation(3)
    moved = PottsModel(
        model.site_couplings[np.ix_(sites, sites)],
        model.color_couplings[np.ix_(colors, colors)],
        model.fields[np.ix_(sites, colors)],
        model.beta,
    )
    joint = potts.enumerate_states(model).joint.transpose(sites)[np.ix_(*[colors] * 4)]
    assert np.allclose(potts.enumerate_states(moved).joint, joint, atol=1e-14)


def test_at_beta_zero_all_states_are_alike():
    states = potts.enumerate_states(random_model(5, beta=0.0))
    assert np.allclose(states.probabilities, 3.0**-4, rtol=1e-14)
    assert states.log_partition_function == pytest.approx(4 * np.log(3))


def test_two_colors_are_the_ising_model():
    J = complete_graph(5) * 0.4
    model = PottsModel(J, np.array([[1.0, -1.0], [-1.0, 1.0]]), np.outer(np.full(5, 0.2), [1, -1]), beta=1.1)
    spins = np.array(list(product([1, -1], repeat=5)))
    energies = -0.5 * np.einsum("si,ij,sj->s", spins, J, spins) - 0.2 * spins.sum(axis=1)
    expected = np.exp(-1.1 * energies)
    assert np.allclose(potts.enumerate_states(model).probabilities, expected / expected.sum(), atol=1e-15)


def test_one_site_has_the_softmax_of_its_fields():
    model = PottsModel(np.zeros((1, 1)), np.eye(3), [[0.0, 1.0, 2.0]], beta=2.0)
    expected = np.exp([0.0, 2.0, 4.0])
    states = potts.enumerate_states(model)
    assert np.allclose(states.probabilities, expected / expected.sum(), rtol=1e-14)
    assert np.allclose(model.conditionals([1])[0], states.probabilities, rtol=1e-14)


def test_one_color_has_one_state():
    states = potts.enumerate_states(PottsModel(complete_graph(70), np.ones((1, 1))))
    assert states.states.shape == (1, 70)
    assert states.log_partition_function == pytest.approx(70 * 69 / 2)


def test_all_records_of_one_model_agree():
    lattice = SquareLatticePotts(2, 3, 3, beta=0.7)
    expected = potts.enumerate_states(lattice)
    for model in (lattice.pair_model, DensePottsModel.of(lattice)):
        assert np.allclose(potts.enumerate_states(model).probabilities, expected.probabilities, rtol=1e-12)


@pytest.mark.parametrize("beta", [1e3, 1e15])
def test_large_betas_stay_finite(beta):
    states = potts.enumerate_states(random_model(6, beta=beta))
    assert states.probabilities.max() == pytest.approx(1.0)
    assert states.mean_score == pytest.approx(states.scores.max())
    assert states.entropy == pytest.approx(0.0, abs=1e-12)


def test_too_large_systems_are_refused_with_their_size():
    with pytest.raises(ValueError, match=r"3\^20 = 3486784401|3\^20 = 10\^9.5 states, more than max_states = 1048576"):
        potts.enumerate_states(PottsModel(random_graph(20, 3, np.random.default_rng(0)), np.eye(3)))
    with pytest.raises(ValueError, match=r"21\^2800 = 10\^3702\.2 states"):
        potts.enumerate_states(PottsModel.from_edges(2800, [(0, 1)], 1.0, np.eye(21)))
    with pytest.raises(ValueError, match=r"3\^4 = 81 states, more than max_states = 80"):
        potts.enumerate_states(random_model(0), max_states=80)


@pytest.mark.parametrize("sites", [(0, 0), (0, 4), (-1,), (), (0.5,), [[0, 1]]])
def test_sites_of_marginals(sites):
    with pytest.raises(ValueError, match="sites must be"):
        potts.enumerate_states(random_model(0)).marginals(sites)


def test_other_errors():
    with pytest.raises(ValueError, match="observable must have a value for each of 81 states"):
        potts.enumerate_states(random_model(0)).mean(np.zeros(80))
    with pytest.raises(ValueError, match=r"model must be a record of theory\.models"):
        potts.enumerate_states("model")  # type: ignore[arg-type]
    with pytest.raises(AttributeError, match="no attribute 'energy'"):
        potts.energy  # noqa: B018
