"""The law of an ensemble, built in three steps: the edges, the bulks between them, and the checks of both."""

import numpy as np

from theory.models.arrays import Array
from theory.numerics import ConvergenceError, Solution
from theory.random_matrix.spectral.bulk import Bulk, Interval, semicircle
from theory.random_matrix.spectral.edges import exact_edges
from theory.random_matrix.spectral.ensemble import CommutingEnsemble, Ensemble
from theory.random_matrix.spectral.law import SpectralLaw
from theory.random_matrix.spectral.real_branch import ADVICE as TOO_FAR
from theory.random_matrix.spectral.resolve import GapFoundError, Resolved, resolve
from theory.random_matrix.spectral.scan import ends, scan_points, scanned_edges
from theory.random_matrix.spectral.variable import Eigenvalue, Variable

TOLERANCE = 1e-6  # of the total mass and of the mean; what is reached is in `residual`
FEW = 16  # atoms: a limit d -> infinity with more is a continuous measure
NARROW = 3e-5  # relative width below which a bulk has the shape of its one eigenvalue alone, to about that accuracy


def law_of(ensemble: Ensemble, variable: Variable | None = None, *, limit: bool = False) -> SpectralLaw:
    """Compute the law of an ensemble and verify it; ConvergenceError where its mass or the mean of S is not met.

    `limit` says that many atoms are the nodes of a quadrature: ValueError where they are told apart by the law.
    """
    one_offset = ensemble.common_offset is not None or np.ptp(ensemble.offset) <= 1e-13 * abs(ensemble.offset).max()
    if limit and ensemble.rows.alike and ensemble.size > FEW and len(_bulks_of_limit(ensemble)) != 1:
        raise ValueError(
            f"at alpha = {ensemble.alpha} the law resolves the quadrature of the limit d -> infinity (its spectrum is "
            "unbounded, or alpha too large for the number of nodes): take a finite d"
        )
    ensemble = commuting(ensemble) if one_offset else ensemble
    if one_offset and ensemble.rows.alike:
        found = _exact(commuting(ensemble))
    else:
        # With fewer samples than dimensions every offset has an atom or a bulk of its own: offsets that agree to 1e-5
        # are put together, so that these can be told apart.
        ensemble = ensemble if isinstance(ensemble, CommutingEnsemble) or ensemble.alpha >= 1 else ensemble.rounded()
        found = _scanned(ensemble)
    return _checked(ensemble, found, variable or Eigenvalue())


def _bulks_of_limit(ensemble: Ensemble) -> Array:
    one_offset = isinstance(ensemble, CommutingEnsemble) and ensemble.common_offset is not None
    return exact_edges(ensemble).bulks if one_offset else np.empty((0, 2))  # type: ignore[arg-type]  # just checked


def commuting(ensemble: Ensemble) -> CommutingEnsemble:
    """Reduce an ensemble of one offset, in which everything commutes, to its eigenvalues."""
    if isinstance(ensemble, CommutingEnsemble):
        return ensemble
    eigenvalues = np.asarray(np.linalg.eigvalsh(ensemble.covariance), float)
    d = len(eigenvalues)
    eigenvalues[eigenvalues < d * np.finfo(float).eps * eigenvalues[-1]] = 0
    offset, weights = np.full(d, ensemble.offset.mean()), np.full(d, 1 / d)
    return CommutingEnsemble(ensemble.alpha, eigenvalues, offset, weights, ensemble.rows)


def _exact(ensemble: CommutingEnsemble) -> Resolved:
    edges, anchor = exact_edges(ensemble), float(ensemble.offset[0])
    intervals = [Interval(low, high, anchor, edges.hard and k == 0) for k, (low, high) in enumerate(edges.bulks)]
    narrow = [high - low < NARROW * (high - anchor) for low, high in edges.bulks]
    try:
        resolved = resolve(ensemble, [interval for interval, thin in zip(intervals, narrow, strict=True) if not thin])
    except GapFoundError as empty:
        solution = Solution(empty.points, "unverified", np.inf, TOLERANCE, 0)
        raise ConvergenceError(f"density of {ensemble!r} at {empty.points[:3]}", solution, TOO_FAR) from empty
    wide = iter(resolved.bulks)
    bulks = [
        semicircle(interval, mass) if thin else next(wide)
        for interval, mass, thin in zip(intervals, edges.masses, narrow, strict=True)
    ]
    gap = max((abs(bulk.mass - mass) for bulk, mass in zip(bulks, edges.masses, strict=True)), default=0.0)
    return Resolved(tuple(bulks), max(resolved.residual, float(gap)))


ADVICE = (
    "too many bulks or too narrow ones to tell apart: take the limit d = inf of the family, a larger alpha, or less "
    "extreme variances and ridges"
)


def _scanned(ensemble: Ensemble) -> Resolved:
    low, high, _ = ends(ensemble)
    extra: Array = np.empty(0)
    for refine in (0, 0, 0, 1, 1, 2):
        points = np.unique(np.concatenate([scan_points(ensemble, low, high, refine), extra]))
        try:
            bulks = scanned_edges(ensemble, points)
            found = resolve(ensemble, [Interval(left, right, 0.0) for left, right in bulks])
        except GapFoundError as gap:
            extra = np.concatenate([extra, gap.points])
            continue
        if abs(_mass(ensemble, found.bulks) - 1) < TOLERANCE:
            return found
    raise ConvergenceError("bulks of the law", Solution(extra, "unverified", np.inf, TOLERANCE, 0), ADVICE)


def _mass(ensemble: Ensemble, bulks: tuple[Bulk, ...]) -> float:
    return float(sum(bulk.mass for bulk in bulks) + ensemble.atoms[:, 1].sum())


def _checked(ensemble: Ensemble, found: Resolved, variable: Variable) -> SpectralLaw:
    bulks, atoms = found.bulks, ensemble.atoms
    mean = sum(bulk.integral(lambda nu: nu) for bulk in bulks) + float(atoms[:, 0] @ atoms[:, 1])
    residual = max(found.residual, abs(_mass(ensemble, bulks) - 1), abs(mean / ensemble.mean - 1))
    if not residual <= TOLERANCE:
        solution = Solution(bulks, "unverified", residual, TOLERANCE, 0)
        raise ConvergenceError(f"law of {ensemble!r}: total mass or mean", solution, ADVICE)
    edges = np.array([(bulk.interval.low, bulk.interval.high) for bulk in bulks]).reshape(-1, 2)
    return SpectralLaw(
        edges=variable.forward(edges),
        masses=np.array([bulk.mass for bulk in bulks]),
        atoms=np.column_stack([variable.forward(atoms[:, 0]), atoms[:, 1]]),
        residual=residual,
        iterations=None,
        converged=True,
        ensemble=ensemble,
        bulks=bulks,
        variable=variable,
    )
