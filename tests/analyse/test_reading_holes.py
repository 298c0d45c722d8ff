"""Tables with missing cells are read with NaN in these cells where that is asked for, and are refused else."""

import gzip

import numpy as np
import pytest

from figures.analyse.errors import DataError
from figures.analyse.reading.matrix import read_matrix

NAN = np.nan


@pytest.mark.parametrize(
    ("content", "options", "values"),
    [
        ("a,b\n1,2.5\nNA,3\n-3,.4\n,?\n5,.5\n", {}, [[1, 2.5], [NAN, 3], [-3, 0.4], [NAN, NAN], [5, 0.5]]),
        ("a,b\n1,nan\nNaN,3\n-3,null\n4,N/A\n5,.5\n", {}, [[1, NAN], [NAN, 3], [-3, NAN], [4, NAN], [5, 0.5]]),
        ("a\tb\n1\t\n\t3\n-3\t4\n", {}, [[1, NAN], [NAN, 3], [-3, 4]]),
        ("a;b\n1,5;\n;3\n-3;4,25\n", {"decimal": ","}, [[1.5, NAN], [NAN, 3], [-3, 4.25]]),
        ("1 2\nNA 4\n5 6\n", {}, [[1, 2], [NAN, 4], [5, 6]]),
        ("a,b\n1,2\n-999,3\n5,x\n6,7\n", {"missing": "-999,x"}, [[1, 2], [NAN, 3], [5, NAN], [6, 7]]),
        ("a,b,c\n1,x,2\n3,y,\n5,z,6\n", {"skip_columns": "b"}, [[1, 2], [3, NAN], [5, 6]]),
        ('a,b\n1,"2"\n"",4\n5,"NA"\n', {}, [[1, 2], [NAN, 4], [5, NAN]]),
        ("a,b\n1,2\ninf,4\n5,6\n", {"missing": "inf"}, [[1, 2], [NAN, 4], [5, 6]]),
        ("a,b\n1,2\n,\n3,4\n,\n", {}, [[1, 2], [NAN, NAN], [3, 4]]),  # the last row is passed by
    ],
)
def test_missing_cells_of_text_are_nan(write, content, options, values):
    matrix = read_matrix(write("x.tsv" if "\t" in content else "x.csv", content), keep_holes=True, **options)
    np.testing.assert_array_equal(matrix.data.all_rows(), values)
    assert matrix.has_holes
    assert not any("left out" in note for note in matrix.notes)


def test_lines_and_places_are_those_of_the_file(write):
    path = write("x.csv", "a,b,c\n1,2,3\n\n# a remark\n4,,5\n6,7,8\n")
    matrix = read_matrix(path, keep_holes=True, skip_columns="1")
    assert [matrix.line(k) for k in range(3)] == [2, 5, 6]
    assert matrix.place(1, 0) == "row 5, column 2 ('b')"
    assert matrix.place_of_column(1) == "column 3 ('c')"
    zipped = write("y.csv.gz", gzip.compress(path.read_bytes()))
    np.testing.assert_array_equal(
        read_matrix(zipped, keep_holes=True).data.all_rows(), read_matrix(path, keep_holes=True).data.all_rows()
    )


@pytest.mark.parametrize("form", ["npy", "npz", "parquet"])
def test_nan_in_arrays_are_holes(tmp_path, form):
    values = np.array([[1.0, 2.0, NAN], [4.0, NAN, 6.0], [7.0, 8.0, 10.0], [1.0, 3.0, 5.0]])
    path = tmp_path / f"x.{form}"
    if form == "parquet":
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow.parquet import write_table

        columns = {name: [None if np.isnan(x) else x for x in values[:, k]] for k, name in enumerate("abc")}
        write_table(pyarrow.table(columns), path)
    else:
        (np.save if form == "npy" else np.savez)(path, values)
    matrix = read_matrix(path, keep_holes=True)
    np.testing.assert_array_equal(matrix.data.all_rows(), values)
    assert matrix.has_holes


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("a,b\n1,2\n,4\n5,inf\n", {}, "row 4, column 2 ('b'): 'inf' where a finite number or a missing cell is needed"),
        ("a,b\n1,2\n,4\n-Infinity,4\n", {}, "or if it marks missing cells say --missing -Infinity"),
        ("a,b\n1,2\n,4\n5,1e400\n", {}, "row 4, column 2 ('b'): '1e400' is larger than any number"),
        ("a,b\n1,2\n,4\n5,1e60\n", {}, "row 4, column 2 ('b'): 1e+60 is so large"),
        ("a,b\n1,2e-60\n,4e-60\n5,\n", {}, "row 3, column 2 ('b'): 4e-60 is the largest number of its column"),
        ("a,b\n1,2\n,4\n5,high\n", {}, "row 4, column 2 ('b'): 'high' is not a number"),
        ("a,b,c\n1,2,\n,4,\n5,6,NA\n", {}, "column 3 ('c') holds no number in any row: leave out what is empty with"),
        ("a,b\n1,\n,4\n", {}, "has 2 rows of numbers; at least 3"),
        ("a,b\n1,2\n,4\n5,6\n", {"columns": "a"}, "has one column"),
        ("a,b\n1,2\n,4\n5,6\n", {"drop_rows": True}, "2 rows without any are too few"),  # dropping goes before
    ],
)
def test_what_is_no_hole_stays_refused_by_its_place(write, content, options, message):
    path = write("x.csv", content)
    with pytest.raises(DataError) as failure:
        read_matrix(path, keep_holes=True, **options)
    assert message in str(failure.value)
    assert "\n" not in str(failure.value)


def test_arrays_with_infinite_numbers_and_empty_columns_are_refused(tmp_path, monkeypatch):
    values = np.array([[1.0, 2.0, NAN], [4.0, NAN, NAN], [7.0, np.inf, NAN], [1.0, 3.0, NAN]])
    np.save(tmp_path / "x.npy", values)
    with pytest.raises(DataError, match=r"row 3, column 2: inf where a finite number is needed \(1 such cell in all\)"):
        read_matrix(tmp_path / "x.npy", keep_holes=True)
    np.save(tmp_path / "x.npy", np.where(np.isinf(values), 8.0, values))
    with pytest.raises(DataError, match=r"column 3 holds no number in any row: .* --skip-columns 3"):
        read_matrix(tmp_path / "x.npy", keep_holes=True)
    assert read_matrix(tmp_path / "x.npy", keep_holes=True, skip_columns="3").has_holes
    np.save(tmp_path / "x.npy", np.where(np.isfinite(values), values, 1e70))
    with pytest.raises(DataError, match="row 1, column 3: 1e\\+70 is so large"):
        read_matrix(tmp_path / "x.npy", keep_holes=True)
    monkeypatch.setattr("figures.analyse.reading.matrix.read.MOST_CELLS", 5)
    np.save(tmp_path / "x.npy", values[[0, 1, 3], :2])
    with pytest.raises(DataError, match="has missing cells, and a table with such is analyzed up to 5 cells"):
        read_matrix(tmp_path / "x.npy", keep_holes=True)


def test_complete_tables_are_read_as_ever(write, tmp_path):
    path = write("x.csv", "a,b\n1,2\n3,4.5\n-1,0\n")
    kept, plain = read_matrix(path, keep_holes=True), read_matrix(path)
    assert kept.data.all_rows().tobytes() == plain.data.all_rows().tobytes()
    assert (kept.notes, kept.lines, kept.has_holes) == (plain.notes, plain.lines, False)


def test_marks_and_codes_and_counts_are_noted_beside_holes(write):
    lines = [f"{k},{k * k % 7}.5,{-999 if k in (3, 5) else k % 3}.25,{'' if k == 4 else k % 5}" for k in range(12)]
    path = write("x.csv", "id,a,b,c\n" + "\n".join(lines).replace("-999.25", "-999") + "\n")
    notes = " ".join(read_matrix(path, keep_holes=True).notes)
    assert "the number -999 stands in 2 cells, far from all others of its column" in notes
    assert "'id' goes up by 1 from row to row" in notes
    codes = "\n".join(",".join(str((3 * i + j * j) % 4) for j in range(5)) for i in range(30)).replace("3", "", 1)
    assert "as codes of letters or categories are" in " ".join(
        read_matrix(write("y.csv", codes), keep_holes=True).notes
    )
