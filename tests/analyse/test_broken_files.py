"""A seeded sweep over broken files: each reader gives a result or one line that names the file, in bounded time."""

import gzip
import io
import json
import os
import shutil
import signal
import struct
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from figures.analyse.errors import DataError
from figures.analyse.reading.matrix import read_matrix
from figures.analyse.reading.sequences import read_sequences
from figures.analyse.reading.text import read_corpus, read_vectors
from simulate.core import stream

SECONDS = 20  # of one file, on a busy machine: a valid one takes milliseconds
WORDS = ["apple", "bread", "cheese", "dough", "egg", "flour"]


def numbers(separator):
    """A table of numbers with a header."""
    rows = np.arange(60).reshape(12, 5) ** 2 / 7
    return "\n".join([separator.join("abcde"), *(separator.join(f"{x:.4f}" for x in row) for row in rows)]).encode()


def array(save, *arguments, **options):
    """What numpy writes."""
    buffer = io.BytesIO()
    save(buffer, *arguments, **options)
    return buffer.getvalue()


TABLE = np.arange(40.0).reshape(8, 5)
ROWS = ["ACGUAC", "ACGAAC", "GCGUAC", "A-GUAC", "ACGUUU"]
TEXTS = [" ".join(WORDS[k % 6] for k in range(n, n + 5)) for n in range(20)]
VALID = {
    "x.csv": (read_matrix, numbers(",")),
    "x.tsv": (read_matrix, numbers("\t")),
    "blanks.csv": (read_matrix, numbers(" ")),
    "x.csv.gz": (read_matrix, gzip.compress(numbers(";"), mtime=0)),
    "x.npy": (read_matrix, array(np.save, TABLE)),
    "x.npz": (read_matrix, array(np.savez_compressed, a=TABLE)),
    "x.npy.gz": (read_matrix, gzip.compress(array(np.save, TABLE), mtime=0)),
    "x.fasta": (read_sequences, "".join(f">s{k} name\n{row}\n" for k, row in enumerate(ROWS)).encode()),
    "x.a3m": (read_sequences, "".join(f">s{k}\n{row[:3]}acg{row[3:]}\n" for k, row in enumerate(ROWS)).encode()),
    "x.sto": (
        read_sequences,
        (
            "# STOCKHOLM 1.0\n" + "".join(f"s{k} {row}\n" for k, row in enumerate(ROWS)) + "#=GC RF xxx.xx\n//\n"
        ).encode(),
    ),
    "tokens.csv": (read_sequences, "\n".join(",".join(row) for row in ROWS).encode()),
    "plain.aln": (read_sequences, "\n".join(ROWS).encode()),
    "x.fasta.gz": (read_sequences, gzip.compress("".join(f">s\n{row}\n" for row in ROWS).encode(), mtime=0)),
    "x.txt": (read_corpus, "\n".join(TEXTS).encode()),
    "x.jsonl": (read_corpus, "\n".join(json.dumps({"id": k, "text": text}) for k, text in enumerate(TEXTS)).encode()),
    "text.csv": (read_corpus, ("id,text\n" + "\n".join(f'{k},"{text}"' for k, text in enumerate(TEXTS))).encode()),
    "x.ldac": (read_corpus, b"3 0:1 2:4 5:1\n2 1:2 2:1\n2 0:3 1:1\n" * 5),
    "docword.x.txt": (read_corpus, b"4\n6\n5\n1 1 2\n2 3 1\n3 3 4\n3 1 1\n4 6 2\n"),
    "vocab.x.txt": (
        lambda path: read_corpus(path.with_name("docword.x.txt")),
        "\n".join(WORDS).encode(),
    ),
    "x.mtx": (read_corpus, b"%%MatrixMarket matrix coordinate integer general\n4 6 4\n1 1 2\n2 3 1\n3 3 4\n4 6 2\n"),
    "numbers.dat": (read_sequences, b"4 3 4\n1 2 3\n2 2 3\n1 1 1\n4 1 2\n"),
    "names.csv": (read_sequences, b"name,seq\n" + b"".join(b"s%d,ACGUACGUAC%c\n" % (k, b"ACGU"[k]) for k in range(4))),
    "x.tokens": (lambda path: read_corpus(path.with_suffix(".ldac")), "\n".join(WORDS).encode()),
    "stop.words": (lambda path: read_corpus(path.with_name("x.txt"), stop_words=str(path)), b"egg\nflour\n"),
    "x.vec": (lambda path: read_vectors(path, WORDS), "".join(f"{word} 1.0 2.5 -3e-1\n" for word in WORDS).encode()),
}
BITS = (b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1a", b"\x85", b"\xe2\x80\xa8", b"\n", b"\r", b'"', b"'")
BITS += (b",", b";", b"\t", b" ", b":", b"#", b">", b"//", b"-", b"nan", b"inf", b"1e400", b"1" * 400, b"[" * 3000)
BITS += (b"{}", b"\\ud800")


def broken(content, rng):
    """The content with one to three things wrong with it."""
    for _ in range(int(rng.integers(1, 4))):
        content = BREAKS[int(rng.integers(len(BREAKS)))](content, rng)
    return content


def _cut(content, rng):
    return content[: int(rng.integers(len(content) + 1))]


def _flipped(content, rng):
    flipped = bytearray(content)
    for place in rng.integers(len(content), size=int(rng.integers(1, 9))) if content else ():
        flipped[place] ^= int(rng.integers(1, 256))
    return bytes(flipped)


def _with_bits(content, rng):
    place = int(rng.integers(len(content) + 1))
    return content[:place] + BITS[int(rng.integers(len(BITS)))] * int(rng.integers(1, 4)) + content[place:]


def _other_delimiter(content, rng):
    one, other = (b',;\t \n|:>".'[k : k + 1] for k in rng.integers(10, size=2))
    return content.replace(one, other, int(rng.integers(1, 30)))


def _other_encoding(content, rng):
    name = ("utf-16", "utf-32", "utf-16-be", "cp1252", "utf-7")[int(rng.integers(5))]
    return content.decode("latin-1").replace("a", "\u00e4").encode(name, "replace")


def _without_lines(content, rng):
    lines = content.split(b"\n")
    return b"\n".join(line for line in lines if rng.random() < 0.7)


def _long_line(content, rng):
    piece = content.split(b"\n")[0][:200] or b"x"
    return content + b"\n" + piece * (200_000 // len(piece))


def _packed(content, rng):
    return gzip.compress(content, mtime=0)


def _noise(content, rng):
    return rng.bytes(int(rng.integers(300)))


def _twice(content, rng):
    return content + content


def _empty(content, rng):
    return b""


def _wrong_numbers(content, rng):
    place = int(rng.integers(len(content) + 1))
    return content[:place] + struct.pack("<q", int(rng.integers(-(2**62), 2**62))) + content[place + 8 :]


BREAKS = (
    _cut,
    _flipped,
    _with_bits,
    _other_delimiter,
    _other_encoding,
    _without_lines,
    _long_line,
    _packed,
    _noise,
    _twice,
    _empty,
    _wrong_numbers,
)


def outcome(read, path):
    """What came of it: "read", "refused", or what went wrong."""

    def ring(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            read(path)
    except DataError as error:
        message = str(error)
        if "\n" in message or not message.startswith(str(path.parent)) or len(message) > 1000:
            return f"message {message[:300]!r}"
        return "refused"
    except TimeoutError:
        return "hang"
    except Warning as warning:
        return f"warning {warning!r}"
    except BaseException as error:
        return f"raw {type(error).__name__}: {str(error)[:200]}"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return "read"


def count_outcomes(folder, n, seed):
    """How often each outcome occurs among n broken files, and the first file of every outcome that must not occur."""
    for name, (_, content) in VALID.items():
        (folder / name).write_bytes(content)
    counts, examples = Counter(), {}
    names = sorted(VALID)
    for k in range(n):
        rng = stream(seed, "broken file", k)
        name = names[k % len(names)]
        read, content = VALID[name]
        path = folder / name
        path.write_bytes(broken(content, rng))
        found = outcome(read, path)
        kind = found.split(" ")[0]
        counts[kind] += 1
        if kind not in ("read", "refused"):
            examples.setdefault(f"{name}: {found}", path.read_bytes()[:300])
        path.write_bytes(content)
    return counts, examples


@pytest.mark.parametrize("name", VALID)
def test_the_files_are_valid_before_they_are_broken(tmp_path, name):
    for other, (_, content) in VALID.items():
        (tmp_path / other).write_bytes(content)
    VALID[name][0](tmp_path / name)


def test_a_long_line_below_blank_ones(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("\n" + "ACGU" * 100_000 + "\n" + "ACGA" * 100_000, encoding="ascii")
    assert read_sequences(path).states.shape == (2, 400_000)


def test_broken_files_are_read_or_refused(tmp_path):
    counts, examples = count_outcomes(tmp_path, 400, 0)
    assert not examples
    assert counts["refused"] > 100
    assert counts["read"] > 20


@pytest.mark.slow
def test_ten_thousand_broken_files_are_read_or_refused(tmp_path):
    counts, examples = count_outcomes(tmp_path, 10_000, 1)
    assert not examples, counts


@pytest.mark.parametrize("name", VALID)
def test_what_is_no_file_is_refused(tmp_path, name):
    """A folder, a pipe, a device, a dangling link, a loop of links, and a file that may not be read."""
    for other, (_, content) in VALID.items():
        (tmp_path / other).write_bytes(content)
    read, path = VALID[name][0], tmp_path / name
    for make in (Path.mkdir, os.mkfifo, _device, _dangling, _loop):
        path.unlink()
        make(path)
        assert outcome(read, path) == "refused", make
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        path.touch()
    if name != "stop.words":  # that may be empty
        assert outcome(read, path) == "refused"
    if os.geteuid():
        path.chmod(0)
        assert outcome(read, path) == "refused"


def _device(path):
    path.symlink_to("/dev/zero")


def _dangling(path):
    path.symlink_to(path.with_name("absent"))


def _loop(path):
    path.symlink_to(path)


def test_a_table_without_a_row_of_numbers_is_refused(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_bytes(b",,")
    with pytest.raises(DataError, match=r"has 0 rows of numbers; at least 3 samples are needed"):
        read_matrix(path)


def test_a_long_cell_is_not_taken_for_a_mark_of_missing_cells(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n3,4\n" + "1[" * 200 + ",6\n", encoding="ascii")
    with pytest.raises(DataError, match=r"is not a number; correct it, or leave the column out") as refusal:
        read_matrix(path)
    assert "--missing" not in str(refusal.value)
    assert len(str(refusal.value)) < 400
