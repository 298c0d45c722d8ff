"""The base class of all Potts models: scores, local scores and conditional probabilities."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_softmax

from theory.core import Array, checks
from theory.core.read_only import KeepsReadOnly
from theory.models.potts.batches import States, blocks

MAX_SCORE = 1e300  # bound for scores and for scores times beta, so that no sum of them overflows


class Potts(KeepsReadOnly, ABC):
    """A model of L sites with C colors: states s in {0, ..., C-1}^L have the probability P(s) = exp(beta S(s))/Z.

    The score S(s) is minus the energy, and includes the `fields` (L, C). Batches of states have shape (..., L).
    """

    n_sites: int
    n_colors: int
    fields: Array
    beta: float

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_sites={self.n_sites}, n_colors={self.n_colors}, beta={self.beta:g})"

    @abstractmethod
    def _local_scores(self, states: States) -> Array:
        """Return what the interactions give to every color at every site of states (M, L), as (M, L, C)."""

    @abstractmethod
    def _interaction_score(self, states: States) -> Array:
        """Return the part of S that comes from interactions, (M,), of states (M, L)."""

    def checked_states(self, states: ArrayLike) -> States:
        """Return `states` as integers of shape (..., L); ValueError for other shapes, types or colors."""
        return checks.colors("states", states, self.n_colors, self.n_sites)

    def score(self, states: ArrayLike) -> Array:
        """Compute S(s), which is minus the energy, of states (..., L), as (...,)."""
        return self._in_blocks(self._block_score, states, ())

    def local_scores(self, states: ArrayLike) -> Array:
        """Compute the local scores z (..., L, C) of states (..., L).

        z_ia is the part of S that depends on site i, if its color were a and the others stayed as they are.
        """
        return self._in_blocks(self._block_local, states, (self.n_sites, self.n_colors))

    def conditionals(self, states: ArrayLike) -> Array:
        """Compute P(s_i = a | all other sites) = softmax_a(beta z_ia), (..., L, C), at states (..., L)."""
        return np.asarray(np.exp(self.log_conditionals(states)))

    def log_conditionals(self, states: ArrayLike) -> Array:
        """Compute the natural logarithm of the `conditionals`, (..., L, C)."""
        return np.asarray(log_softmax(self.beta * self.local_scores(states), axis=-1))

    def _block_score(self, states: States) -> Array:
        field = np.take_along_axis(self.fields, states.T, axis=1).sum(axis=0)
        return np.asarray(self._interaction_score(states) + field)

    def _block_local(self, states: States) -> Array:
        return self._local_scores(states) + self.fields

    def _in_blocks(self, function: Callable[[States], Array], states: ArrayLike, shape: tuple[int, ...]) -> Array:
        checked = self.checked_states(states)
        flat = checked.reshape(-1, self.n_sites)
        out = np.empty((len(flat), *shape))
        for rows in blocks(len(flat), self.n_sites * self.n_colors):
            out[rows] = function(flat[rows])
        return out.reshape((*checked.shape[:-1], *shape))


def one_hot(states: States, n_colors: int) -> Array:
    """Return x (..., L, C) with x_ia = 1 where site i has color a and 0 elsewhere."""
    return np.eye(n_colors)[states]


def site_fields(fields: Any, n_sites: int, n_colors: int, source: str) -> Array:
    """Return checked fields (L, C), which are zero where None; the arguments named in `source` give L and C."""
    if fields is None:
        fields = np.zeros((n_sites, n_colors))
    checked = checks.finite_array("fields", fields, 2)
    if checked.shape != (n_sites, n_colors):
        raise ValueError(
            f"fields must have shape ({n_sites}, {n_colors}) (sites, colors) as {source}, got {checked.shape}"
        )
    return checked


def require_finite_scores(names: str, coupling: float, n_terms: int, fields: Array, beta: float) -> None:
    """Raise ValueError where sums of `n_terms` couplings of this absolute size, and of fields, might overflow."""
    size = max(1.0, beta)
    field = float(max(fields.max(), -fields.min()))
    if not (math.log(max(coupling, field, 1.0)) + math.log(2.0 * n_terms + 2.0) + math.log(size) < math.log(MAX_SCORE)):
        raise ValueError(
            f"{names} and fields must add up to less than {MAX_SCORE:g}, also times beta, got couplings up to "
            f"{coupling:g} and fields up to {field:g} at beta = {beta:g}"
        )
