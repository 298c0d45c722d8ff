"""Documents that come counted, by number of word: LDA-C, the bag of words of UCI, and MatrixMarket."""

import re
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.io import mmread
from scipy.sparse import coo_array

from figures.analyse.errors import DataError
from figures.analyse.memory import require_memory
from figures.analyse.reading.opening import open_binary
from figures.analyse.reading.text.decode import decoded, lines_of
from figures.analyse.reading.text.ldac import Counted, read_ldac, read_words, tokens_beside
from figures.analyse.wording import counted

Form = Literal["ldac", "uci", "matrix market"]
BANNER = b"%%MatrixMarket"
LINE_OF_LDAC = re.compile(rb"\d+( +\d+:[\d.]+)+ *")
BYTES_PER_DOCUMENT = 300
HEAD_BYTES = 1 << 16  # bytes that decide about the form


def form_of(path: Path) -> Form | None:
    """Say in which form the documents are counted; None where they are not."""
    with open_binary(path) as file:
        head = file.read(HEAD_BYTES)
    lines = head.splitlines()[: -1 if len(head) == HEAD_BYTES else None]
    first = list(islice((line.strip() for line in lines if line.strip()), 5))
    if head.startswith(BANNER):
        return "matrix market"
    if len(first) > 3 and all(line.isdigit() and len(line) < 10 for line in first[:3]) and len(first[3].split()) == 3:
        return "uci"
    # An empty document is a line "0", so only one of the lines must show the colons.
    if any(b":" in line for line in first) and all(LINE_OF_LDAC.fullmatch(line) or line == b"0" for line in first):
        return "ldac"
    return None


def read_counted(path: Path, form: Form, encoding: str | None = None) -> tuple[list[Counted], list[str], str]:
    """Return the documents, the words that their numbers stand for, and a note on the form.

    The words are in a file beside it, one in each line. DataError where numbers and words do not fit each other.
    """
    if form == "ldac":
        return *read_ldac(path, encoding), "counted words (LDA-C)"
    tokens = tokens_beside(path)
    words = read_words(tokens, encoding)
    if form == "uci":
        return _uci(path, decoded(path, encoding), tokens, len(words)), words, "counted words (UCI bag of words)"
    counts = _matrix_market(path, decoded(path, encoding))
    said = "counted words (MatrixMarket)"
    if counts.shape[1] != len(words) == counts.shape[0]:
        counts, said = counts.T, f"{said}, whose rows are the words"
    if counts.shape[1] != len(words):
        size = f"{counts.shape[0]} x {counts.shape[1]}"
        raise DataError(path, f"is a matrix of {size}, but {tokens.name} has {counted(len(words), 'word')}")
    rows, columns = counts.coords
    return _documents(path, counts.shape[0], rows, columns, counts.data), words, said


def _uci(path: Path, text: str, tokens: Path, n_words: int) -> list[Counted]:
    """Read lines "document word count" of numbers from 1, below three lines: how many documents, words and lines."""
    lines = [(number, line.split()) for number, line in enumerate(lines_of(text), start=1) if line.strip()]
    n_documents, said_words, n_lines = (int(cells[0]) for _, cells in lines[:3])
    for number, cells in lines[3:]:
        if len(cells) != 3 or not all(cell.isascii() and cell.isdigit() and len(cell) < 10 for cell in cells):
            raise DataError(path, f"line {number} must hold three whole numbers: of a document, of a word, and a count")
        if not (1 <= int(cells[0]) <= n_documents and 1 <= int(cells[1]) <= n_words):
            there = f"{counted(n_documents, 'document')}, and {tokens.name} has {counted(n_words, 'word')}"
            raise DataError(path, f"line {number}: document {cells[0]}, word {cells[1]}: its first line says {there}")
    if said_words != n_words:
        raise DataError(path, f"says {counted(said_words, 'word')} in its second line, but {tokens.name} has {n_words}")
    if n_lines != len(lines) - 3:
        raise DataError(path, f"says in its third line that {n_lines} lines follow, but {len(lines) - 3} do; cut off?")
    values = np.array([list(map(int, cells)) for _, cells in lines[3:]], dtype=np.int64)
    pairs = values[:, 0] * (n_words + 1) + values[:, 1]
    if len(np.unique(pairs)) < len(pairs):
        raise DataError(path, "counts a word of a document twice; add such counts up")
    return _documents(path, n_documents, values[:, 0] - 1, values[:, 1] - 1, values[:, 2])


def _matrix_market(path: Path, text: str) -> coo_array:
    try:
        counts = coo_array(mmread(BytesIO(text.encode()), spmatrix=False))
    except (ValueError, OverflowError, TypeError, MemoryError) as error:
        raise DataError(path, f"is damaged, or no MatrixMarket file ({error})") from None
    counts.sum_duplicates()
    values = counts.data
    if text.split("\n", 1)[0].split()[3:4] == ["pattern"]:
        raise DataError(path, "says which words occur but not how often; write counts (integer, not pattern)")
    if np.iscomplexobj(values) or not (np.isfinite(values) & (values >= 0) & (values == np.floor(values))).all():
        raise DataError(path, "holds values that are no counts; each must be a whole number of at least 0")
    return counts


def _documents(
    path: Path, n_documents: int, rows: NDArray[np.int64], columns: NDArray[np.int64], times: NDArray[np.int64]
) -> list[Counted]:
    require_memory(path, "holding its documents", BYTES_PER_DOCUMENT * n_documents, "take a part of them")
    documents: list[Counted] = [(f"document {k}", {}) for k in range(1, n_documents + 1)]
    for row, column, n in zip(rows.tolist(), columns.tolist(), times.tolist(), strict=True):
        if n:
            documents[row][1][column] = int(n)
    return documents
