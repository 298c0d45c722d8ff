"""Draws documents of disjoint topics."""

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from simulate.topics.counts import MAX_COUNT, TopicDocuments
from theory.core import Count, Within, checked, checks
from theory.models.topics import TopicModel

MAX_ENTRIES = 2**31  # most entries of the counts: more would not fit into memory
# Outside of these limits sums of the draws overflow or vanish.
Concentration = Annotated[float, Within(1e-100, 1e100, closed=(True, True))]


@checked
def sample_topic_documents(
    model: TopicModel,
    n_documents: Count,
    rng: np.random.Generator,
    *,
    length: int | tuple[int, int] = 100,
    concentration: Concentration | None = None,
) -> TopicDocuments:
    """Draw independent documents of exactly tau topics in equal shares, or of symmetric Dirichlet shares.

    `length` is the number of tokens of each document, or (shortest, longest) for a length that is drawn uniformly. With
    a `concentration` a the shares are Dirichlet(a, ..., a); every topic may then occur, and the model's tau is not
    used. Raises ValueError for numbers below 1, for a shortest above the longest length, and for a concentration
    outside 1e-100 to 1e100. Raises MemoryError with the need in GB, before anything is drawn, where the counts do not
    fit.

    >>> model = TopicModel(n_topics=3, words_per_topic=2, topics_per_document=1)
    >>> documents = sample_topic_documents(model, 4, np.random.default_rng(0), length=20)
    >>> documents.counts.shape, documents.lengths.tolist()
    ((4, 6), [20, 20, 20, 20])
    """
    return draw_documents(model, n_documents, rng, length, concentration)


def draw_documents(
    model: TopicModel,
    n_documents: int,
    rng: np.random.Generator,
    length: int | tuple[int, int],
    concentration: float | None,
) -> TopicDocuments:
    """Draw documents as `sample_topic_documents` does, without its checks of types.

    Those are a part of the time of few documents. Numbers that are out of range are refused here.
    """
    n = n_documents
    if n * model.n_words > MAX_ENTRIES:
        raise ValueError(f"n_documents times the words must be at most {MAX_ENTRIES}, got {n} times {model.n_words}")
    ends = length_range(length)
    # Beside the counts of words there are, while they are drawn, the shares of the topics, their order, and the tokens.
    needed = float(n) * (model.n_words + 3 * model.n_topics)
    checks.fits_in_memory(f"counts of {model.n_words} words in {n} documents", needed)
    lengths = rng.integers(*ends, size=n, endpoint=True)
    proportions = _proportions(model, n, rng, concentration)
    of_topic = rng.multinomial(lengths, proportions)
    v = model.words_per_topic
    counts = rng.multinomial(of_topic, np.full(v, 1 / v)).reshape(n, model.n_words)
    return TopicDocuments(model, counts, proportions)


def length_range(length: int | tuple[int, int]) -> tuple[int, int]:
    """Return the shortest and the longest length of documents; ValueError where they are none."""
    if isinstance(length, tuple) and len(length) != 2:
        raise ValueError(f"length must be an integer or (shortest, longest), got {checks.shown(length)}")
    shortest, longest = length if isinstance(length, tuple) else (length, length)
    shortest = checks.count("length", shortest)
    longest = checks.count("length", longest, least=shortest)
    if longest > MAX_COUNT:
        raise ValueError(f"length must be an integer of at most {MAX_COUNT}, got {longest}")
    return shortest, longest


def _proportions(
    model: TopicModel, n: int, rng: np.random.Generator, concentration: float | None
) -> NDArray[np.float64]:
    if concentration is not None:
        return rng.dirichlet(np.full(model.n_topics, concentration), size=n)
    tau = model.topics_per_document
    chosen = rng.random((n, model.n_topics)).argsort(axis=1)[:, :tau]
    proportions = np.zeros((n, model.n_topics))
    np.put_along_axis(proportions, chosen, 1 / tau, axis=1)
    return proportions
