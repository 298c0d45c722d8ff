"""Samples sequences of one sparse pair model, which the experiments on factored attention share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core import stream
from simulate.potts import masked_loss, sample
from theory.models import PottsModel
from theory.models.potts import random_color_couplings, random_graph

L, C, BETA = 20, 10, 0.7


def sparse_model() -> PottsModel:
    """Make a 0/1 contact map of mean degree near 3 with Gaussian color couplings; its floor is about 0.61 ln C."""
    rng = stream(2, "sparse")
    return PottsModel(random_graph(L, 3.0, rng), random_color_couplings(C, rng), beta=BETA)


def sequences(n: int, seed: int) -> NDArray[np.integer[Any]]:
    """Sample n states, (n, L)."""
    return np.asarray(sample(sparse_model(), n, seed=seed, n_chains=min(200, n)).states)


def own_loss(states: NDArray[np.integer[Any]]) -> float:
    """Return the masked loss of the true conditionals on these states, which no model can beat on average."""
    return float(masked_loss(sparse_model(), states).loss)
