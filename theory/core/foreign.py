"""Takes data out of tables of pandas and polars, and says of what is no array which column needs which cure.

Neither package is imported: a table is told by the module of its type.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_NAMED_COLUMNS = 5  # further columns that a message names
OF_LETTERS = (
    "letters become integers by figures.analyse.read_alignment(file).sequences, and strings by its .encode(strings)"
)
OF_TEXT = f"text that holds numbers becomes numbers by .astype(float); {OF_LETTERS}"
TYPES = {"real numbers": "float", "integers": "int", "truth values": "bool"}  # what .astype takes for such entries
MISSING = ("NAType", "NaTType")  # of pandas, for entries that are not there
WIDEST: dict[str, Any] = {"b": np.bool_, "i": np.int64, "u": np.uint64, "f": np.float64}


class _Refused(Exception):
    """Says why a column holds no numbers, and what the user can do: `what` and `cure`."""

    def __init__(self, what: str, cure: str) -> None:
        super().__init__(what)
        self.what, self.cure = what, cure


class _Place(NamedTuple):
    """What code calls a column: `table` the variable of the user, `column` the expression that selects it."""

    table: str
    label: Any
    column: str
    letters: bool  # whether the integers of a sequence are wanted, not numbers
    holes: bool  # whether missing entries become NaN


def plain(name: str, value: Any, entries: str, *, holes: bool = False) -> Any:
    """Return a table or column of pandas or polars as an array of numbers, and anything else as it is.

    Nullable types and those of Arrow are taken where nothing is missing; with `holes` missing entries become NaN.
    ValueError names the first column that holds no numbers, the others, and what makes numbers of it; it also refuses
    a sparse matrix, with the size of a dense one, and a LazyFrame. `entries` are what the array holds in the message.
    """
    if isinstance(value, np.ndarray | list | tuple | int | float):
        return value
    kind = type(value)
    if hasattr(value, "nnz") and hasattr(value, "toarray"):
        gigabytes = 8 * float(np.prod(np.asarray(value.shape, dtype=float))) / 1e9
        raise ValueError(
            f"{name} must be a dense array of {entries}, got a sparse {kind.__name__} of shape {value.shape}: "
            f".toarray() makes it dense ({gigabytes:.2g} GB as numbers of 8 bytes)"
        )
    package = kind.__module__.partition(".")[0]
    if package not in ("pandas", "polars"):
        return value
    if hasattr(value, "collect"):
        raise ValueError(f"{name} must be a table in memory, got a polars {kind.__name__}: .collect() makes one of it")
    convert = _of_pandas if package == "pandas" else _of_polars
    variable = name if name.isidentifier() else "table"
    letters = entries == "integers"
    if getattr(value, "ndim", len(getattr(value, "shape", ""))) == 2:
        if package == "pandas" and all(isinstance(t, np.dtype) and t.kind in "iuf" for t in value.dtypes):
            return value  # numpy makes an array of it without a copy
        columns = ((label, _column(value, place)) for place, label in enumerate(value.columns))
        return _stacked(
            name,
            entries,
            [(_Place(variable, label, f"{variable}[{label!r}]", letters, holes), column) for label, column in columns],
            convert,
            len(value),
        )
    if not hasattr(value, "dtype") or not hasattr(value, "to_numpy"):
        return value
    try:
        return convert(value, _Place(variable, getattr(value, "name", None), variable, letters, holes))
    except _Refused as refused:
        raise ValueError(f"{name} must hold {entries}, got {refused.what}: {refused.cure}") from None


def labelled(value: Any, column: int) -> str:
    """Return the name of a column of a table in quotes and brackets, behind a blank; nothing where it has none."""
    columns = getattr(value, "columns", None)
    try:
        return "" if columns is None else f" ({columns[column]!r})"
    except Exception:  # a stranger's object may call anything its columns
        return ""


def is_text(array: NDArray[Any]) -> bool:
    """Say whether an array holds text, also as objects."""
    return array.dtype.kind in "UST" or (array.dtype.kind == "O" and any(isinstance(each, str) for each in array.flat))


def stranger(array: NDArray[Any], entries: str) -> tuple[tuple[int, ...] | None, str]:
    """Return the index of the first object that is none of the `entries`, or None, and what the user can do."""
    convert = f".astype({TYPES[entries]}) makes {entries} of the array"
    index = next((index for index, entry in np.ndenumerate(array) if not _is_one_of(entry, entries)), None)
    if index is None:
        return None, convert
    if isinstance(array[index], str):
        return index, OF_LETTERS if entries == "integers" else OF_TEXT
    return index, f"{'fill or drop it' if _is_missing(array[index]) else 'replace it'}, then {convert}"


def _is_missing(entry: Any) -> bool:
    return entry is None or (isinstance(entry, float) and entry != entry) or type(entry).__name__ in MISSING


def _is_one_of(entry: Any, entries: str) -> bool:
    if entries == "truth values":
        return isinstance(entry, bool | np.bool_)
    if entries == "integers":
        whole = isinstance(entry, float) and entry.is_integer()
        return whole or (isinstance(entry, int | np.integer) and not isinstance(entry, bool))
    try:
        float(entry)
        return np.ndim(entry) == 0  # arrays of one entry are numbers to float(), but not to numpy
    except Exception:  # the entries may be any objects
        return False


def _column(table: Any, place: int) -> Any:
    return table.iloc[:, place] if hasattr(table, "iloc") else table.to_series(place)  # names may occur twice


def _stacked(
    name: str,
    entries: str,
    columns: Iterable[tuple[_Place, Any]],
    convert: Callable[[Any, _Place], NDArray[Any]],
    n: int,
) -> NDArray[Any]:
    found, faults = [], list[tuple[_Place, _Refused]]()
    for place, column in columns:
        try:
            found.append(convert(column, place))
        except _Refused as refused:
            faults.append((place, refused))
    if not faults:
        return np.column_stack(found) if found else np.empty((n, 0))
    place, first = faults[0]
    others = [repr(other.label) for other, _ in faults[1:]]
    more = ", ".join(others[:MAX_NAMED_COLUMNS]) + (" ..." if len(others) > MAX_NAMED_COLUMNS else "")
    also = f"; so it is with {len(others)} more: {more}" if others else ""
    raise ValueError(f"{name} must hold {entries}, got {first.what} in column {place.label!r}: {first.cure}{also}")


def _of_pandas(column: Any, place: _Place) -> NDArray[Any]:
    """Return a column of pandas as an array, or raise _Refused."""
    kind, text = getattr(column.dtype, "kind", "O"), str(column.dtype)
    if text == "category":
        raise _no_numbers(
            "categories",
            place,
            f"pandas.get_dummies({place.table}, columns=[{place.label!r}], dtype=float) makes an indicator of each; "
            f"{place.column}.cat.codes numbers them, if their order means something",
        )
    if kind == "M" or text.startswith("date"):
        raise _no_numbers("dates", place, f"({place.column} - {place.column}.min()).dt.total_seconds() counts seconds")
    if kind == "m":
        raise _no_numbers("durations", place, f"{place.column}.dt.total_seconds() makes numbers of them")
    missing = np.asarray(column.isna())
    if kind in WIDEST:
        if isinstance(column.dtype, np.dtype):
            return np.asarray(column)
        if missing.any():
            return _with_holes(column.to_numpy(dtype=np.float64, na_value=np.nan), missing, text, place, ".fillna")
        return np.asarray(column.to_numpy(dtype=getattr(column.dtype, "numpy_dtype", WIDEST[kind])))
    given = list(np.asarray(column, dtype=object))
    if any(isinstance(entry, str) for entry in given):
        raise _no_numbers(
            "text",
            place,
            f"pandas.to_numeric({place.column}) makes numbers of it if it holds them; else leave it out, or make an "
            f"indicator of each value by pandas.get_dummies({place.table}, columns=[{place.label!r}], dtype=float)",
        )
    filled = np.asarray([np.nan if gone else entry for entry, gone in zip(given, missing, strict=True)])
    if filled.dtype.kind not in WIDEST:
        raise _Refused(f"the type {text}", "leave it out, or make numbers of it")
    return _with_holes(filled, missing, text, place, ".fillna") if missing.any() else filled


def _of_polars(column: Any, place: _Place) -> NDArray[Any]:
    """Return a column of polars as an array, or raise _Refused."""
    text = str(column.dtype).partition("(")[0]
    if text in ("String", "Categorical", "Enum"):
        raise _no_numbers(
            "text" if text == "String" else "categories",
            place,
            f"leave it out, or {place.table}.to_dummies({place.label!r}) makes an indicator of each value"
            + (f"; {place.column}.cast(float) makes numbers of text that holds them" if text == "String" else ""),
        )
    if text in ("Date", "Datetime"):
        raise _no_numbers("dates", place, f"{place.column}.dt.epoch('s') counts seconds")
    if text == "Duration":
        raise _no_numbers("durations", place, f"{place.column}.dt.total_seconds() makes numbers of them")
    if not (column.dtype.is_numeric() or text == "Boolean"):
        raise _Refused(f"the type {text}", "leave it out, or make numbers of it")
    missing = column.is_null().to_numpy()
    if missing.any():
        return _with_holes(column.cast(float).to_numpy(), missing, text, place, ".fill_null")
    return np.asarray((column.cast(float) if text == "Decimal" else column).to_numpy())


def _no_numbers(what: str, place: _Place, cure: str) -> _Refused:
    return _Refused(what, OF_LETTERS if place.letters and what in ("text", "categories") else cure)


def _with_holes(values: NDArray[Any], missing: NDArray[Any], text: str, place: _Place, fill: str) -> NDArray[Any]:
    if place.holes:
        return values
    raise _Refused(
        f"{missing.sum()} missing entries of the type {text}",
        f"drop their rows or fill them, by {place.column}{fill}(...), or a whole table by simulate.masked.impute",
    )
