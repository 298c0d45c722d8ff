"""All states of a small model with their exact probabilities, and what data can tell about a pair model."""

from itertools import product

import numpy as np

from theory.models import DensePottsModel
from theory.models.potts import zero_sum


def population(model):
    """States (C^L, L) and probabilities, straight from the definition."""
    states = np.array(list(product(range(model.n_colors), repeat=model.n_sites)))
    p = np.exp(model.beta * model.score(states))
    return states, p / p.sum()


def identifiable(model):
    """beta J x U (L, L, C, C) and beta h (L, C) in the zero-sum gauge."""
    dense = zero_sum(DensePottsModel.of(model))
    return model.beta * dense.couplings, model.beta * dense.fields
