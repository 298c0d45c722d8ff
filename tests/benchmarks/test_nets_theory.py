"""Theory of attention networks: the blow-up of two and three layers, best directions, and the masked clone.

The data are a four-body model of five sites with three colors: 405 contexts.
"""

from itertools import combinations

import numpy as np
import pytest

from theory import nets, potts
from theory.models import FactoredStack, Interaction, ManyBodyPottsModel

SUBJECT = "attention networks, theory"
GROUPS, COLORS = np.array(list(combinations(range(5), 4))), np.indices((3,) * 4)
W = np.cos(1 + 0.5 * COLORS.sum(axis=0)) + (COLORS[0] == COLORS).all(axis=0)
STATES = potts.enumerate_states(ManyBodyPottsModel(5, [Interaction(GROUPS, np.sin(0.5 + GROUPS @ [1, 2, 3, 4]), W)]))


@pytest.mark.parametrize("n_layers", [2, 3])
def test_layers(jobs, n_layers):
    stack = FactoredStack.deterministic(n_layers, 5, 3)
    jobs.compare(f"escape time of N = {n_layers}", lambda: nets.escape_time(STATES, stack))
    title = f"best direction of N = {n_layers}"
    jobs.compare(title, lambda: nets.best_direction(STATES, n_layers, np.random.default_rng(0)))


def test_masked_clone(jobs):
    jobs.compare("masked clone of 405 contexts", lambda: potts.masked_clone(STATES, 3))
