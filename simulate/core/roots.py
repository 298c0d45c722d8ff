"""The root of a covariance or of a Gram matrix that is the same on every machine."""

import numpy as np

from theory.core import Array


def symmetric_root(eigenvalues: Array, eigenvectors: Array) -> Array:
    """Return the symmetric root (d, d) of a matrix with these eigenvalues (d,) and eigenvectors in columns (d, d).

    Other roots depend on the signs of eigenvectors, and on the choice of those of equal eigenvalues, which differ
    between processors and versions of LAPACK. Negative eigenvalues are rounding of zero.
    """
    return np.asarray((eigenvectors * np.sqrt(np.maximum(eigenvalues, 0.0))) @ eigenvectors.T)
