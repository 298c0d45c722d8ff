"""Word vectors of a value matrix, and every comparison of pairs of words at every threshold."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse.linalg import ArpackError, eigsh

from figures.analyse.text.record import RULES, VALUES, Comparison
from simulate.core import stream
from simulate.topics.contrast import (
    TopicContrast,
    embedding_contrast,
    planted_values,
    topic_contrast,
    topic_membership,
)
from theory.core.arrays import Array

DENSE_UP_TO = 600  # words: below, computing all eigenvectors is as fast as searching for some
RESTARTS, WORDS_A_RESTART = 20, 150  # of the search at most, more for many words: no more than the direct way costs
ALONE = "the documents that it reads leave no two words of one topic, or none of different ones"
PLANTED = (0.75, 0.25)  # exact in binary, and so are their sums


def value_embedding(matrix: Array, dimension: int, rng: np.random.Generator) -> Array:
    """Vectors (words, at most `dimension`) whose products are the best positive part of that rank of (W + W')/2.

    Columns are the eigenvectors of the largest eigenvalues above zero, each times the square root of its eigenvalue.
    `rng` starts the search for them in a large matrix. Where it does not end soon they are computed directly: in few
    documents most words are alike, and more eigenvalues vanish than a search can tell apart.
    """
    symmetric = (matrix + matrix.T) / 2
    n = len(symmetric)
    if n <= DENSE_UP_TO or dimension >= n // 2:
        values, vectors = linalg.eigh(symmetric)
        values, vectors = values[-dimension:], vectors[:, -dimension:]
    else:
        start, most = rng.standard_normal(n), max(RESTARTS, n // WORDS_A_RESTART)
        try:
            values, vectors = eigsh(symmetric, k=dimension, which="LA", v0=start, maxiter=most)
        except ArpackError:
            values, vectors = linalg.eigh(symmetric, subset_by_index=(n - dimension, n - 1))
    positive = values > 0
    return np.asarray(vectors[:, positive] * np.sqrt(values[positive]))


def compared(
    topic_words: Array,
    sources: dict[str, Array | tuple[Array, Array]],
    thresholds: Sequence[float],
    *,
    excluded: NDArray[np.bool_],
    permutations: int,
    seed: int,
) -> tuple[tuple[Comparison, ...], bool, tuple[str, ...]]:
    """Compare pairs of words by all `sources`, at all `thresholds` and by both rules for words of several topics.

    Returns the comparisons, whether values that were planted in the place of a source came back exactly, and notes on
    what was left out, since the topics that were found left no pairs there. ValueError where nothing could be compared.
    """
    found: list[Comparison] = []
    planted, notes = True, []
    for overlap in RULES:
        for threshold in thresholds:
            try:
                kept = topic_membership(topic_words, threshold, overlap=overlap, excluded=excluded)
                contrasts = {}
                for source, value in sources.items():
                    rng = stream(seed, "null", source, overlap, threshold)
                    try:
                        contrasts[source] = _contrast(source, value, kept, rng, permutations)
                    except ValueError:
                        if not isinstance(value, tuple):  # else only those pairs count that are in one document
                            raise
                        notes.append(f"no {source} at rho = {threshold:.3g} with {RULES[overlap]}: {ALONE}")
                control = topic_contrast(planted_values(kept, *PLANTED), kept, stream(seed, "planted"), permutations=2)
            except ValueError as error:
                notes.append(f"nothing is compared at rho = {threshold:.3g} with {RULES[overlap]}: {_why(error)}")
                continue
            planted &= (control.same.mean, control.different.mean) == PLANTED
            found += [Comparison(source, overlap, threshold, contrast) for source, contrast in contrasts.items()]
    if not found:
        why = notes[0] if notes else "there are too few words to tell topics by"
        raise ValueError(f"thresholds leave no pairs of words to compare: {why}")
    return tuple(found), planted, tuple(notes)


def _why(error: ValueError) -> str:
    """Say in the reader's words why words of topics could not be compared."""
    if str(error).startswith(("threshold", "membership")):
        return "the words that are kept leave no pair of the same topic, or none of different ones"
    return str(error)


def _contrast(
    source: str,
    value: Array | tuple[Array, Array],
    kept: NDArray[np.bool_],
    rng: np.random.Generator,
    permutations: int,
) -> TopicContrast:
    """Compare the vectors or the matrix of a source, or its sums and numbers of each pair of words."""
    if isinstance(value, tuple):
        return topic_contrast(value[0], kept, rng, weights=value[1], permutations=permutations)
    measure = topic_contrast if source == VALUES else embedding_contrast
    return measure(value, kept, rng, permutations=permutations)
