"""Covariances that keep their eigendecomposition, so that records made of one another by `replace` share it."""

import hashlib
import weakref
from typing import Any, NamedTuple

import numpy as np

from theory.core import checks
from theory.core.arrays import Array
from theory.models.glm.modes import Modes, require_semidefinite, symmetric_matrix


class Eigenbasis(NamedTuple):
    """Hold the eigenvalues (p,) of a covariance, ascending, and its eigenvectors as columns, (p, p).

    `diagonal` says whether each eigenvector is a coordinate.
    """

    eigenvalues: Array
    vectors: Array
    diagonal: bool

    @classmethod
    def of(cls, covariance: Array) -> "Eigenbasis":
        """Decompose a symmetric matrix (p, p)."""
        eigenvalues, vectors = np.linalg.eigh(covariance)
        return cls(eigenvalues, vectors, bool(np.all(np.count_nonzero(vectors, axis=0) == 1)))

    def modes(self, signal: Array) -> Modes:
        """Make the modes of the covariance and one signal (p,), as `Modes.of_eigenbasis` does, without its checks."""
        p, along = len(self.eigenvalues), signal @ self.vectors
        return Modes(np.full(p, 1 / p), np.maximum(self.eigenvalues, 0)[None], [[along**2 / p]], self.diagonal)


# By the identity of the matrix, which is read-only; an entry is gone with its matrix.
_KEPT: dict[int, tuple["weakref.ref[Array]", Eigenbasis]] = {}
# The same matrices by a digest of what they were made of; a record that is made anew of the same numbers finds them.
_KEPT_BY_CONTENT: "weakref.WeakValueDictionary[bytes, Array]" = weakref.WeakValueDictionary()


def kept_covariance(name: str, value: Any) -> Array:
    """Check a covariance (p, p) as `covariance_matrix` does, and return a read-only copy that keeps its eigenbasis.

    Such a copy comes back as it is: neither its checks nor its decomposition are repeated. So it does for other arrays
    of the same numbers, as long as a record holds it; nothing is kept of records that are gone. ValueError as there.
    """
    if isinstance(value, np.ndarray) and _entry(value) is not None:
        return value
    given = checks.finite_array(name, value, 2)
    content = content_digest(given)
    same = _KEPT_BY_CONTENT.get(content)
    if same is not None and _entry(same) is not None:
        return same
    matrix = symmetric_matrix(name, given)
    found = Eigenbasis.of(matrix)
    require_semidefinite(name, float(found.eigenvalues[0]), matrix)
    matrix.setflags(write=False)
    key = id(matrix)
    _KEPT[key] = (weakref.ref(matrix, lambda _gone: _KEPT.pop(key, None)), found)
    _KEPT_BY_CONTENT[content] = matrix
    return matrix


def content_digest(*arrays: Array) -> bytes:
    """Return a digest of the shapes and numbers of arrays; it takes 5 ns for each number."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(f"{array.shape} {array.dtype}".encode())
        found.update(np.ascontiguousarray(array).data)
    return found.digest()


def eigenbasis(covariance: Array) -> Eigenbasis:
    """Return the eigenbasis that a matrix of `kept_covariance` keeps; of any other array it is computed now."""
    return _entry(covariance) or Eigenbasis.of(covariance)


def _entry(matrix: Array) -> Eigenbasis | None:
    kept = _KEPT.get(id(matrix))
    return None if kept is None or kept[0]() is not matrix or matrix.flags.writeable else kept[1]
