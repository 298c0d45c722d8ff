"""What records of generalized linear models know without solving: moments of features, spectra, conventions."""

import math

import numpy as np
import pytest

from theory.glm.systems import projection_spectrum
from theory.models import (
    GaussianCovariateModel,
    GaussianMixture,
    GeneralizedLinearModel,
    RandomFeatures,
    TeacherMixture,
)

MOMENTS = {  # E f, E z f, E f^2 - (E f)^2 - (E z f)^2
    "sign": (0.0, math.sqrt(2 / math.pi), 1 - 2 / math.pi),
    "erf": (0.0, 2 / math.sqrt(3 * math.pi), 2 / math.pi * math.asin(2 / 3) - 4 / (3 * math.pi)),
    "relu": (1 / math.sqrt(2 * math.pi), 0.5, 0.25 - 1 / (2 * math.pi)),
}


@pytest.mark.parametrize("activation", sorted(MOMENTS))
def test_moments_of_activations(activation):
    model = RandomFeatures(activation=activation, samples_per_input=1.0, features_per_input=1.0, lam=1.0)
    mean, linear, rest = model.moments
    assert (mean, linear, rest**2) == pytest.approx(MOMENTS[activation], abs=1e-13)


def test_an_own_activation():
    own = RandomFeatures(activation=lambda z: z**3, samples_per_input=1.0, features_per_input=2.0, lam=1.0)
    mean, linear, rest = own.moments
    assert (mean, linear, rest**2) == pytest.approx((0, 3, 6), abs=1e-9)
    assert own.alpha == 0.5


@pytest.mark.parametrize("ratio", [0.2, 0.9, 0.99, 1.0, 1.0001, 1.7, 6.0])
def test_spectra_of_projections(ratio):
    """F F^T has the mean eigenvalue 1 and the second moment 1 + p/d (Gaussian) or max(1, p/d) (orthogonal)."""
    for projection, second in (("gaussian", 1 + ratio), ("orthogonal", max(1.0, ratio))):
        x, weights = projection_spectrum(ratio, projection)
        assert weights.sum() == pytest.approx(1, abs=1e-12)
        assert weights @ x == pytest.approx(1, rel=1e-10)
        assert weights @ x**2 == pytest.approx(second, rel=1e-10)


def test_signal_and_power_from_blocks_and_from_data():
    rng = np.random.default_rng(0)
    u, mixing, theta = rng.standard_normal((5000, 4)), rng.standard_normal((4, 3)), np.array([1.0, -1, 2, 0.5])
    v = u @ mixing
    blocks = GaussianCovariateModel.from_blocks(
        u.T @ u / 5000, u.T @ v / 5000, v.T @ v / 5000, theta, alpha=1.0, lam=0.1
    )
    data = GaussianCovariateModel.from_data(v, u @ theta / 2, alpha=1.0, lam=0.1)  # nu = theta.u/sqrt(k)
    assert data.signal == pytest.approx(blocks.signal, rel=1e-10)
    assert data.power == pytest.approx(blocks.power, rel=1e-10)
    assert (data.loss, data.labels, data.p) == ("square", "linear", 3)


def test_opposite_means_cancel():
    modes = GaussianMixture.opposite(mean_power=2.0, variances=[0.5, 1.0], alpha=1.0, lam=0.1).modes
    assert modes.gram.sum(axis=2) == pytest.approx(np.array([[2.0, -2], [-2, 2]]))
    assert modes.weights == pytest.approx([0.5, 0.5])


def test_the_penalty_of_coupled_learners():
    from theory.glm import as_problem

    problem = as_problem(TeacherMixture(group_fraction=0.5, alpha=1.0, lam=0.1, coupling=0.3))
    assert isinstance(problem, GeneralizedLinearModel)
    w = np.array([1.0, -2.0])  # lam |w|^2 + coupling (w_1 - w_2)^2
    assert w @ problem.ridge @ w == pytest.approx(0.1 * 5 + 0.3 * 9)
    assert problem.covariance_learners == (0, 1)
