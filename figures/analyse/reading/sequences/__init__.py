"""Alignments and tables of tokens, read into integers."""

from figures.analyse.reading.sequences.alphabet import checked_alphabet
from figures.analyse.reading.sequences.formats import FORMATS
from figures.analyse.reading.sequences.read import read_sequences
from figures.analyse.reading.sequences.record import LeftOutColumn, Sequences
from figures.analyse.reading.sequences.tokens import MAX_TOKENS

__all__ = ["FORMATS", "MAX_TOKENS", "LeftOutColumn", "Sequences", "checked_alphabet", "read_sequences"]
