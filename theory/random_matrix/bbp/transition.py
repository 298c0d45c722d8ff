"""The transition of Baik, Ben Arous and Peche: the least strength at which a spike leaves the bulk.

It is a root that is unique, since the strength that is needed is a concave function of the strength that is there.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from theory.core import SolverResult, checked
from theory.models import Descent, SpikedData
from theory.numerics import Solution
from theory.numerics.extremes import within_range
from theory.random_matrix.bbp.sample_top import largest_sample_eigenvalue
from theory.random_matrix.bbp.spiked_bulk import SpikedBulk
from theory.random_matrix.bbp.spiked_noise import SpikedNoise, noise_of
from theory.random_matrix.spectral.real_branch import ADVICE
from theory.random_matrix.training.noise import require_stable, trained_noise
from theory.random_matrix.training.spikes import threshold_strength

MAX_STRENGTH_RATIO = 1e15  # relative to the threshold of a spike that leaves its own scales alone
MIN_STRENGTH = 1e-300  # strength of a spike that changes nothing
MAX_STEPS = 200
RELATIVE_STEP_TOLERANCE = 1e-12  # relative step after which no other one is needed
TOLERANCE = 1e-7  # reached to rounding, of which a ridge far above the variances costs lam/variance digits


@dataclass(frozen=True, eq=False, repr=False)
class SpikeThreshold(SolverResult):
    """The strength above which a method sees a spike; float() of the record is that strength.

    `value` is in the units of a variance, and infinite where no strength suffices. `edge` is the right edge of the bulk
    as an eigenvalue of the method's matrix, infinite where the noise has no largest variance, and `effective_h` is
    h = 1/K there, K = 1 + tr[Sigma_D G]/n the factor by which the sample inflates the noise. `residual` is
    |T(value)/value - 1|, T(strength) the strength that a spike with the scales of `strength` needs; 0 where there is no
    threshold.
    """

    value: float
    method: str
    edge: float
    effective_h: float

    def __float__(self) -> float:
        return self.value


@checked
@within_range
def threshold(data: SpikedData) -> SpikeThreshold:
    """Compute the strength theta_c above which the spike of `data` leaves the bulk of its noise to the right.

    It depends on the noise, the direction u, alpha = n/d, the method and its ridge; the strength of the record has no
    part in it and may be left out. theta_c solves theta h u^T R u = 1 with R = (x scale - shift - h Sigma_0)^-1, at the
    edge (h, x) of the bulk of the noise Sigma_0 (Baik, Ben Arous and Peche, arXiv:math/0403022; for the predictor
    arXiv:2601.23208). Here x is an eigenvalue, h = 1/K the factor by which n samples change the population, and scale
    and shift are those by which the method normalizes the coordinates, which depend on theta themselves. The root is
    unique. It is infinite where the scales outgrow the spike (one coordinate alone at a moderate ridge, or two for a
    correlation matrix at alpha = 1) or where the bulk has no end (variances without an upper bound at d = infinity,
    unless the method divides them out). Without a direction it is that of a random one in the limit d -> infinity, also
    for a noise of finite d (see `outlier`).

    Along a training (`data.training`) it is the strength of a delocalized spike whose outlier lies at the edge of the
    matrix Dyson equation, which is solved for noise of independent blocks of coordinates that are alike; `effective_h`
    is then nan, since no single number says what the sample changes. `Flow` and `Descent` of about ten steps and more
    are solved.

    Raises ValueError where the ridge of method "ssr" is left open or the noise is singular, for steps of a descent that
    diverge at the largest eigenvalue of the sample, for other records of training, and ConvergenceError where the root
    is not met.

    >>> from theory.models import Isotropic, TwoLevel
    >>> f"{threshold(SpikedData(Isotropic(float('inf')), alpha=4.0, method='pca')).value:.6f}"  # sqrt(d/n)
    '0.500000'
    >>> noise = TwoLevel(d=float("inf"), low=0.3, high=4.0, high_fraction=0.2)
    >>> round(float(threshold(SpikedData(noise, alpha=1.0, method="pca"))), 4)
    3.8856
    >>> round(float(threshold(SpikedData(noise, alpha=1.0, lam=0.05))), 4)  # of the joint predictor
    0.4788
    """
    if data.training is not None:
        return _along_training(data)
    spiked = noise_of(data)
    return threshold_of(SpikedBulk(spiked)) if spiked.has_edge else no_threshold(spiked)


def _along_training(data: SpikedData) -> SpikeThreshold:
    noise = trained_noise(data, partial(largest_sample_eigenvalue, data))
    value = threshold_strength(noise)
    if isinstance(data.training, Descent):
        require_stable(data.training, largest_sample_eigenvalue(data, value) + (data.lam or 0.0))
    return SpikeThreshold(
        value=value,
        method=data.method,
        edge=1 / noise.edge.tau,
        effective_h=math.nan,
        residual=noise.error,
        iterations=noise.branch.marched,
        converged=True,
    )


def no_threshold(spiked: SpikedNoise) -> SpikeThreshold:
    """Return the infinite threshold of a noise without a largest variance: its eigenvalues have no end."""
    edge = 1.0 if spiked.method == "ssr" else math.inf  # 1 - 1/nu, or nu itself, as nu -> infinity
    return SpikeThreshold(
        value=math.inf,
        method=spiked.method,
        edge=edge,
        effective_h=1.0,
        residual=0.0,
        iterations=None,
        converged=True,
    )


def threshold_of(bulk: SpikedBulk) -> SpikeThreshold:
    """Compute the threshold of a bulk with one spike."""

    def record(value: float, residual: float, iterations: int) -> SpikeThreshold:
        converged = residual <= TOLERANCE
        found = SpikeThreshold(
            value=value,
            method=bulk.spiked.method,
            edge=bulk.normalizations.eigenvalue(bulk.edge.nu),
            effective_h=bulk.edge.h,
            residual=residual,
            iterations=iterations + bulk.edge.iterations,
            converged=converged,
        )
        what, evidence = f"threshold of a spike for method {bulk.spiked.method!r}", (residual, TOLERANCE, iterations)
        return Solution.verified(found, *evidence, what=what, advice=ADVICE, otherwise="max_iter").value

    least, slope = bulk.needed_strength(MIN_STRENGTH)
    if bulk.spiked.directions is None or bulk.spiked.method == "pca":
        return record(least, 0.0, 0)
    if bulk.slope_at_infinity() >= 1 - 1e-12:
        return record(math.inf, 0.0, 0)
    return record(*_fixed_point(bulk.needed_strength, least, slope))


def _fixed_point(
    needed: Callable[[float], tuple[float, float]], least: float, slope: float
) -> tuple[float, float, int]:
    """Solve T(strength) = strength from T(0) and its slope there; returns the strength, its residual and the steps.

    `needed` gives T with its slope. T is concave: where its slope is below 1, the next strength by Newton's method lies
    right of the root, and from there on the strengths fall to it. Infinite where no root is in reach.
    """
    strength, residual, before = least / (1 - slope) if slope < 1 else 2 * least, math.inf, math.inf
    for count in range(1, MAX_STEPS):
        strength = min(strength, 2 * MAX_STRENGTH_RATIO * least)
        value, slope = needed(strength)
        residual = abs(value / strength - 1)
        new = strength + (value - strength) / (1 - slope) if slope < 1 else 2 * max(value, strength)
        step = abs(new / strength - 1)
        if step <= RELATIVE_STEP_TOLERANCE or before <= step <= TOLERANCE:  # rounding in the end
            return new, residual, count
        if strength > MAX_STRENGTH_RATIO * least and value > strength:
            return math.inf, 0.0, count
        strength, before = new, step
    return strength, residual, MAX_STEPS
