"""Limited-memory BFGS: convex functions of any scale, and every way to end."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulate.potts.inference.descent import FIRST_STEP_SHARE, SINGLE_PRECISION_GRADIENT, Options, descend
from simulate.potts.inference.minimize import HISTORY_PAIRS, fixed, minimize


def quadratic(curvatures, center):
    def function(x):
        gradient = curvatures * (x - center)
        return float(gradient @ (x - center)) / 2, gradient

    return function


@given(condition=st.floats(1, 1e4), seed=st.integers(0, 50))
@settings(max_examples=15)
def test_quadratics_of_any_condition(condition, seed):
    center = np.random.default_rng(seed).standard_normal(8)
    function = quadratic(np.geomspace(1, condition, 8), center)
    found = minimize(function, np.zeros(8), fixed(np.ones(8)), tol=1e-8, max_iter=500)
    assert found.converged
    np.testing.assert_allclose(found.point, center, atol=1e-7 * condition)


def test_the_true_diagonal_takes_one_step():
    curvatures = np.geomspace(1, 1e6, 8)
    found = minimize(quadratic(curvatures, np.ones(8)), np.zeros(8), fixed(1 / curvatures), tol=1e-12, max_iter=5)
    assert found.iterations == 1


def test_a_step_far_too_long_is_shortened():
    found = minimize(quadratic(np.ones(3), np.ones(3)), np.zeros(3), fixed(np.full(3, 1e9)), tol=1e-10, max_iter=50)
    assert found.converged
    assert found.evaluations > found.iterations + 1


def test_a_softplus_that_overflows_at_the_first_step():
    def function(x):
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.exp(x).sum() - x.sum()), np.exp(x) - 1

    found = minimize(function, np.full(2, -8.0), fixed(np.full(2, 1e3)), tol=1e-8, max_iter=100)
    assert found.converged
    np.testing.assert_allclose(found.point, 0, atol=1e-7)


@pytest.mark.parametrize("tol", [1e-2, 1e-10])
def test_all_evaluations_are_counted(tol):
    """Those in single precision and, where the tolerance needs it, those in double precision."""
    calls = {np.float32: 0, np.float64: 0}
    inner = quadratic(np.geomspace(1, 100, 8), np.ones(8))

    def objective(dtype):
        def function(x):
            calls[dtype] += 1
            return inner(x)

        return function

    found = descend(
        objective, np.zeros(8), fixed(np.ones(8)), Options(l2=0.0, field_l2=0.0, tol=tol, max_iter=200, n_threads=1)
    )
    assert found.converged
    assert (calls[np.float64] > 0) == (tol < SINGLE_PRECISION_GRADIENT)
    assert found.evaluations == sum(calls.values())
    coarse = minimize(
        inner,
        np.zeros(8, np.float32),
        fixed(np.ones(8)),
        tol=max(tol, SINGLE_PRECISION_GRADIENT),
        max_iter=200,
        first_step=FIRST_STEP_SHARE,
    )
    start = coarse.point.astype(float)
    fine = minimize(inner, start, fixed(np.ones(8)), tol=tol, max_iter=200, reference=coarse.reference)
    assert found.iterations == coarse.iterations + fine.iterations


def test_every_end_is_named():
    function = quadratic(np.geomspace(1, 1e4, 8), np.ones(8))
    early = minimize(function, np.zeros(8), fixed(np.ones(8)), tol=1e-12, max_iter=2)
    assert (early.converged, early.reason, early.iterations) == (False, "max_iter", 2)

    stuck = minimize(lambda x: (0.0, np.full(2, np.nan)), np.zeros(2), fixed(np.ones(2)), tol=1e-3, max_iter=9)
    assert (stuck.converged, stuck.reason) == (False, "no step lowers the objective")

    kink = minimize(
        lambda x: (float(abs(x).sum()), np.sign(x + 1e-300)), np.zeros(2), fixed(np.ones(2)), tol=1e-3, max_iter=9
    )
    assert (kink.converged, kink.reason) == (False, "no step lowers the objective")

    at_once = minimize(quadratic(np.ones(2), np.zeros(2)), np.zeros(2), fixed(np.ones(2)), tol=1e-3, max_iter=9)
    assert (at_once.converged, at_once.iterations, at_once.reason) == (True, 0, "gradient below tolerance")


def test_the_norm_is_relative_to_the_start_or_to_what_is_given():
    function = quadratic(np.ones(2), np.array([3.0, 4.0]))
    assert minimize(function, np.zeros(2), fixed(np.ones(2)), tol=0.5, max_iter=9).reference == pytest.approx(5)
    given = minimize(function, np.zeros(2), fixed(np.ones(2)), tol=0.5, max_iter=9, reference=100)
    assert (given.iterations, given.gradient_norm) == (0, pytest.approx(0.05))


def two_loops(g, pairs, diagonal):
    """The direction -H g of the two-loop recursion, vector by vector, with H starting from the secant diagonal."""
    d, shares = -g, []
    for s, y in reversed(pairs):
        shares.append((s @ d) / (s @ y))
        d = d - shares[-1] * y
    s, y = pairs[-1]
    d = d * diagonal * (s @ y) / (y @ (diagonal * y))
    for (s, y), share in zip(pairs, reversed(shares), strict=True):
        d = d + (share - (y @ d) / (s @ y)) * s
    return d


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 1e-4), (np.float64, 1e-5)])
def test_steps_are_those_of_the_two_loop_recursion(dtype, rtol):
    """A function with a curvature that changes, in more steps than pairs are kept, after the pairs of the run."""
    rng, points, gradients = np.random.default_rng(0), [], []
    A = rng.standard_normal((12, 12)) / 4
    diagonal = rng.uniform(0.3, 0.6, 12)

    def function(x):
        z = A @ x.astype(float) - 1
        gradient = A.T @ np.tanh(z) + x
        points.append(x.astype(float))
        gradients.append(gradient)
        return float(np.log(np.cosh(z)).sum() + 0.5 * x @ x), gradient.astype(dtype)

    found = minimize(function, np.zeros(12, dtype), fixed(diagonal.astype(dtype)), tol=1e-5, max_iter=50)
    accepted, compared = [0], 0
    for k in range(1, len(points)):
        at = accepted[-1]
        step = points[k] - points[at]
        if accepted[-1] == k - 1 and len(accepted) > 1:  # later tries are shorter
            runs = [(accepted[j], accepted[j + 1]) for j in range(len(accepted) - 1)][-HISTORY_PAIRS:]
            pairs = [(points[b] - points[a], gradients[b] - gradients[a]) for a, b in runs]
            expected = two_loops(gradients[at], pairs, diagonal)
            np.testing.assert_allclose(step, expected, atol=rtol * np.abs(points[k]).max())
            compared += 1
        if gradients[k] @ step <= -0.5 * gradients[at] @ step:
            accepted.append(k)
    assert len(accepted) == found.iterations + 1
    assert compared > HISTORY_PAIRS + 1
