"""The equations of random masks: first-order ones for the resolvent, second-order ones for the errors."""

from dataclasses import dataclass, field

import numpy as np

from theory.core.arrays import Array
from theory.masked.errors import variance_factor
from theory.masked.masks.classes import AllMasks, Response, RowClasses, row_classes
from theory.masked.masks.population import Population, Resolvent
from theory.numerics import ConvergenceError, solve_fixed_point
from theory.random_matrix import ridge_moments, solve_effective_ridge


@dataclass(frozen=True, eq=False)
class Point:
    """Hold the solved equations at one sample ratio, with the evidence for them.

    `first` (2,) are the weights S and W in the equivalent G = (S a Sigma + W b Delta + lam)^-1 of the resolvent.
    """

    first: Array
    test_error: Array = field(repr=False)
    train_error: Array = field(repr=False)
    residual: float
    iterations: int
    converged: bool


def solved_points(of: Population, alphas: Array, lam: float, mask_rate: float, n_masks: int | None) -> list[Point]:
    """Solve the equations at every sample ratio; ConvergenceError where a number leaves the floating-point range."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what that leaves behind is refused below
        if n_masks is None:
            points = all_masks(of, alphas, lam, mask_rate)
        else:
            classes = row_classes(n_masks, mask_rate)
            points = [finite_masks(of, float(alpha), lam, mask_rate, classes) for alpha in alphas]
    for alpha, point in zip(alphas, points, strict=True):
        if not np.isfinite([*point.first, *point.test_error, *point.train_error]).all():
            what, advice = _problem(alpha, lam, mask_rate), "take a less extreme alpha or lam"
            evidence = point.residual, 0.0, point.iterations
            raise ConvergenceError.of(what, point, *evidence, status="diverged", advice=advice)
    return points


def rates(mask_rate: float) -> tuple[float, float]:
    """Return (a, b) in E z z' = a Sigma + b Delta, for inputs z of which a fraction mask_rate is set to zero."""
    return (1 - mask_rate) ** 2, mask_rate * (1 - mask_rate)


def finite_masks(of: Population, alpha: float, lam: float, mask_rate: float, classes: RowClasses | AllMasks) -> Point:
    """Solve for the traces t_c = tr T_c G / n of T = (a Sigma, b Delta) by Newton's method, and find the errors there.

    The map from the traces to those of the G they define is increasing and concave (G is a parallel sum in the damping
    factors of the classes), so from above its root Newton's iterates fall to it monotonically; lam G <= 1 starts them.
    """
    scales = np.array(rates(mask_rate))

    def evaluate(traces: Array) -> tuple[Response, Resolvent, Array, Array]:
        response = classes.response(traces)
        x, y = map(float, response.first * scales)
        at = of.resolvent(x, y, lam)
        gram = scales[:, None] * at.products * scales / alpha
        return response, at, scales * np.array([at.sigma, at.delta]) / alpha, gram

    memo: dict[bytes, tuple[Response, Resolvent, Array, Array]] = {}

    def at_traces(traces: Array) -> tuple[Response, Resolvent, Array, Array]:
        if traces.tobytes() not in memo:
            memo.clear()
            memo[traces.tobytes()] = evaluate(traces)
        return memo[traces.tobytes()]

    def jacobian(traces: Array) -> Array:
        response, _, _, gram = at_traces(traces)
        return np.asarray(gram @ response.second)

    unregularized = of.resolvent(0.0, 0.0, lam)
    solution = solve_fixed_point(
        lambda traces: at_traces(traces)[2],
        scales * np.array([unregularized.sigma, unregularized.delta]) / alpha,
        admissible=lambda traces: bool(np.all(traces >= 0)),
        method="newton",
        jacobian=jacobian,
        max_iter=100,
        problem=_problem(alpha, lam, mask_rate),
    )
    response, at, _, gram = at_traces(solution.value)
    weights = np.stack([np.ones(2), response.rows], axis=1)
    raised = np.asarray(np.linalg.solve(np.eye(2) - response.second @ gram, weights), float)
    evidence = (solution.residual, solution.iterations, solution.converged)
    return _point(response.first, at, raised, mask_rate, evidence)


def all_masks(of: Population, alphas: Array, lam: float, mask_rate: float) -> list[Point]:
    """Solve the limit of infinitely many masks at every sample ratio, by the effective ridge of one spectrum.

    The masks act as a diagonal ridge L = b Delta + lam: with Sigma' = L^-1/2 a Sigma L^-1/2 the damping K of a sample
    is the effective ridge of Sigma' at unit ridge, K = 1 + tr Sigma' (Sigma'/K + 1)^-1 / n.
    """
    scales = np.array(rates(mask_rate))
    spectrum = of.whitened(scales[0], scales[1], lam)
    ridge = solve_effective_ridge(spectrum, alphas, np.ones_like(alphas))
    factors = variance_factor(ridge_moments(spectrum, ridge.value), alphas)
    evidence = (ridge.residual, ridge.iterations, ridge.converged)
    points = []
    for alpha, damping, factor in zip(alphas, 1 / ridge.value, factors, strict=True):
        at = of.resolvent(scales[0] * damping, scales[1], lam)
        cross = damping**2 * scales[0] * scales[1] * at.products[0, 1] / alpha
        raised = np.array([[factor * (1 + cross), factor * (damping**2 + cross)], [1.0, 1.0]])
        points.append(_point(np.array([damping, 1.0]), at, raised, mask_rate, evidence))
    return points


def _problem(alpha: float, lam: float, mask_rate: float) -> str:
    return f"random masks at alpha = {alpha:.6g}, lam = {lam:.6g}, mask_rate = {mask_rate:.6g}"


def _point(first: Array, at: Resolvent, raised: Array, mask_rate: float, evidence: tuple[float, int, bool]) -> Point:
    """Compute the errors at a solved point; `raised` (2, 2) weighs a Sigma and b Delta in the equivalent of G B G.

    Their first column is for the B of the test error, the second for that of the train error.
    """
    odds = mask_rate / (1 - mask_rate)
    shown, mask_noise = at.errors()
    test, train = (x * shown + y * odds * mask_noise for x, y in raised.T)
    return Point(first, test, train, *evidence)
