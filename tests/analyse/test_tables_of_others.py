"""Tables as people and their programs write them: gaps, Excel, Fortran, remarks, titles, headers that do not fit."""

import numpy as np
import pytest

from figures.analyse.command import main
from figures.analyse.errors import DataError
from figures.analyse.reading.matrix import read_matrix
from figures.analyse.reading.sequences import read_sequences

ROWS = [[1, 2.5], [-3, 0.4], [5, 0.5]]


@pytest.fixture
def file(tmp_path):
    """Write text and return the path."""

    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize(
    ("content", "options", "names"),
    [
        ("sep=;\na;b\n1;2.5\n-3;.4\n5;.5\n", {}, ("a", "b")),
        ("sep=,\n1,2.5\n-3,.4\n5,.5\n", {}, ("column 1", "column 2")),
        ("a,b\n1,2.5\n-3,.4\n5,.5\n,\n,\n", {}, ("a", "b")),
        ("a;b\n1;2,5\n-3;,4\n5;0,5\n", {"decimal": ","}, ("a", "b")),
        ("a b\n1 2,5\n-3 0,4\n5 0,5\n", {"decimal": ","}, ("a", "b")),
        ('a,b\n"1","2,5"\n"-3","0,4"\n"5","0,5"\n', {"decimal": ","}, ("a", "b")),
        ("% a b\n1 2.5\n-3 .4\n5 .5\n", {}, ("a", "b")),
        ("! made by hand\na b\n1 2.5\n! half way\n-3 .4\n5 .5\n# end\n", {}, ("a", "b")),
        ("a|b\n1|2.5\n-3|.4\n5|.5\n", {}, ("a", "b")),
        ("a | b\n1 | 2.5\n-3 | .4\n5 | .5\n", {}, ("a", "b")),
        ("1.0D+00 2.5d+00\n-3.D+00 4.0D-01\n5.0D+00 .5D+00\n", {}, ("column 1", "column 2")),
        ('a,"b\n(cm)"\n1,2.5\n-3,.4\n5,.5\n', {}, ("a", "b (cm)")),
        ("a,b\n1,2.5\nNA,3\n-3,.4\n,?\n5,.5\n", {"drop_rows": True}, ("a", "b")),
        ("a,b\n1,2.5\n-999,3\n-3,.4\n3,-999.0\n5,.5\n2,x\n", {"drop_rows": True, "missing": "-999,x"}, ("a", "b")),
        ("a,b\n1,2.5\n,\n-3,.4\n5,.5\n", {"drop_rows": True}, ("a", "b")),
        ("a,b\n1,2.5\nn.a.,3\n-3,.4\n1,#DIV/0!\n5,.5\n", {"drop_rows": True}, ("a", "b")),
        ("a,b,c\n1,2.5,\n-3,.4,\n5,.5,\n", {"skip_columns": "3"}, ("a", "b")),
    ],
)
def test_what_can_be_read_safely_is_read(file, content, options, names):
    matrix = read_matrix(file(content), **options)
    np.testing.assert_array_equal(matrix.data.all_rows(), ROWS)
    assert matrix.names == names


@pytest.mark.parametrize(
    ("content", "options", "note"),
    [
        ("a,b\n1,2\nNA,3\n3,4\n,?\n5,6\n", {"drop_rows": True}, "2 of 5 rows left out: they have 3 missing cells"),
        ("a,b\n1,2\n3,4\n5,6\n,\n,\n", {}, "2 rows of empty cells at the end passed by"),
        ("a,b\n1,2\n! so far\n3,4\n5,6\n", {}, "1 line passed by as remarks: they begin with #, % or !"),
        ("1.0D+00 2\n3 4\n5 6\n", {}, "1 number in Fortran's notation, such as 1.0D+03"),
    ],
)
def test_what_was_done_is_said(file, content, options, note):
    assert note in read_matrix(file(content), **options).notes


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        # the widths of rows against the header's
        (
            "a,b,c\n1,2,3\n4,5\n6,7,8\n",
            {},
            "row 3 has 2 cells, but the header in row 1 has 3: nothing stands in",
        ),
        ("a,b,c\n1,2,3\n4,5\n6,7,8\n", {}, "column 3 ('c'); make all rows equally long"),
        ("a,b\n1,2\n4,5,6\n6,7\n", {}, "row 3 has 3 cells, but the header in row 1 has 2: '6' stands beyond the last"),
        (
            "a,b\n1,2,5\n4,9,6\n6,7,7\n",
            {},
            "the header in row 1 has 2 names, from 'a' to 'b', but the rows below",
        ),
        ("a,b\n1,2,5,3\n4,9,6,3\n6,7,7,1\n", {}, "write a name for every column, or delete the row if it is a title"),
        (
            "a,b,c,d\n1,2,5\n4,9,6\n6,7,7\n",
            {},
            "row 2 has 3 cells, but the header in row 1 has 4: nothing stands",
        ),
        ("a b c\n1 2 3\n4 5\n6 7 8\n", {}, "row 3 has 2 cells, but the header in row 1 has 3"),
        ("a,b,\n" + "1,2,\n" * 60 + "1,2,9\n", {}, "row 62 has '9' in column 3, where the first rows hold nothing"),
        ('a,b,c\n"x,y",1,2\n"z",3,4\n"w",5,6,7\n', {"skip_columns": "1"}, "row 4 has 4 cells"),
        ("a b c\nx 1 2\nz 3 4\nw 5 6 7\n", {"skip_columns": "1"}, "row 4 has 4 cells"),
        # columns without any number, and rows with gaps
        ("a,b,c\n1,2,\n4,5,\n6,7,\n", {}, "column 3 ('c') holds no number in any row: leave out what is empty with"),
        ("a,b,c\n1,2,\n4,,\n6,7,\n", {}, "--skip-columns 3"),
        ("a,b\n1,2\n3,\n5,6\n7,8\n", {}, "fill the gaps, leave out the row that has them with --drop-rows, or leave"),
        ("a,b\n,2\n3,\n5,6\n7,8\n1,1\n", {}, "leave out the 2 of 5 rows that have them with --drop-rows"),
        ("a,b\n,2\n3,\n5,6\n7,8\n", {"drop_rows": True}, "2 of its 4 rows have missing cells, and 2 rows without any"),
        ("a,b\n1,2\n3,-999\n5,6\n7,8\n", {"missing": "-999"}, "row 3, column 2 ('b'): '-999' where a finite number"),
        ("a,b\n1,2\n,\n3,4\n5,6\n7,8\n", {}, "row 3, column 1 ('a'): an empty cell"),
        # notations
        ("a,b\n1,2\n3,1e400\n5,6\n", {}, "row 3, column 2 ('b'): '1e400' is larger than any number that can be"),
        ("a;b\n1;2,5\n3;4\n5;6\n", {}, "row 2, column 2 ('b'): '2,5' has a decimal comma; say --decimal , or write"),
        ("a;b\n1;2,5\n3;4.500\n5;6\n", {"decimal": ","}, "row 3, column 2 ('b'): '4.500' has a decimal point, but"),
        ("a;b\n1;2,5\n3;4.500,1\n5;6\n", {"decimal": ","}, "row 3, column 2 ('b'): '4.500,1' is not a number"),
        ("1,5 2,5\n3,5 4,5\n5,5 6,5\n", {}, "row 1, column 2: '5 2' is two numbers; if commas mark the decimals here"),
        ("a b\n1.0-103 2\n3 4\n5 6\n", {}, "row 2, column 1 ('a'): '1.0-103' is not a number"),
        ("|a|b|\n|1|2|\n|3|4|\n|5|6|\n", {}, "column 1 holds no number in any row"),
        # first rows
        ("2001,2002,2003\n1,2,5\n4,9,6\n6,7,7\n", {}, "row 1 goes from '2001' to '2003' in equal steps and no other"),
        (
            "400,402,404,406,408\n.1,.2,.4,.7,.1\n.3,.2,.1,.5,.6\n",
            {},
            "such as years or wavelengths? Then say",
        ),
        (",2001,2002,2003\n1,1,2,5\n2,4,9,6\n3,6,7,7\n", {}, "row 1 goes from '2001' to '2003'"),
        (
            "id,2001,2002,2003\nx,1,2,5\ny,4,9,6\nz,6,7,7\n",
            {},
            "'2001' in the same row is; if this row holds",
        ),
        ("a,b\ncm,kg\n1,2\n3,4\n5,6\n", {}, "row 2 holds no number either, below the header in row 1"),
        ("a,b\ncat,red\ndog,blue\n", {}, "else say --kind sequences or --kind text"),
        ("My table\na,b,c\n1,2,3\n3,4,5\n5,6,8\n", {}, "row 1 holds one cell, 'My table', above rows of 3: it looks"),
        (
            "My table\na,b\n1,2\n3,4\n5,6\n",
            {},
            "row 1 holds one cell, 'My table', above rows of 2: it looks",
        ),
        (
            "My table;;\na;b;c\n1,5;2;3\n3,5;4;5\n5;6;8\n",
            {"decimal": ","},
            "row 1 holds one cell, 'My table', above rows of 3",
        ),
        (
            "a;b;c\nx;1,5;2,5\nx;3,5;4,1\nz;5,3;6,1\n",
            {"decimal": ","},
            "(1) row 2, column 1 ('a'): 'x' is not a number; correct",
        ),
        (
            "a,b\n1,2\n3,absent\n5,6\n",
            {},
            "--skip-columns 2, or if it marks missing cells say --missing absent; a table",
        ),
        ("My table,,\na,b,c\n1,2,3\n3,4,5\n5,6,8\n", {}, "row 1 holds one cell, 'My table', above rows of 3"),
        # names
        ("a,b,a,a\n1,2,3,4\n5,6,7,9\n1,3,1,0\n", {"skip_columns": "a"}, "has 3 columns called 'a': 1, 3, 4; say which"),
        ("a,b\n1,2\n5,6\n1,3\n", {"skip_columns": "1-2"}, "no column is left; check --skip-columns"),
    ],
)
def test_what_is_doubtful_is_refused_with_place_and_remedy(file, content, options, message):
    path = file(content)
    with pytest.raises(DataError) as failure:
        read_matrix(path, **options)
    assert message in str(failure.value)
    assert "\n" not in str(failure.value)


def test_a_header_one_name_short_is_that_of_names_of_rows(file):
    assert read_matrix(file("a,b\nx,1,2\ny,4,5\nz,6,8\n"), skip_columns="1").names == ("a", "b")
    assert read_matrix(file("a,b\n1,1,2\n2,4,5\n3,6,8\n")).names == ("a", "b")


def test_years_are_names_or_numbers_as_the_user_says(file):
    path = file("2001,2002,2003\n1,2,5\n4,9,6\n6,7,7\n")
    assert read_matrix(path, header="yes").names == ("2001", "2002", "2003")
    assert read_matrix(path, header="no").data.all_rows().shape == (4, 3)
    steady = file("2,4,6,8,10\n1,3,5,7,9\n0,1,5,2,7\n", "steady.csv")
    assert read_matrix(steady).data.all_rows().shape == (3, 5)  # other rows go in equal steps too
    names = file(",400,402,404,406,408\n1,.1,.2,.4,.7,.1\n2,.3,.2,.1,.5,.6\n3,.3,.7,.1,.5,.6\n", "names.csv")
    assert read_matrix(names, header="yes").names[:2] == ("400", "402")


def test_places_are_those_of_the_file_after_rows_are_left_out(file):
    path = file("a,b\n1,2\n,4\n\n5,6\n7,8\n1,1e60\n")
    with pytest.raises(DataError, match=r"row 7, column 2 .*1e\+60 is so large"):
        read_matrix(path, drop_rows=True)


def test_rows_of_an_array_are_left_out_too(tmp_path):
    values = np.arange(10.0).reshape(5, 2) ** 2
    values[1, 0] = np.nan
    np.save(tmp_path / "x.npy", values)
    matrix = read_matrix(tmp_path / "x.npy", drop_rows=True)
    np.testing.assert_array_equal(matrix.data.all_rows(), values[[0, 2, 3, 4]])
    assert "1 of 5 rows left out: they have numbers that are not finite" in matrix.notes
    with pytest.raises(DataError, match="--missing and --decimal are for tables of text"):
        read_matrix(tmp_path / "x.npy", missing="-999")


@pytest.mark.usefixtures("undrawn")
def test_many_gaps_from_the_command_line(file, tmp_path, capsys):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((60, 4))
    lines = [",".join(f"{x:.3f}" for x in row) for row in values]
    lines[7] = lines[7].replace("-", "", 1).rsplit(",", 1)[0] + ",-999"
    path = file("a,b,c,d\n" + "\n".join(lines) + "\n")
    arguments = [str(path), "--output", str(tmp_path / "out"), "--jobs", "1", "--repeats", "2"]
    assert main([*arguments, "--missing", "-999", "--drop-rows"]) == 0
    assert "1 of 60 rows left out: they have 1 missing cell" in capsys.readouterr().out


def test_a_plain_sequence_may_hold_percent_signs_and_blanks(file):
    path = file("ACGU AC\nACG UUC\nACCUAC\n", "x.txt")
    assert read_sequences(path).states.shape == (3, 6)
    assert read_sequences(file("%,a,b\n%,b,b\na,a,b\n", "tokens.csv"), header="no").states.shape == (3, 3)


def test_rows_read_at_once_are_those_read_by_cells(file, monkeypatch):
    """Bit by bit, with every notation that Python's own numbers would take otherwise."""
    rng = np.random.default_rng(1)
    values = rng.standard_normal((40, 3)) * 10.0 ** rng.integers(-300, 300, (40, 3))
    lines = [",".join(map(repr, row)) for row in values.tolist()]
    lines += ["-999,1,2", "1,-999.0,2", "1,nan,2", "1.0D+03,2,3", " 4 ,5,6", "", "7,,8"]
    path = file("a,b,c\n" + "\n".join(lines).replace("e+", "e") + "\n")
    options = {"missing": "-999", "drop_rows": True}
    monkeypatch.setattr("figures.analyse.reading.matrix.read.MAX_ENTRY", np.inf)
    quick = read_matrix(path, **options)
    monkeypatch.setattr("figures.analyse.reading.matrix.cell_by_cell._simple_numbers", lambda *_: None)
    slow = read_matrix(path, **options)
    assert quick.data.all_rows().tobytes() == slow.data.all_rows().tobytes()
    assert (quick.notes, quick.lines) == (slow.notes, slow.lines)
    assert quick.data.all_rows().shape == (42, 3)


@pytest.mark.parametrize("cell", ["1_000", "\N{ARABIC-INDIC DIGIT THREE}", "0x1p3"])
def test_what_only_python_takes_for_a_number_is_none(file, cell):
    with pytest.raises(DataError, match=r"row 3, column 2 \('b'\): .* is not a number"):
        read_matrix(file(f"a,b\n1,2\n3,{cell}\n5,6\n"), missing="-999")
