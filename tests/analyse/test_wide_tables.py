"""Tables with rows longer than a cell may be and than what was looked at first: tens of thousands of columns."""

import gzip

import numpy as np
import pytest

from figures.analyse.errors import DataError
from figures.analyse.reading.kinds import kind_of_content
from figures.analyse.reading.matrix import read_matrix, table_shape
from figures.analyse.reading.sequences import read_sequences
from figures.analyse.reading.tables.layout import find_layout
from figures.analyse.reading.text_file import HEAD, HEAD_LINES, text_file
from simulate.core import stream

ROWS = 4
CELL = 131_072  # characters, the longest cell that Python's module csv takes by default


def numbers(width):
    return stream(0, "wide table", width).standard_normal((ROWS, width)).round(5)


def table(values, delimiter, *, header=True, above=""):
    names = [delimiter.join(f"gene_{k:06d}" for k in range(values.shape[1]))] if header else []
    return above + "\n".join([*names, *(delimiter.join(f"{x:.5f}" for x in row) for row in values)]) + "\n"


@pytest.mark.parametrize("width", [15_000, 30_000])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " "])
def test_wide_tables_are_read_whatever_parts_their_cells(tmp_path, delimiter, width):
    values, path = numbers(width), tmp_path / "expression.txt"
    path.write_text(table(values, delimiter))
    assert len(path.read_text().split("\n")[1]) > min(CELL, HEAD) - 30_000
    assert kind_of_content(path) == "matrix"
    shape = table_shape(path)
    assert shape.columns == width
    assert shape.rows == pytest.approx(ROWS, abs=1)
    matrix = read_matrix(path)
    np.testing.assert_array_equal(matrix.data.all_rows(), values)
    assert (matrix.names[0], matrix.names[-1]) == ("gene_000000", f"gene_{width - 1:06d}")


@pytest.mark.parametrize("delimiter", [",", "\t", " "])
def test_wide_tables_without_a_header_below_remarks_and_with_missing_cells(tmp_path, delimiter):
    values, path = numbers(30_000), tmp_path / "expression.tsv.gz"
    remarks = "".join(f"# remark {k}\n" for k in range(2 * HEAD_LINES))
    text = table(np.vstack([values, values[:1]]), delimiter, header=False, above=remarks)
    first, _, rest = text.rpartition(delimiter)
    path.write_bytes(gzip.compress(f"{first}{delimiter}NA\n".encode(), 1, mtime=0))
    assert rest
    matrix = read_matrix(path, drop_rows=True)
    np.testing.assert_array_equal(matrix.data.all_rows(), values)


def test_wide_tables_in_two_bytes_a_letter(tmp_path):
    values, path = numbers(15_000), tmp_path / "expression.csv"
    path.write_text(table(values, ";"), encoding="utf-16")
    np.testing.assert_array_equal(read_matrix(path).data.all_rows(), values)


def test_a_delimiter_in_a_name_does_not_part_a_wide_table(tmp_path):
    """By the tab in the first name the rest of the row would be one cell, longer than cells may be."""
    values, path = numbers(30_000), tmp_path / "expression.csv"
    path.write_text(table(values, ",").replace("gene_000000", "gene\t0"))
    np.testing.assert_array_equal(read_matrix(path).data.all_rows(), values)


def test_a_cell_that_is_too_long_is_an_error_of_one_line(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(f"a,b\n1,{'2' * (CELL + 1)}\n3,4\n5,6\n")
    for read in (read_matrix, table_shape):
        with pytest.raises(DataError, match="cannot be read as a table") as failure:
            read(path)
        assert "\n" not in str(failure.value)


def test_long_sequences_on_lines_of_their_own_are_no_table(tmp_path):
    path = tmp_path / "aligned.txt"
    letters = np.array(list("ACDE"))[stream(0, "long lines").integers(4, size=(5, CELL + 1000))]
    path.write_text("\n".join(map("".join, letters)) + "\n")
    assert read_sequences(path).states.shape == letters.shape


def test_of_a_file_of_short_lines_no_more_is_looked_at_than_before(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("1.5,2.5\n" * (HEAD // 4))
    assert HEAD - 8 <= len(text_file(path).head) <= HEAD
    assert find_layout(text_file(path), numeric=True).width == 2
