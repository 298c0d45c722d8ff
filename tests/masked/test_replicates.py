"""Replicates against the same measurement done the slow way."""

from functools import partial

import numpy as np
import pytest

from simulate import masked
from simulate.core import replicate_values, stream
from simulate.masked import sample
from theory import models
from theory.models import AR1, Diagonal, MaskedRidge, Spiked, TeacherStudent

MODEL = MaskedRidge(AR1(10, 0.7), alpha=1.5, lam=0.05)


def ridge(Z, y, penalty):
    """argmin |y - Z a|^2 + penalty |a|^2 by lstsq on the augmented system."""
    augmented = np.vstack([Z, np.sqrt(penalty) * np.eye(Z.shape[1])])
    return np.linalg.lstsq(augmented, np.append(y, np.zeros(Z.shape[1])), rcond=None)[0]


def one_regression_each(model, d, rng, inputs):
    """Test and train error of every coordinate by d regressions."""
    covariance = model.covariance.resized(d)
    X = sample(covariance, round(model.alpha * d), rng, inputs)
    test, train = np.zeros(d), np.zeros(d)
    for k in range(d):
        others, weights = np.arange(d) != k, np.zeros(d)
        weights[others] = ridge(X[:, others], X[:, k], len(X) * model.lam)
        residual = np.eye(d)[k] - weights
        test[k], train[k] = residual @ covariance.matrix @ residual, np.mean((X @ residual) ** 2)
    return test, train


@pytest.mark.parametrize("inputs", ["gaussian", "rademacher", "student", "uniform"])
@pytest.mark.parametrize("alpha", [0.4, 1.0, 2.5])
@pytest.mark.parametrize("d", [10, 7])
def test_masked_errors_equal_separate_regressions(d, alpha, inputs):
    model = MaskedRidge(AR1(10, 0.7), alpha=alpha, lam=0.05)
    test, train = one_regression_each(model, d, stream(0, alpha, d), inputs)

    def measured(replicate):
        return replicate(model, d, stream(0, alpha, d), inputs=inputs)

    np.testing.assert_allclose(measured(masked.coordinate_test_errors), test, rtol=1e-10)
    assert measured(masked.mean_test_error) == pytest.approx(test.mean(), rel=1e-10)
    assert measured(masked.mean_train_error) == pytest.approx(train.mean(), rel=1e-10)


@pytest.mark.parametrize("alpha", [0.4, 1.0, 2.5])
@pytest.mark.parametrize(("noise", "signal_power"), [(0.0, 1.0), (0.3, 1.0), (0.5, 2.0)])
def test_teacher_student_error_equals_averages_over_orthonormal_teachers_and_noises(alpha, noise, signal_power):
    # the error is quadratic in teacher and noise, so Gaussian averages are means over orthonormal vectors
    model = TeacherStudent(AR1(10, 0.7), alpha, 0.05, noise, signal_power)
    Sigma, X = model.covariance.matrix, sample(model.covariance, round(alpha * 10), stream(1, alpha))
    n = len(X)
    misses = [w - ridge(X, X @ w, n * model.lam) for w in np.sqrt(signal_power) * np.eye(10)]
    shifts = [ridge(X, labels, n * model.lam) for labels in np.sqrt(noise) * np.eye(n)]
    plain = noise + np.mean([v @ Sigma @ v for v in misses]) + np.sum([v @ Sigma @ v for v in shifts])
    assert masked.teacher_student_error(model, 10, stream(1, alpha)) == pytest.approx(plain, rel=1e-10)


@pytest.mark.parametrize("covariance", [AR1(12, 0.7), models.Empirical(np.kron(np.eye(3), np.ones((4, 4))))])
@pytest.mark.parametrize("n", [9, 11, 12, 30])
def test_the_inverse_gives_the_same_as_the_modes_at_every_ridge(covariance, n, monkeypatch):
    lams = np.geomspace(1e-9, 1e3, 37).tolist()
    problems = [TeacherStudent(covariance, n / 12, lam, noise=0.5) for lam in lams]
    found = [masked.teacher_student_error(problem, 12, stream(0, n)) for problem in problems]
    monkeypatch.setattr("simulate.masked.teacher_student.FEW_ROWS_RATIO", np.inf)
    assert found == pytest.approx(
        [masked.teacher_student_error(problem, 12, stream(0, n)) for problem in problems], rel=3e-9
    )


def test_teacher_student_error_equals_drawn_teachers():
    # 400 teachers and noises on the same rows; 6 standard errors: a false alarm in 1e-8 of seeds
    model, rng = TeacherStudent(AR1(10, 0.7), 1.5, 0.05, noise=0.3), stream(2)
    X = sample(model.covariance, 15, stream(3))
    errors = []
    for _ in range(400):
        w = rng.standard_normal(10) / np.sqrt(10)
        labels = X @ w + np.sqrt(0.3) * rng.standard_normal(15)
        miss = w - ridge(X, labels, 15 * model.lam)
        errors.append(0.3 + miss @ model.covariance.matrix @ miss)
    exact, stderr = masked.teacher_student_error(model, 10, stream(3)), np.std(errors) / 20
    assert abs(np.mean(errors) - exact) < 6 * stderr < 0.2 * exact


def test_effective_ridge_is_that_of_the_rows():
    X = sample(MODEL.covariance, 15, stream(2))
    kappa = 15 / np.trace(np.linalg.inv(X @ X.T / 15 + MODEL.lam * np.eye(15)))
    assert masked.effective_ridge(MODEL, 10, stream(2)) == pytest.approx(kappa, rel=1e-12)


def test_sizes():
    assert masked.coordinate_test_errors(MODEL, 14, stream(3)).shape == (14,)
    assert np.isfinite(masked.mean_test_error(MaskedRidge(AR1(np.inf, 0.7), 2.0, 0.1), 8, stream(3)))
    assert masked.coordinate_test_errors(MaskedRidge(Diagonal([1.0, 2.0]), 2.0, 0.1), 6, stream(3)).shape == (6,)
    spiked = MaskedRidge(Spiked(AR1(4, 0.5), np.eye(4)[0], 2.0), 2.0, 0.1)
    assert np.isfinite(masked.mean_test_error(spiked, 4, stream(3)))
    with pytest.raises(ValueError, match="fixed d"):
        masked.mean_test_error(spiked, 8, stream(3))
    with pytest.raises(ValueError, match=r"alpha \* d must round to at least 1 sample, got alpha = 0.01, d = 10"):
        masked.mean_test_error(MaskedRidge(AR1(10, 0.7), 0.01, 0.1), 10, stream(3))


def test_replicates_resize_the_record_only_where_sizes_differ(monkeypatch):
    covariance = AR1(10, 0.7)
    monkeypatch.setattr(models.AR1, "resized", lambda self, d: pytest.fail("resized"))
    masked.mean_test_error(MaskedRidge(covariance, 1.5, 0.1), 10, stream(4))
    assert "matrix" in covariance.__dict__  # its cache serves the next replicate


@pytest.mark.usefixtures("one_process_streams")
@pytest.mark.parametrize("inputs", ["gaussian", "student"])
def test_one_and_two_workers_give_the_same_bits(inputs):
    replicate = partial(masked.coordinate_test_errors, inputs=inputs)
    one, two = (replicate_values(replicate, MODEL, 20, 6, seed=5, n_jobs=workers) for workers in (1, 2))
    assert one.shape == (6, 20)
    np.testing.assert_array_equal(one, two)
    assert len(np.unique(one)) == one.size
