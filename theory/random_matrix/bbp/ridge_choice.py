"""The choice of the ridge with which masked regression sees a spike best: by the threshold, or by the overlap."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.optimize import minimize_scalar

from theory.core import SolverResult, checked
from theory.models import SpikedData
from theory.numerics.extremes import within_range
from theory.random_matrix.bbp.outliers import outlier
from theory.random_matrix.bbp.transition import threshold

GRID = 25  # ridges compared before the best one is refined
WIDTH = 1e-9  # of the interval of log lam in which the optimum lies in the end


@dataclass(frozen=True, eq=False, repr=False)
class SpikeRidge(SolverResult):
    """The ridge at which masked regression sees a spike best, 0 or inf where it improves all the way to that end.

    `value` is the `objective` there: the least "threshold", or the largest "overlap". `bracket` holds two neighboring
    ridges that are no better (the end itself on that side), which is the certificate of the optimum; `residual` is its
    width in log lam to which an interior optimum was refined, 0 at an end. `evaluations` counts ridges that were tried.
    """

    lam: float
    value: float
    objective: str
    bracket: tuple[float, float]
    evaluations: int


@checked
@within_range
def optimal_ridge(data: SpikedData) -> SpikeRidge:
    """Find the ridge lam in [0, inf] at which masked regression sees the spike of `data` best.

    A record with a strength asks for the largest overlap of the right eigenvector with the spike, one without a
    strength for the least threshold. The ends count as ridges: lam = 0 is the ridgeless limit, lam = inf the
    diagonal-deleted PCA. A grid over 10 decades around the mean variance (the geometric mean where that is infinite)
    brackets the optimum, which is then refined by golden sections and parabolas; it is the global one up to features
    narrower than the grid. Where no ridge sees the spike the threshold is inf (overlap 0). Derived here: the objectives
    are those of `threshold` and `outlier`, and the search asks for no equation of its own. Raises ValueError for
    another method than "ssr", for a record with a ridge of its own and for a singular noise, and ConvergenceError.

    In noise of two variances the ridgeless fit sees this spike best:

    >>> import math
    >>> from theory import random_matrix
    >>> from theory.models import SpikedData, TwoLevel
    >>> best = random_matrix.optimal_ridge(SpikedData(TwoLevel(math.inf), None, strength=2.5, alpha=1.0))
    >>> best.lam, best.objective, round(best.value, 6)
    (0.0, 'overlap', 0.672121)
    """
    if data.method != "ssr" or data.lam is not None:
        given = f"method {data.method!r} and lam = {data.lam}"
        raise ValueError(f"data must leave the ridge open, with method 'ssr' and lam = None, got {given}")
    if data.training is not None:
        raise ValueError(f"training must be None for a ridge of its own, got {data.training}")
    objective: Literal["threshold", "overlap"] = "threshold" if data.strength is None else "overlap"
    cost = _cost(data)
    modes = data.noise.spectrum
    scale = modes.geometric_mean if modes.heavy else float(modes.mean(modes.eigenvalues))
    lams = np.array([0.0, *(scale * np.geomspace(1e-5, 1e5, GRID - 2)), np.inf])
    costs = np.array([cost(lam) for lam in lams])
    # Costs that are equal to rounding, as all are for a stationary noise, are no reason to prefer an interior ridge.
    best = int(np.flatnonzero(costs <= costs.min() + 1e-9 * abs(costs.min()))[0]) if np.isfinite(costs).any() else 0
    bracket = (float(lams[max(best - 1, 0)]), float(lams[min(best + 1, GRID - 1)]))
    value, lam, evaluations, width = float(costs[best]), float(lams[best]), GRID, 0.0
    if best not in (0, GRID - 1) and np.isfinite(value):
        ends = (max(bracket[0], 1e-8 * scale), min(bracket[1], 1e8 * scale))
        logs = tuple(np.log(ends))
        found = minimize_scalar(lambda log: cost(np.exp(log)), bounds=logs, method="bounded", options={"xatol": WIDTH})
        value, lam = min((float(found.fun), float(np.exp(found.x))), (value, lam))
        evaluations, width = GRID + int(found.nfev), WIDTH
    return SpikeRidge(
        lam=lam,
        value=abs(value),
        objective=objective,
        bracket=bracket,
        evaluations=evaluations,
        residual=width,
        iterations=evaluations,
        converged=True,
    )


def _cost(data: SpikedData) -> Callable[[float], float]:
    """Return what is minimized over the ridge: the threshold, or minus the overlap where the strength is known."""

    def cost(lam: float) -> float:
        deleted = np.isinf(lam)
        at = replace(data, method="diagonal_deleted_pca" if deleted else "ssr", lam=None if deleted else lam)
        return threshold(at).value if data.strength is None else -outlier(at).overlap

    return cost
