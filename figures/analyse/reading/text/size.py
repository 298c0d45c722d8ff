"""Says how large a corpus is, by a sample of its text: documents, counted words, and the vocabulary."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from figures.analyse.errors import DataError
from figures.analyse.reading.opening import extension, open_binary, uncompressed_size
from figures.analyse.reading.text.counted import Form
from figures.analyse.reading.text.documents import text_files
from figures.analyse.reading.text.ldac import tokens_beside
from figures.analyse.reading.text.read import fewest_documents, form_of_corpus, stop_words_of
from figures.analyse.reading.text.vocabulary import words_of
from figures.analyse.wording import size as in_words

SAMPLE = 1 << 20  # bytes that are looked at


@dataclass(frozen=True)
class CorpusSize:
    """About how many documents and words a corpus holds.

    `entries` is the number of different words in each document, summed over documents, as they are read; `tokens` how
    many words are counted once the vocabulary of `words` words is chosen. `known` says in words where this is from.
    """

    n_bytes: float
    documents: float
    entries: float
    tokens: float
    words: int
    form: Form | None  # in which words come counted; None for text
    known: str


def corpus_size(path: Path, *, stop_words: str, min_documents: int | None, max_words: int) -> CorpusSize:
    """Estimate the size of the corpus at `path`, which is read up to its first SAMPLE bytes.

    Each line of a file counts as a document, and each file of a folder. DataError where the file cannot be opened,
    or holds no document.
    """
    form = form_of_corpus(path)
    texts, n_bytes, n_files = _sample(path)
    seen = sum(len(text.encode("utf-8")) for text in texts)
    documents = texts if path.is_dir() else [line for text in texts for line in text.splitlines() if line.strip()]
    if extension(path) in (".csv", ".tsv"):
        documents = documents[1:]  # below the header
    share = max(1.0, n_bytes / max(1, seen))
    if form is not None:
        return _counted(path, form, documents, n_bytes, share, max_words)
    if not documents:
        raise DataError(path, "holds no document")
    stop, _ = stop_words_of(path, stop_words, False)
    times, frequency, entries = Counter[str](), Counter[str](), 0
    for text in documents:
        own = Counter(words_of(text))
        entries += len(own)
        times += own
        frequency.update(own.keys())
    n = n_files if path.is_dir() else len(documents) * share
    least = fewest_documents(round(n)) if min_documents is None else min_documents
    kept = [word for word, k in frequency.most_common() if k * share >= least and word not in stop][:max_words]
    tokens = share * sum(times[word] for word in kept)
    which = "all of them" if share == 1 else f"by its first {in_words(seen)} of {in_words(n_bytes)}"
    return CorpusSize(n_bytes, n, entries * share, tokens, max(2, len(kept)), None, which)


def _sample(path: Path) -> tuple[list[str], float, int]:
    """Return the first texts, how many bytes there are in all, and in how many files."""
    if not path.is_dir():
        return [_head(path, SAMPLE)], float(uncompressed_size(path)), 1
    files = text_files(path)
    texts, left = list[str](), SAMPLE
    for file in files:
        if left <= 0:
            break
        texts.append(_head(file, SAMPLE))
        left -= len(texts[-1])
    return texts, float(sum(uncompressed_size(file) for file in files)), len(files)


def _head(path: Path, most: int) -> str:
    """Return the first whole lines of a file, at most so many bytes; what does not decode is left to the reader."""
    with open_binary(path) as file:
        head = file.read(most)
    whole = head if len(head) < most else head[: head.rfind(b"\n") + 1] or head
    wide = whole[:2] in (b"\xff\xfe", b"\xfe\xff")
    return whole.decode("utf-16" if wide else "utf-8", "replace")


def _counted(path: Path, form: Form, lines: list[str], n_bytes: float, share: float, max_words: int) -> CorpusSize:
    """Describe documents that come counted: LDA-C by its first lines, other forms by their sizes and first counts."""
    words = sum(1 for line in _head(tokens_beside(path), 64 * SAMPLE).splitlines() if line.strip())
    cells = [line.split() for line in lines if not line.startswith("%")]
    if form == "ldac":
        counts = [_number(cell.rpartition(":")[2]) for line in cells for cell in line[1:]]
        documents, entries, known = len(lines) * share, len(counts) * share, "by its first lines"
    else:
        above = 3 if form == "uci" else 1
        sizes = [_number(cell) for line in cells[:above] for cell in line[: 4 - above]] or [0.0]
        counts = [_number(line[2]) for line in cells[above:] if len(line) == 3]
        turned = form == "matrix market" and len(sizes) == 3 and sizes[0] == words != sizes[1]  # rows are words
        documents, entries, known = sizes[int(turned)], sizes[-1], "by the sizes in its first lines"
    tokens = entries * float(np.mean(counts)) if counts else entries
    return CorpusSize(n_bytes, documents, entries, tokens, max(2, min(words, max_words)), form, known)


def _number(text: str) -> float:
    """Return the number that a cell holds; 0 where it holds none, of which the reader will say more."""
    try:
        return max(0.0, float(text))
    except ValueError:
        return 0.0
