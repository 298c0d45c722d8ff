"""Boltzmann learning: its sums against numpy, its optimum against exact maximum likelihood, its failures."""

import re
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize

from simulate.core import Estimate, stream
from simulate.potts import FitError, boltzmann_learning, covariance_agreement, sample
from simulate.potts.boltzmann.agreement import agreement, distance_noise
from simulate.potts.boltzmann.ascent import Ascent, LearningChains
from simulate.potts.boltzmann.calibration import calibrated
from simulate.potts.boltzmann.fit import independent_sites
from simulate.potts.boltzmann.shares import pair_shares, site_shares
from simulate.potts.inference.sequences import Sequences
from tests.bad_arguments import Example, assert_all_refused
from theory.models import DensePottsModel
from theory.models.potts import zero_sum, zero_sum_blocks

L, C = 4, 3
STATES = np.array(list(product(range(C), repeat=L)))  # all of them
L2, FIELD_L2 = 4e-3, 1e-3


def known_model(strength=0.7, sites=L, colors=C):
    """Return a model with the given spread of couplings, in the zero-sum gauge."""
    rng = stream(0, "known couplings", sites, colors)
    J = np.zeros((sites, sites, colors, colors))
    for i in range(sites):
        for j in range(i + 1, sites):
            J[i, j] = zero_sum_blocks(strength * rng.standard_normal((colors, colors)))
            J[j, i] = J[i, j].T
    h = 0.4 * rng.standard_normal((sites, colors))
    return DensePottsModel(J, h - h.mean(axis=1, keepdims=True))


def data_of(model, n, seed=1):
    return sample(model, n, seed=seed, n_chains=16).states


def one_hot(states):
    """Return x (n, features): indicators of colors at sites, and of pairs of colors at pairs of sites i < j."""
    single = np.eye(C)[states]
    pairs = [
        np.einsum("ma,mb->mab", single[:, i], single[:, j]).reshape(len(states), -1)
        for i in range(L)
        for j in range(i + 1, L)
    ]
    return np.concatenate([single.reshape(len(states), -1), *pairs], axis=1)


def exact_maximum(states, weights, l2=L2, field_l2=FIELD_L2):
    """Maximize the penalized likelihood by enumeration of all states: couplings and fields in the zero-sum gauge."""
    features = one_hot(STATES)
    target = weights @ one_hot(states) / weights.sum()
    penalty = np.full(features.shape[1], l2)
    penalty[: L * C] = field_l2

    def loss(x):
        scores = features @ x
        top = scores.max()
        p = np.exp(scores - top)
        total = p.sum()
        gradient = p @ features / total - target + 2 * penalty * x
        return top + np.log(total) - target @ x + penalty @ x**2, gradient

    x = minimize(loss, np.zeros(features.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-8}).x
    J = np.zeros((L, L, C, C))
    blocks = iter(x[L * C :].reshape(-1, C, C))
    for i in range(L):
        for j in range(i + 1, L):
            J[i, j] = next(blocks)
            J[j, i] = J[i, j].T
    return zero_sum(DensePottsModel(J, x[: L * C].reshape(L, C)))


def upper(model):
    return model.couplings[np.triu_indices(L, 1)].ravel()


@pytest.fixture(scope="module")
def family():
    states = data_of(known_model(), 600)
    return states, np.where(states[:, 0] == 1, 0.3, 1.0)


@pytest.fixture(scope="module")
def replicates(family):
    """Fits with generators of their own, whose chains all but hold still at the end."""
    states, weights = family
    options = {"weights": weights, "l2": L2, "field_l2": FIELD_L2, "rate": 0.1, "n_sweeps": 2, "n_chains": 512}
    options |= {"min_iter": 500, "n_checked": 2000, "check": False}
    return [boltzmann_learning(states, C, rng=stream(7, "fit", r), **options) for r in range(12)]


def test_one_fit_comes_near_the_exact_maximum(family):
    states, weights = family
    options = {"rate": 0.1, "n_sweeps": 2, "n_chains": 512, "min_iter": 250, "n_checked": 2000, "check": False}
    fit = boltzmann_learning(states, C, rng=stream(3, "one fit"), weights=weights, l2=L2, field_l2=FIELD_L2, **options)
    right, wrong = upper(exact_maximum(*family)), upper(exact_maximum(states, np.ones(len(states))))
    assert np.linalg.norm(upper(fit.model) - right) < 0.35 * np.linalg.norm(upper(fit.model) - wrong)


@pytest.mark.slow
def test_the_maximum_of_a_small_system_is_found(family, replicates, agrees):
    exact = exact_maximum(*family)
    truth = upper(exact)
    # One number for all couplings: their projection on the exact ones, which a wrong strength would change.
    for name, vectors, true in (
        ("couplings", [upper(fit.model) for fit in replicates], truth),
        ("fields", [fit.fields.ravel() for fit in replicates], exact.fields.ravel()),
    ):
        share = Estimate.of([float(vector @ true / (true @ true)) for vector in vectors])
        agrees(share, 1.0, resolves=0.05)
        mean = np.mean(vectors, axis=0)
        assert abs(mean - true).max() < 0.04, name
    wrong = upper(exact_maximum(*family, l2=2 * L2))
    assert abs(np.mean([upper(fit.model) for fit in replicates], axis=0) - wrong).max() > 0.05


@pytest.mark.slow
def test_the_weights_of_sequences_count(family, replicates):
    states, weights = family
    unweighted = exact_maximum(states, np.ones(len(weights)))
    distances = [
        np.linalg.norm(np.concatenate([upper(fit.model) - upper(m), (fit.fields - m.fields).ravel()]))
        for fit in replicates
        for m in (exact_maximum(states, weights), unweighted)
    ]
    assert max(distances[::2]) < 0.25 * min(distances[1::2])


def test_known_couplings_are_recovered_and_samples_have_the_covariances_of_the_data():
    model = known_model(0.5, sites=8)
    states = data_of(model, 20_000)
    fit = boltzmann_learning(
        states,
        C,
        rng=stream(0, "recovery"),
        rate=0.1,
        n_sweeps=2,
        n_chains=512,
        n_checked=5000,
        min_iter=300,
        pearson=0.98,
    )
    i, j = np.triu_indices(8, 1)
    true, found = model.couplings[i, j].ravel(), fit.couplings[i, j].ravel()
    assert np.corrcoef(true, found)[0, 1] > 0.99
    assert true @ found / (true @ true) == pytest.approx(1.0, abs=0.04)
    assert (fit.converged, fit.reason) == (True, "")
    assert fit.pearson >= 0.98
    assert fit.slope == pytest.approx(1.0, abs=0.06)
    assert fit.r_hat < 1.01
    assert np.allclose(fit.couplings.sum(axis=2), 0, atol=1e-6)
    assert len(fit.to_frame()) == len(fit.history)


@pytest.mark.slow
def test_the_result_depends_on_the_generator_and_not_on_threads(family):
    options = {"n_chains": 64, "n_checked": 512, "max_iter": 10, "check": False}
    first, second, other = (
        boltzmann_learning(family[0], C, rng=stream(seed, "again"), n_threads=threads, **options)
        for seed, threads in ((0, 1), (0, 3), (1, 1))
    )
    assert np.array_equal(first.couplings, second.couplings)
    assert first.pearson == second.pearson
    assert not np.array_equal(first.couplings, other.couplings)


def test_the_sums_are_those_of_numpy(family):
    states, weights = family
    data = Sequences.of(states, C, weights)
    shares, w = pair_shares(data, 2), weights / weights.sum()
    single = np.eye(C)[states]
    joint = np.einsum("m,mia,mjb->ijab", w, single, single)
    assert np.allclose(shares, joint[np.triu_indices(L, 1)], atol=1e-6)
    assert np.allclose(site_shares(shares, L), data.frequencies(), atol=1e-6)
    others = states[::-1][:100]
    small = np.eye(C)[others]
    f, g = np.einsum("m,mia->ia", w, single), small.mean(axis=0)
    i, j = np.triu_indices(L, 1)
    x = (joint - np.einsum("ia,jb->ijab", f, f))[i, j].ravel()
    y = (np.einsum("mia,mjb->ijab", small, small) / 100 - np.einsum("ia,jb->ijab", g, g))[i, j].ravel()
    found = covariance_agreement(states, others, C, weights=weights)
    assert found.pearson == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-5)
    assert found.slope == pytest.approx(np.polyfit(x, y, 1)[0], abs=1e-5)
    assert found.site_error == pytest.approx(abs(f - g).max(), abs=1e-6)
    other_joint = np.einsum("mia,mjb->ijab", small, small) / 100
    apart = abs(joint - other_joint).sum(axis=(2, 3))[i, j] / 2
    assert found.distance == pytest.approx(apart.mean(), abs=1e-6)
    p = ((joint + other_joint) / 2)[i, j]
    expected = np.minimum(np.sqrt(2 / np.pi * p * (1 - p) * (1 / 200 + 1 / 100)), 2 * p).sum(axis=(1, 2)) / 2
    other_shares = pair_shares(Sequences.of(others, C))
    assert distance_noise(shares, other_shares, L, 200, 100, 2) == pytest.approx(expected.mean(), abs=1e-6)


def probabilities(model):
    """Return those of all STATES."""
    scores = model.fields[np.arange(L), STATES].sum(axis=1)
    for i in range(L):
        for j in range(i + 1, L):
            scores = scores + model.couplings[i, j][STATES[:, i], STATES[:, j]]
    p = np.exp(scores)
    return p / p.sum()


def test_the_noise_is_what_two_samples_of_one_law_show(agrees):
    p, rng, found, expected = probabilities(known_model()), stream(0, "two samples"), [], []
    for _ in range(60):
        drawn = [STATES[rng.choice(len(STATES), n, p=p)] for n in (400, 900)]
        tables = [pair_shares(Sequences.of(states, C)) for states in drawn]
        found.append(agreement(*tables, L).distance)
        expected.append(distance_noise(*tables, L, 400, 900))
    agrees(Estimate.of(found), float(np.mean(expected)), resolves=0.2)


def test_calibrated_fields_give_the_frequencies_of_the_data_and_keep_the_couplings():
    """All states in proportion to their probabilities are a sample without noise; the truth has other fields."""
    truth, weak = known_model(), known_model()
    lagging = DensePottsModel(weak.couplings, weak.fields + 0.5 * stream(0, "lag").standard_normal((L, C)))

    frequencies = np.einsum("m,mia->ia", probabilities(truth), np.eye(C)[STATES])
    states = np.repeat(STATES, np.rint(2e5 * probabilities(lagging)).astype(int), axis=0)
    found = calibrated(lagging, states, frequencies)
    fields = truth.fields - truth.fields.mean(axis=1, keepdims=True)
    assert np.array_equal(found.couplings, lagging.couplings)
    assert abs(lagging.fields - fields).max() > 0.5
    assert found.fields == pytest.approx(fields, abs=0.005)
    shown = np.einsum("m,mia->ia", probabilities(found), np.eye(C)[STATES])
    assert shown == pytest.approx(frequencies, abs=1e-3)


def test_fields_that_lag_behind_are_calibrated_by_fresh_samples(monkeypatch):
    """A start with right couplings and wrong fields: too few steps mend the fields, and one calibration does."""
    truth = known_model(0.5, sites=8)
    states = data_of(truth, 2000)
    off = truth.fields + 0.6 * np.array([1.0, 0.0, -1.0])
    options = {"start": DensePottsModel(truth.couplings, off), "max_iter": 10, "rate": 1e-4, "n_chains": 64}
    options |= {"n_checked": 4000, "pearson": 0.6, "slope": 0.3, "check": False}
    fit = boltzmann_learning(states, C, rng=stream(0, "lagging"), **options)
    assert (fit.converged, fit.reason) == (True, "")
    assert fit.mismatch < 1
    monkeypatch.setattr("simulate.potts.boltzmann.fit.MAX_CALIBRATIONS", 0)
    behind = boltzmann_learning(states, C, rng=stream(0, "lagging"), **options)
    assert behind.mismatch > 2
    assert re.match(
        r"joint distributions of two sites differ .* times the noise of two samples, above 1", behind.reason
    )


def test_calibrated_fields_do_not_excuse_covariances_that_are_too_small(monkeypatch):
    """Four fifths of the slope that is asked for must be left: a third of it is held against the model."""
    truth = known_model(0.5, sites=8)
    weaker = DensePottsModel(0.3 * truth.couplings, truth.fields)
    monkeypatch.setattr("simulate.potts.boltzmann.fit.calibrated", lambda *_: weaker)
    off = truth.fields + 0.6 * np.array([1.0, 0.0, -1.0])
    options = {"start": DensePottsModel(truth.couplings, off), "max_iter": 10, "rate": 1e-4, "n_chains": 64}
    options |= {"n_checked": 4000, "pearson": 0.1, "slope": 0.5, "check": False}
    fit = boltzmann_learning(data_of(truth, 2000), C, rng=stream(0, "lagging"), **options)
    assert not fit.converged
    assert 0.1 < fit.slope < 0.4
    assert re.search(r"slope.* below 0\.4\b", fit.reason)


def test_a_step_is_the_preconditioned_gradient(family):
    states, weights = family
    data, model, rng = Sequences.of(states, C, weights), known_model(0.3), stream(0, "one step")
    chains = LearningChains(model, 64, rng, metropolis=False, betas=None, start=None, n_threads=1)
    ascent = Ascent(data, model, chains, l2=0.02, field_l2=0.01, floor=0.05, n_threads=2)
    h = chains.local_fields.astype(float)
    ascent.step(1, 0.1, 1.0)
    f, x = data.frequencies(), np.eye(C)[chains.states]
    p = x.mean(axis=0)
    d = f - p - 2 * 0.01 * h
    i, j = 1, 3
    single = np.eye(C)[states]
    target = np.einsum("m,ma,mb->ab", weights / weights.sum(), single[:, i], single[:, j])
    shown = np.einsum("ma,mb->ab", x[:, i], x[:, j]) / 64
    gradient = target - shown - 2 * 0.02 * model.couplings[i, j] - np.outer(d[i], f[j]) - np.outer(f[i], d[j])
    expected = model.couplings[i, j] + 0.1 * gradient / (np.outer(f[i], f[j]) + 0.05)
    couplings = chains.couplings[:, :L, :, :C].transpose(0, 1, 3, 2)
    assert np.allclose(couplings[i, j], expected, atol=1e-5)
    assert np.array_equal(couplings[i, j], couplings[j, i].T)
    before = model.fields + np.einsum("ijab,jb->ia", model.couplings, f)
    at_mean = before + 0.1 * d / (f + 0.05)
    assert np.allclose(chains.local_fields, at_mean - np.einsum("ijab,jb->ia", couplings, f), atol=1e-5)


def test_what_does_not_converge_is_refused_with_advice(family):
    with pytest.raises(FitError, match=r"did not converge in 1 steps: Pearson's .* raise l2 or max_iter") as failure:
        boltzmann_learning(family[0], C, rng=stream(0, "short"), max_iter=1, n_chains=16, n_checked=256)
    assert not failure.value.fit.converged
    assert failure.value.fit.residual == pytest.approx(1 - failure.value.fit.pearson)


def test_penalties_that_are_not_given_follow_from_the_effective_number(family):
    """Three over it for the couplings, and a hundredth of that for the fields."""
    states, weights = family
    fit = boltzmann_learning(
        states, C, rng=stream(0, "short"), weights=weights, max_iter=1, n_chains=16, n_checked=256, check=False
    )
    assert fit.l2 == pytest.approx(3 * (weights**2).sum() / weights.sum() ** 2)
    assert fit.field_l2 == pytest.approx(0.01 * fit.l2)


def test_phases_between_which_chains_do_not_move_are_seen():
    states = np.repeat([[0] * 6, [1] * 6], 100, axis=0)
    fit = boltzmann_learning(
        states, 2, rng=stream(0, "phases"), l2=1e-4, rate=0.5, n_chains=64, n_checked=256, max_iter=300, min_iter=300,
        check=False,
    )  # fmt: skip
    assert not fit.converged
    assert "do not come to agree" in fit.reason
    assert fit.r_hat > 1.01


def test_a_start_at_another_temperature_is_the_same_law():
    states = data_of(known_model(), 200)
    warm = DensePottsModel(2 * known_model().couplings, 2 * known_model().fields, beta=0.5)
    options = {"n_chains": 16, "n_checked": 256, "max_iter": 2, "check": False}
    fits = [boltzmann_learning(states, C, rng=stream(0, "w"), start=m, **options) for m in (known_model(), warm)]
    assert np.allclose(fits[0].couplings, fits[1].couplings, atol=1e-6)


def test_letters_that_never_occur_stay_rare_and_finite():
    states = data_of(known_model(), 200)
    data = Sequences.of(states, C + 1)
    assert np.isfinite(independent_sites(data).fields).all()
    assert independent_sites(data).conditionals(states[:1])[0, :, C].max() < 2e-3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_iter": 2, "min_iter": 3}, "max_iter must be at least min_iter = 3, got 2"),
        ({"sequences": [[0], [1]]}, "sequences must have two sites at least, got 1"),
        ({"start": known_model(sites=3)}, "start must have 4 sites and 3 colors, got 3 and 3"),
        ({"pearson": 1.0}, "pearson"),
        ({"mismatch": 0.0}, r"mismatch must lie in \(0, inf\), got 0.0"),
        ({"n_chains": 3}, "n_chains"),
        ({"l2": -1.0}, "l2"),
    ],
)
def test_bad_arguments_are_refused(family, change, message):
    options = {"sequences": family[0], "n_colors": C, "rng": stream(0, "bad")} | change
    with pytest.raises(ValueError, match=message):
        boltzmann_learning(**options)


def test_samples_of_other_lengths_are_not_compared():
    with pytest.raises(ValueError, match="others must have as many sites as states"):
        covariance_agreement([[0, 1]], [[0, 1, 1]], 2)


def test_samples_that_do_not_vary_have_no_covariances():
    found = covariance_agreement([[0, 1], [0, 1]], [[0, 1], [1, 0]], 2)
    assert (found.pearson, found.slope, found.site_error) == (0.0, 0.0, 0.5)


EQUAL = np.tile([0, 1, 2, 1], (30, 1))


@pytest.mark.parametrize("penalties", [{}, {"l2": 0.0, "field_l2": 0.0}])
@pytest.mark.parametrize(
    ("states", "options", "got"),
    [
        (EQUAL, {}, "got 0 of 4 that vary: there"),
        (EQUAL[:1], {"check": False}, "got 0 of 4 that vary: there"),
        (np.where(np.arange(4) == 2, np.arange(30)[:, None] % 3, EQUAL), {}, "got 1 of 4 that vary: there"),
        (STATES, {"start": known_model()}, "got 4 of 4 that vary independently: there"),
        (np.concatenate([EQUAL, STATES]), {"weights": np.repeat([1.0, 0.0], [30, 81])}, "got 0 of 4 that vary: there"),
    ],
)
def test_sequences_in_which_no_two_sites_vary_together_are_refused_at_once(states, options, got, penalties):
    """No correlation of covariances could tell when to end, and no coupling is other than 0 at the maximum."""
    with pytest.raises(ValueError, match=f"^sequences must have two sites .* vary together, {got} are no couplings"):
        boltzmann_learning(
            states,
            C,
            rng=stream(0, "equal"),
            n_chains=16,
            on_record=lambda *_: pytest.fail("it began"),
            **options,
            **penalties,
        )


def test_one_sequence_that_differs_at_two_sites_is_enough():
    states = np.repeat(EQUAL, 100, axis=0)
    states[0, [0, 3]] = [1, 0]
    fit = boltzmann_learning(states, C, rng=stream(0, "rare"), n_chains=16, n_checked=256, max_iter=2, check=False)
    assert fit.iterations == 2


def test_wrong_values_are_refused_by_name():
    small = STATES[:40]
    learning = {"sequences": small, "n_colors": C, "rng": stream(0, "wrong"), "weights": np.ones(40), "l2": 0.1}
    learning |= {
        "field_l2": 0.1,
        "pearson": 0.5,
        "slope": 0.1,
        "mismatch": 2.0,
        "rate": 0.01,
        "n_sweeps": 1,
        "n_chains": 16,
    }
    learning |= {"n_checked": 256, "min_iter": 0, "max_iter": 1, "n_threads": 1, "check": False}
    examples = {
        "boltzmann_learning": Example(boltzmann_learning, learning),
        "covariance_agreement": Example(
            covariance_agreement, {"states": small, "others": small, "n_colors": C, "weights": np.ones(40)}
        ),
    }
    assert_all_refused(examples, n=40, seed=0)


@pytest.mark.parametrize("penalties", [{"l2": 1e4}, {"l2": 0.1, "field_l2": 1e5}])
def test_steps_that_diverge_are_told_so(penalties):
    states = stream(0, "diverging").integers(0, 2, (20, 3))
    with pytest.raises(FitError, match=r"diverged at l2 = .*: lower rate or the penalties"):
        boltzmann_learning(states, 2, rng=stream(1), max_iter=60, n_chains=16, n_checked=256, **penalties)
