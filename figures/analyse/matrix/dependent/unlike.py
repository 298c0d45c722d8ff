"""Asks whether rows that depend on each other differ in scale, too, and puts both into one law."""

from dataclasses import replace

import numpy as np

from figures.analyse.matrix.centered_rows import CenteredRows
from figures.analyse.matrix.dependent.laws import SeriesLaws
from figures.analyse.matrix.dependent.row_order import RowOrder, fitted_series
from figures.analyse.matrix.row_scales import differ
from simulate.core import Estimate
from simulate.masked import RowBlocks, RowHeterogeneity, fit
from theory.core.arrays import Array

UNLIKE_ERRORS = 3.0  # standard errors by which leave-one-out exceeds GCV where rows differ in scale too
LEAST_SCALE = 0.05  # of a row, below which its direction is mostly rounding


def unlike_too(
    X: CenteredRows, found: RowOrder, scales: RowHeterogeneity | str, lam: float, seed: int
) -> tuple[RowOrder, Estimate | None]:
    """Return the dependence of the rows with their scales in it, and leave-one-out over GCV, where that is above 1.

    Rows that depend on each other and are alike have the same error by leave-one-out and by GCV, at any ridge
    `lam`; rows of unlike scale do not. Where the test of scales finds them, and the two errors differ by more than
    UNLIKE_ERRORS standard errors, the rows are taken for D^(1/2) R D^(1/2): their correlations R are fitted once more
    to the rows over the roots of their scales, which large rows would else dominate. Whatever is in groups keeps the
    law that it has.
    """
    if found.laws is None or isinstance(scales, str) or not differ(scales):
        return found, None
    # Squares of rows that resemble each other are known as if there were fewer of them, by the mean of t^2.
    ratio = _left_out_over_gcv(X, lam, found.laws.contrasts(X.n).scales.heterogeneity)
    if not ratio.mean > 1 + UNLIKE_ERRORS * ratio.stderr:
        return found, None
    if not isinstance(found.laws, SeriesLaws) or X.rows.in_memory is None or len(scales.row_scales) != X.n:
        return found, ratio
    roots = np.sqrt(np.maximum(scales.row_scales, LEAST_SCALE))
    alike = RowBlocks.of_array("X", (X.rows.in_memory - X.mean) / roots[:, None])
    fitted, laws = fitted_series(alike, X.d, seed)
    return replace(found, fitted=fitted, laws=replace(laws, scales=_shrunk(scales))), ratio


def _left_out_over_gcv(X: CenteredRows, lam: float, resemblance: float) -> Estimate:
    """Return leave-one-out over GCV, with the error of their ratio: a large row is large in both."""
    fitted = fit(X.rows.centered(), lam)
    pairs = [((plain**2).mean(axis=1), (left_out**2).mean(axis=1)) for plain, left_out in fitted.residual_blocks()]
    plain, left_out = (np.concatenate(part) for part in zip(*pairs, strict=True))
    reported = plain * (fitted.mean_gcv_error / fitted.mean_train_error)
    ratio = Estimate.of((left_out - left_out.mean() / reported.mean() * reported) / reported.mean())
    return Estimate(float(left_out.mean() / reported.mean()), ratio.stderr * float(np.sqrt(resemblance)), X.n)


def _shrunk(found: RowHeterogeneity) -> Array:
    """Draw the estimated scales (n,), each a scale times noise, toward their mean so that their mean square is h."""
    spread = float(np.mean(found.row_scales**2)) - 1
    share = np.sqrt(max(found.value - 1, 0.0) / spread) if spread > 0 else 0.0
    return np.maximum(1 + share * (found.row_scales - 1), LEAST_SCALE)
