"""The errors to expect at holes, before they are filled and after, by the estimators of `simulate.masked`."""

from collections.abc import Sequence

from figures.analyse.matrix.holes.admitted import HoledTable
from figures.analyse.matrix.holes.record import HoleErrors, LeftOut, Method
from simulate.core import Estimate
from simulate.masked import ImputationErrors, Imputed, imputation_error, impute
from theory.core.arrays import Array

LEFT_OUT: tuple[LeftOut, ...] = ("own_rows", "pairwise")
RIDGES = 13  # that are tried by default
# Seconds for each n d^3 of a ridge (pairwise), or of all ridges together (own rows), as measured on one core.
SECONDS: dict[LeftOut, float] = {"pairwise": 1.6e-10, "own_rows": 4e-10}
MOST_SECONDS = 30.0  # of what is not asked for


def seconds(method: LeftOut, n: int, d: int, n_ridges: int = RIDGES) -> float:
    """Say about how long it takes to leave out each entry of a table (n, d) once, at so many ridges."""
    return SECONDS[method] * n * float(d) ** 3 * (n_ridges if method == "pairwise" else 1)


def errors_before(table: HoledTable, method: Method | None, lams: Array | None) -> tuple[HoleErrors, ...]:
    """Return the errors to expect at the holes by the method, or by both that know them without filling anything.

    Of the ridges `lams` the pairwise covariance takes those that leave it positive. ValueError where it is the method
    and there is none. Where it is not asked for and would take more than half a minute it is left out.
    """
    asked: tuple[LeftOut, ...] = tuple(one for one in LEFT_OUT if one == method)
    found = []
    for one in asked or LEFT_OUT:
        if one == "own_rows":
            found.append(_along(table, one, lams))
        elif asked or seconds(one, table.n, table.d) <= MOST_SECONDS:
            allowed = lams if lams is None else lams[lams > _least(table)]
            if allowed is None or len(allowed):
                found.append(_along(table, one, allowed))
            elif asked:
                raise ValueError(
                    f"lams must exceed the least ridge of the pairwise covariance, {_least(table):.3g}, got {lams}"
                )
    return tuple(found)


def _least(table: HoledTable) -> float:
    """Return the ridge above which the pairwise covariance is positive, which it is at any ridge above d."""
    return imputation_error(table.X, lams=[2.0 * table.d], method="pairwise").least_ridge


def _along(table: HoledTable, method: LeftOut, lams: Array | None) -> HoleErrors:
    """Average over the holes along the ridges: a column counts by its holes."""
    found: ImputationErrors = imputation_error(table.X, lams=lams, method=method)
    errors = found.error / found.variances
    best = found.best()
    means = zip(found.hole_error, found.hole_stderr, strict=True)
    path = tuple(Estimate(float(mean), float(stderr), table.n) for mean, stderr in means)
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


def filled(table: HoledTable, method: Method, lams: Array | None, before: Sequence[HoleErrors]) -> Imputed:
    """Fill the holes, at the one ridge that is given or at the best one."""
    known = next((one.lam for one in before if one.method == method), None)
    only = float(lams[0]) if lams is not None and len(lams) == 1 else None
    return impute(table.X, lam=only if known is None else known, method=method, check=False)
