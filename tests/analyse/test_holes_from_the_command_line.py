"""python -m figures analyse of a table with missing cells: what is refused, said and written."""

import json

import numpy as np
import pytest

from figures.analyse.command import main
from figures.analyse.matrix.holes import analyse_holes, holed_table
from figures.core.table import read_csv
from simulate.core import stream

NAMES = ("height", "width", "age", "mass", "$cost")


def values(n=60, share=0.15):
    """A table of one factor with noise, and holes without any reason."""
    rng = stream(0, "holed table")
    X = 5 + rng.standard_normal((n, 1)) @ np.array([[1.0, 1.0, -1.0, 0.7, 0.0]]) + 0.3 * rng.standard_normal((n, 5))
    X[:, 3] *= 1000
    X[rng.random(X.shape) < share] = np.nan
    X[0] = np.where(np.isnan(X[0]), 5.0, X[0])
    return X


def text(X, hole="", names=NAMES):
    """The table as it may stand in a file."""
    cells = [[hole if np.isnan(x) else f"{x:.4f}" for x in row] for row in X]
    return "\n".join(",".join(line) for line in [list(names), *cells]) + "\n"


@pytest.fixture
def run(tmp_path, capsys):
    """Analyze a file, and return the status, what was said in one line, and the error."""

    def ran(path, *options):
        quick = ["--output", str(tmp_path / "out"), "--jobs", "1", "--repeats", "2", "--lams", "0.1,0.5"]
        status = main([str(path), *quick, *map(str, options)])
        said = capsys.readouterr()
        return status, " ".join(said.out.split()), said.err

    return ran


def test_a_table_with_holes_is_described_checked_and_filled(write, run, tmp_path):
    X = values()
    path, target = write("my data.csv", text(X)), tmp_path / "filled.csv"
    status, said, _ = run(path, "--impute", target)
    assert status == 0
    holes = int(np.isnan(X).sum())
    assert f"{holes} of 300 cells" in said
    assert "Filled from the other columns, a missing cell is expected to be off by" in said
    assert "Not worth filling" in said
    assert "$cost" in said.split("Not worth filling")[1].split(".")[0]
    assert "a tenth of them was hidden, 2 times" in said
    assert "has nothing to do with its value. No test on these data can show that." in said
    assert "Not done, because it is known for complete tables only" in said
    out = tmp_path / "out"
    ends = (".csv", ".pdf", ".png", "_columns.csv", "_holes.json")
    assert sorted(file.name for file in out.iterdir()) == [f"analyse_my data{end}" for end in ends]
    lines = target.read_text(encoding="utf-8").splitlines()
    for old, new in zip(text(X).splitlines(), lines, strict=True):
        cells = zip(old.split(","), new.split(","), strict=True)
        assert all(a == b if a else float(b) > -1e5 for a, b in cells)
    errors = (tmp_path / "filled_errors.csv").read_text(encoding="utf-8").splitlines()
    assert errors[0] == "row,column,position,value,root_error,share_of_variance"
    assert len(errors) == holes + 1
    row, column, position = errors[1].split(",")[:3]
    assert lines[int(row) - 1].split(",")[int(position) - 1]
    assert text(X).splitlines()[int(row) - 1].split(",")[int(position) - 1] == ""
    assert column == NAMES[int(position) - 1]
    numbers = json.loads((out / "analyse_my data_holes.json").read_text(encoding="utf-8"))
    assert numbers["missing_cells"] == holes
    assert "$cost" in numbers["not_worth_filling"]
    assert numbers["check"]["hidden"] > 40
    columns = read_csv_frame(out / "analyse_my data_columns.csv")
    assert columns[0][:5] == ["column", "variance", "error", "explained", "missing"]
    assert [line[0] for line in columns[1:]] == list(NAMES)
    assert set(read_csv(out / "analyse_my data.csv")["panel"]) == {
        "one entry left out, by the ridge",
        "hidden entries, by column",
        "one entry left out, by rows",
    }


def read_csv_frame(path):
    """The cells of a file without quotes."""
    return [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.usefixtures("undrawn")
def test_the_same_table_in_other_forms_gives_the_same_numbers(write, run, tmp_path):
    X = np.round(values(), 4)

    def lines(said):
        cells = (
            said.split("hidden expected there found z", 1)[1]
            .split("The column missing")[0]
            .replace("column ", "column")
            .split()
        )
        return [NAMES[int(cell[6:]) - 1] if cell.startswith("column") else cell for cell in cells if set(cell) != {"-"}]

    expected = lines(run(write("a.csv", text(X)))[1])
    assert lines(run(write("b.tsv", text(X, "-999").replace(",", "\t")), "--missing", "-999")[1]) == expected
    np.save(tmp_path / "a.npy", X)
    assert lines(run(tmp_path / "a.npy")[1]) == expected


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("method", ["zero", "pairwise", "em"])
def test_every_way_to_fill_may_be_chosen(write, run, tmp_path, method):
    status, _, _ = run(write("a.csv", text(values())), "--missing-as", method, "--impute", tmp_path / "b.csv")
    assert status == 0
    numbers = json.loads((tmp_path / "out" / "analyse_a_holes.json").read_text(encoding="utf-8"))
    assert numbers["filled_by"] == {"zero": "own_rows"}.get(method, method)
    assert list(numbers["expected_before"]) == [numbers["filled_by"]] or method == "em"
    assert abs(numbers["check"]["z"]) < 4
    assert (tmp_path / "b.csv").exists()


@pytest.mark.usefixtures("undrawn")
def test_complete_rows_alone_are_analyzed_as_ever(write, run):
    X = values()
    status, said, _ = run(write("a.csv", text(X)), "--drop-rows")
    assert status == 0
    assert f"{int(np.isnan(X).any(axis=1).sum())} of 60 rows left out" in said
    assert "The best ridge for all rows" in said


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, ["--impute", "{}/b.csv", "--drop-rows"], "--impute fills the rows that --drop-rows leaves out"),
        ({}, ["--impute", "{}/a.csv"], "is the file that is read, which is never written over"),
        ({}, ["--impute", "{}/b.npy"], "must end as the table does, in .csv"),
        ({}, ["--equal-rows"], "--equal-rows is for complete tables"),
        ({}, ["--no-standardize"], "--no-standardize is for complete tables"),
        ({}, ["--test-fraction", "0.3"], "--test-fraction is for complete tables"),
        ({}, ["--missing-as", "mean"], "--missing-as invalid choice: 'mean'"),
        ({"hole": None}, ["--impute", "{}/b.csv"], "has no missing cell, so that --impute has nothing to fill"),
        ({"column": np.inf}, [], "row 3, column 2 ('width'): 'inf' where a finite number or a missing cell is needed"),
        ({"column": "few"}, [], "at least 5 numbers in each column"),
        ({"column": "few"}, [], "got: column 2 ('width') 4; leave out such columns with --skip-columns"),
        ({"column": "constant"}, [], "1 constant column: 'width' where it is seen, with nothing to predict; leave out"),
        ({"column": "empty"}, [], "column 2 ('width') holds no number in any row"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(write, run, tmp_path, change, options, message):
    X = values(share=0.0 if "hole" in change else 0.15)
    kind = change.get("column")
    if kind == "few":
        X[4:, 1] = np.nan
        X[:4, 1] = 1, 2, 3, 4
    elif kind is not None:
        X[:, 1] = np.where(np.isnan(X[:, 1]), np.nan, {"constant": 2.0, "empty": np.nan}.get(kind, X[:, 1]))
    if kind == np.inf:
        X[1, 1] = np.inf
    path = write("a.csv", text(X))
    status, _, error = run(path, *(option.replace("{}", str(tmp_path)) for option in options))
    assert status == 2
    assert error.count("\n") == 1
    assert message in error
    assert not (tmp_path / "b.csv").exists()


@pytest.mark.usefixtures("undrawn")
def test_what_is_left_out_is_named_and_stays_as_it_is(write, run, tmp_path):
    X = values()
    X[[7, 30]] = np.nan
    X[:, 2] = np.where(np.isnan(X[:, 2]), np.nan, 4.0)
    path, target = write("a.csv", text(X)), tmp_path / "b.csv"
    status, said, _ = run(path, "--drop-constant", "--impute", target)
    assert status == 0
    assert "3 rows without any number left out: rows 9, 32, 45" in said  # of the last one only the constant is seen
    assert "left out 1 constant column: 'age'" in said
    old, new = (file.read_text(encoding="utf-8").splitlines() for file in (path, target))
    assert new[8] == old[8] == ",,,,"
    assert [line.split(",")[2] for line in new] == [line.split(",")[2] for line in old]
    assert all(cell for line in new[9:31] for k, cell in enumerate(line.split(",")) if k != 2)


def test_empty_rows_alone_make_no_table_with_holes(write, run):
    X = values(share=0.0)
    X[[7, 30]] = np.nan
    status, _, error = run(write("a.csv", text(X)))
    assert status == 2
    assert "(2 rows without any number left out: rows 9, 32); leave them out with --drop-rows" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (np.zeros(4), {}, "X must have shape"),
        (np.full((9, 3), np.inf), {}, "X must be finite or NaN, got inf at row 0, column 0"),
        (values(), {"names": ["a"]}, "names must be 5, one for each column, got 1"),
        (values(share=0.0), {}, "X must have holes"),
        (values(), {"lams": [0.0]}, "lams must be positive numbers"),
        (values(), {"repeats": 0}, "repeats must be at least 1"),
    ],
)
def test_python_gets_value_errors(X, options, message):
    with pytest.raises(ValueError, match=message):
        analyse_holes(X, **options)


@pytest.mark.usefixtures("undrawn")
def test_a_second_run_gives_the_same_bytes(write, tmp_path):
    path = write("a.csv", text(values()))
    for folder in ("one", "two"):
        output = ["--output", str(tmp_path / folder), "--jobs", "1", "--repeats", "2", "--lams", "0.3"]
        assert main([str(path), *output, "--impute", str(tmp_path / f"{folder}.csv")]) == 0
    for name in ("analyse_a.csv", "analyse_a_columns.csv", "analyse_a_holes.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    for end in (".csv", "_errors.csv"):
        assert (tmp_path / f"one{end}").read_bytes() == (tmp_path / f"two{end}").read_bytes()


def test_rows_of_the_whole_table_are_known():
    X = values()
    X[[7, 30]] = np.nan
    table = holed_table(X, line=lambda row: row + 2)
    assert (table.n, table.d, table.line_of(7)) == (58, 5, 10)
    assert table.notes == ("2 rows without any number left out: rows 9, 32",)
