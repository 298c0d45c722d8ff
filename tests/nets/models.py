"""Deterministic models whose numbers need no generator."""

from itertools import combinations

import numpy as np

from theory.models import Interaction, ManyBodyPottsModel


def four(n_sites, n_colors, a, beta=1.0):
    """J_ijkl = sin(a + i + 2j + 3k + 4l) for i < j < k < l, W[x, y, z, t] = cos(1 + a (x + y + z + t)) + [equal]."""
    groups = np.array(list(combinations(range(n_sites), 4)))
    total = np.indices((n_colors,) * 4).sum(axis=0)
    W = np.cos(1 + a * total)
    W[(np.arange(n_colors),) * 4] += 1.0
    return ManyBodyPottsModel(n_sites, [Interaction(groups, np.sin(a + groups @ [1, 2, 3, 4]), W)], beta=beta)
