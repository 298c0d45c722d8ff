"""The ridge of masked regression that sees a spike best: least threshold, or largest overlap."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import minimize_scalar

from theory.models import Covariance
from theory.models.arrays import Array
from theory.random_matrix.bbp.outlier import spike_outlier
from theory.random_matrix.bbp.threshold import spike_threshold

GRID = 25  # ridges compared before the best one is refined


@dataclass(frozen=True)
class SpikeRidge:
    """The best ridge, 0 or inf where the objective improves all the way to that end."""

    lam: float
    value: float  # the threshold there (least) or the overlap there (largest)
    objective: str
    bracket: tuple[float, float]  # neighboring ridges that are no better; the end itself on that side
    evaluations: int


def optimal_spike_ridge(
    noise: Covariance, direction: Array | None, *, alpha: float, strength: float | None = None
) -> SpikeRidge:
    """lam of the least threshold, or, with a `strength`, of the largest right overlap, over [0, inf].

    The ends count as ridges: lam = 0 is the ridgeless limit, lam = inf the diagonal-deleted PCA. A grid over 10 decades
    around the mean variance brackets the optimum, which is then refined by golden sections and parabolas; it is the
    global one up to features narrower than the grid. Where no ridge sees the spike the threshold is inf (overlap 0).
    """
    objective: Literal["threshold", "overlap"] = "threshold" if strength is None else "overlap"
    cost = _threshold(noise, direction, alpha) if strength is None else _overlap(noise, direction, alpha, strength)
    scale = float(noise.spectrum.mean(noise.spectrum.eigenvalues))
    lams = np.array([0.0, *(scale * np.geomspace(1e-5, 1e5, GRID - 2)), np.inf])
    costs = np.array([cost(lam) for lam in lams])
    # equal to rounding (a stationary noise: every ridge alike) is no reason to prefer an interior one
    best = int(np.flatnonzero(costs <= costs.min() + 1e-9 * abs(costs.min()))[0]) if np.isfinite(costs).any() else 0
    bracket = (float(lams[max(best - 1, 0)]), float(lams[min(best + 1, GRID - 1)]))
    if best in (0, GRID - 1) or not np.isfinite(costs[best]):
        return SpikeRidge(float(lams[best]), abs(float(costs[best])), objective, bracket, GRID)
    ends = (max(bracket[0], 1e-8 * scale), min(bracket[1], 1e8 * scale))
    logs = tuple(np.log(ends))
    found = minimize_scalar(lambda log: cost(np.exp(log)), bounds=logs, method="bounded", options={"xatol": 1e-9})
    value, lam = min((float(found.fun), float(np.exp(found.x))), (float(costs[best]), float(lams[best])))
    return SpikeRidge(lam, abs(value), objective, bracket, GRID + int(found.nfev))


def _threshold(noise: Covariance, direction: Array | None, alpha: float) -> Callable[[float], float]:
    def cost(lam: float) -> float:
        if np.isinf(lam):
            return spike_threshold(noise, direction, alpha=alpha, method="diagonal_deleted_pca").value
        return spike_threshold(noise, direction, alpha=alpha, lam=lam).value

    return cost


def _overlap(noise: Covariance, direction: Array | None, alpha: float, strength: float) -> Callable[[float], float]:
    def cost(lam: float) -> float:
        method, ridge = ("diagonal_deleted_pca", None) if np.isinf(lam) else ("ssr", lam)
        return -spike_outlier(noise, direction, strength=strength, alpha=alpha, method=method, lam=ridge).overlap

    return cost
