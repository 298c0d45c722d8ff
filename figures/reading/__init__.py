"""Readers of users' files: what is in a file is said aloud, and what is wrong with it in one line."""

from figures.reading.common import DataError
from figures.reading.matrix import Matrix, read_matrix
from figures.reading.sequences import Sequences, read_sequences
from figures.reading.text import Corpus, read_corpus

__all__ = ["Corpus", "DataError", "Matrix", "Sequences", "read_corpus", "read_matrix", "read_sequences"]
