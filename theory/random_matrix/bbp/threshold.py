"""The least strength at which a spike leaves the bulk: a root that is unique, by concavity."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from theory.models import Covariance
from theory.models.arrays import Array
from theory.numerics import Solution, verified
from theory.random_matrix.bbp.problem import spike_problem
from theory.random_matrix.bbp.system import SpikeSystem

LARGEST = 1e15  # relative to the threshold of a spike that leaves its own scales alone
TOLERANCE = 1e-7  # reached to rounding, of which a ridge far above the variances costs lam/variance digits


@dataclass(frozen=True)
class SpikeThreshold:
    """theta_c with its evidence; float() of it is the value."""

    value: float  # inf where no strength suffices
    method: str
    edge: float  # right edge of the bulk, as an eigenvalue of the method
    effective_h: float  # 1/K at the edge
    residual: float  # |T(value)/value - 1|; 0 where there is no threshold
    iterations: int
    converged: bool

    def __float__(self) -> float:
        return self.value


def spike_threshold(
    noise: Covariance, direction: Array | None, *, alpha: float, method: str = "ssr", lam: float | None = None
) -> SpikeThreshold:
    """Strength theta_c above which noise + theta u u^T has an outlier right of the bulk, at n = alpha d samples.

    `direction` u: (d,), of unit length, or None for a delocalized spike (of random direction, d -> infinity).
    `method`: "ssr" (the joint masked predictor at the ridge `lam`, 0 for its limit), "pca", "correlation_pca" or
    "diagonal_deleted_pca" (C - diag C, the limit lam -> infinity of ssr). theta_c solves theta h u^T R u = 1 at the
    edge (h, x) of the noise, with scales that depend on theta themselves (see `system`; predictor: arXiv:2601.23208).
    It is unique, and infinite where the scales outgrow the spike: one coordinate alone at a moderate ridge, or two for
    a correlation matrix at alpha = 1. ValueError for bad input, ConvergenceError where the root is not met.
    """
    return threshold_of(SpikeSystem(spike_problem(noise, direction, alpha, method, lam)))


def threshold_of(system: SpikeSystem) -> SpikeThreshold:
    """The threshold of a system of one spike."""

    def record(value: float, residual: float, iterations: int) -> SpikeThreshold:
        edge = system.pencils.eigenvalue(system.edge.nu)
        converged = residual <= TOLERANCE
        found = SpikeThreshold(
            value, system.problem.method, edge, system.edge.h, residual, iterations + system.edge.iterations, converged
        )
        solution = Solution(found, "converged" if converged else "max_iter", residual, TOLERANCE, iterations)
        return verified(solution, f"threshold of a spike for method {system.problem.method!r}", True).value

    def needed(strength: float) -> float:
        return system.needed_strength(np.array([strength]))

    least = needed(1e-300)
    if system.problem.directions is None or system.problem.method == "pca":
        return record(least, 0.0, 0)
    if system.slope_at_infinity() >= 1 - 1e-12:
        return record(math.inf, 0.0, 0)
    high = least
    while (ahead := needed(high)) > high:
        if high > LARGEST * least:
            return record(math.inf, 0.0, 0)
        high = max(2 * high, ahead)
    if high == least:
        return record(least, 0.0, 0)
    root, report = brentq(
        lambda log: math.log(needed(math.exp(log))) - log,
        math.log(least),
        math.log(high),
        xtol=1e-15,
        rtol=1e-15,
        full_output=True,
    )
    value = math.exp(root)
    return record(value, abs(needed(value) / value - 1), report.iterations)
