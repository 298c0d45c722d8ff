"""Every outlier right of the bulk: its place, and the overlaps of its eigenvectors with the spikes.

Points right of the bulk are parameterized by h = 1/K, the factor by which a sample changes the population: x(h) falls
from infinity at h = 1 to the edge. With the strengths Theta and the directions U of the spikes an outlier lies where
B(h) = h Theta^1/2 U^T R U Theta^1/2 has an eigenvalue 1, R = (x scale - shift - h Sigma_0)^-1 being the resolvent of
the noise. Along the branch from h = 1 to the edge B increases, so that each of its eigenvalues passes 1 at most once:
the spikes that left the bulk are the eigenvalues above 1 at the edge.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from theory.core.arrays import Array
from theory.numerics import Solution
from theory.random_matrix.bbp.normalization import Normalization
from theory.random_matrix.bbp.operators import Forms
from theory.random_matrix.bbp.spiked_bulk import SpikedBulk
from theory.random_matrix.spectral.dense_branch import FAILURES, DenseBranch
from theory.random_matrix.spectral.real_branch import ADVICE, BranchPoint
from theory.random_matrix.spectral.rising_root import rising_root

ROUNDING = 1e-11  # of B - 1 at the edge: closer than this to its threshold a spike is at it
TOLERANCE = 1e-7  # reached to rounding, of which a ridge far above the variances costs lam/variance digits
SURROGATE_STEP_TOLERANCE = 1e-2  # step in the place at which the branch of a surrogate has served


@dataclass(frozen=True, eq=False)
class Emerged:
    """Holds one outlier at (h, x), with the squared cosines of its eigenvectors with every spike."""

    x: float
    h: float
    overlaps: Array = field(repr=False)  # (k,), of the normalized right eigenvector
    left_overlaps: Array = field(repr=False)
    shared: float  # squared length of the projection of the right eigenvector on the span of the spikes
    left_shared: float
    free: float  # the share 1 - m of the squared length of an eigenvector's mean that is left of it
    spread: float  # the variance of its noise over (R Sigma_0 R)/n
    residual: float  # |log of the eigenvalue of B|, or the defect of the scalar equation if larger
    iterations: int


@dataclass(frozen=True)
class _Trial:
    value: float  # log of one eigenvalue of B
    derivative: float  # along the branch, by the place
    by_h: float
    by_x: float
    point: BranchPoint
    forms: Forms
    vector: Array  # Theta^1/2 b, (k,)

    def slopes(self) -> tuple[float, float]:
        return self.by_h, self.by_x


def emerged(bulk: SpikedBulk, strengths: Array) -> list[Emerged]:
    """Find all outliers right of the bulk, the largest first."""
    normalization, end = bulk.normalizations.at(strengths), bulk.edge
    at_edge = np.linalg.eigvalsh(_matrix(end.h, bulk.operator.forms(end.h, end.nu, normalization), strengths))
    found = []
    for rank in reversed(range(len(strengths))):
        if not at_edge[rank] > 1 + ROUNDING:
            break

        def trial(point: BranchPoint, rank: int = rank) -> _Trial:
            return _trial(bulk, normalization, strengths, point, rank)

        # The logarithm of B grows about as fast as the coordinate: this guesses its root. The edge itself is no place
        # to start from, since x(h) is stationary there.
        best, residual, count = _root(bulk, trial, end.place - float(np.log(at_edge[rank])))
        what = f"outlier {rank}"
        Solution.verified(best, residual, TOLERANCE, count, what=what, advice=ADVICE, otherwise="max_iter")
        found.append(_measure(bulk, strengths, best, residual, count))
    return found


def _root(bulk: SpikedBulk, trial: Callable[[BranchPoint], _Trial], start: float) -> tuple[_Trial, float, int]:
    """Find where the value of the trials passes 0 on the branch; the residual and the number of trials come with it."""
    branch, end = bulk.branch, bulk.edge.place
    if isinstance(branch, DenseBranch) and (found := _by_factorizations(branch, trial, start, end)) is not None:
        return found
    best, count = rising_root(lambda place: trial(branch.at(place)), start, high=end)
    return best, abs(best.value), count


def _by_factorizations(
    branch: DenseBranch, trial: Callable[[BranchPoint], _Trial], start: float, end: float
) -> tuple[_Trial, float, int] | None:
    """Find the root near the one on the surrogate's branch; None where that is not certified to lie on the branch."""
    try:
        near, count = rising_root(
            lambda place: trial(branch.surrogate.at(place)), start, high=end, tol=SURROGATE_STEP_TOLERANCE
        )
        if not abs(near.value) < near.derivative:
            return None
        place = near.point.place - near.value / near.derivative  # a last step, which is not tried
        solved = branch.solved(lambda at: trial(at.point), place, branch.surrogate.at(place).nu)
    except FAILURES:
        return None
    if solved is None or not solved.resolvent.m < 1:
        return None
    residual = max(abs(solved.condition.value), abs(solved.resolvent.defect))
    return (solved.condition, residual, count + solved.count) if residual <= TOLERANCE else None


def _trial(bulk: SpikedBulk, normalization: Normalization, strengths: Array, point: BranchPoint, rank: int) -> _Trial:
    h = point.h
    forms = bulk.operator.forms(h, point.nu, normalization)
    values, vectors = np.linalg.eigh(_matrix(h, forms, strengths))
    vector, value = np.sqrt(strengths) * vectors[:, rank], float(values[rank])
    by_h = float(vector @ (forms.left + h * forms.noise) @ vector) / value
    by_x = float(-h * (vector @ forms.norm @ vector)) / value
    derivative = (by_h + point.slope * by_x) * bulk.branch.stretch(point.place)
    return _Trial(float(np.log(value)), derivative, by_h, by_x, point, forms, vector)


def _measure(bulk: SpikedBulk, strengths: Array, trial: _Trial, residual: float, count: int) -> Emerged:
    """Compute overlaps from the residue of the resolvent at the outlier.

    z = R U vector is the deterministic part of the left eigenvector, scale z that of the right one. The rest of either
    is noise, whose length is the derivative of the outlier under shift -> shift + t scale^2 (right) or t (left).
    """
    point, forms, a = trial.point, trial.forms, trial.vector
    left = Residue(forms.left @ a, float(a @ forms.left_norm @ a))
    right = Residue(forms.right @ a, float(a @ forms.right_norm @ a))
    rise = float(a @ forms.noise @ a + strengths @ (forms.left @ a) ** 2)
    return overlaps_of(bulk, point, left, right, rise, residual, count)


@dataclass(frozen=True)
class Residue:
    """Holds the deterministic part of an eigenvector: its products with every u_j, and its squared length."""

    cosines: Array
    norm: float


def overlaps_of(
    bulk: SpikedBulk, point: BranchPoint, left: Residue, right: Residue, rise: float, residual: float, count: int
) -> Emerged:
    """Make the record of an outlier at a point; `rise` is z^T Sigma z for the deterministic part z on the left.

    A share 1 - m of the squared length is deterministic; the rest is noise of the sample, spread as the traces say.
    """
    traces = bulk.operator.traces(point, bulk.noise_normalization, bulk.spiked.alpha)
    free = max(1 - point.m, 0.0)

    def measured(side: Residue, trace: float) -> tuple[Array, float]:
        norm = free * side.norm + rise * point.fall * trace
        return np.asarray(free * side.cosines**2 / norm), float(free * _projected(bulk, side.cosines) / norm)

    (overlaps, shared), (left_overlaps, left_shared) = measured(right, traces.right), measured(left, traces.left)
    spread = rise * point.fall
    return Emerged(point.nu, point.h, overlaps, left_overlaps, shared, left_shared, free, spread, residual, count)


def _projected(bulk: SpikedBulk, cosines: Array) -> float:
    directions = bulk.spiked.directions
    gram = np.eye(1) if directions is None else directions @ directions.T
    return float(cosines @ np.linalg.lstsq(gram, cosines, rcond=None)[0])


def _matrix(h: float, forms: Forms, strengths: Array) -> Array:
    root = np.sqrt(strengths)
    return np.asarray(h * root[:, None] * (forms.left + forms.left.T) / 2 * root)
