"""All masked ridge regressions, each column of a data matrix from the others: beside scikit-learn, column by column.

The matrix has n rows and d columns. The flop limit is the time of a matrix product with as many operations.
"""

import numpy as np
import pytest
from scipy.linalg.blas import dsyrk

from simulate.masked import fit, fit_path, row_blocks
from simulate.masked.dual import dual
from simulate.masked.primal import primal
from tests.benchmarks.machinery.jobs import Peer

SUBJECT = "masked regression of a data matrix"
LAM, LAMS = 0.01, np.logspace(-4, 2, 50)
SUBSET = 3  # coordinates of the loop that are timed
SHAPES = pytest.mark.parametrize(("n", "d"), [(2000, 1000), (1000, 2000), (500, 1000)])


def data(n, d):
    return np.random.default_rng(1).standard_normal((n, d))


def scikit_learn(n, d):
    from sklearn.linear_model import Ridge

    X = data(n, d)

    def loop():
        for k in range(SUBSET):
            Ridge(alpha=n * LAM, fit_intercept=False).fit(np.delete(X, k, axis=1), X[:, k])

    return loop


@SHAPES
def test_fit(jobs, n, d):
    """The flop limit: n d^2 + d^3 flops (dual: 2 n^2 d + n^3/3 + n d^2) at the rate of a matrix product."""
    X, A = data(n, d), data(1000, 1000)
    product = lambda: A @ A  # noqa: E731
    flops = n * d * d + d**3 if n >= d else 2 * n * n * d + n**3 / 3 + n * d * d
    jobs.compare(
        f"all masked ridge regressions, n = {n}, d = {d}",
        lambda: fit(X, LAM),
        {"scikit-learn, a loop over coordinates": Peer(lambda: scikit_learn(n, d), made=True, times=d / SUBSET)},
        beside={"the flop limit": Peer(product, times=flops / 2e9)},
        goal={"the flop limit": "1/1.5 times"},
        limit={"the flop limit": "1/2 times"},
    )


@pytest.mark.parametrize(("n", "d"), [(200_000, 50), (20_000, 200)])
def test_tall_tables(jobs, n, d):
    """The limit is a product X'X by BLAS and one pass for the means; a fit also copies the table, as it promises."""
    X = data(n, d) + 3.0

    def product_and_pass():
        return dsyrk(1 / n, X.T, lower=1), X.mean(axis=0)

    beside = {"the limit, X'X and the means": product_and_pass}
    title = f"n = {n}, d = {d}"
    jobs.compare(f"all regressions of a tall table, {title}", lambda: fit(X, LAM), beside=beside, goal="1/1.5 times")
    jobs.compare(f"the same about the means, {title}", lambda: fit(row_blocks(X).centered(), LAM), beside=beside)


@SHAPES
def test_path_and_choices(jobs, n, d):
    X = data(n, d)
    one = {"ours, one fit": lambda: fit(X, LAM)}
    jobs.compare(f"fits with 50 penalties, n = {n}, d = {d}", lambda: fit_path(X, LAMS), beside=one)
    jobs.compare(
        f"penalty chosen of 50 by leave-one-out, n = {n}, d = {d}",
        lambda: fit_path(X, LAMS).best("loo"),
        beside={"ours, chosen by GCV": lambda: fit_path(X, LAMS).best()},
        goal="1/3 times",
    )
    jobs.compare(f"a fit and its leave-one-out errors, n = {n}, d = {d}", lambda: fit(X, LAM).loo_error, beside=one)


@pytest.mark.parametrize("lam", [LAM, 1e-9])
@SHAPES
def test_peak_memory(jobs, n, d, lam):
    def prepared():
        X = data(n, d)
        fit(X[:20, :10], lam)
        return lambda: fit(X, lam)

    allowed = 8e-6 * 4 * d * max(n, d)
    title = f"peak memory of a fit, n = {n}, d = {d}, lam = {lam:g}"
    jobs.memory(title, Peer(prepared, made=True), goal=f"{allowed:.3g} MB", note="the goal is four matrices")


@pytest.mark.parametrize("n", [400, 600, 700, 800])
def test_where_the_dual_pays(jobs, n):
    """Both factorizations at d = 1000: the crossing is near n = 0.74 d."""
    X = data(n, 1000)
    beside = {"ours, the primal problem": lambda: primal(row_blocks(X), LAM)}
    jobs.compare(
        f"a fit by the dual problem, n = {n}, d = 1000",
        lambda: dual(X, LAM),
        beside=beside,
        goal="1 times" if n < 740 else "",
    )


def test_growth(jobs):
    def make(d):
        X = data(2 * d, d)
        return lambda: fit(X, LAM)

    jobs.grows("growth of the time of a fit with d = n/2", (500, 1000, 2000), make, goal="power 3")
