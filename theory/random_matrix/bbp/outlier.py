"""The outlier of a spike, or of several: public records and functions."""

from dataclasses import dataclass, field

import numpy as np

from theory.models import Covariance
from theory.models.arrays import Array
from theory.random_matrix.bbp.emergence import Emerged, emerged
from theory.random_matrix.bbp.left_emergence import emerged_left
from theory.random_matrix.bbp.problem import spike_problem, strength_array
from theory.random_matrix.bbp.system import SpikeSystem
from theory.random_matrix.bbp.threshold import threshold_of
from theory.random_matrix.spectral.real_branch import Side


@dataclass(frozen=True)
class SpikeOutlier:
    """What a method sees of one spike; below the threshold and at it: the edge, and no overlap."""

    strength: float
    method: str
    detected: bool  # an outlier right of the bulk exists: strength > threshold
    eigenvalue: float  # of the method's matrix: a of the masked predictor, else of the sample matrix
    overlap: float  # (u . v)^2, v the normalized right eigenvector (the direction that the method reports)
    left_overlap: float  # the same for the left one
    threshold: float
    edge: float  # right edge of the bulk, as an eigenvalue of the method
    nu: float  # eigenvalue of diag(Q)^1/2 (C + lam) diag(Q)^1/2 for ssr, with eigenvalue = 1 - 1/nu; else `eigenvalue`
    effective_h: float  # 1/K there
    residual: float  # of the outlier equation, or of the edge
    iterations: int


@dataclass(frozen=True, eq=False)
class SpikeOutliers:
    """The outliers of several spikes on one side of the bulk, the outermost first: m of them."""

    strengths: Array = field(repr=False)  # (k,)
    method: str
    eigenvalues: Array  # (m,)
    overlaps: Array = field(repr=False)  # (m, k): (u_j . v_i)^2 for right eigenvectors v_i
    left_overlaps: Array = field(repr=False)  # (m, k)
    span_overlaps: Array  # (m,): squared length of the projection of v_i on the span of all u_j
    left_span_overlaps: Array = field(repr=False)
    edge: float
    residual: float

    @property
    def detected(self) -> int:
        """Number of outliers m."""
        return len(self.eigenvalues)


def spike_outlier(
    noise: Covariance,
    direction: Array | None,
    *,
    strength: float,
    alpha: float,
    method: str = "ssr",
    lam: float | None = None,
) -> SpikeOutlier:
    """The outlier of noise + strength u u^T at n = alpha d samples, and the overlap of its eigenvectors with u.

    Arguments as for `spike_threshold`. The right eigenvector of the joint predictor is D^-1/2 w, the left one D^1/2 w,
    for the eigenvector w of D^1/2 (C + lam) D^1/2, D = diag (C + lam)^-1; that of correlation_pca is D^-1/2 w with
    D = 1/diag C, carried back to the coordinates of the data. Overlaps are inflated on coordinates of small D, also
    where nothing is detected: the 0 below the threshold is what vanishes as d -> infinity for a delocalized spike.
    """
    system = SpikeSystem(spike_problem(noise, direction, alpha, method, lam))
    strengths = strength_array(strength, system.problem)
    threshold, found = threshold_of(system), emerged(system, strengths)
    best = found[0] if found else _at_edge(system, len(strengths))
    contraction = system.pencils.contraction if method == "ssr" else 1.0
    return SpikeOutlier(
        strength=float(strengths[0]),
        method=method,
        detected=bool(found),
        eigenvalue=system.pencils.eigenvalue(best.x),
        overlap=float(best.overlaps[0]),
        left_overlap=float(best.left_overlaps[0]),
        threshold=threshold.value,
        edge=threshold.edge,
        nu=best.x / contraction if contraction > 0 else np.inf,
        effective_h=best.h,
        residual=best.residual,
        iterations=best.iterations + system.edge.iterations,
    )


def spike_outliers(
    noise: Covariance,
    directions: Array,
    *,
    strengths: Array,
    alpha: float,
    method: str = "ssr",
    lam: float | None = None,
    side: Side = "right",
) -> SpikeOutliers:
    """All outliers on one side of the bulk of noise + sum_j strengths[j] u_j u_j^T, unit rows u_j of `directions`.

    On the right at most one a spike. Left of the bulk a localized spike leaves eigenvalues by what it does to the
    scales: L coordinates that share it predict each other, and their L - 1 contrasts become negative outliers of the
    joint predictor. They cost dense eigendecompositions.
    """
    system = SpikeSystem(spike_problem(noise, directions, alpha, method, lam, several=True))
    checked = strength_array(strengths, system.problem)
    if side not in ("right", "left"):
        raise ValueError(f"side must be 'right' or 'left', got {side!r}")
    found = emerged(system, checked) if side == "right" else emerged_left(system, checked)
    edge = system.edge if side == "right" else system.left_branch.edge()
    empty = np.zeros((0, len(checked)))
    return SpikeOutliers(
        strengths=checked,
        method=method,
        eigenvalues=np.array([system.pencils.eigenvalue(one.x) for one in found]),
        overlaps=np.array([one.overlaps for one in found]) if found else empty,
        left_overlaps=np.array([one.left_overlaps for one in found]) if found else empty,
        span_overlaps=np.array([one.shared for one in found]),
        left_span_overlaps=np.array([one.left_shared for one in found]),
        edge=system.pencils.eigenvalue(edge.nu),
        residual=max([one.residual for one in found], default=edge.residual),
    )


def _at_edge(system: SpikeSystem, count: int) -> Emerged:
    edge = system.edge
    return Emerged(edge.nu, edge.h, np.zeros(count), np.zeros(count), 0.0, 0.0, edge.residual, 0)
