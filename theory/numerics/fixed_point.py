"""Fixed points x = update(x) of saddle-point equations: one driver for every model."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from theory.core.arrays import Array
from theory.numerics.search import Counted, search
from theory.numerics.solution import Solution, Status, verified
from theory.numerics.steps import Anderson, Map, differences, drawn_back, newton_step, relative_gap

Proposal = Callable[[Array, Array], Array]  # (x, update(x)) -> next x
Method = Literal["plain", "anderson", "newton", "search"]
METHODS = ("plain", "anderson", "newton", "search")


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
    """Solve x = update(x) for an admissible x with max |update(x) - x| / (1 + |x|) <= tol, the residual before damping.

    `method` proposes the next point: "plain" iteration damped by `damping` in [0, 1), "anderson" acceleration, or
    "newton" with `jacobian` (that of update, else central differences). `step`, a model's own map to a better point,
    replaces all three. Newton and `step` go on for one step once the residual is small: where the map is nearly neutral
    x can be off by much more than its residual; a step that spoils the residual is taken back. A proposal outside the
    admissible set gives way to the plain step, and that to halvings of it. "search" takes damped, accelerated and
    Newton steps in turn from the best point seen (theory.numerics.search), for maps in logarithmic coordinates that
    the others leave; `max_iter` then bounds the evaluations of the map, and `damping` has no effect.

    Raises ConvergenceError, with the problem's own `advice` if given, or with check=False returns the last iterate and
    its status. NaN is never converged.
    """
    if method not in METHODS:
        raise ValueError(f"method must be 'plain', 'anderson', 'newton' or 'search', got {method!r}")
    if not 0 <= damping < 1:
        raise ValueError(f"damping must lie in [0, 1), got {damping!r}")
    if max_iter < 1 or not tol > 0:
        raise ValueError(f"max_iter must be at least 1 and tol positive, got {max_iter!r} and {tol!r}")
    if method == "search" and step is None:
        return verified(_searched(Counted(update, admissible), start, tol, max_iter), problem, check, advice)
    propose = _proposal(method, update, jacobian, memory) if step is None else lambda x, image: step(x)
    x = np.array(start, float)
    status: Status = "max_iter"
    residual, polished = np.inf, step is None and method != "newton"
    before: tuple[Array, float] | None = None  # the point from which the polishing step was made
    for iteration in range(max_iter + 1):
        image = np.asarray(update(x), float)
        residual = relative_gap(image, x)
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


def _searched(update: Counted, start: Array, tol: float, max_iter: int) -> Solution[Array]:
    x, residual = search(update, np.array(start, float), tol, max_iter)
    admissible = not residual <= tol or update.admissible(x)
    return Solution.judged(x, residual, tol, update.evaluations, admissible=admissible)


def _proposal(method: Method, update: Map, jacobian: Map | None, memory: int) -> Proposal:
    if method == "newton":
        return lambda x, image: x + newton_step(image, x, jacobian(x) if jacobian else differences(update, x))
    if method == "plain":
        return lambda x, image: np.full_like(x, np.nan)  # never admissible, so that the damped step is taken
    mixing = Anderson(memory + 1)

    def propose(x: Array, image: Array) -> Array:
        mixed = mixing.propose(x, image)
        return image if mixed is None else mixed

    return propose


def _accept(candidates: list[Array], x: Array, admissible: Callable[[Array], bool]) -> Array:
    """Return the first admissible candidate; failing that the plain one, drawn back towards x."""
    for candidate in candidates:
        if np.isfinite(candidate).all() and admissible(candidate):
            return candidate
    return drawn_back(admissible, x, (x + candidates[-1]) / 2, 30)
