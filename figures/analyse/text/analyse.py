"""The analysis of a corpus: topics by Gibbs sampling, a model of uniform attention by least squares, the contrast."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.analyse.text.embedding import value_embedding
from figures.analyse.text.record import EMBEDDING, OWN, RANDOM, RULES, VALUES, Comparison, TextAnalysis
from figures.analyse.text.table import contrast_rows
from simulate.core import stream
from simulate.topics import fit_value_matrix, gibbs_lda
from simulate.topics.contrast import (
    TopicContrast,
    embedding_contrast,
    planted_values,
    random_embedding,
    topic_contrast,
    topic_membership,
)
from simulate.topics.counts import word_counts
from theory.models import checks
from theory.models.arrays import Array
from theory.models.topics import Masking

THRESHOLDS = (0.002, 0.005, 0.01)
LARGE_VOCABULARY = 1000  # words: a smaller one has larger thresholds, so that a topic keeps several words
TOP_WORDS = 10
TOKEN_DOUBLES = 3  # of memory: its document, word and topic
PLANTED = (0.75, 0.25)  # exact in binary, and so are their sums


def analyse_corpus(
    counts: Any,
    words: Sequence[str],
    *,
    topics: int = 20,
    thresholds: Sequence[float] | None = None,
    sweeps: int = 300,
    masking: Masking | None = None,
    draws: int = 6,
    ridge: float = 1e-4,
    dimension: int = 100,
    permutations: int = 200,
    split: bool = False,
    vectors: Array | None = None,
    known: NDArray[np.bool_] | None = None,
    seed: int = 0,
    progress: str | None = None,
) -> TextAnalysis:
    """Contrast between pairs of words of one topic and of different topics, in counts (documents, words).

    The model is the value matrix of uniform attention with a free bias, of `draws` masks of every document; its
    embedding has `dimension` columns. `vectors` (words, any) are measured as well, for words that are `known`. With
    `split`, topics are of a random half of the documents and the model of the other. `thresholds` None:
    .002, .005 and .01, larger where there are fewer than 1000 words; those that keep too little are then left out with
    a note, but named ones are a ValueError. So are fewer documents than topics.
    """
    array = word_counts(counts)
    n, n_words = array.shape
    if len(words) != n_words:
        raise ValueError(f"words must be {n_words}, one for each column of the counts, got {len(words)}")
    if n_words < 2:
        raise ValueError("words must be at least 2: one word has no pair")
    topics = int(checks.dimension(topics, least=2, name="topics"))
    given = np.arange(n)
    halves = (given, given)
    if split:
        order = stream(seed, "halves").permutation(n)
        halves = (np.sort(order[: n // 2]), np.sort(order[n // 2 :]))
    if len(halves[0]) < topics:
        which = " in half of the corpus" if split else ""
        raise ValueError(f"topics must be at most the number of documents{which}, {len(halves[0])}, got {topics}")
    checks.fits_in_memory("sampling the topics of every token", TOKEN_DOUBLES * float(array.sum()))
    fit = gibbs_lda(array[halves[0]], topics, stream(seed, "topics"), sweeps=sweeps, progress=progress)
    modeled = array[halves[1]]
    value = fit_value_matrix(modeled, masking or Masking(), stream(seed, "masks"), ridge=ridge, draws=draws)
    matrix = value.matrix[1:, 1:]
    absent = np.asarray(modeled.sum(axis=0)) == 0
    if known is not None:
        absent |= ~known
    sources = {
        EMBEDDING: value_embedding(matrix, dimension, stream(seed, "embedding")),
        VALUES: matrix,
        RANDOM: random_embedding(n_words, dimension, stream(seed, "random embedding")),
    }
    if vectors is not None:
        sources[OWN] = vectors
    comparisons, planted, notes = _compared(
        fit.topic_words, sources, thresholds, excluded=absent, permutations=permutations, seed=seed
    )
    return TextAnalysis(
        n_documents=n,
        n_words=n_words,
        n_tokens=int(array.sum()),
        topics=tuple(tuple(words[w] for w in np.argsort(-row, kind="stable")[:TOP_WORDS]) for row in fit.topic_words),
        shares=tuple(map(float, fit.document_topics.mean(axis=0))),
        perplexity=float(fit.perplexity[fit.best]),
        comparisons=comparisons,
        planted=planted,
        split=split,
        rows=contrast_rows(comparisons),
        notes=notes,
    )


def default_thresholds(n_words: int) -> tuple[float, ...]:
    """At least 3, 6 and 11 words a topic."""
    return tuple(t * max(1.0, LARGE_VOCABULARY / n_words) for t in THRESHOLDS if t * LARGE_VOCABULARY < n_words)


def _compared(
    topic_words: Array,
    sources: dict[str, Array],
    thresholds: Sequence[float] | None,
    *,
    excluded: NDArray[np.bool_],
    permutations: int,
    seed: int,
) -> tuple[tuple[Comparison, ...], bool, tuple[str, ...]]:
    """All sources at every threshold and by both rules; whether planted values came back; what was left out."""
    found, planted, notes = [], True, []
    for overlap in RULES:
        for threshold in default_thresholds(topic_words.shape[1]) if thresholds is None else sorted(set(thresholds)):
            try:
                kept = topic_membership(topic_words, threshold, overlap=overlap, excluded=excluded)
                contrasts = {
                    source: _contrast(
                        source, value, kept, stream(seed, "null", source, overlap, threshold), permutations
                    )
                    for source, value in sources.items()
                }
                control = topic_contrast(planted_values(kept, *PLANTED), kept, stream(seed, "planted"), permutations=2)
            except ValueError as error:
                message = f"at threshold {threshold:g}, {RULES[overlap]}: {error}"
                if thresholds is not None:
                    raise ValueError(f"thresholds cannot be used: {message}") from None
                notes.append(f"left out {message}")
                continue
            planted &= (control.same.mean, control.different.mean) == PLANTED
            found += [Comparison(source, overlap, threshold, contrast) for source, contrast in contrasts.items()]
    if not found:
        raise ValueError(f"thresholds keep too few words to compare: {notes[0]}")
    return tuple(found), planted, tuple(notes)


def _contrast(
    source: str, value: Array, kept: NDArray[np.bool_], rng: np.random.Generator, permutations: int
) -> TopicContrast:
    measure = topic_contrast if source == VALUES else embedding_contrast
    return measure(value, kept, rng, permutations=permutations)
