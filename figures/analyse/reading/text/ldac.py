"""Counted documents in the LDA-C format: lines "M id:count id:count ...", and the words in a file beside it."""

import re
from pathlib import Path

from figures.analyse.errors import DataError
from figures.analyse.reading.opening import plain_name
from figures.analyse.reading.text.decode import decoded, lines_of
from figures.analyse.wording import counted, shown

MAX_COUNT_DIGITS = 9  # a count has at most so many digits
WHOLE = re.compile(r"\.0*$")  # a count may be written 2.0
Counted = tuple[str, dict[int, int]]  # name of a document; how often each word occurs


def read_ldac(path: Path, encoding: str | None = None) -> tuple[list[Counted], list[str]]:
    """Read documents, and the words that their numbers stand for (from 0, one in each line of `tokens_beside`)."""
    tokens = tokens_beside(path)
    words = read_words(tokens, encoding)
    documents = []
    for number, line in enumerate(lines_of(decoded(path, encoding)), start=1):
        if line.strip():
            documents.append((f"line {number}", _counts(path, tokens, number, line.split(), len(words))))
    return documents, words


def read_words(tokens: Path, encoding: str | None = None) -> list[str]:
    """Return the words of a vocabulary, one in each line. DataError where a line within it is empty."""
    words = [line.strip() for line in lines_of(decoded(tokens, encoding))]
    while words and not words[-1]:
        words.pop()
    if not all(words):
        raise DataError(tokens, f"line {words.index('') + 1} is empty; it holds one word a line")
    return words


def tokens_beside(path: Path) -> Path:
    """Find the words beside a file NAME.ldac, NAME.dat or docword.NAME.txt, gzipped or not.

    They are in NAME.tokens, NAME.vocab or NAME.vocab.txt, for the bag of words of UCI in vocab.NAME.txt, else in
    vocab.txt. DataError where there is none.
    """
    stem = Path(plain_name(path)).stem
    names = [f"{stem}{end}" for end in (".tokens", ".tokens.gz", ".vocab", ".vocab.txt", "_vocab.txt")]
    if stem.startswith("docword"):
        names.append(f"{stem.replace('docword', 'vocab', 1)}.txt")
    for name in (*names, "vocab.txt"):
        if (path.parent / name).is_file() and path.parent / name != path:
            return path.parent / name
    raise DataError(
        path,
        f"counts words by number; their spelling, one word a line, must be in {stem}.tokens or vocab.txt beside it",
    )


def _counts(path: Path, tokens: Path, number: int, cells: list[str], n_words: int) -> dict[int, int]:
    entries: dict[int, int] = {}
    for cell in cells[1:]:
        word, colon, times = cell.partition(":")
        times = WHOLE.sub("", times)
        if not (colon and word.isascii() and word.isdigit() and times.isascii() and times.isdigit()):
            raise DataError(path, f"line {number}: {shown(cell)} is not id:count (two whole numbers)")
        if len(word) > 18 or int(word) >= n_words:
            raise DataError(path, f"line {number}: there is no word {word}: {tokens.name} has {n_words}, from 0")
        if len(times) > MAX_COUNT_DIGITS:
            raise DataError(path, f"line {number}: {shown(cell)} is no count of words in a document")
        if int(word) in entries:
            raise DataError(path, f"line {number}: word {word} is counted twice")
        entries[int(word)] = int(times)
    if cells[0] != str(len(entries)):
        raise DataError(
            path, f"line {number} begins with {shown(cells[0])}, but has {counted(len(entries), 'word')}; is it LDA-C?"
        )
    return {word: times for word, times in entries.items() if times}
