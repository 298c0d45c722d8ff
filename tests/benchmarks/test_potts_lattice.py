"""Heat bath on the square lattice: the compiled kernel beside a checkerboard in numpy, one thread each.

Run by `make bench`, with OPENBLAS_NUM_THREADS=1. Times are shown, never asserted; the law is tested elsewhere.
"""

import math
import time

import numpy as np
import pytest

from simulate.potts.kernels.lattice import lattice_sweeps
from tests.benchmarks.timing import seconds

pytest.importorskip("pytest_benchmark")

WIDTH, SWEEPS = 64, 10


def checkerboard(states, weights, n_colors, rng):
    """One sweep of one lattice in place, half the sites at a time; weights[n] of a color with n neighbors."""
    rows, columns = np.indices(states.shape)
    for parity in (0, 1):
        mine = (rows + columns) % 2 == parity
        around = [np.roll(states, shift, axis)[mine] for axis in (0, 1) for shift in (1, -1)]
        total = np.cumsum(
            [weights[sum((each == color).astype(np.int8) for each in around)] for color in range(n_colors)], axis=0
        )
        states[mine] = (rng.random(total.shape[1]) * total[-1] >= total[:-1]).sum(axis=0)


@pytest.mark.parametrize("n_colors", [3, 21])
@pytest.mark.parametrize("n_chains", [1, 64])
def test_kernel_beside_numpy(benchmark, show, n_colors, n_chains):
    beta, rng = math.log(1 + math.sqrt(n_colors)), np.random.default_rng(0)
    states = rng.integers(n_colors, size=(n_chains, WIDTH * WIDTH)).astype(np.int16)
    generators, betas = rng.integers(2**64, size=(n_chains, 2), dtype=np.uint64), np.full(n_chains, beta)

    def ours():
        lattice_sweeps(states, generators, betas, WIDTH, WIDTH, n_colors, SWEEPS, 0, n_chains)

    one = states[0].reshape(WIDTH, WIDTH).copy()
    weights = np.exp(beta * np.arange(5))
    benchmark.pedantic(ours, rounds=5, warmup_rounds=3)
    peer = seconds(lambda: checkerboard(one, weights, n_colors, rng), 10, time.process_time) / one.size
    each = seconds(ours, 10, time.process_time) / (SWEEPS * states.size)
    show(
        f"lattice {WIDTH} x {WIDTH}, {n_colors} colors, {n_chains} chains, at beta_c",
        ns_per_update=1e9 * each,
        numpy_ns=1e9 * peer,
        times_faster=peer / each,
    )
