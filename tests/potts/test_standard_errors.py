"""Standard errors of couplings: Hessian and scatter by other arithmetic, coverage over independent samples."""

from dataclasses import replace

import numpy as np
import pytest

from simulate.core import Estimate, stream
from simulate.potts import masked_loss, pseudo_likelihood, standard_errors
from simulate.potts.inference.sequences import Sequences
from simulate.potts.inference.uncertainty import joint_places, n_parameters, site_places, statistics
from tests.potts.populations import identifiable, population
from theory.models import DensePottsModel, PottsModel
from theory.models.potts import helmert, random_color_couplings

L, C = 4, 3
OFF = ~np.eye(L, dtype=bool)


def small_model():
    """One fixed model: bounds that hold for any samples would not hold for any model."""
    rng = np.random.default_rng(0)
    J = np.triu(rng.standard_normal((L, L)), 1)
    return PottsModel(J + J.T, random_color_couplings(C, rng), rng.standard_normal((L, C)), beta=0.5)


MODEL = small_model()
STATES, P = population(MODEL)


def model_of(theta):
    """The model with joint parameters theta: fields, then one block a pair, in contrasts."""
    Q, K = helmert(C), C - 1
    couplings = np.zeros((L, L, C, C))
    for n, (i, j) in enumerate(zip(*np.triu_indices(L, 1), strict=True)):
        start = L * K + n * K * K
        couplings[i, j] = Q @ theta[start : start + K * K].reshape(K, K) @ Q.T
        couplings[j, i] = couplings[i, j].T
    return DensePottsModel(couplings, theta[: L * K].reshape(L, K) @ Q.T)


def loss_of(theta, states, weights=None):
    return L * masked_loss(model_of(theta), states, weights).loss


def test_contrasts_are_orthonormal_and_sum_to_zero():
    Q = helmert(5)
    np.testing.assert_allclose(Q.T @ Q, np.eye(4), atol=1e-15)
    np.testing.assert_allclose(Q.sum(axis=0), 0, atol=1e-15)


def test_hessian_and_scatter_are_those_of_finite_differences():
    rng = np.random.default_rng(0)
    states, weights = rng.integers(0, C, (12, L)), rng.random(12)
    weights /= weights.sum()
    places = joint_places(L, C)
    p = n_parameters(places)
    assert p == L * (C - 1) + L * (L - 1) // 2 * (C - 1) ** 2
    theta, step, along = 0.5 * rng.standard_normal(p), 1e-4, rng.standard_normal((2, p))
    hessian, scatter = statistics(model_of(theta), Sequences.of(states, C, weights), places)

    def shifted(x, y, *data):
        return loss_of(theta + step * (x * along[0] + y * along[1]), *data)

    second = (
        shifted(1, 1, states, weights)
        - shifted(1, -1, states, weights)
        - shifted(-1, 1, states, weights)
        + shifted(-1, -1, states, weights)
    ) / (4 * step**2)
    assert along[0] @ hessian @ along[1] == pytest.approx(second, abs=1e-7)

    slopes = np.array(
        [
            [(shifted(*d, s[None]) - shifted(*-np.array(d), s[None])) / (2 * step) for d in ((1, 0), (0, 1))]
            for s in states
        ]
    )
    slopes -= weights @ slopes
    expected = np.sum(weights**2 * slopes[:, 0] * slopes[:, 1])
    assert along[0] @ scatter @ along[1] == pytest.approx(expected, rel=1e-5)


def test_of_the_true_model_each_site_has_a_scatter_equal_to_its_hessian():
    dense = DensePottsModel(*identifiable(MODEL))
    data = Sequences.of(STATES, C, P)
    hessian, _ = statistics(dense, data, site_places(L, C, 1))
    scores = 0
    for state, p in zip(STATES, P, strict=True):
        one = Sequences.of(state[None], C)
        g = site_score(dense, one)
        scores = scores + p * np.outer(g, g)
    np.testing.assert_allclose(hessian, scores, atol=1e-12)


def site_score(model, one):
    """Gradient of the loss of site 1 at one sample, from its definition."""
    state, Q = one.columns[:, 0], helmert(C)
    residual = model.conditionals(state)[1] - np.eye(C)[state[1]]
    y = np.concatenate([[1], *(Q[state[j]] for j in range(L) if j != 1)])
    return np.outer(Q.T @ residual, y).ravel()


def squared_deviations(is_symmetric, replicate, n_samples=3000):
    """Mean over couplings and mean over fields of (estimate - truth)^2/error^2 of one drawn data set."""
    rng = stream(1, "coverage", is_symmetric, replicate)
    states = STATES[rng.choice(len(STATES), n_samples, p=P)]
    fit = pseudo_likelihood(states, C, l2=1e-6, field_l2=1e-6, symmetric=is_symmetric)
    errors = standard_errors(fit, states)
    couplings, fields = identifiable(MODEL)
    z = (fit.couplings - couplings)[OFF] / errors.couplings[OFF]
    return np.mean(z**2), np.mean(((fit.fields - fields) / errors.fields) ** 2)


@pytest.mark.slow
@pytest.mark.parametrize("is_symmetric", [True, False])
def test_estimates_scatter_as_their_errors_say(agrees, is_symmetric):
    deviations = np.array([squared_deviations(is_symmetric, r) for r in range(200)])
    agrees(Estimate.of(deviations[:, 0]), 1.0, resolves=0.3)
    agrees(Estimate.of(deviations[:, 1]), 1.0, resolves=0.4)


def fitted(is_symmetric=True, n_samples=500, **options):
    states = STATES[stream(2, "fitted").choice(len(STATES), n_samples, p=P)]
    return pseudo_likelihood(states, C, l2=1e-3, symmetric=is_symmetric, **options), states


def test_site_by_site_errors_are_close_to_the_joint_ones():
    fit, states = fitted()
    joint, by_site = standard_errors(fit, states), standard_errors(fit, states, method="by_site")
    assert (joint.method, by_site.method) == ("joint", "by_site")
    ratio = by_site.couplings[OFF] / joint.couplings[OFF]
    assert ratio.min() > 0.95
    assert ratio.max() < 1.05
    np.testing.assert_allclose(by_site.fields, joint.fields, rtol=0.05)


@pytest.mark.parametrize("is_symmetric", [True, False])
def test_more_samples_and_weights(is_symmetric):
    fit, states = fitted(is_symmetric)
    more = replace(fit, n_samples=2000)
    once, four = standard_errors(fit, states), standard_errors(more, np.tile(states, (4, 1)))
    np.testing.assert_allclose(once.couplings, 2 * four.couplings, rtol=1e-10)  # errors fall as M^-1/2
    assert once.effective_samples == pytest.approx(500)
    np.testing.assert_allclose(once.couplings, once.couplings.transpose(1, 0, 3, 2), rtol=1e-12)
    half = np.arange(1000) < 500  # samples without weight change nothing
    padded = standard_errors(replace(fit, n_samples=1000), np.concatenate([states, states[::-1]]), half.astype(float))
    np.testing.assert_allclose(padded.couplings, once.couplings, rtol=1e-10)
    assert padded.effective_samples == pytest.approx(500)


def test_penalties_shrink_errors():
    _, states = fitted()
    weak, strong = (standard_errors(pseudo_likelihood(states, C, l2=l2), states) for l2 in (1e-4, 0.1))
    assert np.all(strong.couplings[OFF] < weak.couplings[OFF])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fit": "fit"}, r"fit must be a record of simulate.potts \(PseudoLikelihoodFit\), got str"),
        ({"states": STATES[:, :3]}, r"states must have shape \(..., 4\)"),
        ({"states": STATES[:0]}, "at least one sample"),
        ({"weights": np.ones(3)}, "weights must have one number for each of 500 samples of states, got 3"),
        ({"method": "bootstrap"}, r"method must be one of 'joint', 'by_site', got 'bootstrap' \(or None\)"),
    ],
)
def test_bad_input_is_named(change, message):
    fit, states = fitted()
    with pytest.raises(ValueError, match=message):
        standard_errors(**{"fit": fit, "states": states, **change})


def test_what_cannot_be_done_is_said():
    fit, states = fitted(is_symmetric=False)
    with pytest.raises(ValueError, match='method must be "by_site" for a fit with symmetric=False'):
        standard_errors(fit, states, method="joint")
    fit = pseudo_likelihood(STATES, C, weights=P, l2=0)
    with pytest.raises(ValueError, match="fit must have l2 > 0 here: its Hessian is singular"):
        standard_errors(replace(fit, n_samples=2), STATES[:2])
    for n_samples, states in ((len(STATES), STATES[:-1]), (1, STATES[:1])):
        with pytest.raises(ValueError, match=f"states must be the {n_samples} samples of the fit, at least 2, got"):
            standard_errors(replace(fit, n_samples=n_samples), states)


def test_too_many_parameters_are_refused_with_advice(monkeypatch):
    monkeypatch.setattr("simulate.potts.inference.uncertainty.PEAK_ARRAYS", 1e12)
    fit, states = fitted()
    with pytest.raises(MemoryError, match=r'standard errors of 32 parameters needs .*; method="by_site" needs less'):
        standard_errors(fit, states)
    with pytest.raises(MemoryError, match=r"standard errors of 14 parameters needs .*; take fewer sites or colors"):
        standard_errors(fit, states, method="by_site")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", ["joint", "by_site"])
def test_equal_samples_have_no_errors_and_none_that_are_nan(method):
    """All scores are equal then; their variance is zero up to rounding, which may be of either sign."""
    states = np.tile([0, 1, 2, 1, 0], (30, 1))
    errors = standard_errors(pseudo_likelihood(states, 3), states, method=method)
    for values in (errors.couplings, errors.fields):
        assert np.all((values >= 0) & (values < 1e-6))
