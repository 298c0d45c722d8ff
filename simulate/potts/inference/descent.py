"""From independent sites down to the tolerance: single precision first, double where it is needed."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simulate.potts.inference.minimize import Function, Minimum, minimize
from theory.models import checks
from theory.models.arrays import Array
from theory.models.potts import centered

PSEUDOCOUNT = 1e-3  # added to the frequencies whose logarithms are the fields that a fit starts from
SINGLE = 1e-4  # relative gradient norm down to which single precision is used


@dataclass(frozen=True)
class Options:
    """Penalties, tolerance of the relative gradient norm, and limits of a fit."""

    l2: float
    field_l2: float
    tol: float
    max_iter: int
    n_threads: int


def descend(objective: Callable[[Any], Function], start: Array, scale: Array, options: Options) -> Minimum:
    """The minimum of objective(dtype), which computes in single or double precision."""
    coarse = minimize(objective(np.float32), start, scale, tol=max(options.tol, SINGLE), max_iter=options.max_iter)
    if (coarse.converged and options.tol >= SINGLE) or coarse.iterations == options.max_iter:
        return coarse
    fine = minimize(
        objective(np.float64),
        coarse.point,
        scale,
        tol=options.tol,
        max_iter=options.max_iter - coarse.iterations,
        reference=coarse.reference,
    )
    return replace(
        fine,
        iterations=coarse.iterations + fine.iterations,
        evaluations=coarse.evaluations + fine.evaluations,
    )


def penalty(name: str, value: Any) -> float:
    """A checked strength of a penalty; below 1e30, as differences of gradients are kept in single precision."""
    return checks.between(name, value, 0.0, 1e30, closed=(True, False))


def independent_fields(frequencies: Array) -> Array:
    """Fields (L, C) of independent sites, centered."""
    return centered(np.log(frequencies + PSEUDOCOUNT))
