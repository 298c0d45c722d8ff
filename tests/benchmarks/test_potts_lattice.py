"""Heat bath of Potts models on a square lattice: the compiled kernels beside a checkerboard in numpy.

Times are those of the update of one site. That both draw from the right law is tested elsewhere.
"""

import math

import numpy as np
import pytest

from simulate.potts.kernels.lattice import fastest_sweeps
from tests.benchmarks.machinery.jobs import Peer

SUBJECT = "Potts models, square lattice"
WIDTH, SWEEPS = 64, 10


def checkerboard(n_colors, beta):
    """A sweep of one lattice in place, half the sites at a time, by weights of a color with n neighbors."""
    rng = np.random.default_rng(0)
    states, weights = rng.integers(n_colors, size=(WIDTH, WIDTH)), np.exp(beta * np.arange(5))
    rows, columns = np.indices(states.shape)

    def sweep():
        for parity in (0, 1):
            mine = (rows + columns) % 2 == parity
            around = [np.roll(states, shift, axis)[mine] for axis in (0, 1) for shift in (1, -1)]
            total = np.cumsum(
                [weights[sum((each == color).astype(np.int8) for each in around)] for color in range(n_colors)], axis=0
            )
            states[mine] = (rng.random(total.shape[1]) * total[-1] >= total[:-1]).sum(axis=0)

    return sweep


@pytest.mark.parametrize("n_colors", [3, 21])
@pytest.mark.parametrize("n_chains", [1, 64])
def test_kernel_beside_numpy(jobs, n_colors, n_chains):
    beta, rng = math.log(1 + math.sqrt(n_colors)), np.random.default_rng(0)
    states = rng.integers(n_colors, size=(n_chains, WIDTH * WIDTH)).astype(np.int16)
    generators, betas = rng.integers(2**64, size=(n_chains, 2), dtype=np.uint64), np.full(n_chains, beta)
    sweeps = fastest_sweeps(n_chains)
    jobs.compare(
        f"update of a site at the critical point, {n_colors} colors, {n_chains} chains of {WIDTH} x {WIDTH}",
        lambda: sweeps(states, generators, betas, WIDTH, WIDTH, n_colors, SWEEPS, 0, n_chains),
        {"numpy, checkerboard": Peer(lambda: checkerboard(n_colors, beta), made=True, times=SWEEPS * n_chains)},
        per=float(SWEEPS * states.size),
        goal="10 times",
        limit="8 times",
    )
