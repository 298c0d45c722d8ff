"""Pickles and copies of records whose arrays nobody can write to."""

from typing import Any

import numpy as np

from theory.core.arrays import Array

READ_ONLY = "_read_only"  # where a pickle says which arrays nobody can write to
SPARSE_PARTS = ("data", "indices", "indptr")


class KeepsReadOnly:
    """The base of records whose read-only arrays stay so in pickles and copies, which alone would forget it.

    Arrays in tuples and the parts of sparse matrices are among them.
    """

    def __getstate__(self) -> dict[str, Any]:
        return marked(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(unmarked(state))


def marked(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values together with the places, (name, number), of the read-only arrays among them."""
    arrays = ((name, place, one) for name, value in values.items() for place, one in enumerate(_arrays(value)))
    return {**values, READ_ONLY: [(name, place) for name, place, one in arrays if not one.flags.writeable]}


def unmarked(state: dict[str, Any]) -> dict[str, Any]:
    """Return what `marked` was given, in which the same arrays are read-only."""
    values = dict(state)
    for name, place in values.pop(READ_ONLY, ()):  # pickles of before say nothing of it
        _arrays(values[name])[place].setflags(write=False)
    return values


def _arrays(value: Any) -> list[Array]:
    """List the arrays that a value consists of: itself, those in a tuple, or the parts of a sparse matrix."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, tuple):
        return [one for one in value if isinstance(one, np.ndarray)]
    # Sparse matrices are told by their parts, since to load scipy.sparse takes longer than most records are used.
    parts = [getattr(value, part, None) for part in SPARSE_PARTS] if hasattr(value, "nnz") else []
    return [one for one in parts if isinstance(one, np.ndarray)]
