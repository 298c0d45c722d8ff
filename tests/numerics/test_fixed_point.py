"""The one loop of all saddle points: methods agree, and every way to fail is seen to be reported."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.numerics import ConvergenceError, Solution, solve_fixed_point, verified

METHODS = ("plain", "anderson", "newton")


def ridge_update(alpha, lam, noise=0.1):
    """Overlaps m, q and response V of ridge regression with x ~ N(0, I/d), loss |y - X w|^2 + lam |w|^2."""

    def update(x):
        m, q, V = x
        Vhat = alpha / (1 + V)
        qhat = alpha * (1 + q - 2 * m + noise) / (1 + V) ** 2
        shrink = 1 / (lam + Vhat)
        return np.array([Vhat * shrink, (Vhat**2 + qhat) * shrink**2, shrink])

    return update


def admissible(x):
    m, q, V = x
    return bool(V > 0 and m**2 <= q * (1 + 1e-9))


def exact_V(alpha, lam):
    """Positive root of lam V^2 + (lam + alpha - 1) V - 1 = 0."""
    b = lam + alpha - 1
    return (-b + np.sqrt(b * b + 4 * lam)) / (2 * lam)


START = np.array([0.0, 1.0, 1.0])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("alpha", "lam"), [(0.5, 0.3), (1.0, 1e-2), (1.0, 1e-4), (3.0, 1.0)])
def test_methods_agree_with_the_closed_form(method, alpha, lam):
    update = ridge_update(alpha, lam)
    solution = solve_fixed_point(update, START, admissible=admissible, method=method, max_iter=20_000)
    assert solution.converged
    assert solution.value[2] == pytest.approx(exact_V(alpha, lam), rel=1e-8)
    gap = abs(update(solution.value) - solution.value) / (1 + abs(solution.value))
    assert solution.residual == gap.max() <= solution.tol


def test_newton_takes_the_jacobian_that_it_is_given():
    calls = []

    def jacobian(x):
        calls.append(x)
        return np.array([[-np.sin(x[0])]])

    solution = solve_fixed_point(np.cos, np.array([1.0]), method="newton", jacobian=jacobian)
    assert solution.value[0] == pytest.approx(0.7390851332151607, abs=1e-15)
    assert len(calls) == solution.iterations <= 6


def test_a_step_of_the_model_replaces_the_method():
    solution = solve_fixed_point(lambda x: (x + 2 / x) / 2, np.array([1.0]), step=lambda x: np.array([np.sqrt(2)]))
    assert solution.iterations == 2  # one, and one to polish
    assert solution.value[0] == np.sqrt(2)


def test_the_false_root_is_a_trap_and_is_refused():
    """lam V^2 + lam V = 1 has a second root, V = -100.5, where the residual vanishes as well."""
    update, near = ridge_update(1.0, 1e-4), np.array([1.0, 1.0, -100.4])
    trapped = solve_fixed_point(update, near, method="newton")
    assert trapped.converged
    assert trapped.value[2] == pytest.approx(-100.5, abs=0.01)
    with pytest.raises(ConvergenceError, match="inadmissible after 0 iterations") as failure:
        solve_fixed_point(update, trapped.value, admissible=admissible)
    assert failure.value.solution.value[2] == trapped.value[2]
    for method in METHODS:
        solution = solve_fixed_point(update, START, admissible=admissible, method=method, max_iter=20_000)
        assert solution.value[2] == pytest.approx(exact_V(1.0, 1e-4), rel=1e-8)
        assert solution.value[2] > 99


def test_failure_is_raised_and_carries_the_last_iterate():
    update = ridge_update(1.0, 1e-4)
    with pytest.raises(
        ConvergenceError, match=r"ridge: max_iter after 3 iterations, residual .*; more steps are needed"
    ) as e:
        solve_fixed_point(update, START, admissible=admissible, max_iter=3, problem="ridge")
    solution = e.value.solution
    assert solution.residual > 1e-3
    assert solution.residual == np.max(abs(update(solution.value) - solution.value) / (1 + abs(solution.value)))


def test_unchecked_failure_is_returned_and_says_so():
    solution = solve_fixed_point(ridge_update(1.0, 1e-4), START, max_iter=3, check=False)
    assert (solution.converged, solution.status, solution.iterations) == (False, "max_iter", 3)
    assert solution.residual > 1e-3


@pytest.mark.parametrize("method", METHODS)
def test_nan_is_never_converged(method):
    for update in (lambda x: np.full_like(x, np.nan), lambda x: np.where(x > 1, np.nan, x + 1)):
        with pytest.raises(ConvergenceError, match="diverged"):
            solve_fixed_point(update, np.array([0.0, 0.0]), method=method)
    with pytest.raises(ConvergenceError, match="diverged after 0"):
        solve_fixed_point(lambda x: x, np.array([np.nan]), method=method)
    # one component that is not a number is enough
    solution = solve_fixed_point(lambda x: np.array([x[0], np.nan]), np.array([0.0, 0.0]), method=method, check=False)
    assert not solution.converged


def test_divergence_is_named():
    with pytest.raises(ConvergenceError, match=r"diverged after .* left the range of"), np.errstate(over="ignore"):
        solve_fixed_point(lambda x: 3 * x * x, np.array([2.0]), method="plain")


@pytest.mark.parametrize("damping", [0.0, 0.5, 0.9, 0.99])
def test_damping_does_not_touch_the_residual(damping):
    tol, seen = 1e-8, []

    def update(x):
        seen.append(x.copy())
        return np.cos(x)

    solution = solve_fixed_point(update, np.array([0.0]), method="plain", damping=damping, tol=tol, max_iter=20_000)
    assert abs(np.cos(solution.value) - solution.value)[0] <= tol * (1 + solution.value[0])
    # had the damped step been the measure, damping 0.99 would have stopped hundreds of iterations before
    before = [x for x in seen[1:-1] if (1 - damping) * abs(np.cos(x) - x)[0] / (1 + x[0]) <= tol]
    assert (len(before) > 100) == (damping == 0.99)


@given(st.floats(0.05, 10), st.floats(1e-3, 10))
@settings(max_examples=40)
def test_methods_agree_everywhere(alpha, lam):
    update = ridge_update(alpha, lam)
    values = [
        solve_fixed_point(update, START, admissible=admissible, method=method, max_iter=20_000).value
        for method in METHODS
    ]
    np.testing.assert_allclose(values[1:], [values[0]] * 2, rtol=1e-7)


def test_a_step_out_of_the_domain_gives_way():
    """Anderson and Newton propose x < 0, where the root of the map is imaginary."""
    for method in METHODS:
        solution = solve_fixed_point(
            lambda x: np.sqrt(x) * 0.5, np.array([3.0]), admissible=lambda x: bool(x[0] > 0), method=method, tol=1e-9
        )
        assert solution.value[0] == pytest.approx(0.25, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"damping": 1.0}, r"damping must lie in \[0, 1\), got 1.0"),
        ({"damping": -0.1}, "damping must lie"),
        ({"max_iter": 0}, "max_iter must be at least 1 and tol positive"),
        ({"tol": 0.0}, "max_iter must be at least 1 and tol positive"),
        ({"tol": np.nan}, "max_iter must be at least 1 and tol positive"),
        ({"method": "magic"}, "method must be 'plain', 'anderson', 'newton' or 'search', got 'magic'"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        solve_fixed_point(np.cos, np.array([1.0]), **options)


def test_error_survives_a_process_boundary():
    error = ConvergenceError("toy", Solution(np.array([1.0]), "max_iter", 0.5, 1e-12, 7))
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert copy.solution.iterations == 7


def test_verified():
    good = Solution(1.0, "converged", 1e-14, 1e-12, 3)
    assert verified(good, "toy", check=True) is good
    bad = Solution(1.0, "max_iter", 1e-2, 1e-12, 3)
    assert verified(bad, "toy", check=False) is bad
    with pytest.raises(ConvergenceError, match="toy: max_iter after 3"):
        verified(bad, "toy", check=True)


@pytest.mark.parametrize(
    ("residual", "options", "status"),
    [
        (1e-12, {}, "converged"),
        (1e-12, {"otherwise": "unverified"}, "converged"),
        (1e-12, {"admissible": False}, "inadmissible"),
        (2e-12, {}, "max_iter"),
        (2e-12, {"admissible": False}, "max_iter"),
        (2e-12, {"otherwise": "unverified"}, "unverified"),
        (np.inf, {}, "diverged"),
        (np.nan, {}, "diverged"),
        (np.nan, {"otherwise": "max_iter"}, "max_iter"),
    ],
)
def test_a_residual_gives_a_solution_its_status(residual, options, status):
    assert Solution.judged(1.0, residual, 1e-12, 3, **options).status == status


def test_a_solution_is_returned_or_refused_by_its_residual():
    assert Solution.verified(2.0, 1e-12, 1e-12, 3, what="toy") == Solution(2.0, "converged", 1e-12, 1e-12, 3)
    with pytest.raises(
        ConvergenceError, match=r"^toy: unverified, residual nan against tol 1e-12; take another$"
    ) as error:
        Solution.verified(2.0, np.nan, 1e-12, what="toy", advice="take another")
    assert (error.value.solution.value, error.value.solution.iterations) == (2.0, 0)
    with pytest.raises(
        ConvergenceError, match=r"^toy: max_iter after 3 iterations, residual 0\.01 against tol 1e-12; more"
    ):
        Solution.verified(2.0, 1e-2, 1e-12, 3, what="toy", otherwise="max_iter")
    unchecked = Solution.verified(2.0, 1e-2, 1e-12, 3, what="toy", check=False)
    assert unchecked == Solution(2.0, "unverified", 1e-2, 1e-12, 3)


def test_an_error_is_made_of_a_value_and_its_evidence():
    error = ConvergenceError.of("toy", 2.0, np.inf, 0.0, None, status="diverged", advice="take another")
    assert str(error) == "toy: diverged after 0 iterations, residual inf against tol 0; take another"
    assert error.solution == Solution(2.0, "diverged", np.inf, 0.0, 0)


@pytest.mark.parametrize("spoiled", [1.5, -1.0, np.nan])
def test_a_step_that_spoils_a_solution_is_taken_back(spoiled):
    """After the first step x is exact; the polishing one is worse, not admissible or not a number."""
    steps = iter([np.sqrt(2), spoiled, spoiled])
    solution = solve_fixed_point(
        lambda x: (x + 2 / x) / 2,
        np.array([1.0]),
        step=lambda x: np.array([next(steps)]),
        admissible=lambda x: not x[0] < 0,
        damping=0.0,
    )
    assert solution.converged
    assert solution.value[0] == pytest.approx(np.sqrt(2), rel=1e-15)


def test_advice_of_the_problem_replaces_the_general_one():
    with pytest.raises(ConvergenceError, match=r"against tol 1e-12; take a smaller lam$"):
        solve_fixed_point(ridge_update(1.0, 1e-4), START, max_iter=3, advice="take a smaller lam")
