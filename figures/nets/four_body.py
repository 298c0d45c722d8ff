"""The data of the exact small experiments: five sites of three colors with interactions of four sites at a time."""

from functools import cache
from itertools import combinations, permutations

import numpy as np

from simulate.core import stream
from simulate.nets import MaskedContexts, enumerated_contexts
from theory.models import FactoredStack, Interaction, ManyBodyPottsModel

L, C = 5, 3
BETA = 0.5  # where the floors of two, three and four bodies lie well apart


@cache
def four_body_model() -> ManyBodyPottsModel:
    """One draw of Gaussian strengths for all groups of four, and of a symmetric tensor that is not zero-sum."""
    rng = stream(1, "four-body model")
    tensor = rng.standard_normal((C,) * 4)
    tensor = sum(tensor.transpose(axes) for axes in permutations(range(4))) / np.sqrt(24)
    groups = np.array(list(combinations(range(L), 4)))
    return ManyBodyPottsModel(L, [Interaction(groups, rng.standard_normal(len(groups)), tensor)], beta=BETA)


@cache
def population() -> MaskedContexts:
    """All 405 masked contexts of the model with their exact weights."""
    return enumerated_contexts(four_body_model())


def start(n_layers: int, scale: float, replicate: int) -> FactoredStack:
    """Return a random start; the one of another scale and the same replicate is the same up to the scale."""
    return FactoredStack.random(n_layers, L, C, scale, stream(0, "start", n_layers, replicate))
