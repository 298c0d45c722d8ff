"""The table of forms of files that hold a matrix: what it lists is read, and is what the help and the pages say."""

import gzip

import numpy as np
import pytest
from scipy import sparse

from figures.analyse.command import kind_of
from figures.analyse.errors import DataError
from figures.analyse.options import make_parser
from figures.analyse.reading.matrix import read_matrix, table_shape
from figures.analyse.reading.matrix.anndata import labels_of_anndata
from figures.analyse.reading.matrix.formats import FORMATS
from tests.core.small_checkout import ROOT

VALUES = np.random.default_rng(0).standard_normal((7, 3))


def written(path):
    match path.suffix:
        case ".npy":
            np.save(path, np.asfortranarray(VALUES))
        case ".npz":
            np.savez(path, X=VALUES)
        case ".parquet":
            import pandas

            pandas.DataFrame(VALUES, columns=list("abc")).to_parquet(path)
        case ".h5ad":
            annotated(path, VALUES)
        case _:
            assert FORMATS[path.suffix].is_text, f"a case above must write a file {path.suffix}"
            np.savetxt(path, VALUES, "%.17g", delimiter="," if path.suffix == ".csv" else "\t")
    return path


def annotated(path, X, columns="abc", donors=None):
    """Write a file of AnnData as its versions since 0.7 do: X dense or sparse, names in obs and var, donors in obs."""
    import h5py

    with h5py.File(path, "w") as file:
        if sparse.issparse(X):
            group = file.create_group("X")
            group.attrs["encoding-type"], group.attrs["shape"] = f"{X.format}_matrix", X.shape
            for name in ("data", "indices", "indptr"):
                group[name] = getattr(X, name)
        else:
            file["X"] = X
        for axis, names in (("obs", [f"cell{k}" for k in range(X.shape[0])]), ("var", list(columns))):
            group = file.create_group(axis)
            group.attrs["_index"] = "_index"
            group.create_dataset("_index", data=names, dtype=h5py.string_dtype())
        if donors is not None:
            categories = sorted(set(donors))
            group = file["obs"].create_group("donor")
            group.create_dataset("categories", data=categories, dtype=h5py.string_dtype())
            group["codes"] = [categories.index(donor) for donor in donors]


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_form_is_read_to_the_same_rows(tmp_path, suffix):
    if FORMATS[suffix].package is not None:
        pytest.importorskip(FORMATS[suffix].package)
    path = written(tmp_path / f"table{suffix}")
    assert kind_of(path) == "matrix"
    matrix = read_matrix(path)
    assert matrix.data.in_memory.flags.c_contiguous
    np.testing.assert_array_equal(matrix.data.all_rows(), VALUES)
    shape = table_shape(path, skip_columns="2")
    assert (shape.rows, shape.columns) == (7, 2)
    assert "7 rows of 2 columns" in shape.known
    packed = path.with_name(f"{path.name}.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    if suffix in (".parquet", ".h5ad"):
        with pytest.raises(DataError, match=r"is compressed; unpack it first \(gunzip -k\)"):
            read_matrix(packed, skip_columns="2")
        return
    np.testing.assert_array_equal(read_matrix(packed, skip_columns="2").data.all_rows(), VALUES[:, [0, 2]])


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_form_is_named_where_users_look(tmp_path, suffix):
    (tmp_path / "data.xyz").touch()
    with pytest.raises(DataError, match=rf"names of a matrix end in .*\{suffix}"):
        kind_of(tmp_path / "data.xyz")
    assert suffix in make_parser("analyse")[0].format_help()
    page = (ROOT / "docs" / "own_data.md").read_text(encoding="utf-8")
    form = FORMATS[suffix]
    assert f"`{suffix}`" in page or form.is_text
    assert form.package is None or f"`{form.package}`" in page


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_files_of_annotated_cells_are_read_with_their_names(tmp_path, form):
    pytest.importorskip("h5py")
    counts = np.random.default_rng(1).poisson(0.7, (7, 3)).astype(float)
    path = tmp_path / "cells.h5ad"
    annotated(path, form(counts), columns=["gene 1", "gene 2", "gene 3"], donors=list("xxyyyxz"))
    matrix = read_matrix(path, skip_columns="2")
    np.testing.assert_array_equal(matrix.data.all_rows(), counts[:, [0, 2]])
    assert matrix.names == ("gene 1", "gene 3")
    assert matrix.row_names == tuple(f"cell{k}" for k in range(7))
    assert table_shape(path).columns == 3
    assert labels_of_anndata(path, "donor") == list("xxyyyxz")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("X", "has no matrix X; say which layer with --array NAME"),
        ("var", "has no var; it is no file of AnnData"),
        ("names", "has 2 names in var for 3; it is damaged, or no file of AnnData"),
        ("cut", "is damaged, or no file of AnnData"),
        ("text", "X holds no real numbers"),
        ("label", "has no column 'plate' in obs; it has donor"),
        ("magic", "is no .h5ad file"),
    ],
)
def test_what_is_no_file_of_annotated_cells_is_refused(tmp_path, change, message):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "cells.h5ad"
    annotated(path, VALUES, columns="ab" if change == "names" else "abc", donors=list("xxyyyxz"))
    if change == "cut":
        path.write_bytes(path.read_bytes()[:500])
    elif change == "magic":
        path.write_bytes(b"nothing of this kind")
    else:
        with h5py.File(path, "a") as file:
            if change in ("X", "var"):
                del file[change]
            elif change == "text":
                del file["X"]
                file["X"] = np.full((7, 3), b"a")
    with pytest.raises(DataError, match=message):
        labels_of_anndata(path, "plate") if change == "label" else read_matrix(path)
