"""Reads a corpus from any kind of file or folder that can hold one."""

import re
from collections import Counter
from pathlib import Path

from figures.analyse.errors import DataError
from figures.analyse.reading.opening import extension
from figures.analyse.reading.text.counted import Form, form_of, read_counted
from figures.analyse.reading.text.decode import decoded, lines_of
from figures.analyse.reading.text.documents import (
    Named,
    folder_documents,
    json_documents,
    line_documents,
    table_documents,
)
from figures.analyse.reading.text.ldac import Counted
from figures.analyse.reading.text.record import Corpus
from figures.analyse.reading.text.vocabulary import ENGLISH, pruned, require_words, words_of
from figures.analyse.wording import counted, shown

MIN_DOCUMENTS = 5  # a counted word is in so many at least, or in fewer if there are few
JSON_LINES = (".jsonl", ".ndjson")
MARKUP = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>|&(?:[a-z]{2,6}|#\d{2,5});")  # tags and entities of HTML and XML
MAX_WORDS = 4000  # the value matrix has as many rows and columns


def read_corpus(
    path: Path | str,
    *,
    encoding: str | None = None,
    stop_words: str = "auto",
    min_documents: int | None = None,
    max_words: int = MAX_WORDS,
    text_column: str | None = None,
    drop_empty: bool = False,
) -> Corpus:
    """Count the words of the documents at `path`, whose kind is told by its suffix.

    It may be words counted by number (LDA-C, the bag of words of UCI, or MatrixMarket, with their spelling in
    NAME.tokens or vocab.txt beside it), a folder of .txt files, a .txt file with one document a line, a column of a
    .csv or .tsv file, or a key of a .jsonl file; files may be gzipped.

    `stop_words` is "english", "none", a file with one word a line, or "auto", which leaves out English ones where
    words are read and none where they come counted. `min_documents` None stands for 5, or fewer where there are few
    documents. DataError, one line that names the file, the place and the remedy, where something is wrong.
    """
    path = Path(path)
    suffix = _suffix(path)
    if suffix in (".tokens", ".vocab"):
        raise DataError(path, "holds the words of a corpus; name the .ldac file beside it")
    if text_column is not None and suffix not in (".csv", ".tsv", *JSON_LINES):
        raise DataError(path, "--text-column is for .csv, .tsv, .jsonl and .ndjson")
    form = form_of_corpus(path)
    if form is not None:
        documents, words, how = read_counted(path, form, encoding)
        notes, more = [how], list[str]()
    else:
        named, how = _texts(path, suffix, encoding, text_column)
        documents, words, more = _counted(named)
        notes = [f"{how}; words are runs of letters, in lower case"]
    documents, dropped = require_words(path, documents, drop_empty)
    stop, said = stop_words_of(path, stop_words, form is not None)
    least = min_documents or fewest_documents(len(documents))
    return pruned(
        path,
        documents,
        words,
        stop_words=stop,
        min_documents=least,
        max_words=max_words,
        notes=[f"{counted(len(documents), 'document')}, {', '.join(notes)}", *more, *dropped, *said],
    )


def fewest_documents(n: int) -> int:
    """Return in how many of n documents a word must be to be counted, by default."""
    return max(1, min(MIN_DOCUMENTS, n // 10))


def _suffix(path: Path) -> str:
    if path.is_dir():
        return ""
    return extension(path) or ".txt"


def form_of_corpus(path: Path) -> Form | None:
    """Say in which form the documents come counted; None for text."""
    suffix = _suffix(path)
    if suffix == ".ldac":
        return "ldac"
    return None if path.is_dir() or suffix in (".csv", ".tsv", *JSON_LINES) else form_of(path)


def _texts(path: Path, suffix: str, encoding: str | None, column: str | None) -> tuple[Named, str]:
    if path.is_dir():
        return folder_documents(path, encoding), "each .txt file is one"
    if suffix in (".csv", ".tsv"):
        return table_documents(path, encoding, column), "each row of the table is one"
    if suffix in JSON_LINES:
        return json_documents(path, encoding, column), "each line of JSON is one"
    return line_documents(path, encoding), "each line is one (a folder has one a file)"


def _counted(documents: Named) -> tuple[list[Counted], list[str], list[str]]:
    """Count the words of each document; words get numbers in the order in which they come. Also notes on markup."""
    numbers: dict[str, int] = {}
    found: list[Counted] = []
    marked = list[str]()
    for name, text in documents:
        times = Counter(words_of(text))
        found.append((name, {numbers.setdefault(word, len(numbers)): n for word, n in times.items()}))
        mark = MARKUP.search(text)
        if mark is not None:
            marked.append(mark[0])
    if not marked:
        return found, list(numbers), []
    note = (
        f"{len(marked)} of them hold markup such as {shown(marked[0])}, whose words are counted too; take it out first"
    )
    return found, list(numbers), [note]


def stop_words_of(path: Path, choice: str, come_counted: bool) -> tuple[frozenset[str], list[str]]:
    """Return the words that are not counted, by the choice of the user, and a note on them."""
    if choice == "auto":
        choice = "none" if come_counted else "english"
    if choice == "none":
        return frozenset(), []
    if choice == "english":
        return ENGLISH, ["English stop words left out (--stop-words none keeps them)"]
    own = Path(choice)
    if not own.is_file():
        raise DataError(path, f"--stop-words {choice} must be english, none, or a file with one word a line")
    listed = frozenset(line.strip().lower() for line in lines_of(decoded(own)) if line.strip())
    return listed, [f"{len(listed)} stop words of {own.name} left out"]
