"""What an analysis needs, said before it runs: the words, what of the file is read for them, and whether they hold."""

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from figures.analyse.command import main
from figures.analyse.errors import DataError
from figures.analyse.matrix.needs import needs_of
from figures.analyse.options import parsed
from figures.analyse.reading.matrix import read_matrix, table_shape
from figures.analyse.reading.text import corpus_size, read_corpus
from figures.core.table import read_csv
from simulate.core import stream

ROOT = Path(__file__).resolve().parents[2]
TOLERANCE = 0.25  # of the memory that is said
AVAILABLE = "figures.analyse.needs.available_bytes"


def said(arguments, capsys):
    """What the command prints with --estimate, on one line."""
    assert main([*map(str, arguments), "--estimate"]) == 0
    return " ".join(capsys.readouterr().out.split())


def numbers(path, rows, columns, **options):
    np.savetxt(path, stream(0, "estimate").standard_normal((rows, columns)), fmt="%.4f", delimiter=",", **options)
    return path


def corpus(path, documents):
    """Documents of 40 words, the rare ones of 1500 much rarer than the others."""
    rng = stream(0, "documents to estimate")
    letters = np.array(list("bcdfghjklmnpqrstvwxz"))
    words = ["".join(letters[[k // 400, k // 20 % 20, k % 20]]) + "ia" for k in range(1500)]
    share = 1 / np.arange(1, 1501)
    chosen = rng.choice(1500, size=(documents, 40), p=share / share.sum())
    path.write_text("\n".join(" ".join(words[k] for k in one) for one in chosen), encoding="utf-8")
    return path


def test_it_says_memory_and_time_and_where_from_and_writes_nothing(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(AVAILABLE, lambda: 8e9)
    path = numbers(tmp_path / "table.csv", 50, 4, header="a,b,c,d", comments="")
    text = said([path, "--output", tmp_path / "out", "--jobs", "2"], capsys)
    assert text.startswith(f"{path}: the analysis would need about 4")
    assert "MB of memory (8 GB are available) and about" in text
    assert "The file holds 50 rows of 4 columns, counted; the splits are measured by 2 processes." in text
    assert "about 25 %" in text
    assert list((tmp_path / "out").iterdir()) == []


def test_text_says_documents_and_words(tmp_path, capsys):
    path = corpus(tmp_path / "texts.txt", 300)
    read = read_corpus(path)
    size = corpus_size(path, stop_words="auto", min_documents=None, max_words=4000)
    assert (size.documents, size.words, size.tokens) == (read.n_documents, len(read.words), read.n_tokens)
    assert f"About 300 documents with {read.n_tokens:.2g} words, {len(read.words)} of them" in said([path], capsys)


def test_a_large_table_is_known_by_its_first_lines(tmp_path, capsys):
    """What stands behind them is not looked at: the reader would refuse it."""
    path = numbers(tmp_path / "table.csv", 20_000, 6)
    whole = table_shape(path, columns="2-5")
    assert whole.rows == pytest.approx(20_000, rel=0.01)
    assert whole.columns == 4
    with path.open("a", encoding="utf-8") as file:
        file.write("no,numbers,at,all,in,here\n")
    assert "rows of 6 columns, by the size of the file and the length of its first lines" in said([path], capsys)
    assert main([str(path), "--output", str(tmp_path / "out")]) == 2


def test_a_large_corpus_is_known_by_its_first_lines(tmp_path, monkeypatch):
    path = corpus(tmp_path / "texts.txt", 4000)
    monkeypatch.setattr("figures.analyse.reading.text.size.SAMPLE", 1 << 18)
    size = corpus_size(path, stop_words="none", min_documents=None, max_words=4000)
    read = read_corpus(path)
    assert size.known.startswith("by its first 262 kB of 960 kB")
    assert size.documents == pytest.approx(read.n_documents, rel=0.01)
    assert size.tokens == pytest.approx(read.n_tokens, rel=0.03)
    assert size.words == pytest.approx(len(read.words), rel=0.1)


def test_folders_and_counted_words(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for k in range(12):
        (folder / f"{k}.txt").write_text("one two three two " * (k + 1), encoding="utf-8")
    chosen = {"stop_words": "none", "min_documents": 1, "max_words": 100}
    size = corpus_size(folder, **chosen)
    assert (size.documents, size.words, size.tokens, size.entries) == (12, 3, 4 * 78, 36)
    (tmp_path / "vocab.txt").write_text("a\nb\nc\n", encoding="utf-8")
    forms = {
        "x.ldac": "2 0:1 2:3\n1 1:2\n",
        "docword.txt": "2\n3\n3\n1 1 1\n1 3 3\n2 2 2\n",
        "x.mtx": "%%MatrixMarket matrix coordinate integer general\n2 3 3\n1 1 1\n1 3 3\n2 2 2\n",
    }
    for name, content in forms.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
        size = corpus_size(tmp_path / name, **chosen)
        assert (size.documents, size.words, size.tokens, size.entries) == (2, 3, 6, 3), name


def test_arrays_are_known_by_their_headers(tmp_path, capsys):
    path = tmp_path / "table.npy"
    with path.open("wb") as file:  # 80 GB, of which the disk holds the header alone
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (10**8, 200)})
        file.truncate(file.tell() + 4 * 200 * 10**8)
    text = said([path], capsys)
    assert "100000000 rows of 200 columns, as the header of the array says; they stay in the file" in text
    shape = table_shape(path, skip_columns="1")
    assert (shape.rows, shape.columns, shape.held) == (10**8, 199, 0)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent.csv", None, "no such file"),
        ("x.csv", b"", "is empty"),
        ("x.csv", b"a,b,c\n", "has a header in row 1 and no row of numbers below it"),
        ("x.npy", b"\x93NUMPY\x01\x00", "is damaged or cut off"),
        ("x.npz", b"PK\x03\x04 no archive", "is damaged, or no .npz file"),
        ("x.parquet", b"a,b\n1,2\n", "is no Parquet file"),
        ("x.csv.gz", gzip.compress(b"1,2\n" * 9, mtime=0)[:-9], "is damaged or cut off"),
        ("absent.txt", None, "no such file"),
        ("x.dat", b"1 0:2\n", "their spelling, one word a line, must be in x.tokens"),
    ],
)
def test_a_file_that_cannot_be_used_is_said_in_one_line(write, tmp_path, capsys, name, content, message):
    path = tmp_path / name if content is None else write(name, content)
    assert main([str(path), "--estimate"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_an_array_that_its_header_says_is_longer_is_damaged(tmp_path, capsys):
    path = tmp_path / "table.npy"
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (10**7, 10)})
    assert main([str(path), "--estimate"]) == 2
    assert "is damaged or cut off" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["table.csv", "texts.txt"])
def test_too_little_memory_is_refused_with_the_estimate(tmp_path, capsys, monkeypatch, name):
    path = tmp_path / name
    if name == "table.csv":
        numbers(path, 50, 4)
    else:
        corpus(path, 60)
    monkeypatch.setattr(AVAILABLE, lambda: 1e6)
    assert main([str(path), "--output", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "MB of memory (1 MB are available, which is too little) and about" in error
    assert "Take fewer" in error
    assert error.count("\n") == 1
    assert "which is too little" in said([path], capsys)


def test_more_processes_need_more_memory_and_less_time(tmp_path):
    options, _ = parsed([str(numbers(tmp_path / "table.csv", 500, 40))])
    shape = table_shape(options.file)
    one, four = (needs_of(shape, options, jobs) for jobs in (1, 4))
    assert four.memory > one.memory + 3 * 60e6
    assert four.seconds < one.seconds


def test_large_arrays_stay_in_the_file_and_are_what_they_are_in_memory(tmp_path, monkeypatch):
    path = tmp_path / "table.npy"
    values = stream(0, "mapped").standard_normal((400, 5))
    values[7, 3] = np.nan
    np.save(path, values)
    whole = read_matrix(path, drop_rows=True, skip_columns="2")
    monkeypatch.setattr("figures.analyse.reading.matrix.arrays.MOST_CELLS", 100)
    blocks = read_matrix(path, drop_rows=True, skip_columns="2")
    np.testing.assert_array_equal(blocks.data.all_rows(), whole.data.all_rows())
    assert (blocks.data.n, blocks.lines, blocks.notes) == (399, whole.lines, whole.notes)
    for columns in (None, "1,3"):
        values[7, 3] = 0.0
        np.save(path, values)
        rows = read_matrix(path, columns=columns).data
        kept = [0, 2] if columns else [0, 1, 2, 3, 4]
        np.testing.assert_array_equal(rows.take(np.array([0, 8, 399])), values[[0, 8, 399]][:, kept])
    values[7, 3] = np.nan
    np.save(path, values)
    with pytest.raises(DataError, match=r"row 8, column 4: nan where a finite number is needed \(1 such cell in all\)"):
        read_matrix(path, skip_columns="2")
    values[7, 3], values[390, 4] = 0.0, 1e60
    np.save(path, values)
    with pytest.raises(DataError, match=r"row 391, column 5: 1e\+60 is so large"):
        read_matrix(path)


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
@pytest.mark.usefixtures("undrawn")
def test_a_mapped_array_is_analyzed_as_one_in_memory(tmp_path, capsys, monkeypatch, jobs):
    path = tmp_path / "table.npy"
    np.save(path, stream(0, "mapped").standard_normal((300, 6)).astype(np.float32))
    chosen = [str(path), "--columns", "1-4,6", "--repeats", "2", "--jobs", jobs, "--lams", "0.1"]
    assert main([*chosen, "--output", str(tmp_path / "whole")]) == 0
    monkeypatch.setattr("figures.analyse.reading.matrix.arrays.MOST_CELLS", 100)
    assert main([*chosen, "--output", str(tmp_path / "blocks")]) == 0
    assert "permuted within blocks of rows" in " ".join(capsys.readouterr().out.split())
    whole, blocks = (read_csv(tmp_path / name / "analyse_table.npy.csv") for name in ("whole", "blocks"))
    for column in ("x", "theory", "simulation"):
        np.testing.assert_allclose(blocks[column], whole[column], rtol=1e-5)


@pytest.mark.parametrize("most", [2e7, 100])
def test_parquet(tmp_path, capsys, monkeypatch, most):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    path = tmp_path / "table.parquet"
    values = stream(0, "parquet").standard_normal((300, 4))
    columns = {name: values[:, k] for k, name in enumerate("abcd")} | {"e": ["text"] * 300, "f": [None, *range(299)]}
    write_table(pyarrow.table(columns), path)
    monkeypatch.setattr("figures.analyse.reading.matrix.parquet.MOST_CELLS", most)
    with pytest.raises(DataError, match=r"1 column without numbers: column 5 \('e'\) holds text; .*--skip-columns 5"):
        read_matrix(path)
    with pytest.raises(DataError, match=r"row 1, column 6 \('f'\): nan where a finite number is needed"):
        read_matrix(path, skip_columns="e")
    found = read_matrix(path, columns="b,d,f", drop_rows=True)
    assert found.names == ("b", "d", "f")
    np.testing.assert_array_equal(found.data.all_rows(), np.column_stack([values[1:, [1, 3]], np.arange(299.0)]))
    assert "300 rows of 4 columns, as the end of the file says" in said([path, "--columns", "1-4"], capsys)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DataError, match="is damaged or cut off"):
        read_matrix(path)


def test_parquet_without_pyarrow_says_what_to_install(write, capsys, monkeypatch):
    path = write("table.parquet", b"PAR1 and more")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    for arguments in ([str(path)], [str(path), "--estimate"]):
        assert main(arguments) == 2
        assert "not installed (the extra tables: make ... EXTRAS=tables, or pip install" in capsys.readouterr().err


# Runs a command and prints its peak of memory in bytes. The system counts what a process had before it became another
# program: that is the memory of the one that started it, which here is small, and after an hour of tests is not.
LAUNCHER = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(1024 * usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "columns", "kind", "arguments"),
    [
        (200, 30, ".csv", ["--jobs", "1"]),
        (2800, 28, ".csv", ["--jobs", "1"]),
        (20_000, 400, ".csv", ["--jobs", "1", "--repeats", "2"]),
        (300, 2000, ".csv", ["--jobs", "1", "--repeats", "2"]),
        # Here the test whether rows differ in scale needs most, on some of the rows and on all.
        (100_000, 100, ".npy", ["--jobs", "1", "--repeats", "2"]),
        (200_000, 20, ".npy", ["--jobs", "1", "--repeats", "2"]),
        (500_000, 50, ".npy", ["--jobs", "1", "--repeats", "2"]),
        (300, 0, ".txt", []),
        (4000, 0, ".txt", []),
    ],
)
def test_the_memory_that_is_said_is_used(tmp_path, rows, columns, kind, arguments):
    """The peak of resident memory, as the system counts it at the end of the process."""
    path = tmp_path / f"data{kind}"
    if kind == ".txt":
        corpus(path, 60)
        compiling = [sys.executable, "-m", "figures", "analyse", str(path), "--output", str(tmp_path / "first")]
        subprocess.run(compiling, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)  # a first run needs 600 MB for it
        corpus(path, rows)
    elif kind == ".csv":
        numbers(path, rows, columns)
    else:
        np.save(path, stream(0, "estimate").standard_normal((rows, columns)))
    command = [sys.executable, "-m", "figures", "analyse", str(path), "--output", str(tmp_path / "out"), *arguments]
    used = int(
        subprocess.run([sys.executable, "-c", LAUNCHER, *command], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    )
    found = subprocess.run([*command, "--estimate"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    number, unit = " ".join(found.split()).split("would need about ")[1].split()[:2]
    memory = float(number) * {"MB": 1e6, "GB": 1e9}[unit]
    assert memory == pytest.approx(used, rel=TOLERANCE)
