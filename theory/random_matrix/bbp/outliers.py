"""Where the eigenvalue of a spike, or of several, lies outside the bulk, and how its eigenvectors point to them."""

import math
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from theory.core import Array, Matrix, NonNegative, Positive, SolverResult, checked
from theory.models import Covariance, ReadOut, SpikedData, SpikeMethod
from theory.models.joint_rows import law_of_sample
from theory.models.row_dependence import INDEPENDENT, RowDependence
from theory.models.row_scales import GAUSSIAN, RowScales
from theory.numerics.extremes import within_range
from theory.random_matrix.bbp.coordinates import coordinate_parts
from theory.random_matrix.bbp.emergence import Emerged, emerged
from theory.random_matrix.bbp.left_emergence import emerged_left
from theory.random_matrix.bbp.sample_top import largest_sample_eigenvalue
from theory.random_matrix.bbp.spiked_bulk import SpikedBulk
from theory.random_matrix.bbp.spiked_noise import SpikedNoise, noise_of, spike_strength, spiked_noise, strength_array
from theory.random_matrix.bbp.transition import no_threshold, threshold_of
from theory.random_matrix.read_outs import standardizes
from theory.random_matrix.spectral.real_branch import Side
from theory.random_matrix.training.noise import trained_noise
from theory.random_matrix.training.spikes import eigenvector_parts, outlier_place, threshold_strength


@dataclass(frozen=True, eq=False, repr=False)
class SpikeOutlier(SolverResult):
    """The outlier that one spike makes; at the threshold and below it, the edge of the bulk and no overlap.

    `eigenvalue` and `edge` (the right end of the bulk) are eigenvalues of the method's matrix: of the joint masked
    predictor for ssr, else of the sample matrix. `overlap` is (u . v)^2 with the normalized right eigenvector v, as
    `read_out` says (see `outlier`): its entries in data units are multiplied by `weights` of mean square 1, (c,) for
    the rows c of `noise.spectrum.diagonal` or (d,) with a direction, nan where nothing is detected. `left_overlap` is
    that of the left eigenvector as it is. `nu` is the eigenvalue of
    diag(Q)^1/2 (C + lam) diag(Q)^1/2, Q = (C + lam)^-1, for ssr, where the predictor's is 1 - 1/nu, and `eigenvalue`
    for the others. It is infinite at lam = 0 and alpha <= 1: there Q diverges, and the predictor has the eigenvalue 1
    on everything that the samples span. `effective_h` is h = 1/K at the outlier. `residual` is that of the outlier's
    equation, or of the edge where nothing is detected.
    """

    strength: float
    method: str
    detected: bool  # an outlier right of the bulk exists: strength > threshold
    eigenvalue: float
    overlap: float
    left_overlap: float
    threshold: float
    edge: float
    nu: float
    effective_h: float
    read_out: str
    weights: Array = field(repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class SpikeOutliers(SolverResult):
    """The outliers of k spikes on one side of the bulk, the outermost first: m of them.

    `overlaps` and `left_overlaps` (m, k) hold (u_j . v_i)^2 for the normalized right and left eigenvectors v_i,
    `span_overlaps` and `left_span_overlaps` (m,) the squared length of the projection of v_i on the span of all u_j.
    """

    strengths: Array = field(repr=False)  # (k,)
    method: str
    eigenvalues: Array  # (m,)
    overlaps: Array = field(repr=False)
    left_overlaps: Array = field(repr=False)
    span_overlaps: Array
    left_span_overlaps: Array = field(repr=False)
    edge: float

    @property
    def detected(self) -> int:
        """The number m of outliers."""
        return len(self.eigenvalues)


@checked
@within_range
def outlier(data: SpikedData, *, read_out: ReadOut = "data_units") -> SpikeOutlier:
    """Compute the outlier of the spike of `data`, and the overlap of its eigenvectors with the spike's direction.

    The right eigenvector of the joint predictor is D^-1/2 w, the left one D^1/2 w, for the eigenvector w of
    D^1/2 (C + lam) D^1/2 with C = X'X/n and D = diag (C + lam)^-1; that of correlation_pca is D^-1/2 w with
    D = 1/diag C, carried back to the coordinates of the data. Overlaps are inflated on coordinates of small D, also
    where nothing is detected: the 0 below the threshold is what vanishes as d -> infinity for a delocalized spike. In a
    noise without a largest variance (see `threshold`) nothing is detected, and the edge is that of an infinite nu.

    Source: for pca the transition of J. Baik, G. Ben Arous and S. Peche, Ann. Probab. 33, 1643 (2005), and the overlaps
    of D. Paul, Stat. Sinica 17, 1617 (2007); for the predictor after arXiv:2601.23208. Derived here: an outlier lies
    where theta h u^T R u = 1 (see `threshold`), at a pole of the resolvent of noise and spike, whose residue there
    holds the overlaps.

    `read_out` names the units in which this direction is compared with u. Thresholds do not depend on it; overlaps do
    where variances differ, often by more than methods do, so that one comparison takes one read-out.

    - "data_units": the right eigenvector, a direction in the space of the rows; for correlation_pca D^-1/2 w as above.
    - "reported": the vector that the method itself reports. Its entries are in data units for all methods but
      correlation_pca, which reports w, the eigenvector of the correlation matrix.
    - "standard_units": the one in data units with each entry divided by the standard deviation of its coordinate, as w
      is. (Whitening would divide by the variance; this goes half of the way.)
    - "best_diagonal": the largest overlap that any weights of the coordinates reach. Where the signal of v is s_k u_k
      sqrt(d) and its noise has variance v_k, they are s_k/(s_k^2 + v_k): `weights` of the result. They depend on the
      noise and the strength, which data tell only if both are estimated, and not on u, which must be delocalized.

    Without a direction the answer is that of a random one in the limit d -> infinity, which changes no variance by
    itself. At a finite d a direction u adds strength u_k^2 to variance k, which matters to methods that divide the
    variances out, to order strength/d, and most where some variances are small: PCA of correlations of
    TwoLevel(200, 0.3, 4, 0.2) at the strength 14, alpha = 0.6 and row scales 0.2 and 3.4 has the outlier 44.1 in the
    limit, and 28.6(5) in simulations. Given the directions that were drawn the answer is 30.5 on average; equal shares
    strength/d in all variances would leave it at 36.9. So the direction should be given where strength/d is not small
    beside the variances.

    Along a training (`data.training`) the eigenvalue is the place of the spike in the matrix Dyson equation (see
    `threshold`), and the overlaps come from the double pole of the resolvent there; `effective_h` is nan.

    Raises ValueError for a record without a strength, for "best_diagonal" with a direction, whose best weights would
    know it, or as `threshold`, and ConvergenceError where the equation of the
    outlier is not met.

    >>> from theory.models import Isotropic
    >>> found = outlier(SpikedData(Isotropic(float("inf")), strength=1.0, alpha=4.0, method="pca"))
    >>> f"{found.eigenvalue:.4f} {found.overlap:.4f}"  # (1 + s)(1 + d/(n s)) and (1 - d/(n s^2))/(1 + d/(n s)), s = 1
    '2.5000 0.6000'
    >>> from theory.models import TwoLevel
    >>> data = SpikedData(TwoLevel(float("inf"), 0.3, 4.0, 0.2), strength=2.5, alpha=1.0, method="correlation_pca")
    >>> for read_out in ("data_units", "reported", "best_diagonal"):
    ...     print(read_out, round(outlier(data, read_out=read_out).overlap, 3))
    data_units 0.672
    reported 0.764
    best_diagonal 0.771
    """
    strengths = spike_strength(data)
    if read_out == "best_diagonal" and data.direction is not None:
        raise ValueError(
            "read_out 'best_diagonal' needs direction = None: of a given direction the best weights know it"
        )
    if data.training is not None:
        return _along_training(data, float(strengths[0]), read_out)
    spiked = noise_of(data)
    if not spiked.has_edge:
        return _unseen(float(strengths[0]), spiked, read_out)
    bulk = SpikedBulk(spiked)
    threshold, found = threshold_of(bulk), emerged(bulk, strengths)
    best = found[0] if found else _at_edge(bulk, len(strengths))
    contraction = bulk.normalizations.contraction if data.method == "ssr" else 1.0
    overlap, weights = _read(bulk, float(strengths[0]), found, read_out)
    return SpikeOutlier(
        strength=float(strengths[0]),
        method=data.method,
        detected=bool(found),
        eigenvalue=bulk.normalizations.eigenvalue(best.x),
        overlap=overlap,
        left_overlap=float(best.left_overlaps[0]),
        threshold=threshold.value,
        edge=threshold.edge,
        nu=best.x / contraction if contraction > 0 else np.inf,
        effective_h=best.h,
        read_out=read_out,
        weights=weights,
        residual=best.residual,
        iterations=best.iterations + bulk.edge.iterations,
        converged=True,
    )


@checked
@within_range
def spike_outliers(
    noise: Covariance,
    directions: Matrix,
    *,
    strengths: ArrayLike,
    alpha: Positive,
    method: SpikeMethod = "ssr",
    lam: NonNegative | None = None,
    row_scales: RowScales = GAUSSIAN,
    row_dependence: RowDependence = INDEPENDENT,
    side: Side = "right",
) -> SpikeOutliers:
    """Compute all outliers on one side of the bulk of noise + sum_j strengths[j] u_j u_j^T.

    `directions` (k, d) holds the unit vectors u_j in rows, `strengths` (k,) is in the units of a variance. On the right
    there is at most one outlier a spike. Left of the bulk a localized spike leaves eigenvalues by what it does to the
    scales: L coordinates that share it predict each other, and their L - 1 contrasts become negative outliers of the
    joint predictor. Derived here: with T = diag(strengths)^1/2 and U the directions as columns, outliers lie where h T
    U^T R U T has an eigenvalue 1, which for one spike is the condition of `threshold`. They cost dense
    eigendecompositions. `row_scales` is a bounded law of the rows' scales and `row_dependence` their dependence, as in
    `SpikedData`. Raises ValueError and ConvergenceError.
    """
    rows = law_of_sample(row_scales, row_dependence, alpha, noise.d)
    spiked = spiked_noise(noise, directions, alpha, method, lam, rows)
    given = strength_array(strengths, len(directions))
    bulk = SpikedBulk(spiked)
    found = emerged(bulk, given) if side == "right" else emerged_left(bulk, given)
    edge = bulk.edge if side == "right" else bulk.left_branch.edge()
    empty = np.zeros((0, len(given)))
    return SpikeOutliers(
        strengths=given,
        method=method,
        eigenvalues=np.array([bulk.normalizations.eigenvalue(one.x) for one in found]),
        overlaps=np.array([one.overlaps for one in found]) if found else empty,
        left_overlaps=np.array([one.left_overlaps for one in found]) if found else empty,
        span_overlaps=np.array([one.shared for one in found]),
        left_span_overlaps=np.array([one.left_shared for one in found]),
        edge=bulk.normalizations.eigenvalue(edge.nu),
        residual=max([one.residual for one in found], default=edge.residual),
        iterations=edge.iterations + sum(one.iterations for one in found),
        converged=True,
    )


def _read(bulk: SpikedBulk, strength: float, found: list[Emerged], read_out: ReadOut) -> tuple[float, Array]:
    """Return the overlap of one spike with its read-out, and the weights of this, (c,)."""
    method, direction = bulk.spiked.method, bulk.spiked.directions
    count = bulk.spiked.noise.spectrum.n_coordinates if direction is None else direction.shape[1]
    if not found:
        return 0.0, np.full(count, math.nan)
    if read_out != "best_diagonal" and not standardizes(read_out, method):
        return float(found[0].overlaps[0]), np.ones(count)
    parts = coordinate_parts(bulk, strength, found[0])
    weights = parts.weights(read_out, method)
    return parts.overlap(weights), weights


def _along_training(data: SpikedData, strength: float, read_out: ReadOut) -> SpikeOutlier:
    noise = trained_noise(data, partial(largest_sample_eigenvalue, data, strength))
    before = noise.branch.iterations  # the branch may have served other strengths
    place, overlaps = outlier_place(noise, strength), [0.0, 0.0]
    weights = np.full(data.noise.spectrum.n_coordinates, math.nan)
    if place is not None:
        right, left = (
            eigenvector_parts(noise.equation, place, strength, left=left).on(data.noise.spectrum)
            for left in (False, True)
        )
        weights = right.weights(read_out, data.method)
        overlaps = [right.overlap(weights), left.overlap(np.ones(1))]
    tau = noise.edge.tau if place is None else place.tau
    return SpikeOutlier(
        strength=strength,
        method=data.method,
        detected=place is not None,
        eigenvalue=1 / tau,
        overlap=overlaps[0],
        left_overlap=overlaps[1],
        threshold=threshold_strength(noise),
        edge=1 / noise.edge.tau,
        nu=tau / (tau - 1),
        effective_h=math.nan,
        read_out=read_out,
        weights=weights,
        residual=noise.error,
        iterations=noise.branch.marched + noise.branch.iterations - before,
        converged=True,
    )


def _unseen(strength: float, spiked: SpikedNoise, read_out: ReadOut) -> SpikeOutlier:
    threshold = no_threshold(spiked)
    return SpikeOutlier(
        strength=strength,
        method=spiked.method,
        detected=False,
        eigenvalue=threshold.edge,
        overlap=0.0,
        left_overlap=0.0,
        threshold=threshold.value,
        edge=threshold.edge,
        nu=math.inf,
        effective_h=threshold.effective_h,
        read_out=read_out,
        weights=np.full(spiked.noise.spectrum.n_coordinates, math.nan),
        residual=0.0,
        iterations=None,
        converged=True,
    )


def _at_edge(bulk: SpikedBulk, count: int) -> Emerged:
    edge = bulk.edge
    return Emerged(edge.nu, edge.h, np.zeros(count), np.zeros(count), 0.0, 0.0, 0.0, 0.0, edge.residual, 0)
