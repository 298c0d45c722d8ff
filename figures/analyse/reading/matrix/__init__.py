"""Reads samples-by-features matrices from .csv, .tsv, .npy and .npz files, gzipped or not."""

from figures.analyse.reading.matrix.read import read_matrix
from figures.analyse.reading.matrix.record import Matrix

__all__ = ["Matrix", "read_matrix"]
