"""Covariances that keep their eigendecomposition, so that records made of one another by `replace` share it."""

import weakref
from typing import Any, NamedTuple

import numpy as np

from theory.core.arrays import Array
from theory.models.glm.modes import require_semidefinite, symmetric_matrix


class Eigenbasis(NamedTuple):
    """Hold the eigenvalues (p,) of a covariance, ascending, and its eigenvectors as columns, (p, p)."""

    eigenvalues: Array
    vectors: Array


# By the identity of the matrix, which is read-only; an entry is gone with its matrix.
_KEPT: dict[int, tuple["weakref.ref[Array]", Eigenbasis]] = {}


def kept_covariance(name: str, value: Any) -> Array:
    """Check a covariance (p, p) as `covariance_matrix` does, and return a read-only copy that keeps its eigenbasis.

    Such a copy comes back as it is: neither its checks nor its decomposition are repeated. ValueError as there.
    """
    if isinstance(value, np.ndarray) and _entry(value) is not None:
        return value
    matrix = symmetric_matrix(name, value)
    found = Eigenbasis(*np.linalg.eigh(matrix))
    require_semidefinite(name, float(found.eigenvalues[0]), matrix)
    matrix.setflags(write=False)
    key = id(matrix)
    _KEPT[key] = (weakref.ref(matrix, lambda _gone: _KEPT.pop(key, None)), found)
    return matrix


def eigenbasis(covariance: Array) -> Eigenbasis:
    """Return the eigenbasis that a matrix of `kept_covariance` keeps; of any other array it is computed now."""
    return _entry(covariance) or Eigenbasis(*np.linalg.eigh(covariance))


def _entry(matrix: Array) -> Eigenbasis | None:
    kept = _KEPT.get(id(matrix))
    return None if kept is None or kept[0]() is not matrix or matrix.flags.writeable else kept[1]
