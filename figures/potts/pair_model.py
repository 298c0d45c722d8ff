"""Makes a pair model that is small enough to be enumerated, for experiments that compare with exact averages."""

import numpy as np

from theory.models import PottsModel


def pair_model(beta: float = 1.0) -> PottsModel:
    """Make a model of six sites and three colors with couplings of both signs."""
    i, j = np.indices((6, 6))
    upper = np.triu(np.sin(0.3 + i + 2 * j), 1)
    x, y = np.indices((3, 3))
    return PottsModel(upper + upper.T, np.cos(x + y + 0.3 * x * y) + 0.5 * np.eye(3), beta=beta)
