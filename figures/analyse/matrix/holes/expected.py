"""The errors to expect at holes, before they are filled and after, by the estimators of `simulate.masked`."""

from collections.abc import Sequence

from figures.analyse.matrix.holes.admitted import HoledTable
from figures.analyse.matrix.holes.record import HoleErrors, Method
from simulate.core import Estimate
from simulate.masked import ImputationErrors, Imputed, imputation_error, impute
from theory.core.arrays import Array

METHODS: tuple[Method, ...] = ("own_rows", "pairwise")  # those that know their errors by leaving out one entry


def errors_before(table: HoledTable, method: Method | None, lams: Array | None) -> tuple[HoleErrors, ...]:
    """Return the errors to expect at the holes by the method, or by both that know them without filling anything.

    Of the ridges `lams` the pairwise covariance takes those that leave it positive. ValueError where it is the method
    and there is none.
    """
    methods = (method,) if method in METHODS else METHODS
    found = []
    for one in methods:
        tried = _allowed(table, lams) if one == "pairwise" and lams is not None else lams
        if tried is None or len(tried):
            found.append(_along(imputation_error(table.X, lams=tried, method=one), one, table.n))
        elif one == method:
            raise ValueError(
                f"lams must exceed the least ridge of the pairwise covariance, {_least(table):.3g}, got {lams}"
            )
    return tuple(found)


def _allowed(table: HoledTable, lams: Array) -> Array:
    return lams[lams > _least(table)]


def _least(table: HoledTable) -> float:
    """Return the ridge above which the pairwise covariance is positive; every number of standard units is below d."""
    return imputation_error(table.X, lams=[2.0 * table.d], method="pairwise").least_ridge


def _along(found: ImputationErrors, method: Method, n: int) -> HoleErrors:
    """Average over the holes along the ridges: a column counts by its holes, with the relative error of all entries."""
    errors = found.error / found.variances
    means, relative = errors @ found.weights, found.mean_stderr / found.mean_error
    best = found.best()
    path = tuple(Estimate(float(mean), float(mean * one), n) for mean, one in zip(means, relative, strict=True))
    return HoleErrors(
        method=method,
        lams=found.lams,
        path=path,
        lam=float(found.lams[best]),
        error=path[best],
        by_column=errors[best],
        stderr=found.stderr[best] / found.variances,
        pairs_never_seen=found.pairs_never_seen,
    )


def filled(
    table: HoledTable, method: Method, lams: Sequence[float] | Array | None, before: Sequence[HoleErrors]
) -> Imputed:
    """Fill the holes, at the one ridge that is given or at the best one."""
    known = next((one.lam for one in before if one.method == method), None)
    only = float(lams[0]) if lams is not None and len(lams) == 1 else None
    return impute(table.X, lam=only if known is None else known, method=method, check=False)
