"""Theory of masked ridge regression on data of d coordinates, beside an eigendecomposition; its import.

A curve has 200 sample ratios alpha, with the errors of every coordinate; lam is the penalty.
"""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.linalg import eigh_tridiagonal

from theory import masked
from theory.models import (
    AR1,
    Blocks,
    Diagonal,
    EqualScales,
    GaussianFreeField,
    Isotropic,
    MaskedRidge,
    PointScales,
    PowerLaw,
    Scaled,
    StudentTScales,
)

SUBJECT = "masked problem, theory"
ALPHAS = np.linspace(0.2, 4, 200)


def curve(covariance, lam=0.01):
    """200 points with the errors of every coordinate."""
    return masked.learning_curve(covariance, ALPHAS, lam).test_error


def scaled(d):
    return Scaled(AR1(d, 0.7), np.linspace(0.5, 2, d))


@pytest.mark.parametrize("family", ["AR1", "scaled AR1"])
def test_curve_beside_one_eigendecomposition(jobs, family):
    """From a record that has cached nothing, its own decomposition included."""
    d, make = 1000, {"AR1": lambda: AR1(1000, 0.7), "scaled AR1": lambda: scaled(1000)}[family]
    matrix = make().matrix
    jobs.compare(
        f"curve of 200 points, {family} d = {d}",
        lambda: curve(make()),
        beside={"numpy, one dense eigendecomposition": lambda: np.linalg.eigh(matrix)},
        goal="1/1.5 times",
        rounds=2,
    )


def test_tridiagonal_beside_dense_eigendecomposition(jobs):
    """What AR(1) takes of the structure of its precision."""
    d, r = 1000, 0.7
    diagonal = np.full(d, (1 + r * r) / (1 - r * r))
    diagonal[[0, -1]] = 1 / (1 - r * r)
    off = np.full(d - 1, -r / (1 - r * r))
    matrix = AR1(d, r).matrix
    jobs.compare(
        f"eigenvectors of AR1 d = {d}",
        lambda: AR1(d, r).eigenvectors,
        beside={
            "scipy, tridiagonal": lambda: eigh_tridiagonal(diagonal, off),
            "numpy, dense": lambda: np.linalg.eigh(matrix),
        },
        rounds=2,
    )


def test_infinite_curve_beside_a_finite_one(jobs):
    jobs.compare(
        "curve of 200 points, AR1 d = inf",
        lambda: curve(AR1(math.inf, 0.7)),
        beside={"ours, d = 500": lambda: curve(AR1(500, 0.7))},
        goal="10 times",
        note="wanted is a tenth of the time at d = 500, or less",
    )


@pytest.mark.parametrize("law", [PointScales([0.2, 3.4], [0.75, 0.25]), StudentTScales(5.0)], ids=repr)
def test_curve_of_unlike_rows_beside_gaussian_ones(jobs, law):
    def points(rows):
        return masked.learning_curve(AR1(math.inf, 0.7), ALPHAS, 0.01, row_scales=rows).mean_test_error

    gaussian = {"ours, Gaussian rows": lambda: points(EqualScales())}
    jobs.compare(
        f"curve of 200 points, rows of unlike scale, {type(law).__name__}", lambda: points(law), beside=gaussian
    )


@pytest.mark.parametrize("name", ["isotropic", "diagonal", "blocks", "power law", "ring", "torus"])
def test_a_million_coordinates(jobs, name):
    d = 10**6
    make = {
        "isotropic": lambda: Isotropic(d),
        "diagonal": lambda: Diagonal(np.linspace(0.5, 2, d)),
        "blocks": lambda: Blocks(d, 5, 0.5),
        "power law": lambda: PowerLaw(d, 0.8),
        "ring": lambda: GaussianFreeField(d, 0.5),
        "torus": lambda: GaussianFreeField(d, 0.5, 2),
    }[name]
    jobs.compare(
        f"errors at one sample ratio, {name} d = 10^6", lambda: masked.solve(MaskedRidge(make(), 1.0, 0.01)), rounds=2
    )


@pytest.mark.parametrize("lam", [1e-12, 1e-6, 1e-2, 10.0])
def test_replica_point(jobs, lam):
    model = MaskedRidge(AR1(math.inf, 0.7), 1.0, lam)
    title = f"replica point, AR1 d = inf, alpha = 1, lam = {lam:g}"
    found = jobs.compare(title, lambda: masked.replica(model))
    jobs.number(f"steps to that replica point, lam = {lam:g}", found.iterations, "steps", goal="15 steps")
    gap = abs(found.test_error / masked.solve(model).mean_test_error - 1)
    jobs.number(
        f"deviation of that point from the scalar equation, lam = {lam:g}", gap, "relative", goal="1e-10 relative"
    )


def test_optimal_ridge(jobs):
    dense = AR1(500, 0.7)
    for name, covariance in {"inf": AR1(math.inf, 0.7), "500": dense}.items():
        title = f"optimal ridge, AR1 d = {name}"
        jobs.compare(title, lambda covariance=covariance: masked.optimal_ridge(covariance, 1.0))


def test_growth_of_a_curve(jobs):
    def make(d):
        return lambda: curve(scaled(d))

    jobs.grows("growth of the time of a curve with d, scaled AR1", (200, 400, 800), make, goal="power 3")


@pytest.mark.parametrize(
    "program",
    ["import theory", "from theory import models", "import theory.masked", "from theory.masked import solve"],
)
def test_import_beside_numpy_and_scipy(jobs, program):
    """Each time a fresh process, whose CPU time counts. A subject is loaded when it is first used."""

    def process(program):
        return lambda: subprocess.run([sys.executable, "-c", program], check=True, env=os.environ)

    libraries = "import numpy, scipy.linalg, scipy.optimize"
    jobs.compare(
        f"a fresh process with `{program}`",
        process(program),
        beside={"numpy, scipy.linalg and scipy.optimize alone": process(libraries)},
        goal="1 times" if program != "from theory.masked import solve" else "1/1.25 times",
    )
