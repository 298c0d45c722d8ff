"""Whether the rows of a data matrix depend on each other, differ in scale, or both: three numbers tell it."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.random import Generator

from simulate.masked.autocorrelation import TEST_LEVEL, RowAutocorrelation, row_autocorrelation
from simulate.masked.fit import MaskedFit, fit
from simulate.masked.heterogeneity import largest_row_scale
from simulate.masked.lagged_products import centered_rows
from simulate.masked.row_blocks import RowBlocks
from theory.core import OpenShare, Positive, Result, checked

STANDARD_ERRORS = 3.0  # by which the ratio of the two errors must exceed 1
RowKind = Literal["independent", "dependent", "unlike", "dependent and unlike"]


@dataclass(frozen=True, eq=False, repr=False)
class RowDiagnosis(Result):
    """What the rows of a data matrix are: `kind` is "independent", "dependent", "unlike", or "dependent and unlike".

    `loo_over_gcv` is the mean error of leaving one row out over that of GCV, with its standard error `stderr`. It is
    1 for rows that are alike, though both errors are too small where rows depend on each other; it is above 1 where
    rows differ in scale. `largest_row` is the row of the largest estimated scale, `largest_scale`, in units of their
    mean; `largest_p_value` is the probability that a scale as large is found among Gaussian rows of one scale.
    `autocorrelation` holds the correlations of the rows and the test that tells dependent ones.
    """

    kind: RowKind
    loo_over_gcv: float
    stderr: float
    largest_row: int
    largest_scale: float
    largest_p_value: float
    autocorrelation: RowAutocorrelation
    lam: float


@checked
def diagnose_rows(
    X: Any, lam: Positive, rng: Generator, groups: Any = None, level: OpenShare = TEST_LEVEL
) -> RowDiagnosis:
    """Tell rows of X (n, d) that depend on each other from rows of unlike scale, by three numbers of one fit.

    Rows are dependent where the permutation test of `row_autocorrelation` rejects independence at `level`, in the
    order of the table, or within `groups`. They are unlike where the ratio of the leave-one-out to the GCV error, of
    the fit of the centered rows at the ridge lam, exceeds 1 by more than three standard errors, or where their largest
    scale is too large by an exact test at `level`, which ranks it among random rotations of the rows: a single row of a
    large scale raises the standard error as much as the ratio, and only this test sees it. Where rows are dependent the
    test is not exact, and is not used: a single large row is then not seen. Where rows are unlike
    only, the leave-one-out error is right; where they are dependent only, `MaskedFit.corrected_error` is; where they
    are both, neither. The standard error is that of a ratio of two means over the n rows.

    ValueError as in `row_autocorrelation`, and for lam <= 0.

    >>> from simulate.core import stream
    >>> from simulate.masked import sample
    >>> from theory.models import AR1, AR1Rows, PointScales
    >>> rng, covariance = stream(0, "docstring"), AR1(d=60, correlation=0.6)
    >>> diagnose_rows(sample(covariance, 120, rng, row_dependence=AR1Rows(120, 0.6)), 0.05, rng).kind
    'dependent'
    >>> diagnose_rows(sample(covariance, 120, rng, row_scales=PointScales([0.4, 2.8], [0.75, 0.25])), 0.05, rng).kind
    'unlike'
    """
    rows = centered_rows("X", X)
    found = row_autocorrelation(X, 1, rng, groups)
    fitted = fit(RowBlocks.of_array("X", rows), lam)
    ratio, stderr = leave_one_out_ratio(fitted)
    row, scale, p_value = largest_row_scale(fitted, rows, rng, level)
    dependent = found.p_value <= level
    unlike = ratio > 1 + STANDARD_ERRORS * stderr or (p_value <= level and not dependent)
    kinds: dict[tuple[bool, bool], RowKind] = {
        (False, False): "independent",
        (True, False): "dependent",
        (False, True): "unlike",
        (True, True): "dependent and unlike",
    }
    return RowDiagnosis(
        kind=kinds[dependent, unlike],
        loo_over_gcv=ratio,
        stderr=stderr,
        largest_row=row,
        largest_scale=scale,
        largest_p_value=p_value,
        autocorrelation=found,
        lam=lam,
    )


def leave_one_out_ratio(fitted: MaskedFit) -> tuple[float, float]:
    """Return the ratio of the mean leave-one-out to the mean GCV error of a fit, and its standard error over rows.

    Both are means over the rows of squared residuals, divided by (1 - leverage)^2 of the row or by that of the mean
    leverage, so that the error of their ratio follows from the pairs of each row.
    """
    inflation = fitted.gcv_error / np.where(fitted.train_error > 0, fitted.train_error, 1.0)
    pairs = [
        (np.einsum("ij,ij->i", left_out, left_out), np.einsum("ij,ij,j->i", residuals, residuals, inflation))
        for residuals, left_out in fitted.residual_blocks()
    ]
    loo, gcv = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    ratio = float(loo.sum() / gcv.sum())
    return ratio, float((loo - ratio * gcv).std(ddof=1) / np.sqrt(fitted.n) / gcv.mean())
