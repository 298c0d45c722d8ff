"""The filled table is the file that was read, in which missing cells alone have changed."""

import codecs
import csv
import gzip
import io
import os
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from figures.analyse.errors import DataError, OptionError
from figures.analyse.matrix.holes.filled import errors_path, require_target, write_filled, written_number
from figures.analyse.matrix.holes.filled_text import _rows
from figures.analyse.reading.matrix import Reading, read_matrix
from figures.analyse.reading.tables.layout import Layout

FILLED = 7.25


def filled(path, target, **options):
    """Write the file with one number in all holes, and return the matrix that was read."""
    how = Reading(keep_holes=True, **options)
    matrix = read_matrix(path, how)
    values = matrix.data.all_rows()
    write_filled(matrix, how, np.where(np.isnan(values), FILLED, np.nan), target)
    return matrix


@pytest.mark.parametrize(
    ("content", "expected", "options"),
    [
        ("a,b\n1,2.50\nNA,3\n-3, ? \n5,.5\n", "a,b\n1,2.50\n7.25,3\n-3, 7.25 \n5,.5\n", {}),
        ("a,b\r\n1,2\r\n,3\r\n5,\r\n6,7", "a,b\r\n1,2\r\n7.25,3\r\n5,7.25\r\n6,7", {}),  # no line end at the end
        ("a;b\n1,5;\n;3\n-3;4,250\n", "a;b\n1,5;7,25\n7,25;3\n-3;4,250\n", {"decimal": ","}),
        ("sep=;\na;b\n1;2\n;3\n-3;4\n", "sep=;\na;b\n1;2\n7.25;3\n-3;4\n", {}),
        ("a\tb\n1\t\n\t3\n-3\t4\n", "a\tb\n1\t7.25\n7.25\t3\n-3\t4\n", {}),
        ("  1  2\n NA  4\n  5  6\n", "  1  2\n 7.25  4\n  5  6\n", {}),
        ('"a b" c\n1 2\n3 "NA"\n5 6\n', '"a b" c\n1 2\n3 "7.25"\n5 6\n', {}),
        ('a,"b\nb"\n1,"2"\n"",4\n5,"NA"\n', 'a,"b\nb"\n1,"2"\n"7.25",4\n5,"7.25"\n', {}),
        ('"a","b"\n"1,5","2"\n"","4"\n"5","6"\n', '"a","b"\n"1,5","2"\n"7,25","4"\n"5","6"\n', {"decimal": ","}),
        ("a,b\n1,2\n-999,3\n5,x\n6,-999.0\n", "a,b\n1,2\n7.25,3\n5,7.25\n6,7.25\n", {"missing": "-999,x"}),
        ("id,a,b\nx,1,2\n,,3\nz,4,\n", "id,a,b\nx,1,2\n,7.25,3\nz,4,7.25\n", {"skip_columns": "id"}),
        ("# NA\na,b\n1,2\n\n# NA,NA\n,3\n5,6\n,\n", "# NA\na,b\n1,2\n\n# NA,NA\n7.25,3\n5,6\n,\n", {}),
        ("a,b,\n1,,\n,3,\n5,6,\n", "a,b,\n1,7.25,\n7.25,3,\n5,6,\n", {}),  # each line ends with a delimiter
        ("a|b\n1|null\nN/A|3\n5|6\n", "a|b\n1|7.25\n7.25|3\n5|6\n", {}),
        ("größe,b\n1,\n,3\n5,6\n", "größe,b\n1,7.25\n7.25,3\n5,6\n", {}),
    ],
)
def test_every_other_byte_stays(write, tmp_path, content, expected, options):
    path = write("x.csv", content)
    matrix = filled(path, tmp_path / "y.csv", **options)
    assert (tmp_path / "y.csv").read_bytes() == expected.encode()
    assert path.read_bytes() == content.encode()
    again = read_matrix(tmp_path / "y.csv", **options)
    values = matrix.data.all_rows()
    np.testing.assert_array_equal(again.data.all_rows(), np.where(np.isnan(values), FILLED, values))


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"", "latin-1"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_encodings_and_their_marks_stay(write, tmp_path, mark, encoding):
    text = "größe,b\r\n1,\r\n,3\r\n5,6\r\n"
    path = write("x.csv", mark + text.encode(encoding))
    filled(path, tmp_path / "y.csv")
    assert (tmp_path / "y.csv").read_bytes() == mark + text.replace("1,", "1,7.25").replace(
        "\r\n,3", "\r\n7.25,3"
    ).encode(encoding)


def test_gzipped_text_is_packed_where_the_name_says_so(write, tmp_path):
    path = write("x.csv.gz", gzip.compress(b"a,b\n1,\n,3\n5,6\n"))
    filled(path, tmp_path / "y.csv.gz")
    assert gzip.decompress((tmp_path / "y.csv.gz").read_bytes()) == b"a,b\n1,7.25\n7.25,3\n5,6\n"
    filled(path, tmp_path / "y.csv")
    assert (tmp_path / "y.csv").read_bytes() == b"a,b\n1,7.25\n7.25,3\n5,6\n"


@given(st.text(alphabet='a1,",\n\r" ;', min_size=1, max_size=24))
def test_rows_and_cells_are_those_of_pythons_reader(text):
    layout = Layout(",", 1, (), 0, None, 1.0)
    reader = csv.reader(io.TextIOWrapper(io.BytesIO(text.encode())), delimiter=",")
    expected = [(reader.line_num, cells) for cells in reader]
    own = [
        (line, [cell.text.replace("\r\n", "\n").replace("\r", "\n") for cell in cells])
        for line, cells in _rows(text, layout)
    ]
    assert [one for one in own if one[1] != [""]] == [one for one in expected if one[1] not in ([], [""])]
    joined = ",".join(text[cell.start : cell.end] for _, cells in _rows(text, layout) for cell in cells)
    assert len(joined) <= len(text) + 1


@pytest.mark.parametrize("dtype", ["<f8", "<f4", ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_keep_their_type_and_order(tmp_path, dtype, order):
    values = np.array([[1.0, 2.0, np.nan], [np.nan, 5.5, 6.0], [7.0, 8.0, 10.0]]).astype(dtype, order=order)
    np.save(tmp_path / "x.npy", values)
    filled(tmp_path / "x.npy", tmp_path / "y.npy")
    found = np.load(tmp_path / "y.npy")
    assert (found.dtype, found.flags.f_contiguous) == (values.dtype, values.flags.f_contiguous)
    np.testing.assert_array_equal(found, np.where(np.isnan(values), FILLED, values))


def test_the_other_arrays_of_an_archive_stay(tmp_path):
    values = np.array([[1.0, 2.0, np.nan], [np.nan, 5.5, 6.0], [7.0, 8.0, 10.0]])
    np.savez_compressed(tmp_path / "x.npz", table=values, other=np.arange(3), labels=np.array(["a", "b"]))
    filled(tmp_path / "x.npz", tmp_path / "y.npz", array="table", columns="2-3")
    with np.load(tmp_path / "y.npz") as found:
        np.testing.assert_array_equal(found["other"], np.arange(3))
        np.testing.assert_array_equal(found["labels"], ["a", "b"])
        np.testing.assert_array_equal(found["table"], [[1, 2, FILLED], [np.nan, 5.5, 6], [7, 8, 10]])
    with zipfile.ZipFile(tmp_path / "y.npz") as archive:
        assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_DEFLATED}


def test_parquet_keeps_names_and_types(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {
        "name": ["p", None, "r", "s"],
        "double": [1.5, None, 3.0, 4.0],
        "single": arrow.array([None, 2.5, 3.0, 1.0], arrow.float32()),
        "whole": [1, 2, None, 5],
        "complete": [5, 6, 8, 9],
    }
    parquet.write_table(arrow.table(columns), tmp_path / "x.parquet")
    filled(tmp_path / "x.parquet", tmp_path / "y.parquet", skip_columns="name")
    found = parquet.read_table(tmp_path / "y.parquet")
    assert [str(field.type) for field in found.schema] == ["string", "double", "float", "double", "int64"]
    assert found.column("name").to_pylist() == columns["name"]
    assert found.column("double").to_pylist() == [1.5, FILLED, 3.0, 4.0]
    assert found.column("single").to_pylist() == [FILLED, 2.5, 3.0, 1.0]
    assert found.column("whole").to_pylist() == [1.0, 2.0, FILLED, 5.0]
    assert found.column("complete").to_pylist() == columns["complete"]


@pytest.mark.parametrize("value", [1e-30, 0.0123456789, 12.3456789, 98765.4321, 1e15 / 7])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
def test_numbers_are_written_as_closely_as_their_column_needs(value, scale):
    found = float(written_number(value, scale))
    assert abs(found - value) <= max(1e-4 * scale, 1e-16 * value)
    assert len(written_number(value, scale)) <= 24


def test_a_file_that_has_changed_is_not_filled(write, tmp_path):
    path = write("x.csv", "a,b\n1,\n,3\n5,6\n")
    how = Reading(keep_holes=True)
    matrix = read_matrix(path, how)
    values = np.where(np.isnan(matrix.data.all_rows()), FILLED, np.nan)
    for changed in ("a,b\n1,2\n,3\n5,6\n", "a,b\n1,\n", "a,b\n1\n,3\n5,6\n"):
        write("x.csv", changed)
        with pytest.raises(DataError, match="changed since the table was read; analyze it again"):
            write_filled(matrix, how, values, tmp_path / "y.csv")
        assert not (tmp_path / "y.csv").exists()
    arrays = tmp_path / "x.npy"
    np.save(arrays, matrix.data.all_rows())
    matrix = read_matrix(arrays, how)
    np.save(arrays, np.ones((3, 2)))
    with pytest.raises(DataError, match="changed since the array was read"):
        write_filled(matrix, how, values, tmp_path / "y.npy")


def test_the_table_that_is_read_is_never_written_over(write, tmp_path):
    path = write("x.csv", "a,b\n1,\n,3\n5,6\n")
    os.link(path, tmp_path / "hard.csv")
    (tmp_path / "soft.csv").symlink_to(path)
    for same in (path, tmp_path / "hard.csv", tmp_path / "soft.csv", tmp_path / "." / "x.csv"):
        with pytest.raises(OptionError, match="is the file that is read, which is never written over"):
            require_target(path, same)
    os.link(path, tmp_path / "z_errors.csv")  # where the errors of z.csv would go
    with pytest.raises(OptionError, match="is the file that is read"):
        require_target(path, tmp_path / "z.csv")
    require_target(path, tmp_path / "y.csv")
    require_target(path, tmp_path / "y.csv.gz")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("y.npy", "must end as the table does, in .csv: it is written in the format of that"),
        ("y", "must end as the table does, in .csv"),
        ("absent/y.csv", "cannot be written to (there is no folder"),
        ("folder.csv", "is a folder; give the name of a file"),
    ],
)
def test_what_cannot_be_written_is_refused_before(write, tmp_path, name, message):
    path = write("x.csv", "a,b\n1,\n,3\n5,6\n")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(OptionError) as failure:
        require_target(path, tmp_path / name)
    assert message in str(failure.value)
    assert str(failure.value).startswith("--impute ")


def test_errors_stand_beside_the_table(tmp_path):
    assert errors_path(tmp_path / "y.csv") == tmp_path / "y_errors.csv"
    assert errors_path(tmp_path / "y.tar.csv.gz") == tmp_path / "y.tar_errors.csv"
    assert errors_path(tmp_path / "y.npy") == tmp_path / "y_errors.csv"
