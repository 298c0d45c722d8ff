"""Ridges per sample and per unknown: the same minimum, and values listed in the other convention."""

import math

import numpy as np
import pytest

from theory import glm, masked
from theory.models import (
    AR1,
    GaussianCovariateModel,
    MaskedRidge,
    SpanMask,
    TeacherStudent,
    ridge_per_sample,
    ridge_per_unknown,
)
from theory.models.conventions import samples_per_unknown


def test_a_value_listed_per_unknown_and_with_half_the_error():
    lam = ridge_per_sample(0.3, 2.0)
    assert lam == pytest.approx(0.15, rel=1e-15)
    for solver in (masked.solve, masked.replica):
        error = np.mean(solver(MaskedRidge(AR1(math.inf, 0.6), 2.0, lam)).test_error)
        assert error / 2 == pytest.approx(0.325814902329, rel=1e-11)


def test_both_objectives_have_the_same_minimum():
    n, d, lam = 30, 6, 0.2
    X = np.random.default_rng(0).standard_normal((n, d))
    y, others = X[:, 0], X[:, 1:]
    L = ridge_per_unknown(lam, n / d, d)
    per_sample = np.linalg.solve(others.T @ others / n + lam * np.eye(d - 1), others.T @ y / n)
    per_unknown = np.linalg.solve(others.T @ others + L * (d - 1) * np.eye(d - 1), others.T @ y)
    np.testing.assert_allclose(per_sample, per_unknown, rtol=1e-12)


@pytest.mark.parametrize("d", [2, 7, np.int64(1000), math.inf])
def test_there_and_back(d):
    assert ridge_per_sample(ridge_per_unknown(0.15, 2.0, d), 2.0, d) == pytest.approx(0.15, rel=1e-15)
    assert samples_per_unknown(2.0, d) == (2.0 if d == math.inf else pytest.approx(2 * d / (d - 1)))


def test_refused():
    with pytest.raises(ValueError, match="d must be an integer of at least 2 or infinity, got 1"):
        ridge_per_unknown(0.1, 1.0, 1)
    with pytest.raises(ValueError, match="alpha must lie in"):
        ridge_per_unknown(0.1, 0.0)
    with pytest.raises(ValueError, match="L must lie in"):
        ridge_per_sample(-0.1, 1.0)


@pytest.mark.parametrize("alpha", [0.6, 2.0])
def test_a_record_of_one_subject_is_one_of_the_other_at_its_ridge_per_unknown(alpha):
    """A linear teacher on AR(1) inputs, by the random-matrix formula and by the saddle point of glm."""
    d, noise, power = 40, 0.3, 1.5
    record = TeacherStudent(AR1(d, 0.6), alpha, 0.05, noise, power)
    # the isotropic teacher has weight in all modes alike: w*.w* = d for fields divided by sqrt(d)
    basis = record.covariance.eigenvectors
    teacher = math.sqrt(power) * basis @ np.ones(d)
    same = GaussianCovariateModel.from_blocks(
        record.covariance.matrix,
        record.covariance.matrix,
        record.covariance.matrix,
        teacher,
        alpha=alpha,
        lam=record.ridge_per_unknown,
        loss="square",
        labels="linear",
        noise=noise,
    )
    assert record.ridge_per_unknown == alpha * record.lam
    assert glm.solve(same).test_error == pytest.approx(masked.solve(record).test_error, rel=1e-9)


def test_a_record_knows_its_unknowns():
    covariance = AR1(10, 0.6)
    assert MaskedRidge(covariance, 2.0, 0.1).ridge_per_unknown == ridge_per_unknown(0.1, 2.0, 10)
    assert TeacherStudent(covariance, 2.0, 0.1).ridge_per_unknown == 0.2
    assert SpanMask(covariance, 2.0, 0.1, [3, 4]).ridge_per_unknown == pytest.approx(0.1 * 20 / 8)
    assert MaskedRidge(AR1(math.inf, 0.6), 2.0, 0.1).ridge_per_unknown == 0.2
