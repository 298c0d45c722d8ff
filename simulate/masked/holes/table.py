"""Tables with holes: their checks, and their columns in units of the standard deviation of the entries seen."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.masked import checks
from theory.core import foreign
from theory.core.arrays import Array
from theory.core.checks import shown


@dataclass(frozen=True, eq=False)
class HoledTable:
    """A table (n, d) in units in which the entries seen of every column have mean 0 and mean square 1; 0 at holes."""

    values: Array
    seen: NDArray[np.bool_]
    means: Array  # (d,), of the entries seen, in the units of the data
    scales: Array  # (d,), their standard deviations (divisor N_k)

    @property
    def counts(self) -> Array:
        """The numbers N_k of entries seen, (d,)."""
        return np.asarray(self.seen.sum(axis=0), dtype=np.float64)

    @property
    def rates(self) -> Array:
        """The shares q_k of entries seen, (d,)."""
        return self.counts / len(self.seen)

    @property
    def variances(self) -> Array:
        """The unbiased estimates (d,) of the columns' variances, in squared units of the data."""
        return np.asarray(self.scales**2 * self.counts / (self.counts - 1))

    def in_own_order(self) -> tuple["HoledTable", NDArray[np.intp]]:
        """Return the table with its rows in an order that is the same however they were given, and their numbers in it.

        Rows are sorted by the ranks of their entries in their columns, 0 at holes, so that units and origins of the
        columns do not count. Equal rows are the same in any order.
        """
        n, d = self.values.shape
        ranks = np.zeros((n, d), dtype=np.int32)
        for column in range(d):
            rows = self.seen[:, column]
            ranks[rows, column] = 1 + np.unique(self.values[rows, column], return_inverse=True)[1]
        keys = np.ascontiguousarray(ranks).view(f"V{ranks.itemsize * d}").reshape(n)
        order = np.argsort(keys, kind="stable")
        return HoledTable(self.values[order], self.seen[order], self.means, self.scales), order

    def in_units(self, standard: Array) -> Array:
        """Return numbers of columns in standard units (n, d) in those of the data."""
        return self.means + self.scales * standard


def holed_table(X: Any, seen: Any) -> HoledTable:
    """Check a table and its holes, and bring its columns to standard units.

    `seen` (n, d) says which entries count; None: all but NaN. ValueError for an X that is no matrix of real numbers, a
    `seen` of another shape or not of truth values, an entry that is seen and not finite, a column without an entry or
    with one alone or of equal entries, a row without an entry, less than three rows or two columns, and a column of a
    size outside 1e-50 to 1e50.
    """
    data, mask = with_mask("X", X, seen)
    require_entries(data, mask)
    counts = mask.sum(axis=0)
    zeroed = np.where(mask, data, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        means = zeroed.sum(axis=0) / counts
        centered = np.where(mask, zeroed - means, 0.0)
        scales = np.sqrt((centered * centered).sum(axis=0) / counts)
    checks.raise_not_representable("X", zeroed)
    constant = scales <= 1e-12 * abs(zeroed).max(axis=0)  # rounding of equal entries
    if constant.any():
        column = int(constant.argmax())
        raise ValueError(
            f"X must vary in every column, got equal entries of {means[column]:g} in column {column}: drop it"
        )
    return HoledTable(centered / scales, mask, means, scales)


def with_mask(name: str, X: Any, seen: Any) -> tuple[Array, NDArray[np.bool_]]:
    """Return a float matrix (n, d) and which of its entries are seen, all of them finite; else ValueError."""
    masked = np.ma.is_masked(X)
    if masked and seen is not None:
        raise ValueError(f"{name} must be a plain array where seen is given, got masked entries as well")
    table, X = X, X if masked else foreign.plain(name, X, "real numbers", holes=True)
    try:
        data = np.asarray(np.ma.filled(X.astype(np.float64), np.nan)) if masked else np.asarray(X)
    except Exception:  # a list is ragged, or an object's conversion raises anything
        raise ValueError(f"{name} must be a rectangular array of real numbers, got {shown(X)}") from None
    checks.require_matrix(name, data)
    data = np.asarray(data, dtype=np.float64)
    if seen is None:
        mask = ~np.isnan(data)
    else:
        try:
            mask = np.asarray(seen)
        except Exception:  # as above
            raise ValueError(f"seen must be an array of truth values, got {shown(seen)}") from None
        if mask.dtype != bool or mask.shape != data.shape:
            raise ValueError(
                f"seen must have one truth value for each entry of {name}, shape {data.shape}, "
                f"got shape {mask.shape} and dtype {mask.dtype}"
            )
    bad = mask & ~np.isfinite(data)
    if bad.any():
        row, column = (int(index) for index in np.argwhere(bad)[0])
        where = f"row {row}, column {column}{foreign.labelled(table, column)}"
        raise ValueError(f"{name} must be finite where it is seen, got {data[row, column]} at {where}")
    return data, mask


def require_entries(data: Array, mask: NDArray[np.bool_], rows: bool = True) -> None:
    """Raise ValueError for a table that is too small, or has a column, or with `rows` a row, without enough entries."""
    if data.shape[0] < 3 or data.shape[1] < 2:
        raise ValueError(f"X must have at least 3 rows and 2 columns, got shape {data.shape}")
    counts = mask.sum(axis=0)
    if counts.min() < 2:
        column = int(counts.argmin())
        raise ValueError(
            f"X must have 2 entries or more in every column, got {counts[column]} in column {column}: drop it"
        )
    empty = ~mask.any(axis=1)
    if rows and empty.any():
        raise ValueError(
            f"X must have an entry in every row, got none in row {int(empty.argmax())} and {int(empty.sum())} in all: "
            f"nothing predicts their holes, drop them"
        )
