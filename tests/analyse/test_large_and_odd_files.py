"""Files that are no ordinary files: pipes, forged archives, names that are not UTF-8, matrices of very many cells."""

import gzip
import os
import struct
import sys
import time

import numpy as np
import pytest

from figures.analyse.command import main
from figures.analyse.errors import DataError
from figures.analyse.reading import opening
from figures.analyse.reading.matrix import read_matrix
from figures.analyse.reading.sequences import read_sequences
from figures.analyse.reading.text import read_corpus
from simulate.core import stream
from theory.core.errors import MaskedSSLError

READERS = {"x.csv": read_matrix, "x.npy": read_matrix, "x.fasta": read_sequences, "x.txt": read_corpus}


@pytest.mark.parametrize("name", READERS)
def test_a_pipe_is_refused_at_once(tmp_path, name):
    path = tmp_path / name
    os.mkfifo(path)  # to open it would wait for a writer
    with pytest.raises(DataError, match=f"{name}: is a pipe or a device, no file; save its content as a file"):
        READERS[name](path)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("honest", [True, False])
def test_a_gzipped_file_that_unpacks_without_end_is_refused(tmp_path, monkeypatch, name, honest):
    monkeypatch.setattr(opening, "MOST_UNPACKED", 10**6)
    line = b"1,2,3\n" if name == "x.csv" else b"ACGU\n"
    start = {"x.fasta": b">a\n", "x.npy": npy_header(10**6, 8)}.get(name, b"")
    packed = gzip.compress(start + line * 10**6)
    path = tmp_path / f"{name}.gz"
    path.write_bytes(packed if honest else packed[:-4] + struct.pack("<I", 100))  # the size that the trailer says
    with pytest.raises(DataError, match=r"unpacks to more than 1 MB, .*; unpack it yourself \(gunzip -k\)"):
        READERS[name](path)


def npy_header(rows, columns):
    """The beginning of a .npy file."""
    text = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({rows}, {columns}), }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def test_large_gzipped_files_below_the_limit_are_read(tmp_path):
    path = tmp_path / "x.npy.gz"
    values = stream(0, "gzipped").standard_normal((5000, 20))
    with gzip.open(path, "wb") as file:
        np.save(file, values)
    np.testing.assert_array_equal(read_matrix(path).data.all_rows(), values)


def test_a_cut_off_archive_is_damaged_not_large(tmp_path):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"1,2\n" * 100)[:-6] + b"\xff\xff\xff\xff")
    with pytest.raises(DataError, match="is damaged or cut off"):
        read_matrix(path)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        (b"r\xe9sum\xe9.csv", ["--repeats", "2"]),
        (b"r\xe9sum\xe9.fasta", ["--l2", "1", "--min-separation", "1"]),
        (b"r\xe9sum\xe9.txt", ["--topics", "2", "--sweeps", "5", "--permutations", "100"]),
    ],
)
def test_names_need_not_be_utf_8(tmp_path, capsys, name, arguments):
    """Linux takes any bytes: files that come from another system have such names."""
    if sys.platform != "linux":
        pytest.skip("only here file names are bytes")
    path = tmp_path / os.fsdecode(name)
    rng = stream(0, "name")
    with path.open("wb") as file:
        if name.endswith(b".csv"):
            np.savetxt(file, rng.standard_normal((20, 4)), delimiter=",")
        elif name.endswith(b".fasta"):
            file.write("".join(f">s\n{''.join(rng.choice(list('ACGU'), 6))}\n" for _ in range(40)).encode())
        else:
            file.write(
                "\n".join(" ".join(rng.choice(list("abcdefgh"), 20) + "xyz"[k % 3] * 2) for k in range(60)).encode()
            )
    output = tmp_path / "out"
    assert main([os.fsdecode(path), "--jobs", "1", "--output", str(output), *arguments]) == 0
    said = capsys.readouterr().out
    said.encode("utf-8")  # no half characters
    assert r"r\xe9sum\xe9" in said
    assert all(file.name.startswith(r"analyse_r\xe9sum\xe9") for file in output.iterdir())
    assert main([os.fsdecode(path) + "absent", "--kind", "text"]) == 2
    assert r"r\xe9sum\xe9" in capsys.readouterr().err


def test_every_error_has_the_common_base(tmp_path):
    assert issubclass(DataError, MaskedSSLError)
    start = time.monotonic()
    with pytest.raises(MaskedSSLError):
        read_matrix(tmp_path / "absent.csv")
    assert time.monotonic() - start < 5
