"""Ridge regression of a teacher's labels: dense algebra, limits, and no peak without label noise."""

import math

import numpy as np
import pytest

from tests.families import FINITE, LIMITS
from tests.masked import high_precision
from theory import masked
from theory.models import AR1, Isotropic, MaskedRidge, TeacherStudent
from theory.random_matrix import effective_ridge

INF = math.inf
POINTS = [(0.5, 1e-3), (1.0, 0.05), (3.0, 1.0)]


@pytest.mark.parametrize("name", FINITE)
@pytest.mark.parametrize(("alpha", "lam"), POINTS)
def test_by_dense_algebra(name, alpha, lam):
    """Mean over isotropic teachers of kappa^2 w^T R Sigma R w, raised by the sample."""
    sigma, d = FINITE[name].matrix, FINITE[name].size
    found = masked.teacher_student(TeacherStudent(FINITE[name], alpha, lam, noise=0.3, signal_power=2.0))
    kappa = effective_ridge(FINITE[name], alpha, lam).value
    R = np.linalg.inv(sigma + kappa * np.eye(d))
    bias = 2.0 * kappa**2 * np.trace(R @ sigma @ R) / d
    df2 = np.trace(sigma @ R @ sigma @ R) / d
    error = (0.3 + bias) / (1 - df2 / alpha)
    assert found.test_error == pytest.approx(error, rel=1e-9)
    assert found.risk == pytest.approx(error - 0.3, rel=1e-9)
    assert found.train_error == pytest.approx(error * (lam / kappa) ** 2, rel=1e-9)
    assert found.effective_ridge == pytest.approx(kappa, rel=1e-12)
    assert found.df2 == pytest.approx(df2, rel=1e-9)
    assert found.converged


@pytest.mark.parametrize(("alpha", "lam"), POINTS)
def test_isotropic_in_closed_form(alpha, lam):
    """With b = 1 - 1/alpha - lam: kappa = (sqrt(b^2 + 4 lam) - b)/2."""
    b = 1 - 1 / alpha - lam
    kappa = (math.sqrt(b * b + 4 * lam) - b) / 2
    expected = (0.1 + (kappa / (1 + kappa)) ** 2) / (1 - 1 / (alpha * (1 + kappa) ** 2))
    found = masked.teacher_student(TeacherStudent(Isotropic(INF), alpha, lam, noise=0.1))
    assert found.test_error == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(("alpha", "lam"), [(1.0, 1e-16), (0.5, 1e-8), (2.0, 0.1)])
def test_against_arbitrary_precision(alpha, lam):
    exact = high_precision.ar1(0.7, alpha, lam, digits=20)
    bias = exact.effective_ridge * (exact.df1 - exact.df2)
    expected = float(bias / (1 - exact.df2 / alpha))
    found = masked.teacher_student(TeacherStudent(AR1(INF, 0.7), alpha, lam))
    assert found.test_error == found.risk == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", ["AR1", "isotropic", "free field 2D"])
def test_only_masked_regression_and_noisy_labels_peak(name):
    """Noise-free error falls with the samples through alpha = 1; the other two rise above both sides."""
    alphas, lam = np.array([0.5, 1.0, 2.0]), 1e-8

    def errors(noise):
        records = [TeacherStudent(LIMITS[name], alpha, lam, noise=noise) for alpha in alphas]
        return np.array([masked.teacher_student(record).test_error for record in records])

    clean, noisy = errors(0.0), errors(0.1)
    assert clean[0] > clean[1] > clean[2]
    assert noisy[1] > 10 * max(noisy[0], noisy[2])
    peak = np.array([masked.solve(MaskedRidge(LIMITS[name], alpha, lam)).mean_test_error for alpha in alphas])
    assert peak[1] > 10 * max(peak[0], peak[2])


def test_masked_regression_is_a_teacher_with_the_conditional_variance_for_noise():
    """As lam -> 0 above interpolation both errors are noise alpha/(alpha - 1)."""
    variance = float(masked.conditional_variances(LIMITS["AR1"])[0])
    for alpha in (1.5, 4.0):
        label = masked.teacher_student(TeacherStudent(LIMITS["AR1"], alpha, 1e-12, noise=variance))
        assert label.test_error == pytest.approx(masked.ridgeless(LIMITS["AR1"], alpha).mean_test_error, rel=1e-9)


def test_limits_of_the_ridge():
    strong = masked.teacher_student(TeacherStudent(AR1(30, 0.7), 1.0, 1e9, noise=0.2, signal_power=3.0))
    assert strong.test_error == pytest.approx(3.2, rel=1e-6)  # nothing learned: signal_power tr Sigma/d + noise
    many = masked.teacher_student(TeacherStudent(AR1(30, 0.7), 1e9, 1e-9, noise=0.2))
    assert many.test_error == pytest.approx(0.2, rel=1e-6)
