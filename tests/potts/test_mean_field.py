"""Mean-field couplings: numpy's covariance, the limit of weak couplings, gauge, weights, bad input."""

import numpy as np
import pytest

from simulate.potts import mean_field
from tests.potts.populations import identifiable, population
from tests.potts.reference import pair_model
from theory.models import DensePottsModel, PottsModel
from theory.models.potts import zero_sum


def random_states(n_samples=60, n_sites=4, n_colors=3, seed=0):
    return np.random.default_rng(seed).integers(0, n_colors, (n_samples, n_sites))


def test_couplings_are_minus_the_inverse_of_the_covariance_of_dummies():
    states = random_states()
    dummies = np.eye(3)[states][:, :, :2].reshape(60, 8)
    inverse = np.linalg.inv(np.cov(dummies.T, bias=True)).reshape(4, 2, 4, 2)
    couplings = np.zeros((4, 4, 3, 3))
    couplings[:, :, :2, :2] = -inverse.transpose(0, 2, 1, 3)
    couplings[range(4), range(4)] = 0
    expected = zero_sum(DensePottsModel(couplings)).couplings
    np.testing.assert_allclose(mean_field(states, 3, 0).couplings, expected, atol=1e-12)


def test_any_color_may_be_the_one_left_out():
    states, swapped = random_states(), np.array([2, 0, 1])
    fit, renamed = mean_field(states, 3), mean_field(swapped[states], 3)
    np.testing.assert_allclose(renamed.couplings[:, :, swapped[:, None], swapped], fit.couplings, atol=1e-12)
    np.testing.assert_allclose(renamed.fields[:, swapped], fit.fields, atol=1e-12)


def test_weak_couplings_are_recovered_to_first_order():
    errors = []
    for beta in (0.02, 0.01):
        model = pair_model(5, 3, 0.3, beta)
        model = PottsModel(
            model.site_couplings, model.color_couplings, np.sin(np.arange(15.0)).reshape(5, 3) / beta, beta
        )
        states, p = population(model)
        fit = mean_field(states, 3, 0, weights=p)
        couplings, fields = identifiable(model)
        errors.append([abs(fit.couplings - couplings).max(), abs(fit.fields - fields).max()])
        assert errors[-1][0] < 0.1 * abs(couplings).max()
    assert np.all(np.divide(*errors) > 3.5)  # errors of second order in beta: a factor of four


def test_pseudocount_is_a_mixture_with_uniform_colors():
    states = random_states(seed=1)
    uniform, p = population(PottsModel(np.zeros((4, 4)), np.eye(3)))
    both = np.concatenate([states, uniform])
    weights = np.concatenate([np.full(60, 0.7 / 60), 0.3 * p])
    np.testing.assert_allclose(
        mean_field(both, 3, 0, weights).couplings, mean_field(states, 3, 0.3).couplings, atol=1e-12
    )
    assert abs(mean_field(states, 3, 1.0).couplings).max() < 1e-12


def test_the_model_is_in_the_zero_sum_gauge_and_prints():
    fit = mean_field(random_states(), 3)
    assert abs(fit.couplings.sum(axis=3)).max() < 1e-12
    assert abs(fit.fields.sum(axis=1)).max() < 1e-12
    assert fit.n_samples == 60
    assert repr(fit).startswith("MeanFieldFit(model=DensePottsModel(n_sites=4, n_colors=3, beta=1), pseudocount=0.5,")


@pytest.mark.parametrize(
    ("states", "n_colors", "pseudocount", "message"),
    [
        (random_states()[:0], 3, 0.5, "at least one sample"),
        (random_states(), 2, 0.5, "states must be colors from 0 to 1"),
        (random_states(), 3, 1.5, r"pseudocount must lie in \[0, 1\], got 1.5"),
        (random_states(), 4, 0, "pseudocount = 0 leaves a covariance without inverse"),
        (random_states()[:, [0, 0, 1]], 3, 0, "pseudocount = 0 leaves a covariance without inverse"),
        (random_states(5), 3, 0, "pseudocount = 0 leaves a covariance without inverse"),
    ],
)
def test_bad_input_is_named(states, n_colors, pseudocount, message):
    with pytest.raises(ValueError, match=message):
        mean_field(states, n_colors, pseudocount)


def test_a_covariance_too_large_for_the_machine_is_refused():
    with pytest.raises(MemoryError, match="mean field of 20000 sites and 21 colors needs"):
        mean_field(np.zeros((2, 20000), dtype=np.int8), 21)
