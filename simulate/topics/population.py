"""Lists infinitely long documents, every topic set with every query, so that training is deterministic."""

from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from simulate.topics.layer import Batch, Keys
from theory.core.arguments import checked
from theory.models.topics import Masking, TopicModel

MAX_ENTRIES = 20_000_000  # sets times queries times tokens


def topic_sets(model: TopicModel) -> NDArray[np.float64]:
    """Return the shares of the words, (sets, words), in the documents of every topic set."""
    sets = list(combinations(range(model.n_topics), model.topics_per_document))
    shares = np.zeros((len(sets), model.n_topics, model.words_per_topic))
    for row, topics in zip(shares, sets, strict=True):
        row[list(topics)] = 1 / (len(topics) * model.words_per_topic)
    return shares.reshape(len(sets), model.n_words)


@checked
def population_batch(model: TopicModel, masking: Masking, keys: Keys = "all") -> Batch:
    """Return all queries of infinitely long documents with exact weights, so that gradients are the population's.

    A selected position hides a word of the document. It shows that word with probability `kept`, any word with
    probability `randomized`, and [MASK] otherwise. `keys` says whether attention sees "all" positions, or only the
    "unselected" ones. Raises ValueError where there are too many topic sets.
    """
    # The binomial coefficient itself may have millions of digits; from 25 topics on, either way, it is too large.
    few = min(model.topics_per_document, model.n_topics - model.topics_per_document) < 25
    n_sets = comb(model.n_topics, model.topics_per_document) if few else MAX_ENTRIES
    if n_sets * model.n_tokens**2 > MAX_ENTRIES:
        raise ValueError(
            f"model has {n_sets if few else 'far too many'} topic sets with {model.n_tokens} queries: too many for "
            f"exact gradients (at most {MAX_ENTRIES} numbers); train on sampled documents"
        )
    words, D = topic_sets(model), model.n_tokens
    p = masking.selected
    true, random = 1 - p + p * masking.kept, p * masking.randomized
    shares = np.zeros((n_sets, D))
    shares[:, 1:] = words
    counts = shares.copy()
    if keys == "all":
        counts = true * shares
        counts[:, 1:] += random / model.n_words
        counts[:, 0] = 1 - true - random
    targets = np.zeros((D, n_sets, D))  # [query, set, target]
    targets[0] = max(1 - masking.kept - masking.randomized, 0.0) * shares
    targets[1:] = masking.randomized / model.n_words * shares
    token = np.arange(1, D)
    targets[token, :, token] += masking.kept * words.T
    query, document = np.divmod(np.arange(D * n_sets), n_sets)
    asked = targets.reshape(-1, D) / n_sets
    there = asked.any(axis=1)
    return Batch(counts, document[there], query[there], asked[there])
