"""From an alignment to a model of pairs of sites that other programs read, and back."""

from figures.analyse.sequences.models.alignment import Alignment, read_alignment
from figures.analyse.sequences.models.files import read_model, write_model
from figures.analyse.sequences.models.record import SequenceModel, family_model

__all__ = ["Alignment", "SequenceModel", "family_model", "read_alignment", "read_model", "write_model"]
