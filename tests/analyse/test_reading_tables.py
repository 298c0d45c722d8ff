"""Tables of text: what is accepted, and for everything else one line that says where and what to do."""

import codecs
import gzip

import numpy as np
import pytest

from figures.analyse.errors import DataError
from figures.analyse.reading.matrix import read as reading
from figures.analyse.reading.matrix import read_matrix

NUMBERS = "1,2.5\n-3,4e-1\n5,.5\n"
VALUES = np.array([[1, 2.5], [-3, 0.4], [5, 0.5]])


@pytest.fixture
def file(tmp_path):
    """Write bytes or text and return the path."""

    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    ("content", "names", "said"),
    [
        (NUMBERS, ("column 1", "column 2"), "comma separated, no header, utf-8"),
        ("a,b\n" + NUMBERS, ("a", "b"), "comma separated, header in row 1, utf-8"),
        ("a,a\n" + NUMBERS, ("a", "a"), "header in row 1"),
        (("a,b\n" + NUMBERS).replace(",", ";"), ("a", "b"), "semicolon separated"),
        (("a,b\n" + NUMBERS).replace(",", "\t"), ("a", "b"), "tab separated"),
        ("# a b\n" + NUMBERS.replace(",", " "), ("a", "b"), "space separated"),
        (("a,b\n" + NUMBERS).replace("\n", "\r\n"), ("a", "b"), "comma"),
        (("a,b\n" + NUMBERS).replace("\n", "\r"), ("a", "b"), "comma"),
        ('"a","b"\n"1","2.5"\n"-3","0.4"\n5, 0.5\n', ("a", "b"), "comma"),
        ("\n\na,b\n\n1,2.5\n\n-3,.4\n5,.5\n\n", ("a", "b"), "header in row 3"),
        ("a,b,\n1,2.5,\n-3,.4,\n5,.5,\n", ("a", "b"), "comma"),
        (("ä,b\n" + NUMBERS).encode("latin-1"), ("ä", "b"), "latin-1 (a guess"),
        (codecs.BOM_UTF8 + ("ä,b\n" + NUMBERS).encode(), ("ä", "b"), "utf-8-sig"),
        (("ä,b\n" + NUMBERS).encode("utf-16"), ("ä", "b"), "utf-16"),
        (gzip.compress(("a,b\n" + NUMBERS).encode(), mtime=0), ("a", "b"), "comma"),
    ],
)
def test_layouts_are_found_and_said(file, content, names, said):
    matrix = read_matrix(file(content))
    np.testing.assert_array_equal(matrix.data.all_rows(), VALUES)
    assert matrix.names == names
    assert said in matrix.notes[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("a,b\n", "has a header in row 1 and no row of numbers below it"),
        ("# only\n# this\n", "comments only"),
        ("a,b\n1,2\n3,4\n", "has 2 rows of numbers; at least 3"),
        ("a\n1\n2\n3\n", "has one column"),
        ("a,b\n1,2\n3,x\n5,6\n", "row 3, column 2 ('b'): 'x' is not a number"),
        (
            "a,b\n1,2\n3,x\n5,6\n",
            "; a table is a matrix if every cell is a number, else say --kind sequences or --kind text",
        ),
        ("1,2\n3,1_000\n5,6\n", "row 2, column 2: '1_000' is not a number"),
        ("id,a,b\ns1,1,2\ns1,3,4\ns3,5,6\n", "(1) row 2, column 1 ('id'): 's1' is not a number; correct it, or"),
        ("id,a,b\ns1,1,2\ns1,3,4\ns3,5,6\n", "--skip-columns 1, or if it names groups of rows say --groups 1"),
        ("a,2019\n1,2\n3,4\n5,6\n", "row 1, column 1: 'a' is not a number, but '2019' in the same row is; if this row"),
        ("a;b\n1,5;2,5\n3,5;4,5\n5,5;6,5\n", "row 2, column 1 ('a'): '1,5' has a decimal comma"),
        ("a,b\n1,2\n\n3,nan\n,4\n5,6\n", "row 4, column 2 ('b'): 'nan' where a finite number is needed (2 such cells"),
        ("a,b\n1,2\n3,-inf\n5,6\n", "row 3, column 2 ('b'): '-inf'"),
        ("a,b\n1,2\n3,NA\n5,6\n", "fill the gaps, or leave out the column that has them with --skip-columns 2"),
        ("a,b\n1,2\n3,\n5,6\n", "row 3, column 2 ('b'): an empty cell"),
        ("a,b\n1,2\n3,4,5\n5,6\n", "row 3 has 3 cells, but the header in row 1 has 2"),
        ("1,2\n3,4\n5\n6,7\n", "row 3 has 1 cell, but the first rows have 2"),
        ("a,b\n1,2\n3,1e60\n5,6\n", "row 3, column 2 ('b'): 1e+60 is so large"),
        ("a,b\n1,2e-60\n3,-4e-60\n5,0\n", "row 3, column 2 ('b'): 4e-60 is the largest number of its column, so small"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "is no text: byte 9 is 0x00"),
        (b"PK\x03\x04whatever", "save the sheet as CSV"),
        (b"\xff\xfea", "is not valid utf-16"),
        (gzip.compress(NUMBERS.encode(), mtime=0)[:-12], "is damaged or cut off"),
        (b"\x1f\x8bno gzip after all", "is damaged or cut off"),
        ("a,b\n" + "1,2\n" * 100_000 + "3,ä\n", "row 100002, column 2 ('b')"),
        (("a,b\n" + "1,2\n" * 100_000 + "3,ä\n").encode("latin-1"), "row 100002, column 2 ('b'): 'ä' is not"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(file, content, message):
    path = file(content)
    with pytest.raises(DataError) as failure:
        read_matrix(path)
    assert message in str(failure.value)
    assert str(failure.value).startswith(f"{path}: ")
    assert "\n" not in str(failure.value)


def test_columns_are_chosen_by_number_and_name(file):
    path = file("id,a,b,c\n7,1,2,3\n9,4,5,6\n9,7,8,10\n")
    np.testing.assert_array_equal(read_matrix(path, columns="c,2").data.all_rows(), [[3, 1], [6, 4], [10, 7]])
    assert read_matrix(path, columns="2-4").names == ("a", "b", "c")
    assert read_matrix(path, skip_columns="id,3").names == ("a", "c")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": "heigth"}, "has no column 'heigth'; did you mean 'height'?"),
        ({"columns": "2-9"}, "has no columns 2-9: it has 2 columns, counted from 1"),
        ({"skip_columns": "0"}, "has no columns 0"),
        ({"skip_columns": "1,2"}, "no column is left"),
        ({"skip_columns": "1"}, "has one column"),
        ({"array": "x"}, "--array chooses from .npz files"),
    ],
)
def test_columns_that_do_not_exist(file, options, message):
    with pytest.raises(DataError) as failure:
        read_matrix(file("height,width\n" + NUMBERS), **options)
    assert message in str(failure.value)


def test_a_column_of_text_can_be_skipped_and_ragged_rows_are_still_seen(file):
    path = file("id,a,b\ns1,1,2\ns2,3,4\ns3,5,6\n")
    np.testing.assert_array_equal(read_matrix(path, skip_columns="1").data.all_rows(), [[1, 2], [3, 4], [5, 6]])
    with pytest.raises(DataError, match="row 3 has 4 cells"):
        read_matrix(file("id,a,b\ns1,1,2\ns2,3,4,9\ns3,5,6\n"), skip_columns="1")


def test_a_doubtful_header_is_decided_by_the_user(file):
    path = file("a,2019\n1,2\n3,4\n5,6\n")
    assert read_matrix(path, header="yes").names == ("a", "2019")
    numbers = file("10,20\n1,2\n3,4\n5,6\n")
    assert read_matrix(numbers).data.all_rows().shape == (4, 2)
    assert read_matrix(numbers, header="yes").names == ("10", "20")


def test_an_index_is_pointed_out(file):
    matrix = read_matrix(file(",0,1\n0,5,6\n1,7,8\n2,9,11\n"))  # as pandas writes it
    assert matrix.data.all_rows().shape == (3, 2)
    assert matrix.row_names == ("0", "1", "2")
    assert "the first column holds the names of the rows ('0', '1', '2')" in matrix.notes[1]
    named = read_matrix(file("id,0,1\n0,5,6\n1,7,8\n2,9,11\n"), header="yes")
    assert named.data.all_rows().shape == (3, 3)
    assert "'id' goes up by 1 from row to row" in named.notes[1]
    assert "--skip-columns 1" in named.notes[1]


def test_a_byte_that_is_no_utf_8_may_come_late(file):
    matrix = read_matrix(file(b"a,b\n" + b"1,2\n" * 100_000 + b"3,4\n#\xe4\n"[:4]))
    assert matrix.data.all_rows().shape == (100_001, 2)


def test_too_large_for_the_memory(file, monkeypatch):
    monkeypatch.setattr("figures.analyse.memory.available_bytes", lambda: 1000)
    with pytest.raises(DataError, match=r"numbers would take about .* kB of memory, of which 1 kB are available"):
        read_matrix(file("a,b\n" + "1,2\n" * 100))


def test_no_permission(file, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    path = file(NUMBERS)
    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(DataError, match="no permission to read it"):
        read_matrix(path)


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(DataError, match="no such file; check the name"):
        read_matrix(tmp_path / "absent.csv")
    with pytest.raises(DataError, match="there is no folder"):
        read_matrix(tmp_path / "absent" / "data.csv")
    with pytest.raises(DataError, match="is a folder"):
        read_matrix(tmp_path)
    assert reading.read_matrix is read_matrix
