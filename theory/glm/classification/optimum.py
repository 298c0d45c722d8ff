"""The ridge at which a trained classifier predicts fresh samples best."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import minimize_scalar

from theory.core import Positive, Result, checked
from theory.glm.fresh_loss import fresh_loss
from theory.glm.saddle_point import SaddlePoint
from theory.glm.solver import solve
from theory.models.glm import GaussianMixture

WIDTH = 1e-4  # of the interval of log lam in which the minimum lies
RIDGES_PER_LOG_UNIT = 2 / math.log(10)  # ridges, for each unit of log lam


@dataclass(frozen=True, eq=False, repr=False)
class OptimalRidge(Result):
    """Hold the ridge `lam` with the least mean loss of a fresh sample, that `loss`, and the saddle `point` there.

    `at_bound` says that the least loss lies at an end of the interval that was searched.
    """

    lam: float
    loss: float
    point: SaddlePoint = field(repr=False)
    at_bound: bool


@checked
def optimal_ridge(
    model: GaussianMixture, bounds: tuple[Positive, Positive] = (1e-3, 1e3), *, tol: float = 1e-11, max_iter: int = 2000
) -> OptimalRidge:
    """Find the ridge lam within `bounds` at which the mean loss of a fresh sample is least.

    The search is a bounded one in log lam, in which this loss mostly has one minimum. It can have several with hinge
    loss and a trained bias, so that the whole interval is scanned too, at two ridges a decade, and searched again where
    one of them is better; the ridge of `model` has no part in it. Derived here: the loss is that of a fresh sample at
    the saddle point of `solve`, and the search asks for no equation of its own. `tol` and `max_iter` are those of
    `solve` at each ridge. Raises ValueError for bounds that do not increase, and ConvergenceError where the saddle
    point of one ridge is not solved.
    """
    low, high = bounds
    if not low < high:
        raise ValueError(f"bounds must increase, got {bounds!r}")
    points: dict[float, SaddlePoint] = {}

    def loss(log_lam: float) -> float:
        near = min(points, key=lambda other: abs(other - log_lam), default=None)
        start = points[near] if near is not None else None
        points[log_lam] = solve(replace(model, lam=math.exp(log_lam)), start=start, tol=tol, max_iter=max_iter)
        return fresh_loss(points[log_lam])

    ends = (math.log(low), math.log(high))
    found = minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": WIDTH})
    scan = np.linspace(*ends, 2 + math.ceil(RIDGES_PER_LOG_UNIT * (ends[1] - ends[0])))
    losses = [loss(float(log_lam)) for log_lam in scan]
    k = int(np.argmin(losses))
    near = (float(scan[max(k - 1, 0)]), float(scan[min(k + 1, len(scan) - 1)]))
    if losses[k] < found.fun and not near[0] <= float(found.x) <= near[1]:
        found = minimize_scalar(loss, bounds=near, method="bounded", options={"xatol": WIDTH})
    at = float(found.x)
    near_end = min(at - ends[0], ends[1] - at) < 1e-3
    return OptimalRidge(
        lam=math.exp(at),
        loss=float(found.fun),
        point=points[at],
        at_bound=near_end,
        residual=points[at].residual,
        iterations=len(points),
    )
