"""Readers of users' files: what is in a file is said aloud, and what is wrong with it in one line."""

from figures.reading.common import DataError
from figures.reading.matrix import Matrix, read_matrix

__all__ = ["DataError", "Matrix", "read_matrix"]
