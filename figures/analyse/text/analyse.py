"""Analyzes a corpus: topics by Gibbs sampling, uniform attention by least squares, and the contrast of words."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.analyse.finished import MASKS, NOTHING, TOPICS, Finished
from figures.analyse.text.comparisons import compared, value_embedding
from figures.analyse.text.plan import (
    DOCUMENTS_A_TOPIC,
    ENCODED,
    MOST_TOPICS,
    default_topics,
    halves,
    planned_thresholds,
)
from figures.analyse.text.record import ATTENTION, EMBEDDING, ENCODER, OWN, RANDOM, VALUES, TextAnalysis
from figures.analyse.text.table import contrast_rows
from simulate.core import stream
from simulate.topics import fit_value_matrix, gibbs_lda, random_embedding
from simulate.topics.counts import word_counts
from simulate.topics.encoder_contrast import WordReader, attention_sums, shuffled_documents
from theory.core import Array, checks
from theory.models.topics import Masking

TOP_WORDS = 10
# The sums of the fit are 16 bytes for each pair of words. Writing them takes a few percent of the time between.
MOST_KEPT_WORDS, LEAST_SAVE_SECONDS, SAVE_SECONDS_OF_A_SQUARE = 10_000, 30.0, 1.6e-6
TOKEN_DOUBLES = 3  # numbers held for each token while topics are sampled: its document, word and topic


def analyse_corpus(
    counts: Any,
    words: Sequence[str],
    *,
    topics: int | None = None,
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
    reader: WordReader | None = None,
    seed: int = 0,
    progress: str | None = None,
    kept: Finished = NOTHING,
) -> TextAnalysis:
    """Compare pairs of words of one topic with pairs of words of different topics, in counts (documents, words).

    `topics` topics are found by `sweeps` sweeps of Gibbs sampling of a latent Dirichlet allocation, in four chains. By
    default one is sought for each ten documents, from 2 to 20, which a note says. Topics on which the two best chains
    do not agree are used as well, and the result says so in `doubt`. The model is the value matrix of uniform
    attention with a free bias, fitted with `ridge` to `draws` masks of every document; its embedding has `dimension`
    columns. `vectors` (words, any) are measured as well, for the words that are `known`. So are the embeddings of the
    encoder of a `reader`, and its attention in at most 200 documents, whose words are in random order; then only words
    are compared that are one token of the encoder. With `split`, topics are of a
    random half of the documents and the model is of the other half. A topic is characterized by its most probable
    words, a share of the vocabulary that `thresholds` name: .002, .005 and .01 by default, larger where there are fewer
    than 1000 words. Those that leave no pairs are left out with a note. How far the sampling of topics and the fit have
    come is `kept`, where a later call goes on from it.

    ValueError where `words` do not fit the counts, for fewer documents than topics, and for thresholds that can leave
    no pairs, before anything is sampled.
    """
    array = word_counts(counts)
    n, n_words = array.shape
    if len(words) != n_words:
        raise ValueError(f"words must be {n_words}, one for each column of the counts, got {len(words)}")
    if n_words < 2:
        raise ValueError("words must be at least 2: one word has no pair")
    of_topics, of_model = halves(n, split, seed)
    n_topics = (
        default_topics(len(of_topics)) if topics is None else int(checks.dimension(topics, least=2, name="topics"))
    )
    if len(of_topics) < n_topics:
        which = " in half of the corpus" if split else ""
        raise ValueError(f"topics must be at most the number of documents{which}, {len(of_topics)}, got {n_topics}")
    modeled = array[of_model]
    excluded = np.asarray(modeled.sum(axis=0)) == 0
    if known is not None:
        excluded |= ~known
    if reader is not None:
        excluded |= ~reader.whole
    planned = planned_thresholds(thresholds, n_words, int((~excluded).sum()))
    checks.fits_in_memory("sampling the topics of every token", TOKEN_DOUBLES * float(array.sum()))
    fit = gibbs_lda(
        array[of_topics],
        n_topics,
        stream(seed, "topics"),
        sweeps=sweeps,
        progress=progress,
        checkpoint=kept.file(TOPICS),
    )
    value = fit_value_matrix(
        modeled,
        masking or Masking(),
        stream(seed, "masks"),
        ridge=ridge,
        draws=draws,
        checkpoint=kept.file(MASKS) if n_words <= MOST_KEPT_WORDS else None,
        save_seconds=max(LEAST_SAVE_SECONDS, SAVE_SECONDS_OF_A_SQUARE * n_words**2),
    )
    matrix = value.matrix[1:, 1:]
    sources: dict[str, Array | tuple[Array, Array]] = {
        EMBEDDING: value_embedding(matrix, dimension, stream(seed, "embedding")),
        VALUES: matrix,
        RANDOM: random_embedding(n_words, dimension, stream(seed, "random embedding")),
    }
    if vectors is not None:
        sources[OWN] = vectors
    documents = [] if reader is None else _some_documents(modeled, reader, seed)
    if reader is not None:
        sources |= {ENCODER: reader.vectors, ATTENTION: attention_sums(reader.attention, documents, n_words)}
    comparisons, planted, notes = compared(
        fit.topic_words, sources, planned, excluded=excluded, permutations=permutations, seed=seed
    )
    return TextAnalysis(
        n_documents=n,
        n_words=n_words,
        n_tokens=int(array.sum()),
        topics=tuple(tuple(words[w] for w in np.argsort(-row, kind="stable")[:TOP_WORDS]) for row in fit.topic_words),
        shares=tuple(map(float, fit.document_topics.mean(axis=0))),
        distances=tuple(map(float, fit.distances)),
        doubt=fit.reason,
        perplexity=float(fit.perplexity[fit.best]),
        comparisons=comparisons,
        planted=planted,
        split=split,
        encoded=len(documents),
        rows=contrast_rows(comparisons),
        notes=(
            *([_default_said(n_topics)] if topics is None else []),
            *([] if reader is None else _pieces_said(reader)),
            *notes,
        ),
    )


def _some_documents(counts: Any, reader: WordReader, seed: int) -> list[NDArray[np.int64]]:
    """Draw documents for an encoder, with their words in random order, as counts know of none."""
    chosen = stream(seed, "encoded").permutation(counts.shape[0])[:ENCODED]
    documents = shuffled_documents(counts[np.sort(chosen)], stream(seed, "order"))
    return [reader.shortened(document) for document in documents]


def _pieces_said(reader: WordReader) -> list[str]:
    n, pieces = len(reader.pieces), int((~reader.whole).sum())
    said = f"{pieces} of the {n} words are not compared, since the encoder has no token of their own for them"
    return [said] if pieces else []


def _default_said(topics: int) -> str:
    return (
        f"{topics} topics were sought, since no number was asked for: one for each {DOCUMENTS_A_TOPIC} documents, but "
        f"at least 2 and at most {MOST_TOPICS}"
    )
