"""Masked regression of rows that depend on each other: the corrected error beside generalized cross-validation.

The matrix has n rows and d columns, and is fitted at 30 ridges; the corrected error is asked for at every ridge and
coordinate. The rows follow an autoregression in time, of which the autocovariance is known, or is estimated anew.
"""

import numpy as np
import pytest

from simulate.core import stream
from simulate.masked import autoregressive_rows, blocked_error, fit, fit_path, row_autocorrelation, sample
from theory.models import AR1, AR1Rows

SUBJECT = "rows that depend on each other"
LAMS = np.geomspace(0.01, 10, 30)
SHAPES = pytest.mark.parametrize(("n", "d"), [(400, 200), (1000, 250), (2000, 500)])


def data(n, d):
    return sample(AR1(d, 0.6), n, stream(0, "bench", n, d), row_dependence=AR1Rows(n, 0.6))


@SHAPES
@pytest.mark.parametrize("centered", [False, True])
def test_corrected_errors_along_a_path(jobs, n, d, centered):
    """Every call makes its dependence anew, so that its eigenvalues are part of what is timed."""
    X = data(n, d)
    if centered:
        X -= X.mean(axis=0)
    path = fit_path(X, LAMS)
    one = fit(X, LAMS[7]).corrected_error(AR1Rows(n, 0.6), centered)
    np.testing.assert_allclose(path.corrected_error(AR1Rows(n, 0.6), centered)[7], one, rtol=1e-7)
    about = ", about the mean" if centered else ""
    jobs.compare(
        f"corrected errors at 30 ridges, with the path{about}, n = {n}, d = {d}",
        lambda: fit_path(X, LAMS).corrected_error(AR1Rows(n, 0.6), centered),
        beside={"ours, GCV errors at 30 ridges": lambda: fit_path(X, LAMS).gcv_error},
        goal="1/1.5 times",
    )


@SHAPES
def test_estimates_of_the_dependence(jobs, n, d):
    X = data(n, d)
    one = {"ours, a path of 30 ridges": lambda: fit_path(X, LAMS)}
    jobs.compare(f"an autoregression of the rows, n = {n}, d = {d}", lambda: autoregressive_rows(X), beside=one)
    jobs.compare(
        f"correlations of rows and their test, n = {n}, d = {d}",
        lambda: row_autocorrelation(X, 5, stream(0)),
        beside=one,
    )
    jobs.compare(
        f"5 blocks of rows with gaps, one ridge, n = {n}, d = {d}", lambda: blocked_error(X, 0.1, 5, 10), beside=one
    )
