"""Numpy's files: what is in them is known before anything is allocated, and pickled objects stay where they are."""

import gzip
import io
import pickle

import numpy as np
import pytest

from figures.analyse.errors import DataError
from figures.analyse.reading.matrix import read_matrix

VALUES = np.arange(12.0).reshape(4, 3) ** 2


class Trap:
    """Shouts when unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("unpickled",))


def npy(array):
    """The bytes of a .npy file."""
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8", "uint64", "bool", ">f8"])
def test_real_numbers_of_any_type(tmp_path, dtype):
    path = tmp_path / "data.npy"
    np.save(path, VALUES.astype(dtype))
    matrix = read_matrix(path)
    np.testing.assert_array_equal(matrix.data.all_rows(), VALUES.astype(dtype).astype(float))
    assert matrix.data.all_rows().dtype == np.float64
    assert matrix.names == ("column 1", "column 2", "column 3")


def test_fortran_order_gzip_and_columns(tmp_path):
    path = tmp_path / "data.npy.gz"
    path.write_bytes(gzip.compress(npy(np.asfortranarray(VALUES))))
    matrix = read_matrix(path, skip_columns="2")
    np.testing.assert_array_equal(matrix.data.all_rows(), VALUES[:, [0, 2]])
    assert matrix.names == ("column 1", "column 3")


def test_archives(tmp_path):
    one, two = tmp_path / "one.npz", tmp_path / "two.npz"
    np.savez(one, X=VALUES)
    np.savez_compressed(two, X=VALUES, y=VALUES[:, 0])
    np.testing.assert_array_equal(read_matrix(one).data.all_rows(), VALUES)
    np.testing.assert_array_equal(read_matrix(two, array="X").data.all_rows(), VALUES)
    with pytest.raises(DataError, match="holds 2 arrays: say which with --array NAME, one of: X, y"):
        read_matrix(two)
    with pytest.raises(DataError, match="holds no array 'Z'; it holds: X, y"):
        read_matrix(two, array="Z")
    with pytest.raises(DataError, match="array 'y' has 1 axes"):
        read_matrix(two, array="y")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (npy(np.array([[Trap(), 1], [2, 3]], dtype=object)), "holds pickled Python objects, which are never loaded"),
        (pickle.dumps(Trap()), "is no .npy file"),
        (npy(VALUES + 1j), "holds complex numbers (dtype complex128)"),
        (npy(np.array([["a", "b"]])), "holds text"),
        (npy(np.zeros(3, dtype=[("a", float)])), "holds records"),
        (npy(VALUES[:, 0]), "has 1 axes, shape (4,)"),
        (npy(VALUES[None]), "has 3 axes"),
        (npy(VALUES[:0]), "is empty"),
        (npy(VALUES[:2]), "has 2 rows"),
        (npy(VALUES[:, :1]), "has one column"),
        (npy(VALUES)[:-8], "is damaged or cut off"),
        (npy(VALUES)[:20], "is damaged or cut off"),
        (b"", "is no .npy file"),
        (b"PK\x03\x04 no archive", "is damaged, or no .npz file"),
        (npy(np.where(VALUES == 16, np.nan, VALUES)), "row 2, column 2: nan where a finite number is needed (1 such"),
        (npy(np.where(VALUES == 16, np.inf, VALUES)), "row 2, column 2: inf"),
        (npy(np.where(VALUES == 16, -1e200, VALUES)), "row 2, column 2: -1e+200 is so large"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path, content, message):
    path = tmp_path / "data.npy"
    path.write_bytes(content)
    with pytest.raises(DataError) as failure:
        read_matrix(path)
    assert message in str(failure.value)
    assert "\n" not in str(failure.value)


def test_an_array_that_exceeds_the_memory_is_refused_from_its_header(tmp_path):
    path = tmp_path / "data.npy.gz"
    with gzip.open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**4)})
    with pytest.raises(DataError, match=r"1000000000 x 10000 numbers would take about 8e\+04 GB"):
        read_matrix(path)
