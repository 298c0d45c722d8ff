"""All masked regressions of a data matrix: beside a loop over scikit-learn's Ridge and the flop limit of the machine.

Run by `make bench`, with OPENBLAS_NUM_THREADS=1. Times are shown, never asserted.
"""

import tracemalloc

import numpy as np
import pytest

from simulate.masked import fit, fit_path
from tests.benchmarks.timing import seconds

pytest.importorskip("pytest_benchmark")

LAM = 0.01
SHAPES = [(2000, 1000), (1000, 2000)]  # n, d


def flop_limit(n, d):
    """Seconds for n d^2 + d^3 (dual: 2 n^2 d + n^3/3 + n d^2) flops at the dgemm rate of this moment."""
    A = np.random.default_rng(0).standard_normal((1500, 1500))
    rate = 2 * 1500**3 / seconds(lambda: A @ A, 5)
    return (n * d * d + d**3 if n >= d else 2 * n * n * d + n**3 / 3 + n * d * d) / rate


def data(n, d):
    return np.random.default_rng(1).standard_normal((n, d))


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_fit_beside_the_flop_limit_and_a_loop_over_scikit_learn(benchmark, show, n, d):
    linear_model = pytest.importorskip("sklearn.linear_model", reason="the peer, scikit-learn, is not installed")
    X, subset = data(n, d), 5

    def loop():
        for k in range(subset):
            linear_model.Ridge(alpha=n * LAM, fit_intercept=False).fit(np.delete(X, k, axis=1), X[:, k])

    limit = flop_limit(n, d)
    benchmark.pedantic(fit, args=(X, LAM), rounds=9, warmup_rounds=1)
    ours, peer = benchmark.stats.stats.min, seconds(loop, 2) * d / subset
    show(
        f"fit n={n} d={d} (scikit-learn: {subset} coordinates timed, scaled to {d})",
        seconds=ours,
        flop_limit=limit,
        over_limit=ours / limit,
        scikit_learn=peer,
        times_faster=peer / ours,
    )


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_path_of_50_ridges_beside_one_fit(benchmark, show, n, d):
    X, lams = data(n, d), np.logspace(-4, 2, 50)
    one = seconds(lambda: fit(X, LAM), 5)
    benchmark.pedantic(fit_path, args=(X, lams), rounds=3, warmup_rounds=1)
    ours = benchmark.stats.stats.min
    show(f"path n={n} d={d}, 50 lams", seconds=ours, one_fit=one, fits=ours / one)


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_choice_of_the_ridge_by_leave_one_out_beside_the_path_of_gcv(benchmark, show, n, d):
    """Target: path and choice within 3 times the path, from which GCV chooses at no further cost."""
    X, lams = data(n, d), np.logspace(-4, 2, 50)
    path = seconds(lambda: fit_path(X, lams).best(), 3)
    benchmark.pedantic(lambda: fit_path(X, lams).best("loo"), rounds=3, warmup_rounds=1)
    ours = benchmark.stats.stats.min
    show(f"ridge by leave-one-out n={n} d={d}, 50 lams", seconds=ours, by_gcv=path, over_gcv=ours / path)


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_leave_one_out_beside_one_fit(benchmark, show, n, d):
    X = data(n, d)
    benchmark.pedantic(lambda result: result.loo_error, setup=lambda: ((fit(X, LAM),), {}), rounds=3)
    show(f"leave-one-out n={n} d={d}", seconds=benchmark.stats.stats.min, one_fit=seconds(lambda: fit(X, LAM), 3))


@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("lam", [LAM, 1e-9])
def test_peak_memory_beside_four_matrices(benchmark, show, n, d, lam):
    X = data(n, d)

    def traced():
        tracemalloc.start()
        fit(X, lam)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    peak = benchmark.pedantic(traced, rounds=1)
    allowed = 8 * 4 * d * max(n, d)
    show(f"peak memory n={n} d={d} lam={lam:g}", MB=peak / 1e6, allowed_MB=allowed / 1e6, share=peak / allowed)


@pytest.mark.parametrize("n", [400, 500, 600, 700, 800])
def test_where_the_dual_pays(benchmark, show, n):
    """Both factorizations at d = 1000: the crossing is near n = 0.74 d."""
    from simulate.masked import row_blocks
    from simulate.masked.dual import dual
    from simulate.masked.primal import primal

    X = data(n, 1000)
    benchmark.pedantic(dual, args=(X, LAM), rounds=5, warmup_rounds=1)
    show(f"dual n={n} d=1000", dual=benchmark.stats.stats.min, primal=seconds(lambda: primal(row_blocks(X), LAM), 5))
