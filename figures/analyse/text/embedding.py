"""Word vectors out of a value matrix."""

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import eigsh

from theory.models.arrays import Array

DENSE_UP_TO = 600  # words: below, all eigenvectors are as fast


def value_embedding(matrix: Array, dimension: int, rng: np.random.Generator) -> Array:
    """(words, at most `dimension`) rows whose products are the best positive part of that rank of (W + W')/2.

    Columns are eigenvectors of the largest eigenvalues above zero, times their square roots; `rng` starts the search.
    """
    symmetric = (matrix + matrix.T) / 2
    n = len(symmetric)
    if n <= DENSE_UP_TO or dimension >= n // 2:
        values, vectors = linalg.eigh(symmetric)
        values, vectors = values[-dimension:], vectors[:, -dimension:]
    else:
        values, vectors = eigsh(symmetric, k=dimension, which="LA", v0=rng.standard_normal(n))
    positive = values > 0
    return np.asarray(vectors[:, positive] * np.sqrt(values[positive]))
