"""Counted documents in the LDA-C format: lines "M id:count id:count ...", and the words in a file beside it."""

from pathlib import Path

from figures.analyse.errors import DataError
from figures.analyse.reading.opening import plain_name
from figures.analyse.reading.text.decode import decoded, lines_of
from figures.analyse.wording import counted, shown

LONGEST = 9  # a count has at most so many digits
Counted = tuple[str, dict[int, int]]  # name of a document; how often each word occurs


def read_ldac(path: Path, encoding: str | None = None) -> tuple[list[Counted], list[str]]:
    """Read documents, and the words that their numbers stand for (from 0, one a line of `tokens_beside`)."""
    tokens = tokens_beside(path)
    words = [line.strip() for line in lines_of(decoded(tokens, encoding))]
    while words and not words[-1]:
        words.pop()
    if not all(words):
        raise DataError(tokens, f"line {words.index('') + 1} is empty; it holds one word a line")
    documents = []
    for number, line in enumerate(lines_of(decoded(path, encoding)), start=1):
        if line.strip():
            documents.append((f"line {number}", _counts(path, tokens, number, line.split(), len(words))))
    return documents, words


def tokens_beside(path: Path) -> Path:
    """Find corpus.tokens beside corpus.ldac or corpus.ldac.gz. DataError where there is none."""
    stem = Path(plain_name(path)).stem
    for name in (f"{stem}.tokens", f"{stem}.tokens.gz", f"{stem}.vocab"):
        if (path.parent / name).is_file():
            return path.parent / name
    raise DataError(
        path, f"counts words by number; their spelling, one word a line, must be in {stem}.tokens beside it"
    )


def _counts(path: Path, tokens: Path, number: int, cells: list[str], n_words: int) -> dict[int, int]:
    entries: dict[int, int] = {}
    for cell in cells[1:]:
        word, colon, times = cell.partition(":")
        if not (colon and word.isascii() and word.isdigit() and times.isascii() and times.isdigit()):
            raise DataError(path, f"line {number}: {shown(cell)} is not id:count (two whole numbers)")
        if len(word) > 18 or int(word) >= n_words:
            raise DataError(path, f"line {number}: there is no word {word}: {tokens.name} has {n_words}, from 0")
        if len(times) > LONGEST:
            raise DataError(path, f"line {number}: {shown(cell)} is no count of words in a document")
        if int(word) in entries:
            raise DataError(path, f"line {number}: word {word} is counted twice")
        entries[int(word)] = int(times)
    if cells[0] != str(len(entries)):
        raise DataError(
            path, f"line {number} begins with {shown(cells[0])}, but has {counted(len(entries), 'word')}; is it LDA-C?"
        )
    return {word: times for word, times in entries.items() if times}
