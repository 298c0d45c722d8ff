"""Reads .h5ad files of AnnData by h5py: the matrix X or a layer, the names of cells and genes, and columns of obs."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from figures.analyse.errors import DataError
from figures.analyse.reading.matrix.choices import Reading
from figures.analyse.reading.matrix.record import Matrix
from figures.analyse.reading.matrix.shape import TableShape, shape_of_numbers
from figures.analyse.reading.matrix.sparse import NUMBER, dense_rows, require_table
from figures.analyse.reading.opening import open_binary
from figures.analyse.wording import listed, shown

MAGIC = b"\x89HDF\r\n\x1a\n"
SPARSE = {"csr_matrix": "csr", "csc_matrix": "csc", "csr": "csr", "csc": "csc"}
N_LISTED = 12


def read_anndata(path: Path, how: Reading) -> Matrix:
    """Return the chosen columns of X, or of the layer that `how.array` names, with the names in obs and var.

    Columns are chosen by the names in var. DataError where h5py is not installed, for a file of another kind, for a
    matrix that is neither dense nor CSR nor CSC, and for one that does not fit in memory with its zeros written out.
    """
    with _opened(path) as file:
        what, stored = _matrix(path, file, how.array)
        n, d, form, _ = _form(path, what, stored)
        names, rows = _index(path, file, "var", d), _index(path, file, "obs", n)
        chosen = how.selected(path, names)
        if form == "dense":
            matrix: Any = np.asarray(stored) if len(chosen) == d else np.asarray(stored)[:, chosen]
            chosen_of_matrix: Sequence[int] = range(len(chosen))
        else:
            matrix, chosen_of_matrix = _sparse(path, what, stored, (n, d), form), chosen
    known = f"AnnData file, {what}, {'dense' if form == 'dense' else f'sparse ({form.upper()})'}"
    note = f"{known}; rows are named by obs, columns by var"
    return Matrix(
        path,
        dense_rows(path, matrix, chosen_of_matrix),
        tuple(names[k] for k in chosen),
        (note,),
        positions=tuple(chosen),
        row_names=rows if len(set(rows)) == n else (),
    )


def shape_of_anndata(path: Path, how: Reading) -> TableShape:
    """Return the shape of the matrix, without reading it. The DataErrors are those of `read_anndata`."""
    with _opened(path) as file:
        what, stored = _matrix(path, file, how.array)
        n, d, form, entries = _form(path, what, stored)
        chosen = how.selected(path, _index(path, file, "var", d))
    found = shape_of_numbers(n, d, len(chosen), NUMBER, False, f"{what} says")
    extra = NUMBER * n * d if form == "dense" else 2 * NUMBER * entries
    return TableShape(found.rows, found.columns, found.held + extra, found.held, found.known)


def labels_of_anndata(path: Path, column: str) -> list[str]:
    """Return the labels of all rows in a column of obs, such as donor. DataError where there is none of that name."""
    with _opened(path) as file:
        obs = file["obs"]
        if not hasattr(obs, "keys"):
            raise DataError(path, "has its obs in the form of old versions of AnnData; write it again with a newer one")
        there = sorted(str(name) for name in obs if name not in ("__categories", _index_name(obs)))
        if column not in there:
            raise DataError(path, f"has no column {shown(column)} in obs; it has {listed(there, N_LISTED) or 'none'}")
        stored = obs[column]
        if hasattr(stored, "keys"):  # categories
            codes, categories = np.asarray(stored["codes"]), _texts(stored["categories"])
            return ["" if code < 0 else categories[code] for code in codes]
        return _texts(stored)


def _matrix(path: Path, file: Any, layer: str | None) -> tuple[str, Any]:
    if layer is None:
        if "X" not in file:
            raise DataError(path, "has no matrix X; say which layer with --array NAME")
        return "X", file["X"]
    layers = sorted(map(str, file["layers"])) if "layers" in file else []
    if layer not in layers:
        raise DataError(path, f"has no layer {shown(layer)}; it has {listed(layers, N_LISTED) or 'none'}")
    return f"layer {layer}", file["layers"][layer]


def _form(path: Path, what: str, stored: Any) -> tuple[int, int, str, int]:
    """Return rows, columns, form and number of entries of the stored matrix."""
    if not hasattr(stored, "keys"):
        _require_numbers(path, what, stored.dtype)
        n, d = require_table(path, stored.shape)
        return n, d, "dense", n * d
    kind = _text(stored.attrs.get("encoding-type", stored.attrs.get("h5sparse_format", "")))
    shape = stored.attrs.get("shape", stored.attrs.get("h5sparse_shape"))
    if kind not in SPARSE or shape is None or not {"data", "indices", "indptr"} <= set(stored):
        raise DataError(path, f"{what} is no matrix that is known (encoding {shown(kind or 'none')})")
    _require_numbers(path, what, stored["data"].dtype)
    n, d = require_table(path, shape)
    return n, d, SPARSE[kind], len(stored["data"])


def _require_numbers(path: Path, what: str, dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "buif":
        raise DataError(path, f"{what} holds no real numbers (dtype {dtype})")


def _sparse(path: Path, what: str, stored: Any, shape: tuple[int, int], form: str) -> Any:
    from scipy.sparse import csc_array, csr_array

    parts = tuple(np.asarray(stored[name]) for name in ("data", "indices", "indptr"))
    try:
        found = (csr_array if form == "csr" else csc_array)(parts, shape=shape)
        found.check_format(full_check=True)
    except ValueError as error:
        raise DataError(path, f"{what} is damaged ({error}); save it again") from None
    return found.tocsc()


def _index(path: Path, file: Any, axis: str, count: int) -> tuple[str, ...]:
    """Return the names along an axis, obs or var."""
    if axis not in file:
        raise DataError(path, f"has no {axis}; it is no file of AnnData")
    table = file[axis]
    if hasattr(table, "keys"):
        names = _texts(table[_index_name(table)]) if _index_name(table) in table else []
    else:
        names = _texts(table[table.dtype.names[0]]) if table.dtype.names else []
    if len(names) != count:
        raise DataError(path, f"has {len(names)} names in {axis} for {count}; it is damaged, or no file of AnnData")
    return tuple(" ".join(name.split()) or f"{axis} {k + 1}" for k, name in enumerate(names))


def _index_name(table: Any) -> str:
    return _text(table.attrs.get("_index", "index"))


def _texts(stored: Any) -> list[str]:
    return [_text(one) for one in np.asarray(stored).tolist()]


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    with open_binary(path) as content:
        if content.read(len(MAGIC)) != MAGIC:
            raise DataError(path, "is no .h5ad file (it does not begin as HDF5 files do)")
        compressed = path.suffix.lower() == ".gz"
    if compressed:
        raise DataError(path, "is compressed; unpack it first (gunzip -k): HDF5 files are read by place")
    try:
        import h5py
    except ImportError:
        raise DataError(
            path,
            "is a .h5ad file, which is read by h5py, and that is not installed (the extra formats: make ... "
            "EXTRAS=formats, or pip install h5py); or save the table as .csv: adata.to_df().to_csv('table.csv')",
        ) from None
    try:
        with h5py.File(path, "r") as file:
            yield file
    except (OSError, KeyError, RuntimeError) as error:
        raise DataError(path, f"is damaged, or no file of AnnData ({error}); save or copy it again") from None
