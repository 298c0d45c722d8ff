"""The best ridge of K classes: beside scans by plain solves, limits, and fits of samples."""

import math
from dataclasses import replace

import numpy as np
import pytest

from simulate.core import Estimate, stream
from simulate.glm import fit_multiclass
from theory import glm
from theory.glm.multiclass.ridge import ClassesScan, infinite_ridge_of_classes
from theory.models import GaussianMixture, Modes, MulticlassMixture


def classes(K, loss, *, alike=False, bias=True, alpha=2.0, power=3.0, covariances=None):
    """K clusters with random angles between their means and shares 1 : 2 : .. : K, or all alike."""
    G = np.random.default_rng(0).standard_normal((K, 2 * K))
    gram = power * np.eye(K) if alike else power * G @ G.T / (2 * K)
    shares = np.ones(K) / K if alike else np.arange(1, K + 1) / np.arange(1, K + 1).sum()
    modes = Modes([1.0], [[1.0]] if covariances is None else covariances, gram[:, :, None])
    return MulticlassMixture(modes=modes, probabilities=shares, alpha=alpha, lam=0.1, loss=loss, bias=bias)


def value(model, lam, by):
    point = glm.solve(replace(model, lam=lam))
    return point.test_error if by == "error" else point.test_loss


@pytest.mark.parametrize("by", ["error", "loss"])
@pytest.mark.parametrize(
    "model",
    [
        classes(3, "square"),
        classes(3, "square", bias=False, covariances=[[0.5], [1.0], [2.0]]),
        classes(4, "square", alike=True),
        classes(3, "softmax", alike=True),
        pytest.param(classes(3, "softmax"), marks=pytest.mark.slow),
        pytest.param(classes(2, "softmax"), marks=pytest.mark.slow),
    ],
)
def test_no_ridge_of_a_scan_is_better(model, by):
    best = glm.optimal_ridge(model, by)
    lams = np.geomspace(1e-3, 1e3, 13)
    values = np.array([value(model, float(lam), by) for lam in lams])
    assert best.value <= values.min() + 1e-12
    turns = [k for k in range(1, 12) if values[k] < min(values[k - 1], values[k + 1]) - 1e-9]
    for k in turns:
        assert any(lams[k - 1] < minimum.lam < lams[k + 1] for minimum in best.minima)
    assert best.iterations < 15
    if best.limit is None:
        assert best.value == (best.point.test_error if by == "error" else best.point.test_loss)
        near = [value(model, best.lam * factor, by) for factor in (0.97, 1.03)]
        assert best.value < min(near)
        # The vertex of the parabola through the three is the best ridge, but for terms of the third order.
        curve = (near[1] + near[0] - 2 * best.value) / math.log(1.03) ** 2
        assert abs((near[1] - near[0]) / (2 * math.log(1.03)) / curve) < 3e-3
    else:
        assert best.value == pytest.approx(value(model, 1e6, by), rel=1e-5)


def test_slopes_of_softmax_are_those_of_two_solutions():
    model, log_lam = classes(3, "softmax", covariances=[[0.5], [1.0], [2.0]]), math.log(0.7)
    for by in ("error", "loss"):
        scan = ClassesScan(model, by)
        rung = scan.add(log_lam)
        above, below = (value(model, math.exp(log_lam + sign * 1e-3), by) for sign in (1, -1))
        assert rung.value == value(model, math.exp(log_lam), by)
        assert rung.slope == pytest.approx((above - below) / 2e-3, rel=1e-5)


@pytest.mark.parametrize("loss", ["square", pytest.param("softmax", marks=pytest.mark.slow)])
def test_two_classes_are_a_mixture_of_labels(loss):
    """Softmax of two is the logistic loss at half the ridge; one-hot outputs of square loss are the square loss."""
    modes = Modes([1.0], [[1.0]], 1.5 * np.array([[1.0, -1.0], [-1.0, 1.0]])[:, :, None])
    common = {"modes": modes, "probabilities": [0.3, 0.7], "alpha": 2.0, "lam": 0.1}
    best = glm.optimal_ridge(MulticlassMixture(loss=loss, **common))
    binary = glm.optimal_ridge(GaussianMixture(loss="logistic" if loss == "softmax" else "square", **common))
    factor = 2.0 if loss == "softmax" else 1.0
    assert best.lam == pytest.approx(factor * binary.lam, rel=2e-5)
    assert best.value == pytest.approx(binary.value, abs=1e-9)


@pytest.mark.parametrize("loss", ["square", "softmax"])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shares", [[0.2, 0.3, 0.5], [1 / 3, 1 / 3, 1 / 3], [0.4, 0.4, 0.2]])
def test_the_limit_of_an_infinite_ridge(loss, bias, shares):
    """Where two classes share the first place the outputs of the next order decide between them."""
    covariances = [[0.5], [1.0], [1.5]]
    model = replace(classes(3, loss, bias=bias, covariances=covariances), probabilities=shares)
    error, fresh = infinite_ridge_of_classes(model)
    point = glm.solve(replace(model, lam=1e5))
    assert error == pytest.approx(point.test_error, abs=3e-5)
    assert fresh == pytest.approx(point.test_loss, abs=1e-4)


@pytest.mark.slow
def test_five_classes_have_a_best_ridge():
    model = classes(5, "square")
    best = glm.optimal_ridge(model)
    assert best.lam == pytest.approx(2.32, abs=0.02)
    assert best.value < min(value(model, best.lam * factor, "error") for factor in (0.8, 1.25)) - 1e-4


@pytest.mark.parametrize(("loss", "replicates"), [("square", 40), pytest.param("softmax", 40, marks=pytest.mark.slow)])
def test_the_best_ridge_is_best_in_fits(agrees, loss, replicates):
    """Errors of the same samples at a ridge far below the best one, at it, and far above it."""
    model, p = classes(3, loss), 100
    lam = glm.optimal_ridge(model).lam
    lams = (lam / 20, lam, 20 * lam)
    wanted = [value(model, one, "error") for one in lams]
    n, gram = round(model.alpha * p), model.modes.gram[:, :, 0]
    means = np.linalg.cholesky(gram) @ np.eye(3, p)  # their Gram matrix is that of the model
    found = []
    for r in range(replicates):
        rng = stream(0, "best ridge of classes", loss, r)
        y = rng.choice(3, n, p=model.probabilities)
        X = rng.standard_normal((n, p)) + means[y]
        errors = []
        fresh = rng.choice(3, 4000, p=model.probabilities)
        Z = rng.standard_normal((4000, p)) + means[fresh]
        for one in lams:
            fit = fit_multiclass(X, y, 3, loss, one)
            errors.append(float(np.mean(fit.fields(Z).argmax(axis=1) != fresh)))
        found.append(errors)
    runs = np.array(found)
    for side in (0, 2):
        gap = Estimate.of(runs[:, side] - runs[:, 1])
        assert gap.mean > 4.5 * gap.stderr
        agrees(gap, wanted[side] - wanted[1], resolves=1.0, bias=0.1 * abs(wanted[side] - wanted[1]))
