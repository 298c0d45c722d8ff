"""Alignments and tables of tokens, read into integers."""

from figures.reading.sequences.read import FORMATS, read_sequences
from figures.reading.sequences.record import Sequences

__all__ = ["FORMATS", "Sequences", "read_sequences"]
