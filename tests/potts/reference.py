"""Deterministic models, without random numbers, whose reference values the tests assert."""

from itertools import combinations

import numpy as np

from theory.models import Interaction, ManyBodyPottsModel, PottsModel


def pair_model(n_sites: int, n_colors: int, a: float, beta: float) -> PottsModel:
    """J_ij = sin(a + i + 2j) for i < j; U_xy = cos(x + y + a x y) + [x = y]/2."""
    i, j = np.indices((n_sites, n_sites))
    x, y = np.indices((n_colors, n_colors))
    J = np.triu(np.sin(a + i + 2 * j), 1)
    return PottsModel(J + J.T, np.cos(x + y + a * x * y) + 0.5 * (x == y), beta=beta)


def four_body_model(n_sites: int, n_colors: int, a: float, beta: float) -> ManyBodyPottsModel:
    """J_ijkl = sin(a + i + 2j + 3k + 4l) for i < j < k < l; W = cos(1 + a (x + y + z + t)) + [x = y = z = t]."""
    sites = np.array(list(combinations(range(n_sites), 4)))
    colors = np.indices((n_colors,) * 4)
    W = np.cos(1 + a * colors.sum(axis=0)) + (colors == colors[0]).all(axis=0)
    return ManyBodyPottsModel(n_sites, [Interaction(sites, np.sin(a + sites @ [1, 2, 3, 4]), W)], beta=beta)
