"""Records of feed-forward networks: narrow ones, binary ones at initialization, and features that are transferred."""

from typing import TYPE_CHECKING

from theory.core.lazy import names_on_use

if TYPE_CHECKING:
    from theory.models.feedforward.binary import BinaryNetwork, BinaryNeurons, MeanSign
    from theory.models.feedforward.narrow import NarrowNetwork
    from theory.models.feedforward.transfer import NestedFeatures, NetworkTransfer

__all__ = [
    "BinaryNetwork",
    "BinaryNeurons",
    "MeanSign",
    "NarrowNetwork",
    "NestedFeatures",
    "NetworkTransfer",
]

# A type checker takes a module with these functions to have every name, and would let misspelled ones pass.
if not TYPE_CHECKING:
    __getattr__, __dir__ = names_on_use(__name__)
