"""Reads samples-by-features matrices from .csv, .tsv, .npy, .npz and .parquet files, and says what shape they have."""

from figures.analyse.reading.matrix.read import read_matrix
from figures.analyse.reading.matrix.record import Matrix
from figures.analyse.reading.matrix.shape import TableShape, table_shape

__all__ = ["Matrix", "TableShape", "read_matrix", "table_shape"]
