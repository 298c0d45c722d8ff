"""The record of sample sequences with weights, for what can be computed from data as well as from a model."""

from dataclasses import dataclass, field
from typing import Any

from theory.core import Count, checked_fields
from theory.models.covariance import set_checked
from theory.models.potts.batches import checked_samples, normalized_weights


@dataclass(frozen=True, eq=False, repr=False)
class Sequences:
    """Sample sequences, taken as the law that gives every sample its weight: `states` (M, L) of colors 0 to C - 1.

    `weights` (M,) need not be normalized, and are equal where None; in the record they add up to one. ValueError for
    entries that are no colors below `n_colors`, for no sample, and for weights that are negative, not finite, or all
    zero.

    >>> Sequences([[0, 1, 1], [1, 1, 0]], n_colors=2)
    Sequences(n_samples=2, n_sites=3, n_colors=2)
    """

    states: Any = field(repr=False)
    n_colors: Count
    weights: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        checked_fields(self)
        states = checked_samples("states", self.states, self.n_colors)
        set_checked(self, states=states, weights=normalized_weights(self.weights, len(states)))

    @property
    def n_samples(self) -> int:
        """The number M of samples."""
        return len(self.states)

    @property
    def n_sites(self) -> int:
        """The number L of sites."""
        return int(self.states.shape[1])

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_samples={self.n_samples}, n_sites={self.n_sites}, n_colors={self.n_colors})"
