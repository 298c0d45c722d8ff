"""Reads the text of the natural numbers by a segmented sieve, whose memory does not grow with the numbers."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from math import isqrt
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.threads import in_threads
from simulate.trees.kernels import write_codes
from simulate.trees.tables import Integers, KeyCounts, KeyTable
from simulate.trees.word_counts import WordCounts
from theory.core import AtLeast, Count, Result, checked, checks
from theory.models.trees import NumberText
from theory.models.trees.factors import primes_up_to

SEGMENT = 2**16  # numbers whose words are written at a time: they fit into the cache of a core
CHUNK = 2**22  # numbers that a thread reads before it hands over what it counted
LARGEST_EXPONENT = 48  # 2^47 > 10^14
Threads = Annotated[int, AtLeast(1, most=1024)]
MAX_WORDS = 2**16  # words that a number of 16 bits can tell apart


@checked
def count_words(numbers: NumberText, *, n_threads: Threads = 1, segment: Count = SEGMENT) -> WordCounts:
    """Count the words of a text, which is sieved in pieces of `segment` numbers that are forgotten once counted.

    The memory is a few megabytes for each of `n_threads` threads, however long the text is. Neither the threads nor
    the segments change the result. ValueError for less than one thread or number in a segment.

    >>> counts = count_words(NumberText(10_000))
    >>> counts.n_words, counts.n_edges, counts.count("()()")
    (63, 29329, 2600)
    """
    threads, size = n_threads, min(segment, CHUNK)
    start = time.perf_counter()
    primes = _base_primes(numbers)
    codes: dict[int, int] = {}

    def counted(chunk: tuple[int, int]) -> tuple[Integers, Integers]:
        found = KeyCounts()
        for piece in _segments(*chunk, size, primes):
            found.add(piece)
        return found.sorted()

    for keys, counts in in_threads(counted, _chunks(numbers), threads):
        for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
            codes[key] = codes.get(key, 0) + count
    order = sorted(codes, key=lambda code: (-codes[code], code))
    words = tuple(word_of_code(code) for code in order)
    counts_of = np.array([codes[code] for code in order], dtype=np.int64)
    return WordCounts(numbers, words, counts_of, seconds=time.perf_counter() - start)


@dataclass(frozen=True, eq=False, repr=False)
class TreeText(Result):
    """The text of `numbers` as places in a vocabulary: `ids` (n,) are the words of first, first + 1, ..., in order.

    `vocabulary` counts the words and lists them, the most frequent first, so that the id 0 is the most frequent word.
    The ids are integers of 16 bits, or of 32 where the vocabulary is larger.
    """

    numbers: NumberText
    vocabulary: WordCounts = field(repr=False)
    ids: NDArray[Any] = field(repr=False)

    @checked
    def words(self, start: int = 0, stop: int | None = None) -> list[str]:
        """Return the words at the places start, ..., stop - 1 of the text, written out."""
        return [self.vocabulary.words[i] for i in self.ids[start:stop].tolist()]


@checked
def read_text(numbers: NumberText, *, n_threads: Threads = 1, segment: Count = SEGMENT) -> TreeText:
    """Read a text into memory, two bytes a word: once to learn its vocabulary and once to write down its words.

    Neither `n_threads` nor `segment` change the result. ValueError, with both sizes, where the text does not fit into
    memory, and as in `count_words`, which needs none for it.

    >>> read_text(NumberText(20, first=16)).words()
    ['((()))', '()', '()(())', '()', '(())()']
    """
    threads, size = n_threads, min(segment, CHUNK)
    _require_memory(numbers)
    vocabulary = count_words(numbers, n_threads=threads, segment=size)
    primes = _base_primes(numbers)
    codes = np.array([_code(word) for word in vocabulary.words], dtype=np.int64)
    place = KeyTable(codes, np.arange(len(codes)))
    ids = np.empty(numbers.n_words, dtype=np.uint16 if len(codes) <= MAX_WORDS else np.int32)

    def write(chunk: tuple[int, int]) -> None:
        low = chunk[0] - numbers.first
        for piece in _segments(*chunk, size, primes):
            ids[low : low + len(piece)] = place(piece)
            low += len(piece)

    for _ in in_threads(write, _chunks(numbers), threads):
        pass
    ids.setflags(write=False)
    return TreeText(numbers, vocabulary, ids)


def word_of_code(code: int) -> str:
    """Return the word in parentheses of a word that is held as a binary number, see `simulate.trees.kernels`."""
    return f"{code:b}".replace("1", "(").replace("0", ")") if code else ""


def _code(word: str) -> int:
    return int(word.replace("(", "1").replace(")", "0"), 2)


def _require_memory(numbers: NumberText) -> None:
    try:
        checks.fits_in_memory(f"a text of {numbers.n_words} words", numbers.n_words / 4)
    except MemoryError as failed:
        raise ValueError(f"numbers must fit into memory as a text: {failed}; count_words needs none for it") from None


def _base_primes(numbers: NumberText) -> Integers:
    return primes_up_to(isqrt(numbers.last)).astype(np.int64)


def _chunks(numbers: NumberText) -> Iterator[tuple[int, int]]:
    """Yield (first, last + 1) of stretches of equal length."""
    for first in range(numbers.first, numbers.last + 1, CHUNK):
        yield first, min(first + CHUNK, numbers.last + 1)


def _segments(first: int, stop: int, size: int, primes: Integers) -> Iterator[Integers]:
    """Yield the codes of the words from `first` to `stop` - 1; every array is overwritten by the next one."""
    codes, products = (np.empty(min(size, stop - first), dtype=np.int64) for _ in range(2))
    small = _small_words()
    for low in range(first, stop, size):
        n = min(size, stop - low)
        write_codes(low, codes[:n], products[:n], primes, small)
        yield codes[:n]


@lru_cache(maxsize=1)
def _small_words() -> Integers:
    """Return the codes of the words of 0 (unused), 1, 2, ..., which stand for exponents.

    They are found by the sieve itself. Its first pass knows no exponents above one, and writes the words of squarefree
    numbers; each further pass writes those of one more depth, of which exponents up to 47 have three.
    """
    small = np.zeros(LARGEST_EXPONENT, dtype=np.int64)
    primes = primes_up_to(isqrt(LARGEST_EXPONENT)).astype(np.int64)
    for _ in range(4):
        codes, products = (np.empty(LARGEST_EXPONENT - 2, dtype=np.int64) for _ in range(2))
        write_codes(2, codes, products, primes, small)
        small[2:] = codes
    return small
