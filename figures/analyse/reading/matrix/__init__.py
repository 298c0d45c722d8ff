"""Reads samples-by-features matrices from the files that `formats` lists, and says what shape they have."""

from figures.analyse.reading.matrix.choices import Reading, typed_reading
from figures.analyse.reading.matrix.read import read_matrix, table_shape
from figures.analyse.reading.matrix.record import Matrix
from figures.analyse.reading.matrix.shape import TableShape

__all__ = ["Matrix", "Reading", "TableShape", "read_matrix", "table_shape", "typed_reading"]
