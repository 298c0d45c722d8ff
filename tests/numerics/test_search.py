"""The search of last resort, restarts and continuation."""

import numpy as np
import pytest

from theory.numerics import ConvergenceError, Counted, first_solved, follow, newton, search, solve_fixed_point
from theory.numerics.steps import Anderson, differences, newton_step


def oscillating(x):
    """A map with slopes -4 and 0.99 at its fixed point 0, which plain iteration leaves and hardly approaches."""
    return np.array([-4.0 * x[0] + 0.1 * x[1] ** 2, 0.99 * x[1]])


def test_search_solves_what_plain_iteration_leaves():
    start = np.array([0.5, 0.5])
    with pytest.raises(ConvergenceError):
        solve_fixed_point(oscillating, start, method="plain", max_iter=400)
    solution = solve_fixed_point(oscillating, start, method="search", max_iter=400)
    assert solution.converged
    assert solution.iterations <= 60
    assert abs(solution.value).max() < 1e-9


def test_search_counts_every_evaluation_and_keeps_to_its_budget():
    calls = []
    update = Counted(lambda x: calls.append(x) or np.exp(x))  # no fixed point
    residual = search(update, np.array([0.0]), 1e-12, budget=30)[1]
    assert update.evaluations == len(calls) <= 30 + 80
    assert residual > 0.1
    with pytest.raises(ConvergenceError, match="max_iter after"):
        solve_fixed_point(np.exp, np.array([0.0]), method="search", max_iter=30)


def test_search_goes_around_points_without_an_image():
    def update(x):
        with np.errstate(invalid="ignore"):
            return 3 - np.sqrt(1.5 - x)  # no image from 1.5 on; root 0.5 (5 - sqrt(13)) is not there, see below

    root = 0.5 * (5 - np.sqrt(3.0))
    assert np.isnan(update(np.array([root]))).all()  # the only algebraic root lies where the map has no value
    with pytest.raises(ConvergenceError):
        solve_fixed_point(update, np.array([1.4]), method="search", max_iter=500)

    def solvable(x):
        with np.errstate(invalid="ignore"):
            return np.sqrt(x) * 0.5  # none below 0

    solution = solve_fixed_point(solvable, np.array([3.0]), admissible=lambda x: bool(x[0] > 0), method="search")
    assert solution.value[0] == pytest.approx(0.25, rel=1e-10)


def test_a_finer_aim_is_kept():
    def update(x):
        return np.cos(x)

    coarse = search(Counted(update), np.array([0.0]), 1e-2, 500, aim=1e-14)
    assert coarse[1] <= 1e-14


def test_newton_halves_steps_that_do_not_help():
    """arctan: full steps from 3 run away."""
    x, residual = newton(Counted(lambda x: x - np.arctan(x)), np.array([3.0]), 1e-13)
    assert residual <= 1e-13
    assert abs(x[0]) < 1e-12


def test_differences_are_the_jacobian_and_newton_takes_the_shortest_move():
    def update(x):
        return np.array([x[0] * x[1], np.sin(x[0])])

    x = np.array([0.7, -0.3])
    exact = np.array([[-0.3, 0.7], [np.cos(0.7), 0.0]])
    np.testing.assert_allclose(differences(update, x), exact, atol=1e-9)
    neutral = newton_step(np.array([1.0, 2.0]), np.zeros(2), np.diag([1.0, 0.0]))
    np.testing.assert_allclose(neutral, [0.0, 2.0], atol=1e-15)
    assert np.isnan(newton_step(np.ones(2), np.zeros(2), np.full((2, 2), np.nan))).all()


def test_anderson_solves_a_linear_map_in_as_many_steps_as_it_has_dimensions():
    matrix = np.array([[0.9, 0.3], [-0.5, 0.7]])
    mixing, x = Anderson(3), np.zeros(2)
    for _ in range(4):
        image = matrix @ x + 1.0
        mixed = mixing.propose(x, image)
        x = image if mixed is None else mixed
    np.testing.assert_allclose(x, np.linalg.solve(np.eye(2) - matrix, np.ones(2)), rtol=1e-10)
    mixing.clear()
    assert mixing.propose(x, x) is None


def test_attempts_stop_at_the_first_that_solves():
    made = []

    def attempt(residual):
        made.append(residual)
        return np.array([residual]), residual

    attempts = [lambda r=r: attempt(r) for r in (1.0, 0.5, 1e-13, 1e-15)]
    assert first_solved(attempts, 1e-12)[1] == 1e-13
    assert made == [1.0, 0.5, 1e-13]
    assert first_solved(attempts[:2], 1e-12)[1] == 0.5
    assert first_solved(attempts[1::-1], 1e-12)[1] == 0.5  # the best, not the last
    with pytest.raises(ValueError, match="attempts must not be empty"):
        first_solved([], 1e-12)


def test_continuation_extrapolates_along_its_path():
    guesses = []

    def at(problem, guess):
        guesses.append(None if guess is None else float(guess[0]))
        return np.array([2.0 * problem + 1.0]), 0.0

    x, residual = follow([(0.0, 0.0), (1.0, 1.0), (3.0, 3.0)], at)
    assert guesses == [None, 1.0, 7.0]
    assert x[0] == 7.0
    assert residual == 0.0
