"""The table of forms of files that hold a matrix: what it lists is read, and is what the help and the pages say."""

import gzip

import numpy as np
import pytest

from figures.analyse.command import kind_of
from figures.analyse.errors import DataError
from figures.analyse.options import make_parser
from figures.analyse.reading.matrix import read_matrix, table_shape
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
        case _:
            assert FORMATS[path.suffix].is_text, f"a case above must write a file {path.suffix}"
            np.savetxt(path, VALUES, "%.17g", delimiter="," if path.suffix == ".csv" else "\t")
    return path


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
