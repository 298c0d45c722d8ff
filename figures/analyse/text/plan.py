"""What is compared: halves of the documents, how many topics, and thresholds that leave pairs of words to compare."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simulate.core import stream
from theory.core import checks

MOST_TOPICS, DOCUMENTS_A_TOPIC = 20, 10  # by default
THRESHOLDS = (0.002, 0.005, 0.01)
ENCODED = 200  # documents that an encoder reads at most, a tenth of a second for each
LARGE_VOCABULARY = 1000  # words: a smaller one has larger thresholds, so that a topic keeps several words


def halves(n_documents: int, split: bool, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the documents of the topics and of the model: random halves if `split`, else all of them for both."""
    given = np.arange(n_documents)
    if not split:
        return given, given
    order = stream(seed, "halves").permutation(n_documents)
    return np.sort(order[: n_documents // 2]), np.sort(order[n_documents // 2 :])


def default_topics(n_documents: float) -> int:
    """Return how many topics are sought in so many documents: one for each ten of them, from 2 to 20.

    >>> [default_topics(n) for n in (5, 60, 200, 10_000)]
    [2, 6, 20, 20]
    """
    return min(MOST_TOPICS, max(2, int(n_documents // DOCUMENTS_A_TOPIC)))


def default_thresholds(n_words: int) -> tuple[float, ...]:
    """Return thresholds that select at least 3, 6 and 11 words for each topic."""
    return tuple(t * max(1.0, LARGE_VOCABULARY / n_words) for t in THRESHOLDS if t * LARGE_VOCABULARY < n_words)


def planned_thresholds(thresholds: Sequence[float] | None, n_words: int, n_compared: int) -> tuple[float, ...]:
    """Return the thresholds to use, ascending; ValueError for one that can leave no pairs, whatever the topics will be.

    A threshold selects `words_of_a_topic` words for each topic. One word has no pair; and of m selected among N words
    that can be compared at most N - m are not selected by another topic too, so that N - m >= 2 is needed.
    """
    if thresholds is None:
        return default_thresholds(n_words)
    for threshold in thresholds:
        selected = words_of_a_topic(checks.between("thresholds", threshold, 0, 1), n_words)
        if not 2 <= selected <= n_compared - 2:
            raise ValueError(
                f"thresholds must select at least 2 words for each topic and leave 2 for the others, of {n_compared} "
                f"words that can be compared; {threshold:g} of {n_words} words selects {selected}"
            )
    return tuple(sorted(set(thresholds)))


def words_of_a_topic(threshold: float, n_words: int) -> int:
    """Return how many of its most probable words characterize a topic, by the rule of `topic_membership`."""
    return int(n_words * threshold + 1e-9) + 1
