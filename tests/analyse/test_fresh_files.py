"""Files as people have them, made by hand: what is said of them is true, and in words of the reader."""

import numpy as np
import pytest

from figures.analyse.command import kind_of, main
from figures.analyse.errors import DataError
from figures.analyse.reading.matrix import read_matrix
from figures.analyse.reading.sequences import read_sequences
from figures.analyse.reading.text import corpus_size, read_corpus
from figures.analyse.text.comparisons import compared
from figures.analyse.text.report import _cells
from figures.analyse.text.table import contrast_frame, contrast_rows
from simulate.core import stream
from simulate.masked import row_blocks


def numbers(rows, columns, seed=0):
    return stream(seed, "fresh files").standard_normal((rows, columns))


def lines(values, delimiter=" ", style="{:.4f}"):
    return "".join(delimiter.join(style.format(v) for v in row) + "\n" for row in values)


R_TABLE = '"height" "age"\n' + "".join(f'"s{k}" {a:.3f} {b:.2f}\n' for k, (a, b) in enumerate(numbers(9, 2)))


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("r.txt", R_TABLE, "matrix"),
        ("pipes.txt", "% by hand\na|b|c\n" + lines(numbers(8, 3), "|"), "matrix"),
        ("fortran.dat", lines(numbers(8, 3), " ", "{:15.6E}").replace("E", "D"), "matrix"),
        ("euro.txt", "a;b\n" + lines(numbers(8, 2), ";").replace(".", ","), "matrix"),
        (
            "prices.txt",
            "It costs 3.50 a piece.\nTwo are 6.90 in all.\nThree are 9.90 then.\nFour are 13.00 now.\n",
            "text",
        ),
        ("short.txt", "one 1.5\ntwo 2.5\n", "text"),
    ],
)
def test_a_table_of_measured_numbers_is_known_by_its_lines(tmp_path, name, content, kind):
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert kind_of(tmp_path / name) == kind


def test_an_empty_last_cell_of_every_row_is_said(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a;b;\n1,5;2;\n3;4;\n5;7;\n", encoding="utf-8")
    matrix = read_matrix(path, decimal=",")
    assert matrix.names == ("a", "b")
    assert matrix.notes[1] == "the last cell of every row is empty and has no name: 2 columns are read"


@pytest.mark.parametrize("name", ["x.csv", "x.npy"])
def test_a_column_of_years_is_pointed_out_wherever_it_stands(tmp_path, name):
    values = np.column_stack([numbers(12, 2), np.arange(1950.0, 1962.0)])
    path = tmp_path / name
    if name == "x.npy":
        np.save(path, values)
    else:
        path.write_text("a,b,year\n" + lines(values, ","), encoding="utf-8")
    note = read_matrix(path).notes[-1]
    assert "goes up by 1 from row to row, as a count of the rows does" in note
    assert note.endswith("leave it out with --skip-columns 3")
    assert not any("from row to row" in note for note in read_matrix(path, columns="1-2").notes)


@pytest.mark.usefixtures("undrawn")
def test_what_predicts_no_better_than_the_mean_is_not_called_the_best(tmp_path, capsys):
    path = tmp_path / "tiny.csv"
    path.write_text("1,2\n3,4.5\n2,1\n", encoding="utf-8")
    assert main([str(path), "--output", str(tmp_path / "out"), "--jobs", "1"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "the other columns predict a column no better than its mean does" in said
    assert "No column is predicted better than by its mean." in said
    assert "predict best" not in said
    assert "of 1 degree of freedom" in said


def test_many_unknown_letters_may_be_an_alphabet_of_their_own(tmp_path):
    path = tmp_path / "x.fasta"
    rows = stream(0, "three letters").choice(list("ABC"), (40, 8))
    path.write_text("".join(f">s{k}\n{''.join(row)}\n" for k, row in enumerate(rows)), encoding="utf-8")
    assert "if they are letters of their own list all letters with --alphabet" in " ".join(read_sequences(path).notes)
    path.write_text("".join(f">s{k}\n{'ACDEFGHIKL' * 9}B\n" for k in range(3)), encoding="utf-8")
    notes = " ".join(read_sequences(path).notes)
    assert "read as gaps" in notes
    assert "--alphabet" not in notes


def test_one_document_is_too_few(tmp_path, capsys):
    path = tmp_path / "x.txt"
    path.write_text("sea wave wind sea storm\n", encoding="utf-8")
    assert main([str(path), "--output", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "holds one document" in error
    assert "--" not in error
    notes = " ".join(read_corpus(path).notes)
    assert "1 document," in notes
    assert "fewer than" not in notes


def test_the_header_of_a_table_is_no_document(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("id,body\n" + "".join(f"{k},sea wave wind\n" for k in range(20)), encoding="utf-8")
    assert corpus_size(path, stop_words="none", min_documents=None, max_words=100).documents == 20


def test_topics_that_leave_no_pair_are_noted_in_the_words_of_the_reader():
    topics = np.array([[0.5, 0.3, 0.1, 0.1], [0.1, 0.1, 0.3, 0.5]])
    sources = {"value matrix": numbers(4, 4)}
    options = {"excluded": np.zeros(4, dtype=bool), "permutations": 5, "seed": 0}
    _, _, notes = compared(topics, sources, [0.1, 0.3], **options)
    assert notes
    for note in notes:
        assert "at rho = 0.1 with" in note
        assert "leave no pair of the same topic, or none of different ones" in note
        assert "membership" not in note


def test_the_figure_of_an_alignment_says_from_what_a_letter_is_predicted():
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from figures.analyse.sequences.figure import decorate
    from figures.analyse.sequences.table import ALONE, LEARNING, PAIR

    axes = Figure().add_subplot()
    for label in (PAIR, ALONE):
        axes.errorbar([1, 2], [1, 2], [0.1, 0.1], label=label)
    rows = DataFrame({"panel": LEARNING, "curve": [PAIR, ALONE], "x": 1.0, "simulation": 1.0})
    decorate(axes, rows)
    shown = [text.get_text() for text in axes.get_legend().get_texts()]
    assert shown == ["from all other sites", "from its own column"] == axes.get_legend_handles_labels()[1]


def test_a_count_may_go_down_and_several_are_named_together(tmp_path):
    path = tmp_path / "x.csv"
    rows = numbers(8, 2)
    path.write_text("t,a,b,left\n" + lines(np.column_stack([np.arange(8), rows, 16 - 2 * np.arange(8)]), ","))
    note = read_matrix(path).notes[-1]
    assert note.startswith("'t', 'left' go up or down in equal steps from row to row")
    assert note.endswith("leave them out with --skip-columns 1,4")
    path.write_text("a,b\n" + lines(rows[:4], ","), encoding="utf-8")
    assert not any("from row to row" in note for note in read_matrix(path).notes)


def test_quoted_names_among_blanks_are_read_as_r_writes_them(tmp_path):
    path = tmp_path / "cars.txt"
    path.write_text('"mpg" "fuel use"\n' + "".join(f'"Mazda RX{k}" {k}.5  {k * k}\n' for k in range(6)))
    matrix = read_matrix(path, skip_columns="1")
    assert matrix.names == ("mpg", "fuel use")
    np.testing.assert_array_equal(matrix.data.all_rows(), [[k + 0.5, k * k] for k in range(6)])
    assert read_matrix(path).row_names == tuple(f"Mazda RX{k}" for k in range(6))
    path.write_text(path.read_text().replace("3.5", "NA"))
    assert read_matrix(path, skip_columns="1", drop_rows=True).data.all_rows().shape == (5, 2)


def test_a_number_that_marks_missing_cells_is_pointed_out(tmp_path):
    path = tmp_path / "x.csv"
    values = numbers(12, 3)
    values[[2, 7], 1] = values[4, 2] = -999
    path.write_text("a,b,c\n" + lines(values, ","), encoding="utf-8")
    note = read_matrix(path).notes[-1]
    assert note.startswith("the number -999 stands in 3 cells, far from all others of their columns")
    assert note.endswith("say --missing -999")
    assert read_matrix(path, missing="-999", drop_rows=True).data.all_rows().shape == (9, 3)
    path.write_text("a,b\n" + "".join(f"{k % 7},{100 * k - 999}\n" for k in range(30)), encoding="utf-8")
    assert not any("-999" in note for note in read_matrix(path).notes)


def test_a_column_of_text_in_a_parquet_file_is_called_so(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    path = tmp_path / "x.parquet"
    text = pyarrow.array(["x"] * 5).cast(pyarrow.large_string())
    day = pyarrow.array(range(5), pyarrow.int32()).cast(pyarrow.date32())
    write_table(pyarrow.table({"a": range(5), "text": text, "day": day}), path)
    with pytest.raises(DataError, match=r"column 2 \('text'\) holds text; .*--skip-columns 2,3"):
        read_matrix(path)
    with pytest.raises(DataError, match=r"column 3 \('day'\) holds dates; "):
        read_matrix(path, skip_columns="text")


def test_rows_of_a_mapped_file_leave_memory_when_they_were_taken(tmp_path, monkeypatch):
    """One row of each block touches a page of each: all of them would stay in memory."""
    np.save(tmp_path / "x.npy", numbers(1000, 3))
    monkeypatch.setattr("simulate.masked.row_sources.block_rows", lambda _: 100)
    returned = []
    monkeypatch.setattr("simulate.masked.row_sources._give_back", returned.append)
    chosen = np.array([3, 150, 199, 999])
    rows = row_blocks(tmp_path / "x.npy").take(chosen)
    np.testing.assert_array_equal(rows, np.load(tmp_path / "x.npy")[chosen])
    assert len(returned) == 3
    assert row_blocks(tmp_path / "x.npy").take(chosen[:0]).shape == (0, 3)


@pytest.mark.usefixtures("undrawn")
def test_what_theory_expects_of_more_rows_is_not_said_where_theory_was_not_compared(tmp_path, capsys):
    for rows, said in ((11, False), (40, True)):
        path = tmp_path / f"x{rows}.csv"
        values = numbers(rows, 6)
        path.write_text(lines(values + values[:, :1], ","), encoding="utf-8")
        assert main([str(path), "--output", str(tmp_path / "out"), "--jobs", "1", "--repeats", "2"]) == 0
        output = " ".join(capsys.readouterr().out.split())
        assert ("With twice as many rows theory expects" in output) == said
        assert ("Gaussian theory is not compared" in output) != said


def test_rows_of_empty_cells_are_not_counted_before_the_table_is_read(tmp_path, capsys):
    path = tmp_path / "x.csv"
    path.write_text("sep=;\na;b;c\n" + lines(numbers(10, 3), ";") + ";;\n;;\n", encoding="utf-8")
    assert main([str(path), "--estimate"]) == 0
    assert "holds 10 rows of 3 columns" in " ".join(capsys.readouterr().out.split())


def test_stops_of_a_translation_are_named_as_they_are_written(tmp_path):
    path = tmp_path / "x.fasta"
    path.write_text("".join(f">s{k}\nMKVLAAGIT{'*' if k % 2 else 'Y'}\n" for k in range(6)), encoding="utf-8")
    assert "(* or ? 3)" in " ".join(read_sequences(path).notes)


def test_a_text_without_words_may_be_a_table(tmp_path, capsys):
    path = tmp_path / "x.txt"
    path.write_text("1 2 3\n4 5 6\n7 8 1\n", encoding="utf-8")
    assert main([str(path), "--output", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "has no words in its 3 documents; if it is a table of numbers say --kind matrix" in error


def test_a_single_pair_of_words_has_no_standard_error():
    topics = np.full((3, 5), 0.05)  # of the two likeliest words of each topic, one is in two topics
    topics[[0, 0, 1, 1, 2, 2], [0, 1, 2, 3, 2, 4]] = 0.4
    options = {"excluded": np.zeros(5, dtype=bool), "permutations": 5, "seed": 0}
    found, _, _ = compared(topics, {"embedding": numbers(5, 3)}, [0.3], **options)
    single = next(one for one in found if one.contrast.n_same == 1)
    cells = _cells(single)
    assert "(" not in cells[5]
    assert float(cells[5]) == pytest.approx(single.contrast.same.mean, rel=1e-2)
    assert np.isnan(contrast_frame([single])["same_stderr"][0])
    assert all(entry["stderr"] != 0 for entry in contrast_rows([single]))
