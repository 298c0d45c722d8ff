"""Word vectors as text: on every line a word and its numbers (the format of word2vec and GloVe)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from figures.analyse.errors import DataError
from figures.analyse.reading.text.decode import decoded, lines_of
from figures.analyse.wording import counted, shown


def read_vectors(path: Path, words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Read the vectors of `words`, (words, dimension), and which of them the file holds, (words,).

    Words that are not in the file have zeros.
    """
    place = {word: k for k, word in enumerate(words)}
    found: dict[int, NDArray[np.float64]] = {}
    dimension = None
    for number, line in enumerate(lines_of(decoded(path)), start=1):
        if not line.strip():
            continue
        cells = line.rstrip().split(" ")  # only at spaces, since other blanks may be part of a word
        if number == 1 and len(cells) == 2:
            continue  # the header of word2vec says how many words and numbers follow
        dimension = dimension or len(cells) - 1
        if len(cells) <= dimension:
            raise DataError(path, f"line {number} has {counted(len(cells) - 1, 'number')}, but others have {dimension}")
        word = " ".join(cells[:-dimension])
        if word in place:
            found[place[word]] = _numbers(path, number, cells[-dimension:])
    if len(found) < 2:
        raise DataError(path, f"holds {counted(len(found), 'word')} of the vocabulary (spelled in lower case?)")
    vectors = np.zeros((len(words), dimension or 0))
    there = np.zeros(len(words), dtype=bool)
    for k, vector in found.items():
        vectors[k], there[k] = vector, True
    return vectors, there


def _numbers(path: Path, number: int, cells: list[str]) -> NDArray[np.float64]:
    try:
        vector = np.array(cells, dtype=float)
    except ValueError:
        raise DataError(path, f"line {number}: not all of {shown(' '.join(cells))} are numbers") from None
    if not np.isfinite(vector).all():
        raise DataError(path, f"line {number} holds a number that is not finite")
    return vector
