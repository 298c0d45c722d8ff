"""Minimizes every pseudo-likelihood: in single precision first, and in double where that does not suffice."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.threads import Mapping
from simulate.potts.inference.minimize import Function, Minimum, Scale, Vector, minimize
from theory.core import Array, Within
from theory.models.potts import centered

# Added to frequencies before their logarithms are taken, since a color may never occur: then its probability P at the
# optimum is -2 field_l2 h with h = log P near -10. The last of these suffices for a start where penalties are strong.
PSEUDOCOUNT, LEAST_PSEUDOCOUNT, LARGEST_PSEUDOCOUNT = 20.0, 1e-12, 1e-3  # the first in units of field_l2
SINGLE_PRECISION_GRADIENT = 1e-4  # relative gradient norm down to which single precision is used
# Share of a color's variance that its predictions keep as a scale, however certain they become.
MIN_VARIANCE_SHARE = 1e-3
# Beyond this range gradients would overflow in single precision.
Penalty = Annotated[float, Within(0.0, 1e30, closed=(True, False))]
# Share of the first step that the curvatures of single couplings allow: many of them act together.
FIRST_STEP_SHARE = 0.1


class Curvatures(ABC):
    """The diagonal of an objective's Hessian, as if sites were independent of what they are predicted from.

    A coupling has the variance f (1 - f) of the color that predicts times that of the prediction. The latter falls as
    the couplings grow, and is the one that the objective found at its last point.
    """

    def __init__(self, frequencies: Array, l2: float, field_l2: float, sites: slice = slice(None)) -> None:
        self._l2, self._field_l2 = l2, field_l2
        self._of_colors = frequencies * (1 - frequencies)  # (L, C)
        self._alone = self._of_colors[sites]  # (G, C), of the predicted sites
        self._of_predictions = self._alone

    def update(self, variances: Array) -> None:
        """Take over the variances (G, C) of predictions; a share of those without couplings keeps steps finite."""
        self._of_predictions = np.maximum(variances, MIN_VARIANCE_SHARE * self._alone)

    @abstractmethod
    def __call__(self) -> Iterator[tuple[slice, Callable[[], NDArray[np.float32]]]]:
        """Yield places in the vector, and what computes the inverse curvatures there."""


def inverse(curvatures: NDArray[Any]) -> NDArray[np.float32]:
    """Return the inverse curvatures in a row, in single precision."""
    return np.asarray(1 / curvatures.ravel(), dtype=np.float32)


@dataclass(frozen=True)
class Options:
    """The penalties of a fit, the tolerance of its relative gradient norm, and its limits."""

    l2: float
    field_l2: float
    tol: float
    max_iter: int
    n_threads: int


def descend(
    objective: Callable[[Any], Function], start: Vector, scale: Scale, options: Options, mapped: Mapping = map
) -> Minimum:
    """Find the minimum of objective(dtype), a function of a vector of that precision that computes in it.

    A start in single precision is moved to the minimum, so that there is no second one in memory. `mapped` shares the
    parts of vectors among threads.
    """
    coarse = minimize(
        objective(np.float32),
        start.astype(np.float32, copy=False),
        scale,
        tol=max(options.tol, SINGLE_PRECISION_GRADIENT),
        max_iter=options.max_iter,
        first_step=FIRST_STEP_SHARE,
        mapped=mapped,
    )
    if (coarse.converged and options.tol >= SINGLE_PRECISION_GRADIENT) or coarse.iterations == options.max_iter:
        return coarse
    fine = minimize(
        objective(np.float64),
        coarse.point.astype(float),
        scale,
        tol=options.tol,
        max_iter=options.max_iter - coarse.iterations,
        reference=coarse.reference,
        mapped=mapped,
    )
    return replace(
        fine,
        iterations=coarse.iterations + fine.iterations,
        evaluations=coarse.evaluations + fine.evaluations,
    )


def independent_fields(frequencies: Array, field_l2: float) -> Array:
    """Return the fields (L, C) of independent sites with these frequencies (L, C), less their means over colors.

    They are near the optimum with the penalty `field_l2`, also where a color never occurs.
    """
    pseudocount = min(max(PSEUDOCOUNT * field_l2, LEAST_PSEUDOCOUNT), LARGEST_PSEUDOCOUNT)
    return centered(np.log(frequencies + pseudocount))
