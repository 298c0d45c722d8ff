"""Symmetries and limits of masked regression along training, on random covariances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

from theory import masked
from theory.masked.training.best_time import parabola_gain
from theory.models import (
    AR1,
    Descent,
    Diagonal,
    Empirical,
    Flow,
    HeavyBall,
    MaskedRidge,
    MaskedTraining,
    Nesterov,
    OnePass,
)

ratios = st.floats(0.1, 10)
times = st.floats(-2, 1.5).map(lambda exponent: 10.0**exponent)
penalties = st.sampled_from([0.0, 1e-3, 0.1, 1.0])
sizes, seeds = st.integers(2, 9), st.integers(0, 10**6)


def random_matrix(d, seed):
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((d, 2 * d)) * rng.uniform(0.5, 2, (d, 1))
    return factor @ factor.T / (2 * d)


@given(sizes, seeds, ratios, times, penalties)
@settings(max_examples=25)
def test_permuting_coordinates_permutes_errors(d, seed, alpha, time, lam):
    matrix, order = random_matrix(d, seed), np.random.default_rng(seed).permutation(d)
    for exact_size in (False, True):
        plain, permuted = (
            masked.solve(MaskedTraining(Empirical(one), alpha, Flow(time), lam), exact_size=exact_size)
            for one in (matrix, matrix[np.ix_(order, order)])
        )
        np.testing.assert_allclose(permuted.test_error, plain.test_error[order], rtol=1e-8)
        np.testing.assert_allclose(permuted.train_error, plain.train_error[order], rtol=1e-7, atol=1e-10)
    rows = masked.training_predictor(MaskedTraining(Empirical(matrix), alpha, Flow(time), lam))
    again = masked.training_predictor(MaskedTraining(Empirical(matrix[np.ix_(order, order)]), alpha, Flow(time), lam))
    np.testing.assert_allclose(again, rows[np.ix_(order, order)], atol=1e-9)


@given(sizes, seeds, ratios, times, penalties, st.floats(-4, 4).map(lambda exponent: 10.0**exponent))
@settings(max_examples=25)
def test_units(d, seed, alpha, time, lam, unit):
    """Sigma -> c Sigma, lam -> c lam and t -> t/c give E -> c E and leave the predictor alone."""
    matrix = random_matrix(d, seed)
    plain = MaskedTraining(Empirical(matrix), alpha, Flow(time), lam)
    scaled = MaskedTraining(Empirical(unit * matrix), alpha, Flow(time / unit), unit * lam)
    one, other = masked.solve(plain), masked.solve(scaled)
    np.testing.assert_allclose(other.test_error, unit * one.test_error, rtol=1e-9)
    np.testing.assert_allclose(other.train_error, unit * one.train_error, rtol=1e-7, atol=1e-10 * unit)
    np.testing.assert_allclose(masked.training_predictor(scaled), masked.training_predictor(plain), atol=1e-9)


def test_units_of_optimizers():
    """The same with a step that is divided by c."""
    for make in (
        lambda c: Descent(0.1 / c, 40),
        lambda c: Nesterov(0.1 / c, 30),
        lambda c: HeavyBall(0.1 / c, 30, 0.5),
    ):
        one, other = (masked.solve(MaskedTraining(Empirical(c * AR1(6, 0.5).matrix), 2.0, make(c))) for c in (1, 100))
        np.testing.assert_allclose(other.test_error, 100 * one.test_error, rtol=1e-10)
    one, other = (
        masked.solve(MaskedTraining(Empirical(c * AR1(6, 0.5).matrix), 2.0, OnePass(0.5 / c))) for c in (1, 9)
    )
    np.testing.assert_allclose(other.test_error, 9 * one.test_error, rtol=1e-9)


@given(sizes, seeds, ratios)
@settings(max_examples=20)
def test_without_training_the_error_is_the_variance(d, seed, alpha):
    """At a short time t, E_k is Sigma_kk - 2 t sum_j Sigma_jk^2 over j != k, whatever the number of rows."""
    covariance = Empirical(random_matrix(d, seed))
    variances = np.diag(covariance.matrix)
    for time in (1e-12, 1e-6):
        found = masked.solve(MaskedTraining(covariance, alpha, Flow(time)))
        np.testing.assert_allclose(found.test_error, variances, rtol=1e-10 + 50 * d * time)
        np.testing.assert_allclose(found.train_error, variances, rtol=1e-10 + 50 * d * time / alpha)
    square = covariance.matrix**2
    slope = 2 * (square.sum(1) - variances**2)
    fall = (variances - found.test_error) / 1e-6
    np.testing.assert_allclose(fall, slope, rtol=1e-2, atol=1e-3 * variances.max() ** 2)


@given(sizes, seeds, ratios, st.sampled_from([0.2, 1.0]))
@settings(max_examples=20)
def test_long_training_ends_at_the_ridge(d, seed, alpha, lam):
    covariance = Empirical(random_matrix(d, seed))
    for exact_size in (False, True):
        late = masked.solve(MaskedTraining(covariance, alpha, Flow(60 / lam), lam), exact_size=exact_size)
        ridge = masked.solve(MaskedRidge(covariance, alpha, lam), exact_size=exact_size)
        np.testing.assert_allclose(late.test_error, ridge.test_error, rtol=1e-8)
        np.testing.assert_allclose(late.train_error, ridge.train_error, rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(late.gcv_error, ridge.gcv_error, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("alpha", [0.5, 2.0, 4.0])
def test_long_training_without_a_ridge_ends_at_least_squares(alpha):
    covariance = Diagonal(np.linspace(0.5, 2, 7))
    late = masked.solve(MaskedTraining(covariance, alpha, Flow(800.0)))
    np.testing.assert_allclose(late.test_error, masked.ridgeless(covariance, alpha).test_error, rtol=1e-8)


def test_the_predictor_ends_at_that_of_the_ridge():
    covariance = AR1(8, 0.6)
    late = masked.training_predictor(MaskedTraining(covariance, 2.0, Flow(200.0), lam=0.3))
    np.testing.assert_allclose(late, masked.predictor(MaskedRidge(covariance, 2.0, 0.3)), atol=1e-11)


@pytest.mark.parametrize("time", [0.1, 2.0])
def test_infinitely_many_rows_give_the_flow_on_the_population(time):
    """Of each coordinate by a matrix exponential: a = (1 - e^(-t Sigma_-k)) Sigma_-k^-1 Sigma_-k,k."""
    covariance = Empirical(random_matrix(6, 3))
    sigma, errors, rows = covariance.matrix, [], np.zeros((6, 6))
    for k in range(6):
        rest = np.delete(np.arange(6), k)
        minor, target = sigma[np.ix_(rest, rest)], sigma[rest, k]
        a = np.linalg.solve(minor, target - expm(-time * minor) @ target)
        errors.append(sigma[k, k] - 2 * a @ target + a @ minor @ a)
        rows[k, rest] = a
    model = MaskedTraining(covariance, 1e8, Flow(time))
    np.testing.assert_allclose(masked.solve(model).test_error, errors, rtol=1e-6)
    np.testing.assert_allclose(masked.training_predictor(model), rows, atol=1e-7)
    # One pass in steps that are small, over many rows, is the same flow.
    slow = masked.solve(MaskedTraining(covariance, 1e6 * time, OnePass(1e-6)))
    np.testing.assert_allclose(slow.test_error, errors, rtol=1e-5)


def test_small_steps_are_the_flow():
    """The gap is of first order in the step."""
    covariance, time = AR1(10, 0.5), 2.0
    flow = masked.solve(MaskedTraining(covariance, 1.5, Flow(time))).mean_test_error
    gaps = [
        masked.solve(MaskedTraining(covariance, 1.5, Descent(time / m, m))).mean_test_error - flow for m in (500, 1000)
    ]
    assert abs(gaps[1]) < 1e-3 * flow
    assert gaps[0] / gaps[1] == pytest.approx(2, rel=0.02)


@given(st.floats(-0.9, 0.9), ratios, times)
@settings(max_examples=15)
def test_a_curve_is_a_solve_at_every_time(correlation, alpha, time):
    grid = time * np.array([0.5, 1.0, 2.0])
    for covariance in (AR1(float("inf"), correlation), AR1(5, correlation)):
        curve = masked.training_curve(covariance, alpha, grid, lam=0.1)
        points = [masked.solve(MaskedTraining(covariance, alpha, Flow(t), 0.1)) for t in grid]
        for name in ("mean_test_error", "mean_train_error", "mean_gcv_error"):
            np.testing.assert_allclose(getattr(curve, name), [getattr(point, name) for point in points], rtol=1e-10)
        assert (np.diff(curve.mean_train_error) < 1e-12).all()  # rounding, where training has come to its end


def test_the_best_time_is_one_on_a_fine_grid():
    covariance = AR1(float("inf"), 0.7)
    for alpha in (0.5, 2.0):
        best = masked.best_time(covariance, alpha)
        around = masked.training_curve(covariance, alpha, best.time * np.array([0.99, 1.0, 1.01])).mean_test_error
        assert around[1] == pytest.approx(best.mean_test_error, rel=1e-10)
        assert (around >= best.mean_test_error * (1 - 1e-12)).all()
        assert best.bracket[0] < best.time < best.bracket[1]


def test_the_residual_of_the_best_time_is_what_a_parabola_could_still_gain():
    """Of a parabola with its bottom, 2, at a step of 0.004."""

    def along(step):
        return 2 + 3 * (step - 0.004) ** 2

    least = along(0.0)
    assert parabola_gain(along, least) == pytest.approx((least - 2) / least, rel=1e-9, abs=0)
    assert parabola_gain(lambda step: 4 - along(step), least) == float("inf")  # it has no bottom
    assert masked.best_time(AR1(float("inf"), 0.7), 1.0).residual < 1e-10


def test_beyond_the_best_ridge_training_goes_on_for_ever():
    """With more ridge than is best every further moment of training helps, and the limit is the answer."""
    covariance = AR1(float("inf"), 0.6)
    for lam in (1.0, 3.0):
        best = masked.best_time(covariance, 2.0, lam=lam)
        assert best.time == float("inf")
        assert best.mean_test_error == masked.solve(MaskedRidge(covariance, 2.0, lam)).mean_test_error
        late = masked.training_curve(covariance, 2.0, [5.0, 20.0], lam=lam).mean_test_error
        assert late[0] > best.mean_test_error
        assert late[1] == pytest.approx(best.mean_test_error, rel=1e-4)
        assert late[1] > best.mean_test_error - 1e-11  # rounding of the curve, where hardly anything is left to gain


def test_time_and_ridge_are_no_worse_than_either_alone():
    for covariance, alpha in ((AR1(float("inf"), 0.3), 0.5), (AR1(20, 0.9), 3.0)):
        both = masked.best_time(covariance, alpha, with_ridge=True)
        alone = masked.best_time(covariance, alpha).mean_test_error
        assert both.mean_test_error <= min(alone, masked.optimal_ridge(covariance, alpha).mean_test_error)
        assert both.residual < 1e-8


def test_where_nothing_can_be_learned_it_is_best_not_to_train():
    best = masked.best_time(Diagonal(np.linspace(1, 2, 5)), 2.0)
    assert best.time == 0
    assert best.mean_test_error == pytest.approx(1.5)


def test_one_pass_starts_at_the_variance_and_follows_its_curve():
    covariance = Diagonal([0.5, 1.0, 3.0])
    found = masked.solve(MaskedTraining(covariance, 2.0, OnePass(0.4)))
    assert found.alphas[0] == 0
    assert found.alphas[-1] == 2.0
    assert found.mean_test_errors[0] == pytest.approx(1.5)
    assert found.mean_test_error == pytest.approx(found.test_error.mean())
    half = masked.solve(MaskedTraining(covariance, 1.0, OnePass(0.4)))
    middle = np.interp(1.0, found.alphas, found.mean_test_errors)
    assert half.mean_test_error == pytest.approx(middle, rel=1e-8)
