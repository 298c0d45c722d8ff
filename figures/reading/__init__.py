"""Readers of users' files: what is in a file is said aloud, and what is wrong with it in one line."""

from figures.reading.common import DataError
from figures.reading.matrix import Matrix, read_matrix
from figures.reading.sequences import Sequences, read_sequences

__all__ = ["DataError", "Matrix", "Sequences", "read_matrix", "read_sequences"]
