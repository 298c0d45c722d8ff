"""Spiked cumulants: norms beside exact arithmetic, thresholds beside a blind search, training beside scikit-learn.

Run by `make bench`, with OPENBLAS_NUM_THREADS=1. Numbers are shown, never asserted.
"""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

from simulate.core import stream
from simulate.cumulants import ReluNetwork, enumerated_norm, labeled_samples, norm_statistics, train_network
from theory import cumulants
from theory.models import SpikedCumulant

pytest.importorskip("pytest_benchmark")

SIGNS, SPHERE = SpikedCumulant(400, 5.0), SpikedCumulant(400, 5.0, "sphere")
DEGREE, WIDTH, STEPS = 60, 80, 1000


@pytest.mark.parametrize("model", [SIGNS, SPHERE], ids=["signs", "sphere"])
def test_likelihood_ratio_norm(benchmark, model):
    benchmark(cumulants.likelihood_ratio_norm, model, 850)


def test_likelihood_ratio_norm_by_mpmath(benchmark):
    """The sum over signs with 30 digits, as one would write it."""
    import mpmath as mp

    def norm():
        with mp.workdps(30):
            r, d = mp.mpf(5) / 6, 400
            total = mp.mpf(0)
            for k in range(d + 1):
                x = r * (2 * k - d) / d
                f = mp.exp(-(x**2) / (1 - x**2)) * mp.cosh(x / (1 - x**2)) / mp.sqrt(1 - x**2)
                total += mp.binomial(d, k) * f**850 / mp.mpf(2) ** d
            return total

    benchmark.pedantic(norm, rounds=3)


def test_low_degree_norm(benchmark):
    benchmark(cumulants.low_degree_norm, SPHERE, 160_000, DEGREE)


def test_low_degree_norm_by_fractions(benchmark):
    """The same recursion with exact fractions; r = 5/6."""
    h = [1, 1]
    for k in range(1, DEGREE):
        h.append(h[k] - k * h[k - 1])  # He_(k+1)(1); those of odd order do not count for signs
    a = [Fraction(5, 6) ** k * (h[k] if k % 2 == 0 else 0) ** 2 / math.factorial(k) for k in range(DEGREE + 1)]

    def norm():
        b = [Fraction(1)]
        for m in range(1, DEGREE + 1):
            b.append(sum((160_001 * k - m) * a[k] * b[m - k] for k in range(2, m + 1)) / m)
        return b

    benchmark.pedantic(norm, rounds=3)


@pytest.mark.parametrize("model", [SIGNS, SPHERE], ids=["signs", "sphere"])
def test_threshold(benchmark, model):
    benchmark(cumulants.likelihood_ratio_threshold, model)


def test_threshold_by_a_fine_grid(benchmark):
    """A million overlaps, which leaves an error of about 1e-9 if they are graded towards one."""

    def gamma():
        overlap = 1 - np.geomspace(1e-12, 0.999, 10**6)
        with np.errstate(divide="ignore", invalid="ignore"):
            cost = (
                math.log(2)
                + (1 + overlap) / 2 * np.log((1 + overlap) / 2)
                + (1 - overlap) / 2 * np.log((1 - overlap) / 2)
            )
        return np.min(cost / np.log(cumulants.overlap_function(SIGNS, overlap)))

    benchmark.pedantic(gamma, rounds=3)


def test_norm_statistics(benchmark):
    """A hundred data sets of 1600 samples in 20 dimensions, of each hypothesis."""
    model = SpikedCumulant(20, 10.0)
    benchmark.pedantic(lambda: norm_statistics(model, 1600, 100, stream(0, "bench")), rounds=3)


def test_enumerated_norm(benchmark):
    """Ten thousand data sets of 4 samples in 6 dimensions: 64 spikes."""
    benchmark.pedantic(lambda: enumerated_norm(SpikedCumulant(6, 2.0), 4, 10_000, stream(0, "bench")), rounds=3)


def data():
    model, rng = SpikedCumulant(16, 10.0), stream(0, "bench")
    return labeled_samples(model, np.full(16, 0.25), 2048, rng)


def test_training(benchmark):
    """A thousand steps of 256 samples, 80 units."""
    X, y = data()
    start = ReluNetwork.random(WIDTH, 16, np.random.default_rng(0))
    benchmark.pedantic(lambda: train_network(start, X, y, n_steps=STEPS, rng=np.random.default_rng(1)), rounds=3)


def test_training_by_scikit_learn(benchmark):
    """As many steps of the same size with MLPClassifier: 4096 samples make 16 steps an epoch."""
    networks = pytest.importorskip("sklearn.neural_network", reason="the peer, scikit-learn, is not installed")
    from sklearn.exceptions import ConvergenceWarning

    X, y = data()

    def run():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            peer = networks.MLPClassifier(
                (WIDTH,), alpha=0, batch_size=256, learning_rate_init=2e-3, max_iter=STEPS // 16, n_iter_no_change=STEPS
            )
            peer.fit(X, y)

    benchmark.pedantic(run, rounds=3)
