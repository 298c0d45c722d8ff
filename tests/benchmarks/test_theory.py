"""Solvers of the masked problem: beside one eigendecomposition, beside each other, and the cost of the import.

Run by `make bench`, with OPENBLAS_NUM_THREADS=1. Times are shown, never asserted; ratios are of one run.
"""

import math
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy.linalg import eigh_tridiagonal

from tests.benchmarks.timing import seconds
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

pytest.importorskip("pytest_benchmark")

ALPHAS = np.linspace(0.2, 4, 200)


def curve(make, lam=0.01):
    """200 points with the errors of every coordinate, from a record that has cached nothing."""
    return masked.learning_curve(make(), ALPHAS, lam).test_error


def scaled(d):
    return Scaled(AR1(d, 0.7), np.linspace(0.5, 2, d))


@pytest.mark.parametrize("family", ["AR1", "Scaled"])
def test_curve_beside_one_eigendecomposition(benchmark, show, family):
    """Target: within 1.5 times, the record's own decomposition included."""
    d, make = 2000, {"AR1": lambda: AR1(2000, 0.7), "Scaled": lambda: scaled(2000)}[family]
    matrix = make().matrix
    dense = seconds(lambda: np.linalg.eigh(matrix), 3)
    own = seconds(lambda: make().eigenvectors, 3)
    benchmark.pedantic(curve, args=(make,), rounds=3, warmup_rounds=1)
    ours = benchmark.stats.stats.min
    show(f"200-point curve, {family} d={d}", seconds=ours, eigh=dense, over_eigh=ours / dense, of_it_own_modes=own)


def test_tridiagonal_beside_dense_eigendecomposition(benchmark, show):
    """What AR(1) takes of the structure of its precision."""
    d, r = 2000, 0.7
    diagonal = np.full(d, (1 + r * r) / (1 - r * r))
    diagonal[[0, -1]] = 1 / (1 - r * r)
    beside = np.full(d - 1, -r / (1 - r * r))
    benchmark.pedantic(eigh_tridiagonal, args=(diagonal, beside), rounds=3, warmup_rounds=1)
    matrix = AR1(d, r).matrix
    ours, dense = benchmark.stats.stats.min, seconds(lambda: np.linalg.eigh(matrix), 3)
    show(f"eigh_tridiagonal d={d}", seconds=ours, eigh=dense, over_eigh=ours / dense)


def test_infinite_curve_beside_a_finite_one(benchmark, show):
    """Target: below a tenth of the curve at d = 500."""
    finite = seconds(lambda: curve(lambda: AR1(500, 0.7)), 5)
    benchmark.pedantic(curve, args=(lambda: AR1(math.inf, 0.7),), rounds=20, warmup_rounds=1)
    ours = benchmark.stats.stats.min
    show("200-point curve, AR1 d=inf", seconds=ours, finite_500=finite, share=ours / finite)


@pytest.mark.parametrize("law", [PointScales([0.2, 3.4], [0.75, 0.25]), StudentTScales(5.0)], ids=repr)
def test_curve_of_unlike_rows_beside_gaussian_ones(benchmark, show, law):
    def points(rows):
        return masked.learning_curve(AR1(math.inf, 0.7), ALPHAS, 0.01, row_scales=rows).mean_test_error

    gaussian = seconds(lambda: points(EqualScales()), 10)
    benchmark.pedantic(points, args=(law,), rounds=10, warmup_rounds=1)
    ours = benchmark.stats.stats.min
    show(f"200-point curve, {law}", milliseconds=1e3 * ours, gaussian=1e3 * gaussian, over_gaussian=ours / gaussian)


@pytest.mark.parametrize("name", ["isotropic", "diagonal", "blocks", "power law", "ring", "torus"])
def test_a_million_coordinates(benchmark, show, name):
    d = 10**6
    make = {
        "isotropic": lambda: Isotropic(d),
        "diagonal": lambda: Diagonal(np.linspace(0.5, 2, d)),
        "blocks": lambda: Blocks(d, 5, 0.5),
        "power law": lambda: PowerLaw(d, 0.8),
        "ring": lambda: GaussianFreeField(d, 0.5),
        "torus": lambda: GaussianFreeField(d, 0.5, 2),
    }[name]
    benchmark.pedantic(lambda: masked.solve(MaskedRidge(make(), 1.0, 0.01)), rounds=3, warmup_rounds=1)
    show(f"one point, {name} d=10^6", seconds=benchmark.stats.stats.min)


@pytest.mark.parametrize("lam", [1e-12, 1e-6, 1e-2, 10.0])
def test_replica_point(benchmark, show, lam):
    """Target: at most 15 iterations."""
    covariance = AR1(math.inf, 0.7)
    model = MaskedRidge(covariance, 1.0, lam)
    benchmark.pedantic(masked.replica, args=(model,), rounds=20, warmup_rounds=1)
    found = masked.replica(model)
    scalar = masked.solve(model).mean_test_error
    show(
        f"replica, AR1 d=inf, alpha=1, lam={lam:g}",
        milliseconds=1e3 * benchmark.stats.stats.min,
        iterations=found.iterations,
        relative_gap=abs(found.test_error / scalar - 1),
    )


def test_optimal_ridge(benchmark, show):
    benchmark.pedantic(masked.optimal_ridge, args=(AR1(math.inf, 0.7), 1.0), rounds=10, warmup_rounds=1)
    dense = AR1(500, 0.7)
    show(
        "optimal ridge, AR1 d=inf",
        milliseconds=1e3 * benchmark.stats.stats.min,
        at_500=1e3 * seconds(lambda: masked.optimal_ridge(dense, 1.0), 3),
    )


def test_import_beside_numpy_and_scipy(benchmark, show):
    """Target: at most 1.25 times numpy, scipy.linalg and scipy.optimize; each the best of fresh processes in turn."""
    programs = {"theory": "import theory", "peers": "import numpy, scipy.linalg, scipy.optimize"}
    times = dict.fromkeys(programs, math.inf)

    def round_of_both():
        for name, program in programs.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], check=True, env=os.environ)
            times[name] = min(times[name], time.perf_counter() - start)

    benchmark.pedantic(round_of_both, rounds=7, warmup_rounds=1)
    show("import theory", seconds=times["theory"], numpy_scipy=times["peers"], over=times["theory"] / times["peers"])
