"""Checks the data matrices that users hand over, once and in one place."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.core import foreign
from theory.core.arrays import Array
from theory.core.checks import between, objects, shown

# Within these limits the products in an error, of which C/lam^2 is the smallest, neither overflow nor vanish.
SMALLEST_SIZE, LARGEST_SIZE = 1e-50, 1e50
SMALLEST_RIDGE, LARGEST_RIDGE = 1e-300, 1e100


def data_matrix(name: str, data: Any, columns: int | None = None) -> Array:
    """Return a finite C-ordered float64 copy (n, d) of `data`; ValueError where that, or `columns` columns, fails."""
    matrix = copied_matrix(name, data, columns)
    require_power(name, matrix, squares(matrix), data)
    return matrix


def copied_matrix(name: str, data: Any, columns: int | None = None) -> Array:
    """Return a C-ordered float64 copy (n, d) of `data`, of which only type and shape are checked, else ValueError."""
    matrix = _real_numbers(name, data)
    if matrix.ndim != 2 or matrix.size == 0:
        raise ValueError(f"{name} must have shape (samples, coordinates) with at least one of each, got {matrix.shape}")
    if columns is not None and matrix.shape[1] != columns:
        raise ValueError(f"{name} must have {columns} columns, one for each coordinate, got {matrix.shape[1]}")
    return matrix


def squares(matrix: Array) -> Array:
    """Return the sums of squares (d,) of the columns, without a temporary; NaN and infinity stay in them."""
    with np.errstate(over="ignore", invalid="ignore"):  # entries near the largest float are refused later
        return np.asarray(np.einsum("ij,ij->j", matrix, matrix))


def require_power(name: str, matrix: Array, power: Array, table: Any) -> None:
    """Raise ValueError for entries that are not finite or too large or small, where the sums of squares (d,) say so."""
    if not representable(power):
        _raise_not_finite(name, matrix, table=table)
        raise_not_representable(name, matrix)


def block(name: str, given: Any, columns: int | None, start: int | None) -> Array:
    """Return a block of rows as finite float64 numbers in C order, copied only where it must be.

    `start` is the number of its first row among all rows, which errors name; None where that is not known.
    """
    rows = _converted(name, given)
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise ValueError(f"{name} must have blocks of shape (rows, coordinates), got {rows.shape}")
    if columns is not None and rows.shape[1] != columns:
        raise ValueError(f"{name} must have {columns} columns in every block, got {rows.shape[1]}")
    values = np.ascontiguousarray(rows, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(np.vdot(values, values))  # needs no temporary
    if not finite:
        _raise_not_finite(name, values, start or 0, given)
        raise_not_representable(name, values)
    return values


def require_matrix(name: str, data: Any) -> None:
    """Raise ValueError for an array that is no matrix of real numbers, by its shape and type alone."""
    require_real(name, data)
    if data.ndim != 2 or 0 in data.shape:
        raise ValueError(f"{name} must have shape (samples, coordinates) with at least one of each, got {data.shape}")


def require_real(name: str, data: Any) -> None:
    """Raise ValueError for an array that does not hold real numbers; of text it says what makes numbers of it."""
    if data.dtype.kind not in "buif":
        what, cure = f"dtype {data.dtype}", f": {foreign.OF_TEXT}" if foreign.is_text(data) else ""
        if data.ndim and data.dtype.kind == "O":
            what, cure = objects(data, "real numbers")
        raise ValueError(f"{name} must contain real numbers, got {what}{cure}")


def row_numbers(name: str, rows: NDArray[np.integer], n: int | None) -> None:
    """Raise ValueError unless `rows` (k,) are ascending numbers from 0 to n - 1; n is None where it is not known."""
    if rows.ndim != 1 or (rows[1:] < rows[:-1]).any() or (rows[:1] < 0).any():
        raise ValueError(f"{name} must be ascending numbers of rows, (k,), from 0, got {shown(rows)}")
    if n is not None and (rows[-1:] >= n).any():
        raise ValueError(f"{name} must be numbers of rows from 0 to {n - 1}, got {rows[-1]}")


def one_for_each_row(name: str, values: NDArray[Any], n: int | None) -> None:
    """Raise ValueError unless `values` are as many as the n rows; n is None where it is not known."""
    if values.ndim != 1 or (n is not None and len(values) != n):
        wanted = "(n,)" if n is None else f"({n},)"
        raise ValueError(f"{name} must have one entry for each row, shape {wanted}, got {values.shape}")


def of_rows(name: str, values: NDArray[Any], start: int, count: int) -> NDArray[Any]:
    """Return the `values` of `count` rows from number `start` on; ValueError where there are too few of them."""
    if len(values) < start + count:
        raise ValueError(f"{name} must have one entry for each row, got {len(values)} for at least {start + count}")
    return values[start : start + count]


def representable(power: Array) -> bool:
    """Say whether columns with these sums of squares (d,) are of a size that errors can be computed with."""
    return bool(((power > SMALLEST_SIZE**2) & (power < LARGEST_SIZE**2)).all())


def ridge(lam: Any, name: str = "lam") -> float:
    """Return a ridge strength: zero, or a number that double precision can square and divide by; else ValueError."""
    strength = between(name, lam, 0.0, LARGEST_RIDGE, closed=(True, True))
    if 0 < strength < SMALLEST_RIDGE:
        raise ValueError(f"{name} must be 0 or at least {SMALLEST_RIDGE:g}, got {shown(lam)}")
    return strength


def positive_ridge(lam: Any, name: str = "lam") -> float:
    """Return a ridge above zero, which a table with holes needs, else ValueError."""
    strength = ridge(lam, name)
    if strength == 0:
        raise ValueError(f"{name} must be positive for a table with holes, got 0")
    return strength


def ridges(lams: Any, one: Callable[[Any, str], float] = ridge) -> Array:
    """Return a non-empty list of ridges as an array, each of them checked by `one`, else ValueError."""
    try:
        values = np.asarray(lams)
    except Exception:  # a list is ragged, or an object's conversion raises anything
        raise ValueError(f"lams must be a non-empty list of numbers, got {shown(lams)}") from None
    if values.ndim != 1 or values.size == 0 or np.ma.is_masked(lams):
        raise ValueError(f"lams must be a non-empty list of numbers, got shape {values.shape}")
    return np.array([one(lam, f"lams[{i}]") for i, lam in enumerate(values)])


def _real_numbers(name: str, data: Any) -> Array:
    return np.array(_converted(name, data), dtype=np.float64, order="C")


def _converted(name: str, data: Any) -> NDArray[Any]:
    if np.ma.is_masked(data):
        raise ValueError(
            f"{name} must have no masked entries, got {np.ma.getmaskarray(data).sum()} of them: fill or drop them"
        )
    plain = foreign.plain(name, data, "real numbers")
    try:
        given = np.asarray(plain)
    except Exception:  # a list is ragged, or an object's conversion raises anything
        what = "rows of different lengths" if isinstance(data, list | tuple) else shown(data)
        raise ValueError(f"{name} must be a rectangular array of real numbers, got {what}") from None
    require_real(name, given)
    return given


def _raise_not_finite(name: str, matrix: Array, start: int = 0, table: Any = None) -> None:
    bad = ~np.isfinite(matrix)
    if bad.any():
        row, column = (int(index) for index in np.argwhere(bad)[0])
        where = f"row {start + row}, column {column}{foreign.labelled(table, column)}"
        raise ValueError(f"{name} must be finite, got {matrix[row, column]} at {where}")


def raise_not_representable(name: str, matrix: Array) -> None:
    """Raise ValueError for the first column that is too large or too small to compute with."""
    sizes = abs(matrix).max(axis=0)
    bad = (sizes > 0) & ((sizes < SMALLEST_SIZE) | (sizes > LARGEST_SIZE))
    if bad.any():
        column = int(bad.argmax())
        raise ValueError(
            f"{name} must have columns of size {SMALLEST_SIZE:g} to {LARGEST_SIZE:g}, or zero, "
            f"got {sizes[column]:g} in column {column}: rescale it"
        )
