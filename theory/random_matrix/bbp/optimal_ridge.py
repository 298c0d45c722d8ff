"""The ridge of masked regression that sees a spike best: least threshold, or largest overlap."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from theory.models import Covariance
from theory.models.arguments import checked
from theory.models.results import SolverResult
from theory.numerics.extremes import within_range
from theory.random_matrix.bbp.outlier import spike_outlier
from theory.random_matrix.bbp.threshold import spike_threshold

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
def optimal_spike_ridge(
    noise: Covariance, direction: ArrayLike | None, *, alpha: float, strength: float | None = None
) -> SpikeRidge:
    """Find the ridge lam of the least threshold, or, with a `strength`, of the largest right overlap, over [0, inf].

    Arguments as for `spike_outlier`. The ends count as ridges: lam = 0 is the ridgeless limit, lam = inf the
    diagonal-deleted PCA. A grid over 10 decades around the mean variance (the geometric mean where that is infinite)
    brackets the optimum, which is then refined by golden sections and parabolas; it is the global one up to features
    narrower than the grid. Where no ridge sees the spike the threshold is inf (overlap 0). Raises ValueError and
    ConvergenceError.
    """
    objective: Literal["threshold", "overlap"] = "threshold" if strength is None else "overlap"
    cost = _threshold(noise, direction, alpha) if strength is None else _overlap(noise, direction, alpha, strength)
    modes = noise.spectrum
    scale = modes.geometric_mean if modes.heavy else float(modes.mean(modes.eigenvalues))
    lams = np.array([0.0, *(scale * np.geomspace(1e-5, 1e5, GRID - 2)), np.inf])
    costs = np.array([cost(lam) for lam in lams])
    # equal to rounding (a stationary noise: every ridge alike) is no reason to prefer an interior one
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


def _threshold(noise: Covariance, direction: ArrayLike | None, alpha: float) -> Callable[[float], float]:
    def cost(lam: float) -> float:
        if np.isinf(lam):
            return spike_threshold(noise, direction, alpha=alpha, method="diagonal_deleted_pca").value
        return spike_threshold(noise, direction, alpha=alpha, lam=lam).value

    return cost


def _overlap(noise: Covariance, direction: ArrayLike | None, alpha: float, strength: float) -> Callable[[float], float]:
    def cost(lam: float) -> float:
        method, ridge = ("diagonal_deleted_pca", None) if np.isinf(lam) else ("ssr", lam)
        return -spike_outlier(noise, direction, strength=strength, alpha=alpha, method=method, lam=ridge).overlap

    return cost
