"""Losses that are least at margin 0: the training leaves no weights, in theory and in fits."""

import numpy as np
import pytest

from simulate.glm import fit
from theory import glm
from theory.glm import ConvexMargin

EVEN = ConvexMargin(lambda t: t * t / 2, derivative=lambda t: t, name="even")
PERCEPTRON = ConvexMargin(lambda t: np.maximum(-t, 0.0), derivative=lambda t: -1.0 * (t < 0), kinks=(0.0,))
DISTANCE = ConvexMargin(
    abs, proximal=lambda t, V: np.sign(t) * np.maximum(abs(t) - V, 0.0), kinks=(0.0,), name="distance"
)


def mixture(loss, alpha=1.0, lam=0.1, **options):
    return glm.gaussian_mixture(variances=0.5, probability=0.5, alpha=alpha, lam=lam, loss=loss, **options)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("loss", [EVEN, PERCEPTRON, DISTANCE], ids=["even", "perceptron", "distance"])
def test_no_weights_are_left_and_every_field_is_a_tie(loss, bias):
    """The search in logarithms ended in a ConvergenceError, or at q = 1e-29 with errors of rounding."""
    point = glm.solve(mixture(loss, alpha=0.7, bias=bias))
    assert point.converged
    for name in ("q", "r", "bias", "squared_norm"):
        assert not getattr(point, name).any()
    assert (point.train_loss, point.test_loss, point.energy) == (0.0, 0.0, 0.0)
    assert (point.test_error, point.train_error) == (0.5, 0.5)
    assert point.cluster_errors.tolist() == [0.5, 0.5]
    assert point.stable
    assert point.residual < 1e-11
    with pytest.raises(ValueError, match="fields must be those of weights that are not zero"):
        point.calibration([0.0])


def test_the_response_of_small_fields():
    """V = om/(lam + Vhat om); Vhat is alpha/(1 + V) for the even loss, and alpha k/V with the kinked share k."""
    om, lam = 0.5, 0.1
    for alpha in (0.2, 1.0, 30.0):
        b = lam + om * alpha - om
        exact = (-b + np.sqrt(b * b + 4 * lam * om)) / (2 * lam)
        found = glm.solve(mixture(EVEN, alpha)).V
        assert found == pytest.approx([exact], rel=1e-9)
    for loss, kinked in ((PERCEPTRON, 0.5), (DISTANCE, 1.0)):
        for alpha in (0.3, 0.999, 1.0, 1.7, 2.0, 5.0):
            point = glm.solve(mixture(loss, alpha))
            exact = max(0.0, om * (1 - kinked * alpha) / lam)
            assert point.V.tolist() == pytest.approx([exact], rel=1e-6, abs=1e-7)
            assert point.stable or alpha * kinked == 1


def test_fits_end_there_too():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 20)), np.where(rng.random(40) < 0.5, 1.0, -1.0)
    for loss in (EVEN, PERCEPTRON):
        found = fit(X, y, loss, lam=0.1)
        assert abs(found.weights).max() < 1e-6


def test_losses_that_are_least_elsewhere_keep_their_weights():
    shifted = ConvexMargin(lambda t: (t - 0.01) ** 2 / 2, derivative=lambda t: t - 0.01)
    point = glm.solve(mixture(shifted))
    assert point.q[0] > 0
    assert type(point).__name__ == "SaddlePoint"
