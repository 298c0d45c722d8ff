"""The law of an ensemble, built in three steps: the edges, the bulks between them, and the checks of both."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from theory.models.row_scales import GAUSSIAN, RowScales
from theory.numerics import ConvergenceError, Solution
from theory.random_matrix.spectral.bulk import Interval, semicircle
from theory.random_matrix.spectral.edges import exact_edges
from theory.random_matrix.spectral.ensemble import CommutingEnsemble, Ensemble
from theory.random_matrix.spectral.law import SpectralLaw
from theory.random_matrix.spectral.law_variable import Eigenvalue, Variable
from theory.random_matrix.spectral.quadrature import (
    DENSITY_TOLERANCE,
    density_change,
    gaps_of_spectrum,
    largest_change,
    shown_between,
)
from theory.random_matrix.spectral.real_branch import ADVICE as TOO_FAR
from theory.random_matrix.spectral.resolve import GapFoundError, Resolved, Span, resolve
from theory.random_matrix.spectral.search import bulks

if TYPE_CHECKING:
    from theory.core.arrays import Array

MASS_AND_MEAN_TOLERANCE = 1e-6  # of the total mass and of the mean; what is reached is in `residual`
MAX_ATOMS = 16  # atoms: a limit d -> infinity with more is a continuous measure
ROUNDING_WIDTH = 1e-12  # relative width in nu below which rounding of nu is all that a bulk holds
MAX_LIMIT_NODES = 16384  # that a limit is refined to
MAX_SEARCHED_NODES = 2048  # likewise where bulks have to be searched
MAX_NODES_WITH_OWN_BULKS = MAX_LIMIT_NODES // 8  # beyond which it is given up where many of them still have one
MAX_SEARCHES = 3  # each with the points, in gaps, at which the one before was found to have missed them
# Relative width below which a bulk has the shape of its one eigenvalue alone, to about that accuracy.
NARROW_BULK_WIDTH = 3e-5
# The largest alpha at which bulks that have to be searched are wide enough for the roots in them to be certified.
MAX_SAMPLE_RATIO, MAX_SAMPLE_RATIO_AT_UNLIKE_RIDGES = 1e10, 1e9
# The least alpha at which rows of different scale leave bulks whose mass rounding does not hide.
MIN_SAMPLE_RATIO = 1e-10


Finer = Callable[[int], Ensemble | None]  # the ensemble on so many times the nodes


def law_of(
    ensemble: Ensemble, variable: Variable | None = None, *, limit: bool = False, finer: Finer | None = None
) -> SpectralLaw:
    """Compute the law of an ensemble and verify it; ConvergenceError where its mass or the mean of S is not met.

    `limit` says that many atoms are the nodes of a quadrature: ValueError where they are told apart by the law. Where
    `finer` has the ensemble on more nodes, as many are taken as the law needs not to change when they are doubled.
    """
    many, alpha = limit and ensemble.size > MAX_ATOMS, ensemble.alpha
    ensemble, is_exact = _reduced(ensemble)
    if isinstance(ensemble, CommutingEnsemble) and is_exact:
        ensemble, found = _exact_limit(ensemble, finer, alpha) if many else (ensemble, _exact(ensemble))
    else:
        ensemble, found = _searched_limit(ensemble, finer) if many else (ensemble, _searched(ensemble, False))
    return _checked(ensemble, found, variable or Eigenvalue())


def _reduced(ensemble: Ensemble) -> tuple[Ensemble, bool]:
    """Reduce an ensemble of one offset to its eigenvalues, and say whether its edges have a closed form."""
    if ensemble.common_offset is None and np.ptp(ensemble.offset) > 1e-13 * abs(ensemble.offset).max():
        return ensemble, False
    reduced = _with_equal_rows(commuting(ensemble))
    return reduced, reduced.rows.alike


def _exact_limit(ensemble: CommutingEnsemble, finer: Finer | None, alpha: float) -> tuple[CommutingEnsemble, Resolved]:
    """Double the nodes of a limit until the law stands still; ValueError where more than MAX_LIMIT_NODES are needed."""
    edges, times = exact_edges(ensemble), 2
    while (twice := finer(times) if finer else None) is not None:
        other, _ = _reduced(twice)
        assert isinstance(other, CommutingEnsemble)
        beside = exact_edges(other)
        # Densities that show the nodes are dear to resolve: first some of their points are compared.
        if largest_change(ensemble, edges, other, beside) <= DENSITY_TOLERANCE:
            found = _exact(ensemble)
            if (change := density_change(found, other)) <= DENSITY_TOLERANCE:
                return ensemble, replace(found, residual=max(found.residual, change))
        if other.size > MAX_LIMIT_NODES or (
            other.size > MAX_NODES_WITH_OWN_BULKS and len(beside.bulks) > other.size / 8
        ):
            raise _quadrature_shows(alpha)
        ensemble, edges, times = other, beside, 2 * times
    atoms = ensemble.distinct
    kept = atoms.sigma > 0
    if not gaps_of_spectrum(atoms.sigma[kept], atoms.weights[kept], edges.first[1:] - 1).all():
        raise _quadrature_shows(alpha)
    return ensemble, _exact(ensemble)


def _searched_limit(ensemble: Ensemble, finer: Finer | None) -> tuple[Ensemble, Resolved]:
    """Do the same for bulks that have to be searched, as far as MAX_SEARCHED_NODES nodes."""
    found, times = _searched(ensemble, True), 2
    while (twice := finer(times) if finer else None) is not None:
        other, _ = _reduced(twice)
        if (change := density_change(found, other)) <= DENSITY_TOLERANCE or other.size > MAX_SEARCHED_NODES:
            if change > MASS_AND_MEAN_TOLERANCE:
                raise _quadrature_shows(ensemble.alpha)
            return ensemble, replace(found, residual=max(found.residual, change))
        ensemble, found, times = other, _searched(other, True), 2 * times
    return ensemble, found


def _with_equal_rows(ensemble: CommutingEnsemble) -> CommutingEnsemble:
    """Take rows of equal scale for so many rows that no more than the second moment of the scales is felt.

    Rows enter through h(delta) = E[tau/(1 + tau delta)], and at the edges h delta is at most (alpha E tau^2)^(-1/2). To
    first order in it the equation is that of equal rows at alpha/E tau^2. The next order shifts edges by no more than
    E tau^3 (E tau^2)^(-3/2) alpha^(-1/2) of the width that all eigenvalues would have as one bulk. A light bulk close
    beside a heavy one is narrower: with a share of 1e-4 its edges were found off by 7e-5 of its own width.
    """
    if ensemble.rows.alike or ensemble.alpha < _enough_samples(ensemble.rows):
        return ensemble
    return replace(ensemble, alpha=ensemble.alpha / ensemble.rows.heterogeneity, rows=GAUSSIAN)


def _enough_samples(rows: RowScales) -> float:
    """Compute the alpha from which rows of these scales cannot be told from fewer rows of equal scale."""
    third: float = rows.probabilities @ (rows.nodes / rows.heterogeneity) ** 3 * rows.heterogeneity**1.5
    return float((third / NARROW_BULK_WIDTH) ** 2)


def _refuse_extreme_ratios(ensemble: Ensemble) -> None:
    """Raise ValueError for bulks so light or narrow that their roots would be lost in rounding, after minutes.

    With one offset for all, rows of their scales need no search from some alpha on.
    """
    one_offset, alpha = ensemble.common_offset is not None, ensemble.alpha
    if one_offset and alpha < MIN_SAMPLE_RATIO:
        raise ValueError(
            f"alpha must be at least {MIN_SAMPLE_RATIO:g} for rows of different scale, got {alpha}: the bulks of fewer "
            "samples hold less mass than rounding hides"
        )
    most = MAX_SAMPLE_RATIO if one_offset else MAX_SAMPLE_RATIO_AT_UNLIKE_RIDGES
    if alpha > most:
        beyond = f", or at least {_enough_samples(ensemble.rows):.3g} for these row_scales" if one_offset else ""
        raise ValueError(
            f"alpha must be at most {most:g}{beyond}, got {alpha}: the bulks of this law have to be searched, and "
            "are narrower the more samples there are, so that rounding would hide them"
        )


def _quadrature_shows(alpha: float) -> ValueError:
    return ValueError(
        f"at alpha = {alpha} the law resolves the quadrature of the limit d -> infinity, whose nodes are too few for "
        "so many samples: take a finite d"
    )


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
    low = ensemble.distinct
    start = max(0.0, float(low.weights[low.sigma > 0].sum()) - ensemble.alpha)  # the atom that has variance
    starts = start + np.cumsum(edges.masses) - edges.masses
    spans = [
        Span(Interval(low, high, anchor, edges.hard and k == 0), float(below), float(mass))
        for k, ((low, high), below, mass) in enumerate(zip(edges.bulks, starts, edges.masses, strict=True))
    ]
    narrow = [
        span.interval.high - span.interval.low < NARROW_BULK_WIDTH * (span.interval.high - anchor) for span in spans
    ]
    return _resolved(ensemble, spans, narrow)


def _searched(ensemble: Ensemble, is_quadrature: bool) -> Resolved:
    extra: Array = np.empty(0)
    for _ in range(MAX_SEARCHES):
        spans = bulks(ensemble, extra)
        narrow = [span.interval.high - span.interval.low < ROUNDING_WIDTH * span.interval.high for span in spans]
        if is_quadrature and len(spans) > 1 and shown_between(ensemble, spans):
            raise _quadrature_shows(ensemble.alpha)
        if not all(narrow):
            _refuse_extreme_ratios(ensemble)
        try:
            return _resolved(ensemble, spans, narrow)
        except GapFoundError as gap:
            extra = np.concatenate([extra, gap.points])
    raise ConvergenceError.of("bulks of the law", extra, np.inf, MASS_AND_MEAN_TOLERANCE, advice=TOO_FAR)


def _resolved(ensemble: Ensemble, spans: list[Span], narrow: list[bool]) -> Resolved:
    """Resolve the bulks that are wide enough, and give the others the shape of a semicircle."""
    found = resolve(ensemble, [span for span, thin in zip(spans, narrow, strict=True) if not thin])
    wide = iter(found.bulks)
    every = [
        semicircle(span.interval, span.mass) if thin else next(wide) for span, thin in zip(spans, narrow, strict=True)
    ]
    return Resolved(tuple(every), found.residual)


def _checked(ensemble: Ensemble, found: Resolved, variable: Variable) -> SpectralLaw:
    pieces, atoms = found.bulks, ensemble.atoms
    mean = sum(bulk.integral(lambda nu: nu) for bulk in pieces) + float(atoms[:, 0] @ atoms[:, 1])
    mass = sum(bulk.mass for bulk in pieces) + float(atoms[:, 1].sum())
    residual = max(found.residual, abs(mass - 1), abs(mean / ensemble.mean - 1))
    Solution.verified(
        pieces, residual, MASS_AND_MEAN_TOLERANCE, what=f"law of {ensemble!r}: total mass or mean", advice=TOO_FAR
    )
    edges = np.array([(bulk.interval.low, bulk.interval.high) for bulk in pieces]).reshape(-1, 2)
    return SpectralLaw(
        edges=variable.forward(edges),
        masses=np.array([bulk.mass for bulk in pieces]),
        atoms=np.column_stack([variable.forward(atoms[:, 0]), atoms[:, 1]]),
        residual=residual,
        iterations=None,
        converged=True,
        ensemble=ensemble,
        bulks=pieces,
        variable=variable,
    )
