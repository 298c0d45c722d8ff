"""Covariances that are solved without a dense matrix, beside numpy's eigendecomposition of it, and a million of them.

A problem is built anew in each call, from the few numbers that define it to the errors of all coordinates. The
deviation of the dense route is the largest relative one over the coordinates.
"""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import diags_array

from theory import masked
from theory.models import CovarianceOperator, DiagonalPlusLowRank, MaskedRidge, SparsePrecision

SUBJECT = "large covariances"
D, LARGE = 4000, 1_000_000


def band(d, b):
    offsets = range(-b, b + 1)
    values = [2.0 if offset == 0 else -0.8 / b * 0.9 ** abs(offset) for offset in offsets]
    return lambda: SparsePrecision(diags_array(values, offsets=list(offsets), shape=(d, d)))


def low_rank(d, r):
    rng = np.random.default_rng(0)
    diagonal, factors = rng.uniform(0.5, 1.5, d), rng.standard_normal((d, r)) / 2
    return lambda: DiagonalPlusLowRank(diagonal, factors)


CASES = {
    "bandwidth 1": lambda d: band(d, 1),
    "bandwidth 5": lambda d: band(d, 5),
    "diagonal plus 5 factors": lambda d: low_rank(d, 5),
}


def solved(covariance):
    return masked.solve(MaskedRidge(covariance, alpha=2.0, lam=0.1)).test_error


def by_eigh(matrix):
    """The same errors from an eigendecomposition, as one would write them in a few lines of numpy."""
    eigenvalues, eigenvectors = np.linalg.eigh(matrix)
    loadings = eigenvectors**2
    kappa = 0.1
    for _ in range(200):  # the plain fixed point of kappa = lam + kappa df1/alpha
        kappa = 0.1 + kappa * np.mean(eigenvalues / (eigenvalues + kappa)) / 2.0
    p, t = eigenvalues / (eigenvalues + kappa), kappa / (eigenvalues + kappa)
    return kappa * (loadings @ (p * t)) / (loadings @ t) ** 2 / (1 - np.mean(p * p) / 2.0)


@pytest.mark.parametrize("case", CASES)
def test_beside_one_eigendecomposition(jobs, case):
    make, dense = CASES[case](D), []
    matrix = make().matrix
    ours = jobs.compare(
        f"masked regression, {case}, d = {D}",
        lambda: solved(make()),
        beside={"numpy, one dense eigendecomposition": lambda: dense.append(by_eigh(matrix))},
        goal="100 times",
        rounds=1,
    )
    deviation = np.max(abs(dense[-1] / ours - 1))
    jobs.number(f"deviation of the dense route, {case}", deviation, "relative", goal="1e-9 relative")


@pytest.mark.parametrize("case", CASES)
def test_a_million_coordinates(jobs, case):
    make = CASES[case](LARGE)
    jobs.compare(f"masked regression, {case}, d = {LARGE}", lambda: solved(make()), goal="5 s", rounds=2)
    tracemalloc.start()
    solved(make())
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    jobs.number(f"memory of masked regression, {case}, d = {LARGE}", peak, "MB", goal="1000 MB")


def ring(d):
    """Neighbors on a ring correlate, in units of their own for each coordinate."""
    s = np.random.default_rng(5).uniform(0.5, 2, (d, 1))

    def product(V):
        V = s * V
        found = 2 * V
        found[1:] += 0.6 * V[:-1]
        found[:-1] += 0.6 * V[1:]
        found[[0, -1]] += 0.6 * V[[-1, 0]]
        found *= s
        return found

    return CovarianceOperator(d, product, 2 * s[:, 0] ** 2)


def estimated(covariance):
    return masked.estimate(MaskedRidge(covariance, alpha=2.0, lam=0.1), np.random.default_rng(0))


def test_estimates_beside_exact_errors(jobs):
    covariance = ring(D)
    exact = by_eigh(covariance.matrix).mean()
    found = jobs.compare(f"estimate from products, d = {D}", lambda: estimated(ring(D)), rounds=2)
    off = abs(found.mean_test_error / exact - 1)
    jobs.number(f"deviation of the mean error from the exact one, d = {D}", off, "relative", goal="5e-3 relative")
    jobs.number("the same in stated standard errors", off * exact / found.mean_test_error_stderr, "")


def test_estimates_of_a_hundred_thousand_coordinates(jobs):
    found = jobs.compare("estimate from products, d = 100000", lambda: estimated(ring(100_000)), goal="2 s", rounds=2)
    for name in ("effective_ridge", "mean_test_error"):
        stderr = getattr(found, f"{name}_stderr") / getattr(found, name)
        jobs.number(f"stated error of {name}, d = 100000", stderr, "relative", goal="1e-3 relative")
