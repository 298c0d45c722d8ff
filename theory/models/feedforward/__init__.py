"""Records of feed-forward networks: narrow ones, binary ones at initialization, and features that are transferred."""

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
