"""Which words of a text are counted."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from figures.analyse.errors import DataError
from figures.analyse.reading.text.ldac import Counted
from figures.analyse.reading.text.record import Corpus
from figures.analyse.wording import counted, shown

N_LISTED_WORDS = 5
MIN_LETTERS = 2  # letters that a word has at least
APOSTROPHE = "\N{RIGHT SINGLE QUOTATION MARK}"

_ENGLISH = """
a about above after again against ain all also am among an and any are aren't as at be because been before being
below between both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each
either else ever every few for from further get got had hadn't has hasn't have haven't having he he'd he'll he's
her here here's hers herself him himself his how how's however i i'd i'll i'm i've if in into is isn't it it's its
itself just let let's like may me might more most much must mustn't my myself neither no nor not now of off often
on once one only or other others ought our ours ourselves out over own per rather said same say says shall shan't
she she'd she'll she's should shouldn't since so some still such than that that's the their theirs them themselves
then there there's these they they'd they'll they're they've this those though through thus to too under until up
upon us very via was wasn't we we'd we'll we're we've were weren't what what's when when's where where's whether
which while who who's whom whose why why's will with within without won't would wouldn't yet you you'd you'll
you're you've your yours yourself yourselves
"""
ENGLISH = frozenset(_ENGLISH.split())


def as_counts(documents: list[Counted], n_words: int) -> Any:
    """Return sparse counts (documents, words)."""
    lengths = [len(own) for _, own in documents]
    row = np.repeat(np.arange(len(documents)), lengths)
    column = np.fromiter((word for _, own in documents for word in own), dtype=np.int64, count=len(row))
    times = np.fromiter((n for _, own in documents for n in own.values()), dtype=np.int64, count=len(row))
    return sparse.csr_array((times, (row, column)), shape=(len(documents), n_words))


def require_words(path: Path, documents: list[Counted], drop_empty: bool) -> tuple[list[Counted], list[str]]:
    """Return the documents that have words, and a note on the others.

    DataError where there are others and they are not to be dropped.
    """
    if not documents:
        raise DataError(path, "holds no document")
    empty = [name for name, own in documents if not own]
    if len(empty) == len(documents):
        found = counted(len(documents), "document")
        raise DataError(path, f"has no words in its {found}; if it is a table of numbers say --kind matrix")
    if not empty:
        return documents, []
    first = ", ".join(empty[:N_LISTED_WORDS]) + (", ..." if len(empty) > N_LISTED_WORDS else "")
    if not drop_empty:
        raise DataError(
            path, f"{counted(len(empty), 'document')} without words ({first}); leave out what is empty by --drop-empty"
        )
    return [entry for entry in documents if entry[1]], [f"{counted(len(empty), 'empty document')} left out ({first})"]


def pruned(
    path: Path,
    documents: list[Counted],
    words: list[str],
    *,
    stop_words: Iterable[str],
    min_documents: int,
    max_words: int,
    notes: Iterable[str],
    fold: Callable[[str], str] = str.lower,
) -> Corpus:
    """Count the words of the vocabulary in every document.

    The vocabulary holds the words in at least `min_documents` documents that are no stop words, and of these at most
    the `max_words` that are in most documents. Documents that have none of them are left out, with a note.
    """
    counts = as_counts(documents, len(words))
    stop = frozenset(stop_words)
    stopped = np.array([fold(word) in stop for word in words], dtype=bool)
    frequency = np.bincount(counts.indices, minlength=len(words))  # number of documents that hold each word
    kept = (frequency >= min_documents) & ~stopped
    said = [*notes, _said(frequency, stopped, kept, min_documents)]
    if kept.sum() > max_words:
        order = np.argsort(np.where(kept, -frequency, 1), kind="stable")
        kept[order[max_words:]] = False
        said.append(f"of these the {max_words} words that are in most documents (--max-words)")
    if kept.sum() < 2:
        raise DataError(path, _too_few(words, kept, min_documents))
    chosen = counts[:, np.flatnonzero(kept)]
    full = np.asarray(chosen.sum(axis=1)) > 0
    if not full.all():
        said.append(f"{counted(int((~full).sum()), 'document')} without any of these words left out")
    vocabulary = tuple(word for word, own in zip(words, kept, strict=True) if own)
    return Corpus(path, sparse.csr_array(chosen[np.flatnonzero(full)]), vocabulary, tuple(said))


def _said(frequency: Any, stopped: Any, kept: Any, min_documents: int) -> str:
    there = frequency > 0
    rare = int((there & ~stopped & (frequency < min_documents)).sum())
    too_rare = f" and {rare} in fewer than {min_documents} documents" if min_documents > 1 else ""
    return (
        f"{counted(int(there.sum()), 'different word')}, of which {int((there & stopped).sum())} are stop words"
        f"{too_rare}: {int(kept.sum())} kept"
    )


def _too_few(words: list[str], kept: Any, min_documents: int) -> str:
    left = [word for word, own in zip(words, kept, strict=True) if own]
    which = f"a vocabulary of one word, {shown(left[0])}" if left else "no word"
    least = f"{counted(min_documents, 'document')} or more"
    remedy = "lower --min-documents, or add documents" if min_documents > 1 else "add documents"
    return f"has {which} in {least}, and at least two words are needed; {remedy}"


def words_of(text: str) -> list[str]:
    """Return the words of a text in order and in lower case.

    They are runs of at least two letters, with apostrophes and hyphens inside; numbers are no words.
    """
    normal = unicodedata.normalize("NFC", text).lower().replace(APOSTROPHE, "'")
    return [word for word in _pattern().findall(normal) if len(word) >= MIN_LETTERS]


@cache
def _pattern() -> re.Pattern[str]:
    """Return the pattern of a word: letters of any script with the marks on them.

    Regular expressions do not count these marks as letters.
    """
    marks = "".join(chr(k) for k in range(0x300, 0x3000) if unicodedata.category(chr(k)).startswith("M"))
    part = rf"[^\W\d_](?:[^\W\d_]|[{marks}])*"
    return re.compile(rf"{part}(?:['\-]{part})*")
