"""Scores of single mutations: how the score of a sequence changes where one site takes another color."""

from typing import Any

import numpy as np

from theory.core import Array, checked
from theory.models.potts.base import Potts


@checked
def mutation_scores(model: Potts, states: Any) -> Array:
    """Compute the scores of all single mutations of states (..., L), as (..., L, C).

    Entry (i, a) is log P(states with color a at site i) - log P(states), which is beta times the change of the score
    S and minus that of the energy: above 0 where the model finds the mutant likelier. It is exact, since Z cancels, and
    0 where a is the color that is there. All of them take one product of the couplings with the states. ValueError for
    states that are no colors of the model.

    >>> from theory.models import DensePottsModel
    >>> J = np.zeros((2, 2, 2, 2))
    >>> J[0, 1] = J[1, 0] = np.eye(2)  # equal colors attract each other
    >>> mutation_scores(DensePottsModel(J), [0, 0]).tolist()
    [[0.0, -1.0], [0.0, -1.0]]
    """
    colors = model.checked_states(states)
    local = model.beta * model.local_scores(colors)
    return np.asarray(local - np.take_along_axis(local, colors[..., None].astype(np.intp), axis=-1))
