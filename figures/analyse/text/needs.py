"""Says what the analysis of a corpus needs, memory and time, from a sample of its text.

What needs most is the least-squares fit, with several matrices of words x words; beside it there are the libraries, the
compiled code, and the counts. How many bytes and seconds each takes was measured step by step, on corpora of 300 to
20000 documents.
"""

import argparse
from dataclasses import dataclass, replace
from functools import partial

from figures.analyse.needs import Needs, require_affordable
from figures.analyse.reading.text import CorpusSize, corpus_size
from figures.analyse.text.comparisons import DENSE_UP_TO
from figures.analyse.text.plan import ENCODED, THRESHOLDS, default_topics
from simulate.topics.lda import DEFAULT_CHAINS
from simulate.topics.value_matrix import BLOCK_ENTRIES

NUMBER = 8  # bytes
DRAWS = 6  # masks of each document, by default
ENCODER, ENCODER_SECONDS, DOCUMENT_SECONDS = 300e6, 3.0, 0.12  # bytes of the weights while they are read; of --encoder
# Memory in bytes: libraries, then compiled code with its results, and the figures.
LIBRARIES, COMPILED, FIGURES = 187e6, 60e6, 50e6
TEXTS = 3  # copies of the text while it is read: bytes, characters and lines
ENTRY, LINE = 75, 330  # a word of a document, counted; a line of numbers that is split into cells
TOKEN, CHUNK = 28, 48e6  # of the sampler for each word of the text, and of its perplexity
SQUARES, BLOCKS = 6, 3  # matrices of words x words, and blocks of documents, in the fit
# Time in s; floating point operations of one core in a second.
START, DRAWING = 4.0, 2.0
OPERATIONS = 30e9
READ = 5.5e6  # bytes of text in a second
SAMPLED = 3e-9  # for each word of the text, topic, sweep and chain
MASKED, ADDED, COMPARED = 40e-9, 10e-9, 4e-7  # for each document x word of a draw; word x word of a block; word x word


@dataclass(frozen=True)
class _Fit:
    """The sizes of the least-squares fit."""

    size: CorpusSize

    @property
    def block(self) -> float:
        """Documents that are masked at a time."""
        return max(1.0, min(self.size.documents, BLOCK_ENTRIES / (self.size.words + 1)))

    @property
    def memory(self) -> float:
        """What is held while documents are masked, or while the equations are solved."""
        square = NUMBER * (self.size.words + 1.0) ** 2
        return max(SQUARES * square, SQUARES / 2 * square + BLOCKS * NUMBER * self.block * (self.size.words + 1))

    @property
    def seconds(self) -> float:
        """The time of masking, of adding up and of solving."""
        n, words = self.size.documents, float(self.size.words)
        masking = DRAWS * n * words * MASKED + DRAWS * n / self.block * words**2 * ADDED
        return masking + 2.4 * words**3 / OPERATIONS


def text_needs(options: argparse.Namespace) -> Needs:
    """Return what an analysis with these options needs; DataError where the file cannot be opened."""
    return needs_of(_size(options), options)


def _size(options: argparse.Namespace) -> CorpusSize:
    return corpus_size(
        options.file,
        stop_words=options.stop_words,
        min_documents=options.min_documents,
        max_words=options.max_words,
    )


def needs_of(size: CorpusSize, options: argparse.Namespace) -> Needs:
    """Return what an analysis of a text of this size needs."""
    fit, words = _Fit(size), float(size.words)
    reading = TEXTS * size.n_bytes + (LINE if size.form in ("uci", "matrix market") else 0) * size.entries
    counts = ENTRY * size.entries
    topics = default_topics(size.documents / (2 if options.split else 1)) if options.topics is None else options.topics
    # The chains run one after the other; of each the topics are kept, and the proportions of two of them.
    sampling = TOKEN * size.tokens + CHUNK + NUMBER * topics * (2.5 * size.documents + (DEFAULT_CHAINS + 0.5) * words)
    encoder = ENCODER if options.encoder else 0.0
    memory = LIBRARIES + encoder + counts + max(reading, COMPILED + max(sampling, fit.memory, FIGURES))
    vectors = 4 * words**3 / OPERATIONS if words <= DENSE_UP_TO else 2e-7 * words**2
    thresholds = len(THRESHOLDS if options.thresholds is None else options.thresholds)
    seconds = (
        (START + DRAWING + size.n_bytes / READ + SAMPLED * size.tokens * topics * options.sweeps * DEFAULT_CHAINS)
        + fit.seconds
        + vectors
        + COMPARED / 2 * words**2 * thresholds / len(THRESHOLDS)
    )
    if options.encoder:
        seconds += ENCODER_SECONDS + DOCUMENT_SECONDS * min(size.documents, ENCODED)
    basis = (
        f"About {size.documents:.0f} documents with {size.tokens:.2g} words, {size.words} of them different "
        f"({size.known}). The memory is known to about 25 %, the time only roughly: it is that of a core with nothing "
        "else to do."
    )
    return Needs(memory, seconds, basis)


def require_memory_for(options: argparse.Namespace) -> None:
    """Raise a DataError, with the estimate and the remedy, where the analysis needs more memory than there is."""
    size = _size(options)
    require_affordable(options.file, needs_of(size, options), partial(remedy, size, options))


def remedy(size: CorpusSize, options: argparse.Namespace, available: float) -> str:
    """Advise what makes an analysis fit into the bytes there are: a tenth of the documents, or of the words."""
    part = 0.1
    counts = {name: getattr(size, name) * part for name in ("documents", "tokens", "entries", "n_bytes")}
    ways = [
        *(["fewer documents"] if needs_of(replace(size, **counts), options).memory <= available else []),
        *(
            ["fewer words with --max-words"]
            if needs_of(replace(size, words=max(2, size.words // 10)), options).memory <= available
            else []
        ),
    ]
    return f"Take {', or '.join(ways) or 'fewer documents and also fewer words with --max-words'}"
