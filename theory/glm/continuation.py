"""Continuation: an extreme problem reached from an easy one, each point started from the line through the last two."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from theory.models.arrays import Array
from theory.models.glm import GeneralizedLinearModel

Path = list[tuple[float, GeneralizedLinearModel]]  # (log of the parameter, problem), from the easy end
Finder = Callable[[GeneralizedLinearModel, Array | None], tuple[Array, float]]  # (problem, guess) -> point, residual


def ridges(problem: GeneralizedLinearModel) -> Path:
    """From lam = 10 down, four points a decade."""
    start = max(10.0, problem.lam)
    steps = 1 + int(np.ceil(4 * np.log10(start / problem.lam)))
    return [(np.log(lam), replace(problem, lam=float(lam))) for lam in np.geomspace(start, problem.lam, steps)]


def samples(problem: GeneralizedLinearModel) -> Path:
    """From alpha = 1/4 up or down, eight points a decade: the way to many samples at a vanishing ridge."""
    steps = 2 + int(np.ceil(8 * abs(np.log10(problem.alpha / 0.25))))
    alphas = np.geomspace(0.25, problem.alpha, steps)
    return [(np.log(alpha), replace(problem, alpha=float(alpha))) for alpha in alphas]


def follow(path: Path, at: Finder) -> tuple[Array, float]:
    """The point at the end of the path and its residual."""
    trail: list[tuple[float, Array]] = []
    residual = np.inf
    for place, problem in path:
        x, residual = at(problem, _extrapolated(trail, place) if trail else None)
        trail = [*trail[-1:], (place, x)]
    return x, residual


def _extrapolated(trail: list[tuple[float, Array]], place: float) -> Array:
    if len(trail) < 2 or trail[0][0] == trail[1][0]:
        return trail[-1][1]
    (before, x0), (last, x1) = trail
    return np.asarray(x1 + (x1 - x0) * (place - last) / (last - before))
