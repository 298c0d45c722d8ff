"""Masked regression along training: theory of one time and of curves, and all d fits of a data set at 20 times.

A point is one sample ratio at one time of gradient flow; eigendecompositions of the covariance are made before. The
descent that a user would follow instead takes 100 steps on one data set of n = d rows.
"""

import tracemalloc

import numpy as np
import pytest

from simulate.core import stream
from simulate.masked import fit_training_path, sample
from theory import masked
from theory.models import AR1, Flow, GivenSpectrum, MaskedTraining, Scaled

SUBJECT = "masked regression along training"
TIMES = np.geomspace(0.1, 100, 20)


def coordinates(d):
    covariance = Scaled(AR1(d, 0.7), np.linspace(0.5, 2, d))
    assert covariance.spectrum is not None
    return covariance


def descent(d, steps=100):
    """A function that follows all d regressions of one data set, by one product of matrices for a step."""
    X = sample(AR1(d, 0.7), d, stream(0, "benchmark"))
    C = X.T @ X / d

    def follow():
        A = np.zeros_like(C)
        for _ in range(steps):
            A += 0.05 * (C - A @ C)
            np.fill_diagonal(A, 0.0)
        return A

    return follow


def one_by_one(X, times):
    """A function that trains each coordinate by itself, by an eigendecomposition of the others' second moments."""
    C = X.T @ X / len(X)

    def train():
        errors = np.empty((len(times), len(C)))
        for k in range(len(C)):
            others = np.delete(np.arange(len(C)), k)
            s, V = np.linalg.eigh(C[np.ix_(others, others)])
            projected = V.T @ C[others, k]
            for i, t in enumerate(times):
                a = V @ (-np.expm1(-t * s) / s * projected)
                errors[i, k] = ((X[:, k] - X[:, others] @ a) ** 2).mean()
        return errors

    return train


def test_one_point(jobs):
    levels = GivenSpectrum(np.geomspace(0.1, 10, 400))
    covariance = coordinates(400)
    peers = {"numpy, 100 steps of descent": descent(400)}
    mean = MaskedTraining(levels, 1.0, Flow(5.0))
    jobs.compare(
        "mean errors at a point, 400 levels",
        lambda: masked.solve(mean),
        beside=peers,
        goal={"numpy, 100 steps of descent": "1 ms"},
    )
    one = MaskedTraining(covariance, 1.0, Flow(5.0))
    jobs.compare("errors of all coordinates at a point, d = 400", lambda: masked.solve(one), goal="3 ms")
    jobs.compare("the same at exact size", lambda: masked.solve(one, exact_size=True), goal="150 ms")


def test_a_curve(jobs):
    covariance, times = coordinates(400), np.geomspace(0.1, 100, 200)
    jobs.compare(
        "curve of 200 times, all coordinates, d = 400",
        lambda: masked.training_curve(covariance, 1.0, times).test_error,
        goal="0.3 s",
        rounds=2,
    )


def test_all_fits_at_20_times_beside_one_eigendecomposition(jobs):
    d = 1000
    X = sample(AR1(d, 0.7), d, stream(0, "benchmark"))
    C = X.T @ X / d
    jobs.compare(
        f"all fits at 20 times with their estimates, n = d = {d}",
        lambda: fit_training_path(X, TIMES).test_estimate,
        beside={"numpy, one eigendecomposition": lambda: np.linalg.eigh(C)},
        goal="1/2 times",
        rounds=3,
    )


def test_all_fits_beside_a_loop_over_coordinates(jobs):
    d = 100
    X = sample(AR1(d, 0.7), 2 * d, stream(0, "benchmark"))
    jobs.compare(
        f"train errors of all fits at 20 times, n = 2 d, d = {d}",
        lambda: fit_training_path(X, TIMES).train_error,
        beside={"numpy, one eigendecomposition a coordinate": one_by_one(X, TIMES)},
        off=lambda ours, theirs: float(abs(ours / theirs - 1).max()),
        goal="20 times",
    )


@pytest.mark.parametrize("d", [4000])
def test_memory_of_one_point(jobs, d):
    """The modes are made before; an array of (poles x d x d) real numbers would take 900 MB."""
    covariance = AR1(d, 0.7)
    assert covariance.spectrum.loadings is not None
    tracemalloc.start()
    masked.solve(MaskedTraining(covariance, 1.0, Flow(5.0)))
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    jobs.number(
        f"memory of the errors of all coordinates, d = {d}",
        peak,
        "MB",
        goal="140 MB",
        note="one d x d matrix is 128 MB",
    )
