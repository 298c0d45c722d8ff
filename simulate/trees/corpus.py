"""Writes the text of the natural numbers to a file that programs for ordinary text can read."""

import gzip
import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import numpy as np

from simulate.trees.sieve import read_text
from theory.core import Count, Result, checked, checks
from theory.core.atomic_write import atomic_write
from theory.models.trees import NumberText, RootedTree
from theory.models.trees.tree import tree_named

CHUNK_NUMBERS = 2**20  # numbers that are in memory at a time
LETTERS = str.maketrans("()", "oc")  # opening and closing parentheses: readers of text drop punctuation
PARENTHESES = str.maketrans("oc", "()")
SUFFIXES = (".txt", ".txt.gz")


@dataclass(frozen=True, eq=False, repr=False)
class WrittenCorpus(Result):
    """What was written to the file `path`: `n_documents` lines of `words_per_document` words, the last maybe fewer."""

    path: Path
    n_documents: int
    n_words: int
    words_per_document: int


@checked
def write_corpus(
    numbers: NumberText, path: str | os.PathLike[str], *, words_per_document: Count = 100
) -> WrittenCorpus:
    """Write the words of a text to a .txt or .txt.gz file, a document of `words_per_document` words on each line.

    A document is a stretch of numbers that follow each other. Words are spelled in letters, o for an opening and c for
    a closing parenthesis, such as oocc for (()), because readers of text drop punctuation; `word_of_letters` undoes
    it. The command `python -m figures analyse FILE.txt --stop-words none` reads the file. It is written beside its
    place first and then moved there, so that no half of it is ever seen. Memory is needed for a million words at a
    time only.

    ValueError for another suffix, for a folder that is not there, and for documents of less than one word; OSError,
    with the name of the file, where the system cannot write it.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "numbers.txt"
    >>> write_corpus(NumberText(9), file, words_per_document=4).n_documents
    2
    >>> print(file.read_text().strip())
    oc oc oocc oc
    ococ oc oocc oocc
    """
    file, size = Path(path), words_per_document
    if not file.name.lower().endswith(SUFFIXES) or file.name.lower() in SUFFIXES:
        raise ValueError(f"path must be that of a .txt or .txt.gz file, got {checks.shown(str(path))}")
    if not file.parent.is_dir() or file.is_dir():
        raise ValueError(f"path must be that of a file in a folder that is there, got {checks.shown(str(path))}")
    step, packed = min(size, numbers.n_words) * max(1, CHUNK_NUMBERS // size), file.name.lower().endswith(".gz")
    with atomic_write(file) as temporary, _opened(temporary, packed=packed) as stream:
        for first in range(numbers.first, numbers.last + 1, step):
            part = NumberText(min(first + step - 1, numbers.last), first)
            stream.write(_lines(part, size))
    return WrittenCorpus(file, -(-numbers.n_words // size), numbers.n_words, size)


@checked
def letters_of_word(word: str) -> str:
    """Return a word of parentheses spelled in letters, o for ( and c for ).

    >>> letters_of_word("(())()")
    'ooccoc'
    """
    return RootedTree(word).word.translate(LETTERS)


@checked
def word_of_letters(letters: str) -> str:
    """Return the word of parentheses that is spelled in the letters o and c; ValueError for other letters.

    >>> word_of_letters("ooccoc")
    '(())()'
    """
    if set(letters) - {"o", "c"}:
        raise ValueError(f"letters must be o and c only, got {checks.shown(letters)}")
    return tree_named("letters", letters.translate(PARENTHESES)).word


def _opened(path: Path, *, packed: bool) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path, "wb", compresslevel=6) if packed else path.open("wb"))


def _lines(numbers: NumberText, size: int) -> bytes:
    """Return the documents of these numbers, the lines ending in a newline."""
    text = read_text(numbers)
    spelled = np.array([word.translate(LETTERS) for word in text.vocabulary.words])
    words = spelled[text.ids].tolist()
    return "".join(" ".join(words[k : k + size]) + "\n" for k in range(0, len(words), size)).encode()
