"""A masked spin or color as the cluster of a mixture: moments, losses, floors, and the ridge's conventions."""

import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.stats import norm
from scipy.stats import t as student

from simulate.core import Estimate, stream
from simulate.glm import conditional_entropy, fit_masked_site
from theory import glm
from theory.glm.classification import (
    fresh_loss,
    masked_classification,
    masked_color,
    mixture_floor,
    optimal_ridge,
    spin_glass_site,
    split_site,
)
from theory.models import DenseModes, GaussianMixture
from theory.models.potts.one_hot_contrasts import helmert


def all_states(L, C):
    return np.array(list(itertools.product(range(C), repeat=L)))


def weighted_law(L, C, seed):
    """A law without any symmetry on all states, (C^L,)."""
    weights = np.exp(0.6 * stream(seed, "law").standard_normal(C**L))
    return weights / weights.sum()


def spin_moments(seed=0, L=5):
    """States as spins, their law, and the arguments of `masked_classification` for site 2."""
    s, law = 1.0 - 2 * all_states(L, 2), weighted_law(L, 2, seed)
    mean = law @ s
    inputs, cross = split_site((s.T * law) @ s - np.outer(mean, mean), 2)
    return s, law, inputs, cross, {"mean": np.delete(mean, 2), "label_mean": mean[2]}


@pytest.mark.parametrize("bias", [False, True])
def test_means_and_covariance_are_those_of_the_law_given_the_spin(bias):
    s, law, inputs, cross, moments = spin_moments()
    found = glm.solve(masked_classification(inputs, cross, alpha=1.5, lam=0.3, bias=bias, **moments))
    x, shares, means, within = np.delete(s, 2, axis=1), [], [], 0
    for y in (1, -1):
        own = law * (s[:, 2] == y)
        shares.append(own.sum())
        means.append(own @ x / shares[-1])
        within = within + (x - means[-1]).T @ (own[:, None] * (x - means[-1]))
    modes = DenseModes(np.array([within]), 2 * np.array(means))  # sqrt(p) = 2
    direct = GaussianMixture(modes=modes, probabilities=shares, alpha=1.5, lam=0.3, bias=bias)
    wanted = glm.solve(direct)
    assert found.r == pytest.approx(wanted.r, rel=1e-7)
    assert (found.test_error, found.train_loss) == pytest.approx((wanted.test_error, wanted.train_loss), rel=1e-7)
    assert fresh_loss(found) == pytest.approx(fresh_loss(wanted), rel=1e-7)


@pytest.mark.parametrize("bias", [False, True])
def test_two_colors_as_contrasts_are_spins_at_the_same_ridge(bias):
    """Contrasts are spins over sqrt(2); softmax shares w between two rows: both factors 2 of the penalty cancel."""
    _, _, inputs, cross, moments = spin_moments()
    spins = glm.solve(masked_classification(inputs, cross, alpha=1.5, lam=0.3, bias=bias, **moments))
    scaled = {"mean": moments["mean"] / np.sqrt(2), "label_mean": np.array([moments["label_mean"] / np.sqrt(2)])}
    colors = glm.solve(masked_color(inputs / 2, cross[:, None] / 2, alpha=1.5, lam=0.3, bias=bias, **scaled))
    assert colors.test_loss == pytest.approx(fresh_loss(spins), rel=1e-6)
    assert (colors.test_error, colors.train_loss) == pytest.approx((spins.test_error, spins.train_loss), rel=1e-6)


def test_means_given_a_color_are_exact():
    L, C = 4, 3
    states, law, H = all_states(L, C), weighted_law(L, C, 1), helmert(C)
    t = H[states].reshape(len(states), -1)
    mean = law @ t
    inputs, cross = split_site((t.T * law) @ t - np.outer(mean, mean), 1, width=2)
    others = np.delete(np.arange(8), (2, 3))
    model = masked_color(inputs, cross, alpha=1.0, lam=1.0, mean=mean[others], label_mean=mean[2:4])
    means = []
    for a in range(C):
        own = law * (states[:, 1] == a)
        means.append(own @ t[:, others] / own.sum())
        assert model.probabilities[a] == pytest.approx(own.sum())
    assert model.modes.gram.sum(axis=2) == pytest.approx(np.array(means) @ np.array(means).T)
    between = sum(
        share * np.outer(m - mean[others], m - mean[others])
        for share, m in zip(model.probabilities, means, strict=True)
    )
    assert np.sort(model.modes.covariances[0]) == pytest.approx(np.linalg.eigvalsh(inputs - between))


def weighted(loss, center, size, z):
    return norm.pdf(z) * loss(center + size * z)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "square"])
def test_fresh_loss_by_adaptive_quadrature(loss):
    model = GaussianMixture.opposite(mean_power=0.7, probability=0.3, alpha=2.0, lam=0.05, loss=loss)
    point = glm.solve(model)
    value = {
        "logistic": lambda t: np.logaddexp(0, -t),
        "hinge": lambda t: max(0, 1 - t),
        "square": lambda t: (1 - t) ** 2 / 2,
    }
    total = 0.0
    for share, y, r in zip(model.probabilities, (1, -1), point.r, strict=True):
        center, size = y * (r + point.bias[0]), np.sqrt(point.q[0])
        kink = [(1 - center) / size] if loss == "hinge" else []
        function = partial(weighted, value[loss], center, size)
        total += share * quad(function, -12, 12, points=[0, *kink], limit=200)[0]
    assert fresh_loss(point) == pytest.approx(total, rel=1e-8)


@pytest.mark.parametrize("beta", [0.0, 0.3, 0.6, 0.9])
def test_a_spin_glass_site_has_distance_beta(beta):
    """The field of a spin, h = beta^2 y + beta z, gives the floor E log(1 + exp(-2 y h))."""
    model = spin_glass_site(beta, alpha=1.0, lam=1.0)
    modes = model.modes
    assert modes.weights @ modes.covariances[0] == pytest.approx(1)  # spins have the variance 1
    assert np.sum(modes.gram[0, 0] / modes.covariances[0]) == pytest.approx(beta**2)
    wanted = quad(lambda z: norm.pdf(z) * np.logaddexp(0, -2 * (beta**2 + beta * z)), -12, 12)[0]
    assert mixture_floor(model) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("beta", [0.3, 0.6])
def test_a_spin_glass_site_is_that_of_a_large_matrix(beta):
    """Draws of J, inverted: covariance (1 + beta^2 - beta J)^-1; the mean over sites split off.

    Student's t over draws at a level below 1e-5; 3 % are allowed for N = 300, where 1.2 % were measured.
    """
    N, sites, draws = 300, 4, 12
    visible = {0.3: 0.3, 0.6: 0.7}[beta]  # the relative error that is seen: draws differ more near criticality
    limit = spin_glass_site(beta, alpha=2.0, lam=0.3).modes
    powers = (0, 1, 2)  # at -1 the smallest eigenvalues dominate, and the error is large
    wanted = [np.sum(limit.gram[0, 0] / limit.covariances[0] ** power) for power in powers]
    found = []
    for draw in range(draws):
        J = np.triu(stream(0, "large matrix", draw).standard_normal((N, N)), 1) / np.sqrt(N)
        covariance = np.linalg.inv((1 + beta**2) * np.eye(N) - beta * (J + J.T))
        size = np.sqrt(np.diag(covariance))
        covariance /= np.outer(size, size)
        large = [masked_classification(*split_site(covariance, k), alpha=2.0, lam=0.3).modes for k in range(sites)]
        found.append([np.mean([np.sum(one.gram[0, 0] / one.covariances[0] ** p) for one in large]) for p in powers])
    for predicted, values in zip(wanted, np.transpose(found), strict=True):
        estimate = Estimate.of(values)
        allowed = student.isf(1e-6, draws - 1) * estimate.stderr + 0.03 * predicted
        assert abs(estimate.mean - predicted) < allowed < visible * predicted


def test_the_floor_of_unequal_clusters_is_the_entropy_given_the_input():
    model = GaussianMixture.opposite(mean_power=0.5, variances=0.8, probability=0.2, alpha=1.0, lam=1.0)

    def entropy(x):  # along the mean
        p = np.array([0.2 * norm.pdf(x, 0.5**0.5, 0.8**0.5), 0.8 * norm.pdf(x, -(0.5**0.5), 0.8**0.5)])
        return -float(p @ np.log(p / p.sum()))

    assert mixture_floor(model) == pytest.approx(quad(entropy, -8, 8)[0], rel=1e-8)


def test_many_samples_follow_the_law_of_maximum_likelihood():
    """Excess tr(H^-1 K)/(2 n) = p/(2 n): logistic regression is the true law of the mixture."""
    for alpha, tolerance in ((50, 0.07), (500, 0.008)):
        model = spin_glass_site(0.6, alpha=alpha, lam=1e-4)
        assert 2 * alpha * (fresh_loss(glm.solve(model)) - mixture_floor(model)) == pytest.approx(1, abs=tolerance)


def test_the_best_ridge_has_no_better_neighbor():
    model = spin_glass_site(0.6, alpha=1.0, lam=1.0)
    best = optimal_ridge(model)
    assert not best.at_bound
    near = [fresh_loss(glm.solve(replace(model, lam=best.lam * factor))) for factor in (0.8, 1.0, 1.25)]
    assert near[1] == pytest.approx(best.loss, abs=1e-12)
    assert min(near[0], near[2]) > best.loss
    scan = minimize_scalar(
        lambda x: fresh_loss(glm.solve(replace(model, lam=float(np.exp(x))))), bounds=(-2, 1), method="bounded"
    )
    assert best.loss == pytest.approx(scan.fun, abs=1e-9)


def test_a_best_ridge_outside_the_interval_is_marked():
    assert optimal_ridge(spin_glass_site(0.6, alpha=1.0, lam=1.0), bounds=(5.0, 20.0)).at_bound


@pytest.mark.slow  # kernels are compiled
def test_conversion_of_the_ridge_to_that_of_pseudo_likelihood():
    """l2 = lam p/(2 n): the couplings of all sites, both directions averaged in the zero-sum gauge."""
    from simulate.glm import fit_multiclass
    from simulate.potts import pseudo_likelihood
    from theory.models.potts import zero_sum_blocks
    from theory.models.potts.one_hot_contrasts import contrasts

    L, C, n, lam = 4, 3, 150, 0.7
    law = weighted_law(L, C, 2)
    states = all_states(L, C)[stream(0, "pseudo-likelihood").choice(C**L, size=n, p=law)]
    p, H, t = (L - 1) * (C - 1), helmert(C), contrasts(states, C)
    fitted = pseudo_likelihood(states, C, l2=lam * p / (2 * n), field_l2=0.0, symmetric=False, tol=1e-7)
    J = np.zeros((L, L, C, C))
    for i in range(L):
        others = np.delete(np.arange(L), i)
        X = t.reshape(n, L, C - 1)[:, others].reshape(n, -1)
        W = fit_multiclass(X, states[:, i], C, "softmax", lam).weights / np.sqrt(p)
        J[i, others] = np.einsum("akc,bc->kab", W.reshape(C, L - 1, C - 1), H)
    mean = zero_sum_blocks((J + J.transpose(1, 0, 3, 2)) / 2)
    assert fitted.couplings == pytest.approx(mean, abs=2e-4 * abs(mean).max())


@pytest.mark.parametrize(("C", "bias"), [(2, False), (2, True), (3, True)])
def test_a_fit_is_judged_by_the_true_law(C, bias):
    rng = stream(0, "judged", C)
    X, T = rng.standard_normal((40, 6)), rng.standard_normal((30, 6))
    colors, P = rng.integers(C, size=40), rng.dirichlet(np.ones(C), 30)
    fitted = fit_masked_site(X, colors, 0.5, test_inputs=T, conditionals=P, bias=bias)
    if C == 2:
        from simulate.glm import fit

        one = fit(X, np.where(colors == 0, 1.0, -1.0), "logistic", 0.5, bias=bias)
        h = one.fields(T)
        Q = np.stack([1 / (1 + np.exp(-h)), 1 / (1 + np.exp(h))], axis=1)
    else:
        from simulate.glm import fit_multiclass

        h = fit_multiclass(X, colors, C, "softmax", 0.5, bias=bias).fields(T)
        Q = np.exp(h) / np.exp(h).sum(axis=1, keepdims=True)
    assert fitted.test_loss == pytest.approx(-np.mean(np.sum(P * np.log(Q), axis=1)))
    assert fitted.excess == pytest.approx(np.mean(np.sum(P * np.log(P / Q), axis=1)))
    assert fitted.test_loss - fitted.excess == pytest.approx(conditional_entropy(P))
    assert fitted.test_error == pytest.approx(1 - np.mean(P[np.arange(30), Q.argmax(axis=1)]))


EYE = np.eye(3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: masked_classification(EYE, np.full(3, 0.7), alpha=1, lam=1), "cross is too large"),
        (lambda: masked_classification(EYE, np.zeros(2), alpha=1, lam=1), r"cross must have shape \(3,\)"),
        (lambda: masked_classification(EYE, np.zeros(3), alpha=1, lam=1, mean=np.zeros(2)), "mean must have shape"),
        (lambda: masked_classification(EYE, np.zeros(3), alpha=1, lam=1, label_mean=1.0), "label_mean must lie"),
        (lambda: masked_classification(np.ones((3, 2)), np.zeros(3), alpha=1, lam=1), "inputs must be square"),
        (lambda: masked_color(EYE, np.zeros((2, 2)), alpha=1, lam=1), "cross must have shape"),
        (lambda: masked_color(EYE, np.zeros((3, 2)), alpha=1, lam=1, label_mean=np.zeros(3)), "label_mean must have"),
        (lambda: masked_color(EYE, np.zeros((3, 2)), alpha=1, lam=1, label_mean=[2.0, 0.0]), "positive probability"),
        (lambda: masked_color(EYE, np.full((3, 2), 0.9), alpha=1, lam=1), "cross is too large"),
        (lambda: split_site(EYE, 3), r"site must lie in 0..2, got 3"),
        (lambda: split_site(EYE, 0, width=2), "covariance must have width = 2 rows"),
        (lambda: split_site(np.eye(2), 0, width=2), "width = 2 rows for each of 2 or more sites, got 2"),
        (lambda: spin_glass_site(1.0, alpha=1, lam=1), r"beta must lie in \[0, 1\)"),
        (lambda: optimal_ridge(spin_glass_site(0.5, alpha=1, lam=1), bounds=(1.0, 0.1)), "bounds must increase"),
        (lambda: optimal_ridge("nothing"), "model must be"),
        (
            lambda: fresh_loss(glm.solve(glm.random_features(samples_per_input=3, features_per_input=2, lam=1))),
            "point must have labels",
        ),
        (lambda: fit_masked_site(EYE, [0, 1, 0], 1.0, test_inputs=EYE, conditionals=EYE[:2]), "conditionals must be"),
        (lambda: fit_masked_site(EYE, [0, 2, 0], 1.0, test_inputs=EYE, conditionals=np.full((3, 2), 0.5)), "colors"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
