"""Fixed points x = update(x) of saddle-point equations: one loop for every model."""

from collections import deque
from collections.abc import Callable
from typing import Literal

import numpy as np

from theory.models.arrays import Array
from theory.numerics.solution import Solution, Status, verified

Map = Callable[[Array], Array]
Proposal = Callable[[Array, Array], Array]  # (x, update(x)) -> next x
Method = Literal["plain", "anderson", "newton"]


def solve_fixed_point(
    update: Map,
    start: Array,
    *,
    admissible: Callable[[Array], bool] = lambda x: True,
    method: Method = "anderson",
    jacobian: Map | None = None,
    step: Map | None = None,
    damping: float = 0.0,
    tol: float = 1e-12,
    max_iter: int = 1000,
    memory: int = 5,
    problem: str = "fixed point",
    check: bool = True,
    advice: str | None = None,
) -> Solution[Array]:
    """The admissible x with max |update(x) - x| / (1 + |x|) <= tol, the residual before any damping.

    `method` proposes the next point: "plain" iteration damped by `damping` in [0, 1), "anderson" acceleration, or
    "newton" with `jacobian` (that of update, else forward differences). `step`, a model's own map to a better point,
    replaces all three. Newton and `step` go on for one step once the residual is small: where the map is nearly neutral
    x can be off by much more than its residual; a step that spoils the residual is taken back. A proposal outside the
    admissible set gives way to the plain step, and that to halvings of it. Raises ConvergenceError, with the problem's
    own `advice` if given, or with check=False returns the last iterate and its status. NaN is never converged.
    """
    if not 0 <= damping < 1:
        raise ValueError(f"damping must lie in [0, 1), got {damping!r}")
    if max_iter < 1 or not tol > 0:
        raise ValueError(f"max_iter must be at least 1 and tol positive, got {max_iter!r} and {tol!r}")
    propose = _proposal(method, update, jacobian, memory) if step is None else lambda x, image: step(x)
    x = np.array(start, float)
    status: Status = "max_iter"
    residual, polished = np.inf, step is None and method != "newton"
    before: tuple[Array, float] | None = None  # the point from which the polishing step was made
    for iteration in range(max_iter + 1):
        image = np.asarray(update(x), float)
        residual = _residual(image, x)
        if before and not (residual <= tol and admissible(x)):
            (x, residual), status = before, "converged"
            break
        before = None
        if not np.isfinite(residual):
            status = "diverged"
        elif residual <= tol and (polished or iteration == max_iter):
            status = "converged" if admissible(x) else "inadmissible"
        if status != "max_iter" or iteration == max_iter:
            break
        if not polished and residual <= tol:
            polished, before = True, (x, residual) if admissible(x) else None
        plain = x + (1 - damping) * (image - x)
        x = _accept([propose(x, image), plain], x, admissible)
    return verified(Solution(x, status, residual, tol, iteration), problem, check, advice)


def _proposal(method: Method, update: Map, jacobian: Map | None, memory: int) -> Proposal:
    if method == "plain":
        return lambda x, image: np.full_like(x, np.nan)  # leaves the field to the damped step
    if method == "anderson":
        return _Anderson(memory)
    if method == "newton":
        return lambda x, image: _newton(x, image, jacobian(x) if jacobian else _differences(update, x, image))
    raise ValueError(f"method must be 'plain', 'anderson' or 'newton', got {method!r}")


def _newton(x: Array, image: Array, jacobian: Array) -> Array:
    try:
        return np.asarray(x + np.linalg.solve(np.eye(len(x)) - jacobian, image - x))
    except np.linalg.LinAlgError:
        return np.full_like(x, np.nan)


def _differences(update: Map, x: Array, image: Array) -> Array:
    steps = 1e-7 * (1 + abs(x))
    columns = [(np.asarray(update(x + h * e)) - image) / h for h, e in zip(steps, np.eye(len(x)), strict=True)]
    return np.stack(columns, axis=1)


class _Anderson:
    """Anderson acceleration: the combination of the last points whose residuals cancel best."""

    def __init__(self, memory: int) -> None:
        self.points: deque[tuple[Array, Array]] = deque(maxlen=memory + 1)

    def __call__(self, x: Array, image: Array) -> Array:
        self.points.append((x, image))
        if len(self.points) == 1:
            return image
        images = np.array([g for _, g in self.points])
        residuals = images - np.array([y for y, _ in self.points])
        mixing = np.linalg.lstsq(np.diff(residuals, axis=0).T, residuals[-1], rcond=1e-12)[0]
        return np.asarray(images[-1] - mixing @ np.diff(images, axis=0))


def _residual(image: Array, x: Array) -> float:
    with np.errstate(invalid="ignore", over="ignore"):
        return float(np.max(abs(image - x) / (1 + abs(x))))


def _accept(candidates: list[Array], x: Array, admissible: Callable[[Array], bool]) -> Array:
    """The first admissible candidate; failing that the plain one drawn back towards x."""
    for candidate in candidates:
        if np.isfinite(candidate).all() and admissible(candidate):
            return candidate
    shortened = candidates[-1]
    for _ in range(30):
        shortened = (x + shortened) / 2
        if admissible(shortened):
            break
    return shortened
