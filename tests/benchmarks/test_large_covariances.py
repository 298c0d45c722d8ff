"""Covariances that are solved without a dense matrix, beside numpy's eigendecomposition of it, and a million of them.

A problem is built anew in each call, from the few numbers that define it to the errors of all coordinates. The
deviation of the dense route is the largest relative one over the coordinates.
"""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import diags_array

from theory import masked
from theory.models import DiagonalPlusLowRank, MaskedRidge, SparsePrecision

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
    make = CASES[case](D)
    matrix = make().matrix
    jobs.compare(
        f"masked regression, {case}, d = {D}",
        lambda: solved(make()),
        beside={"numpy, one dense eigendecomposition": lambda: by_eigh(matrix)},
        off=lambda ours, theirs: np.max(abs(theirs / ours - 1)),
        goal="100 times",
        rounds=1,
    )
    jobs.number(
        f"deviation of the dense route, {case}",
        np.max(abs(by_eigh(matrix) / solved(make()) - 1)),
        "relative",
        goal="1e-9 relative",
    )


@pytest.mark.parametrize("case", CASES)
def test_a_million_coordinates(jobs, case):
    make = CASES[case](LARGE)
    jobs.compare(f"masked regression, {case}, d = {LARGE}", lambda: solved(make()), goal="5 s", rounds=2)
    tracemalloc.start()
    solved(make())
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    jobs.number(f"memory of masked regression, {case}, d = {LARGE}", peak, "MB", goal="1000 MB")
