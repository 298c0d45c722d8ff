"""python -m figures analyse: files in, table and figure out, and every failure one line."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from figures.analyse.command import kind_of, main
from figures.analyse.errors import DataError
from figures.analyse.options import KINDS
from figures.analyse.steps import result_name
from figures.command_line import main as figures
from figures.core.table import read_csv
from simulate.core import stream

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def table(tmp_path):
    """A .csv file with a header."""
    path = tmp_path / "my data.csv"
    values = stream(0, "command").standard_normal((40, 5))
    values[:, 1] += values[:, 0]
    np.savetxt(path, values, delimiter=",", header="height,width,age,mass,$cost", comments="")
    return path


def files(folder):
    """Names of everything in a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_table_figure_and_words(table, tmp_path, capsys):
    output = tmp_path / "out" / "deep"
    assert figures(["analyse", str(table), "--output", str(output), "--jobs", "1", "--repeats", "2"]) == 0
    ends = (".csv", ".pdf", ".png", "_columns.csv", "_spectrum.csv", "_spectrum.pdf", "_spectrum.png")
    assert files(output) == [f"analyse_my data{end}" for end in ends]
    rows = read_csv(output / "analyse_my data.csv")
    assert set(rows["panel"]) == {"held-out rows", "GCV of the training rows", "choice of the ridge for all rows"}
    assert (rows["simulation"] > 0).sum() > 20
    said = capsys.readouterr().out
    assert "comma separated, header in row 1" in said
    assert "The other columns predict best" in said
    columns = (output / "analyse_my data_columns.csv").read_text(encoding="utf-8").splitlines()
    assert columns[0] == "column,variance,error,explained"
    assert columns[5].startswith("$cost,")


def test_a_second_run_gives_the_same_bytes(table, tmp_path):
    for folder in ("one", "two"):
        main([str(table), "--output", str(tmp_path / folder), "--jobs", "1", "--repeats", "2"])
    for name in files(tmp_path / "one"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.csv", "matrix"),
        ("a.TSV", "matrix"),
        ("a.csv.gz", "matrix"),
        ("a.npy", "matrix"),
        ("a.npz", "matrix"),
        ("a.fasta", "sequences"),
        ("a.a2m", "sequences"),
        ("a.sto.gz", "sequences"),
        ("a.txt", "text"),
        ("a.ldac", "text"),
        ("a.jsonl", "text"),
        ("a.mtx.gz", "text"),
        ("a.aln", "sequences"),
        ("a.phy", "sequences"),
        ("a.nexus", "sequences"),
        ("a.MSF", "sequences"),
    ],
)
def test_kind_by_extension(tmp_path, name, kind):
    assert kind_of(tmp_path / name) == kind


def test_folders_are_text_and_other_names_ask(tmp_path):
    assert kind_of(tmp_path) == "text"
    (tmp_path / "data.xyz").touch()
    with pytest.raises(
        DataError, match="neither its name nor its first lines say what it holds: say --kind matrix or --kind sequences"
    ):
        kind_of(tmp_path / "data.xyz")
    with pytest.raises(DataError, match="no such file"):
        kind_of(tmp_path / "absent.xyz")


def refused(capsys, *arguments):
    """The one line on stderr of a run that ends with 2."""
    assert main([str(argument) for argument in arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert said.err.startswith("figures analyse: ")
    return said.err


def test_a_folder_is_text_and_a_table_can_be(tmp_path, table, capsys):
    assert kind_of(tmp_path) == "text"
    assert "--text-column" in refused(capsys, table, "--kind", "text")


def test_no_two_results_share_a_name(tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "x.txt").mkdir()
    names = ["x.csv", "x.tsv", "x.npy", "x.fasta.GZ", "x.a2m", "x.txt", "x"]
    results = [result_name(tmp_path / name, kind) for kind in KINDS for name in names]
    assert len(set(results)) == len(results)
    own = [result_name(tmp_path / name, kind_of(tmp_path / name)) for name in names]
    assert own == ["x", "x.tsv", "x.npy", "x.fasta", "x.a2m", "x.txt_text", "x_text"]


def test_options_of_the_other_kind_are_refused(table, tmp_path, capsys):
    assert "is read as matrix, but --min-separation is for sequences" in refused(capsys, table, "--min-separation", 3)
    path = tmp_path / "a.fasta"
    path.write_text(">a\nACGU\n>b\nCCGU\n", encoding="utf-8")
    assert "is read as sequences, but --lams is for matrices" in refused(capsys, path, "--lams", "0.1")


def test_failures_are_one_line(tmp_path, table, capsys):
    output = ["--output", tmp_path / "out"]
    assert "no such file" in refused(capsys, tmp_path / "absent.csv", *output)
    assert "is a folder" in refused(capsys, tmp_path, "--kind", "matrix", *output)
    assert "has no column 'depth'" in refused(capsys, table, "--columns", "depth", *output)
    constant = tmp_path / "constant.csv"
    constant.write_text("a,b,c\n1,2,3\n2,2,1\n5,2,2\n3,2,9\n", encoding="utf-8")
    assert "1 constant column: 'b', with nothing to predict; leave" in refused(capsys, constant, *output)
    assert main([str(constant), "--drop-constant", "--output", str(tmp_path / "out"), "--jobs", "1"]) == 0


@pytest.mark.parametrize("asked", [[], ["--estimate"]])
@pytest.mark.parametrize(("name", "content"), [("x.txt", ""), ("x.txt", "\n \n"), ("x.jsonl", ""), ("x.csv", "text\n")])
def test_text_without_a_document_is_refused(tmp_path, capsys, name, content, asked):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    assert "holds no document" in refused(capsys, path, "--kind", "text", "--output", tmp_path / "out", *asked)


@pytest.mark.parametrize("advised", [[], ["--drop-constant"]])
@pytest.mark.parametrize(("first", "left"), [("1236", "one column varies"), ("2222", "no column varies")])
def test_fewer_than_two_columns_that_vary_are_refused_with_any_option(tmp_path, capsys, first, left, advised):
    path = tmp_path / "constant.csv"
    path.write_text("a,b,c\n" + "".join(f"{a},2,5\n" for a in first), encoding="utf-8")
    said = refused(capsys, path, "--output", tmp_path / "out", *advised)
    assert f"{left}, and masked regression needs two that vary" in said
    assert "--drop-constant" not in said  # it would leave too few


def test_few_rows_are_drawn_without_theory(tmp_path, capsys):
    path = tmp_path / "few.csv"
    path.write_text("1,2,3.5\n2,1,0\n4,3,1\n0,5,2\n", encoding="utf-8")
    assert main([str(path), "--output", str(tmp_path), "--jobs", "1"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "no theory is given for fewer than 10 training rows" in said
    assert "Gaussian theory is not compared" in said
    assert "twice as many" not in said
    assert " nan" not in said
    rows = read_csv(tmp_path / "analyse_few.csv")
    assert rows["converged"].all()
    learning = rows[rows["panel"] != "choice of the ridge for all rows"]
    assert learning["theory"].isna().all()
    assert "predicting the mean" in set(learning["curve"])


def test_output_that_cannot_be_written_is_said_before_any_work(table, tmp_path, capsys):
    (tmp_path / "taken").touch()
    assert f"--output {tmp_path / 'taken'} is a file; choose a folder" in refused(
        capsys, table, "--output", tmp_path / "taken"
    )
    assert "cannot be written to" in refused(capsys, table, "--output", tmp_path / "taken" / "below")


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--seed", "-1", "must be an integer of at least 0, got -1"),
        ("--jobs", "0", "must be at least 1, or -1 for one process a core, got 0"),
        ("--test-fraction", "2", "must be a number between 0 and 1, both excluded, got 2"),
        ("--identity", "nan", "must be a number above 0 and at most 1, got nan"),
        ("--l2", "-1", "must be a number of at least 0, got -1"),
        ("--max-sequences", "x", "must be an integer of at least 2, got x"),
        ("--alphabet", "klingon", "must be auto, protein, rna, dna or at least two letters, each once, got 'klingon'"),
        ("--lams", "-1", "must be numbers above 0, separated by commas, got '-1'"),
    ],
)
def test_a_wrong_option_is_named_as_it_is_typed(table, tmp_path, capsys, option, value, message):
    said = refused(capsys, table, option, value, "--output", tmp_path / "out")
    assert said.startswith(f"figures analyse: {option} {message}")


def test_names_of_files_that_look_like_something_else(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "a,b,-c\n" + "".join(f"{k},{k * k % 7},{-999 if k == 4 else k % 3}\n" for k in range(12))
    (tmp_path / "-x.csv").write_text(rows, encoding="utf-8")
    assert "-x.csv begins with a dash, as options do; if it is a file write ./-x.csv" in refused(capsys, "-x.csv")
    assert "the name of the file is empty" in refused(capsys, "")
    output = ["--output", str(tmp_path / "out"), "--jobs", "1", "--repeats", "2"]
    assert main(["./-x.csv", "--missing", "-999,-1", "--drop-rows", *output]) == 0
    assert "1 of 12 rows left out" in capsys.readouterr().out
    assert main(["./-x.csv", "--skip-columns", "-c", *output]) == 0
    capsys.readouterr()
    assert "must be numbers above 0" in refused(capsys, "./-x.csv", "--lams", "-1.5", *output)


NO_TEXT, NO_SETTINGS = b"axes.grid: \xff\xfe\n", b"no.such.key: 1\ntext.usetex: perhaps\nbackend: bogus\n"


@pytest.mark.parametrize(
    ("named", "here"), [(NO_TEXT, NO_SETTINGS), pytest.param(NO_SETTINGS, NO_TEXT, marks=pytest.mark.slow)]
)
def test_a_broken_matplotlibrc_and_backend_do_not_matter(table, tmp_path, named, here):
    """Neither one that a variable names nor, read before that, one in the current folder."""
    (tmp_path / "matplotlibrc").write_bytes(here)
    (tmp_path / "named").write_bytes(named)
    settings = {"MPLBACKEND": "bogus", "MATPLOTLIBRC": str(tmp_path / "named"), "PYTHONPATH": str(ROOT)}
    arguments = ["analyse", str(table), "--output", str(tmp_path / "out"), "--jobs", "1", "--repeats", "2"]
    run = [sys.executable, "-m", "figures", *arguments]
    done = subprocess.run(run, env=os.environ | settings, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "matplotlib" not in done.stderr
    assert "bogus" not in done.stderr + done.stdout
    assert (tmp_path / "out" / "analyse_my data.pdf").exists()


def test_an_interrupted_analysis_says_what_is_left_of_it(table, tmp_path, capsys, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("figures.analyse.matrix.command.read_matrix", interrupt)
    assert figures(["analyse", str(table), "--output", str(tmp_path / "out")]) == 130
    assert (
        "the same command goes on from the fits that were finished, if any; earlier results stay as they are"
        in capsys.readouterr().err
    )


def test_a_failed_drawing_leaves_the_earlier_figure(table, tmp_path, capsys, monkeypatch):
    output = tmp_path / "out"
    main([str(table), "--output", str(output), "--jobs", "1", "--repeats", "2"])
    earlier = (output / "analyse_my data.pdf").read_bytes()

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("figures.core.plot.draw_figure", fail)
    assert main([str(table), "--output", str(output), "--jobs", "1", "--repeats", "2"]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert (output / "analyse_my data.pdf").read_bytes() == earlier
    assert not [name for name in files(output) if name.startswith(".")]
