"""Names of the user's are text: no formula of a spreadsheet, no command of a terminal, no file that is left behind."""

import csv
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from figures.analyse.command import main
from figures.core import row
from figures.core.plain_text import escaped, safe_cell, safe_frame, written_cell
from figures.core.table import read_csv, write_csv
from simulate.core import stream
from theory.core.atomic_write import HOST, atomic_write, remove_abandoned

RED = "\x1b[31m"


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\uff1d"])
def test_formulas_become_text(begin):
    formula = f"{begin}cmd|' /C calc'!A0"
    assert safe_cell(formula) == f"'{formula}"
    assert written_cell(f"'{formula}") == formula


@pytest.mark.parametrize("text", ["plain", "-1", "+2.5e-3", "-inf", "1-2", "a=b", "'quoted", "", "A-U", "μ = 3"])
def test_other_cells_stay_as_they_are(text):
    assert safe_cell(text) == written_cell(text) == text


def test_numbers_stay_numbers_in_a_safe_table():
    frame = pd.DataFrame({"=x": ["=1+1", "\t=1+1", "\r=2"], "n": [-1.5, 2, np.nan], "k": [1, -2, 3]})
    frame["few"] = pd.Series([1, None, -3], dtype="Int64")
    safe = safe_frame(frame)
    assert list(safe.columns) == ["'=x", "n", "k", "few"]
    assert list(safe["'=x"]) == ["'=1+1", r"\t=1+1", r"\r=2"]
    assert safe[["n", "k", "few"]].equals(frame[["n", "k", "few"]])
    assert next(iter(frame.columns)) == "=x"  # the given one is as before


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"{RED}red\x07", r"\x1b[31mred\x07"),
        ("a\x9b2Jb\x7f", r"a\x9b2Jb\x7f"),
        ("a\u202eb\u2028c\ud800", r"a\u202eb\u2028c\ud800"),
        ("over\rwritten", r"over\rwritten"),
        ("two\nlines\tand é, 漢", "two\nlines\tand é, 漢"),
    ],
)
def test_control_characters_are_written_out(text, shown):
    assert escaped(text) == shown


def test_a_table_of_an_experiment_gives_its_names_back(tmp_path):
    write_csv([row("=1+1", 1.0, theory=2.0, panel="-p"), row("-2", 1.0, theory=2.0, panel="p")], tmp_path / "t.csv")
    assert list(read_csv(tmp_path / "t.csv")["curve"]) == ["=1+1", "-2"]
    assert list(read_csv(tmp_path / "t.csv")["panel"]) == ["-p", "p"]
    with (tmp_path / "t.csv").open(newline="", encoding="utf-8") as file:
        assert [cells[1] for cells in csv.reader(file)] == ["curve", "'=1+1", "-2"]


def cells_of(folder):
    for path in folder.glob("*.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            yield from (cell for cells in csv.reader(file) for cell in cells)


def is_safe(cell):
    try:
        return bool(np.isreal(float(cell)))
    except ValueError:
        return not cell.startswith(tuple("=+-@\t\r"))


def test_names_of_columns_reach_no_file_and_no_screen(tmp_path, capsys):
    X = stream(0, "names that do something").standard_normal((60, 4))
    path = tmp_path / f"a{RED}.csv"
    lines = [f"=1+1,@SUM(A1),{RED}red,plain", *(",".join(f"{x:.4f}" for x in line) for line in X)]
    path.write_text("\n".join(lines), encoding="utf-8")
    output = tmp_path / "out"
    assert main([str(path), "--jobs", "1", "--output", str(output)]) == 0
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err
    cells = list(cells_of(output))
    assert any("=1+1" in cell for cell in cells)
    assert all(is_safe(cell) and "\x1b" not in cell for cell in cells)
    assert not any("\x1b" in file.name for file in output.iterdir())


def test_names_of_sequences_reach_no_file_and_no_screen(tmp_path, capsys):
    states = stream(0, "sequences with names").integers(0, 4, (40, 5))
    path = tmp_path / "s.fasta"
    names = ["=cmd|'/C_calc'!A0", f"{RED}red", "+1+1", "-5", *(f"s{k}" for k in range(36))]
    path.write_text(
        "".join(f">{name}\n{''.join('ACGU'[a] for a in line)}\n" for name, line in zip(names, states, strict=True)),
        encoding="utf-8",
    )
    output = tmp_path / "out"
    options = ["--l2", "1", "--jobs", "1", "--no-reweight", "--reference", f"{RED}red", "--output", str(output)]
    assert main([str(path), *options]) == 0
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err
    table = pd.read_csv(output / "analyse_s.fasta_weights.csv", dtype=str)
    assert list(table["name"][:4]) == ["'=cmd|'/C_calc'!A0", r"\x1b[31mred", "'+1+1", "-5"]
    assert all(is_safe(cell) for cell in cells_of(output))
    assert main([str(path), "--reference", f"{RED}none", "--output", str(output)]) == 2
    assert "\x1b" not in capsys.readouterr().err


def test_temporary_files_of_processes_that_were_killed_are_removed(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = tmp_path / f".analyse_x.{HOST}-{ended.pid}.pdf"
    others = [
        tmp_path / f".analyse_x.{HOST}-{os.getpid()}.pdf",
        tmp_path / f".analyse_x.another-{ended.pid}.pdf",
        tmp_path / ".own",
    ]
    for file in (left, *others):
        file.touch()
    remove_abandoned(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted(others)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signals here")
@pytest.mark.parametrize(("number", "left"), [(signal.SIGTERM, 0), (signal.SIGKILL, 1)])
def test_a_process_that_is_told_to_end_leaves_nothing_half_written(tmp_path, number, left):
    script = (
        "import signal, sys, time; from pathlib import Path; import figures.start as program\n"
        "signal.signal(signal.SIGTERM, program._terminate)\n"
        "from theory.core.atomic_write import atomic_write\n"
        "with atomic_write(Path(sys.argv[1])) as file:\n"
        "    file.write_text('half')\n"
        "    time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "x.pdf")])
    while not any(tmp_path.iterdir()):
        time.sleep(0.02)
    process.send_signal(number)
    process.wait()
    assert len(list(tmp_path.iterdir())) == left
    assert not (tmp_path / "x.pdf").exists()
    with atomic_write(tmp_path / "y.pdf") as file:
        file.touch()
    remove_abandoned(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["y.pdf"]
