"""Theory of attention networks: times of the blow-up of N = 2 and 3 layers, best directions, and the masked clone.

Run by `make bench`, with OPENBLAS_NUM_THREADS=1. Numbers are shown, never asserted. The data are a four-body model of
five sites with three colors: 405 contexts.
"""

from itertools import combinations

import numpy as np
import pytest

from theory import nets, potts
from theory.models import FactoredStack, Interaction, ManyBodyPottsModel

pytest.importorskip("pytest_benchmark")

GROUPS, COLORS = np.array(list(combinations(range(5), 4))), np.indices((3,) * 4)
W = np.cos(1 + 0.5 * COLORS.sum(axis=0)) + (COLORS[0] == COLORS).all(axis=0)
STATES = potts.enumerate_states(ManyBodyPottsModel(5, [Interaction(GROUPS, np.sin(0.5 + GROUPS @ [1, 2, 3, 4]), W)]))


@pytest.mark.parametrize("n_layers", [2, 3])
def test_escape_time(benchmark, n_layers):
    benchmark(nets.escape_time, STATES, FactoredStack.deterministic(n_layers, 5, 3))


@pytest.mark.parametrize("n_layers", [2, 3])
def test_best_direction(benchmark, n_layers):
    benchmark(lambda: nets.best_direction(STATES, n_layers, np.random.default_rng(0)))


def test_masked_clone(benchmark):
    benchmark(potts.masked_clone, STATES, 3)
