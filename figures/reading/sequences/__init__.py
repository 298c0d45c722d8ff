"""Alignments and tables of tokens, read into integers."""

from figures.reading.sequences.alphabet import checked_alphabet
from figures.reading.sequences.read import FORMATS, read_sequences
from figures.reading.sequences.record import Sequences
from figures.reading.sequences.tokens import MOST_TOKENS

__all__ = ["FORMATS", "MOST_TOKENS", "Sequences", "checked_alphabet", "read_sequences"]
