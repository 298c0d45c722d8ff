"""The law of the data as weighted states, and as weighted contexts of the masked sites."""

from dataclasses import dataclass, field

import numpy as np

from theory.core import Array, checks
from theory.models import FactoredStack, Potts, Sequences
from theory.models.potts.base import one_hot
from theory.models.potts.batches import States
from theory.potts import Enumeration, enumerate_states

MAX_NUMBERS = 2**27  # most numbers of an array over all contexts: 1 GB
# Relative size below which what a context says about its site is rounding: independent sites say nothing.
ROUNDING = 1e-14

Data = Potts | Enumeration | Sequences
"""What data are given by: a model that can be enumerated, its enumeration, or sample sequences with weights."""


@dataclass(frozen=True, eq=False)
class Law:
    """Holds states (n, L) and their probabilities (n,)."""

    states: States = field(repr=False)
    probabilities: Array = field(repr=False)
    n_colors: int

    @property
    def n_sites(self) -> int:
        """The number L of sites."""
        return int(self.states.shape[1])

    def marginals(self) -> Array:
        """Return the probability of every color at every site, (L, C)."""
        columns = self.states.T.astype(np.int64)
        return np.array([np.bincount(one, self.probabilities, self.n_colors) for one in columns], dtype=float)

    def baseline(self, fields: bool) -> Array:
        """Return what is predicted on the first plateau, (L, C): 1/C each, and with fields the marginals."""
        return self.marginals() if fields else np.full((self.n_sites, self.n_colors), 1 / self.n_colors)


def law_of(model: Data) -> Law:
    """Return the law of the data; ValueError for a model that is too large to enumerate."""
    if isinstance(model, Sequences):
        return Law(model.states, model.weights, model.n_colors)
    found = model if isinstance(model, Enumeration) else enumerate_states(model)
    return Law(found.states, found.probabilities, found.model.n_colors)


def require_same_sizes(law: Law, stack: FactoredStack) -> None:
    """Raise ValueError where a stack has other sites or colors than the data."""
    if (stack.n_sites, stack.n_colors) != (law.n_sites, law.n_colors):
        raise ValueError(
            f"stack must have the {law.n_sites} sites and {law.n_colors} colors of model, got {stack.n_sites} sites "
            f"and {stack.n_colors} colors"
        )


@dataclass(frozen=True, eq=False)
class Contexts:
    """Holds every different context of every masked site, with what the data say about the site in it.

    `inputs` (L, n, C) are the one-hot colors of n contexts with a zero row at the masked site, sites first;
    `surplus` (n, C) is P(context, color of the masked site) minus P(context) times the baseline, divided by L.
    `first` (L + 1,) says where the contexts of each masked site begin and end.
    """

    inputs: Array = field(repr=False)
    surplus: Array = field(repr=False)
    first: tuple[int, ...]


def contexts_of(law: Law, baseline: Array) -> Contexts:
    """Collect the contexts of all masked sites; states that differ at the masked site only share one."""
    L, C = law.n_sites, law.n_colors
    if L * len(law.states) * L * C > MAX_NUMBERS:
        raise ValueError(
            f"model must have fewer states: {len(law.states)} states of {L} sites and {C} colors have contexts of "
            f"{L * len(law.states) * L * C} numbers, more than {MAX_NUMBERS}"
        )
    checks.fits_in_memory("the contexts of all sites", 8.0 * L * len(law.states) * L * C)
    inputs, surplus, first = [], [], [0]
    for i in range(L):
        masked = law.states.copy()
        masked[:, i] = 0
        unique, place = np.unique(masked, axis=0, return_inverse=True)
        joint = np.zeros((len(unique), C))
        np.add.at(joint, (place.ravel(), law.states[:, i]), law.probabilities)
        x = one_hot(unique, C)
        x[:, i] = 0.0
        inputs.append(x.transpose(1, 0, 2))
        context = joint.sum(axis=1, keepdims=True)
        difference = joint - context * baseline[i]
        surplus.append(np.where(abs(difference) > ROUNDING * context, difference, 0.0) / L)
        first.append(first[-1] + len(unique))
    return Contexts(np.concatenate(inputs, axis=1), np.concatenate(surplus), tuple(first))
