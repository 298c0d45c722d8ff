"""The limit of a vanishing ridge: a hard margin, an interpolation, or the fit without a penalty."""

from dataclasses import replace

from theory.glm.losses import loss_of
from theory.glm.problem_solver import solve_problem
from theory.glm.ridge import has_closed_form, ridge_regression
from theory.glm.ridge_slope import fresh_means
from theory.glm.saddle_point import SaddlePoint
from theory.glm.separability import problem_threshold
from theory.models.glm import GeneralizedLinearModel
from theory.numerics import ConvergenceError

TINY = 1e-20  # a ridge beside which all that a limit leaves is of the size of its square root
MARGIN_LOSSES = ("hinge", "logistic")  # which tend to a hard margin where the labels are separable


def vanishing_ridge(problem: GeneralizedLinearModel) -> tuple[float, float] | None:
    """Return test error and test loss as lam -> 0 where they are known from a limit; None elsewhere.

    A linear teacher with square loss has its closed form at lam = 0. Hinge and logistic loss tend to a hard margin
    where a hyperplane separates the labels (hinge loss as a power of lam, logistic loss as 1/log lam); the logistic
    loss of fresh samples diverges then, as the weights do. What is left are fits that stay as they are as lam -> 0,
    whose limit is that of a small lam.
    """
    if has_closed_form(problem):
        error = ridge_regression(problem, 0.0).test_error
        if error == float("inf"):  # at the interpolation peak, where the limit is finite if nothing is left to learn
            error = ridge_regression(problem, TINY).test_error
        return error, error / 2
    hard = _hard_margin(problem) if problem.loss in MARGIN_LOSSES and problem.coupling == 0 else None
    if hard is None:
        return None
    if problem.loss == "logistic":
        return hard.test_error, float("inf")
    return fresh_means(problem, loss_of(problem.loss), hard.overlaps, hard.bias)


def _hard_margin(problem: GeneralizedLinearModel) -> SaddlePoint | None:
    """Return the hard margin of the problem; None where there is none, or it is not known whether there is one."""
    threshold = problem_threshold(problem)
    if threshold is None or problem.alpha >= threshold:
        return None
    try:
        return solve_problem(replace(problem, loss="hard_margin", lam=1.0), threshold=threshold)
    except ConvergenceError:
        return None
