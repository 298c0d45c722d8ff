"""What is recorded of a training run, and what comes back."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulate.topics.layer import Layer


@dataclass(frozen=True)
class Record:
    """Measured before step `step`, counted from 0: loss and attention are those of the evaluated documents.

    Frobenius norms of W_K, W_Q and W_V; `gap` of W_V; attention averaged by class on the unmasked documents, 0.01 in
    each where it is uniform.
    """

    step: float
    loss: float
    key_norm: float
    query_norm: float
    value_norm: float
    gap: float
    same_word: float
    same_topic: float
    different_topic: float


@dataclass(frozen=True)
class TrainingRun:
    """The trained layer and its `history`: a record every so many steps, and one at the end."""

    layer: Layer
    history: tuple[Record, ...]

    def column(self, name: str) -> NDArray[np.float64]:
        """One field of the records, (records,)."""
        return np.array([getattr(record, name) for record in self.history])
