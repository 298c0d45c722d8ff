"""Slow and obvious routes to the theory of topics: enumeration over sets, words and masks, and random settings."""

from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from theory.models import Masking, TopicModel

MODEL = TopicModel(n_topics=10, words_per_topic=10, topics_per_document=2)
STANDARD = Masking()
SMALL = [  # (T, v, tau), (p_m, p_c, p_r)
    ((4, 3, 2), (0.15, 0.1, 0.1)),
    ((5, 2, 3), (0.4, 0.3, 0.2)),
    ((4, 2, 1), (0.5, 0.2, 0.3)),
    ((3, 3, 2), (0.3, 0.0, 0.4)),
    ((4, 1, 3), (0.6, 0.3, 0.7)),
]


def model_of(T, v, tau):
    return TopicModel(n_topics=T, words_per_topic=v, topics_per_document=tau)


def masking_of(selected, kept, randomized):
    return Masking(selected=selected, kept=kept, randomized=randomized)


def small(case):
    return model_of(*case[0]), masking_of(*case[1])


def word_frequencies(model):
    """mu_S of every set, (sets, D)."""
    T, v, tau = model.n_topics, model.words_per_topic, model.topics_per_document
    rows = []
    for S in combinations(range(T), tau):
        mu = np.zeros(1 + T * v)
        for k in S:
            mu[1 + k * v : 1 + (k + 1) * v] = 1 / (tau * v)
        rows.append(mu)
    return np.array(rows)


def visible_law(masking, mu):
    """Of one position: not selected, or selected and kept, replaced or hidden."""
    uniform = np.r_[0, np.full(len(mu) - 1, 1 / (len(mu) - 1))]
    mask = np.eye(len(mu))[0]
    shown = masking.kept * mu + masking.randomized * uniform + (1 - masking.kept - masking.randomized) * mask
    return (1 - masking.selected) * mu + masking.selected * shown


def outcomes(masking, mu):
    """(probability, query, target) of a selected position, one by one."""
    words = range(1, len(mu))
    for target in words:
        if mu[target] > 0:
            yield masking.kept * mu[target], target, target
            yield (1 - masking.kept - masking.randomized) * mu[target], 0, target
            for query in words:
                yield masking.randomized * mu[target] / len(words), query, target


def tied_weights(model, alpha, beta, gamma=1.0, mask_query=1.0):
    """Softmax weights [key, query], token by token."""
    D, v = model.n_tokens, model.words_per_topic
    weights = np.ones((D, D))
    for key in range(1, D):
        for query in range(1, D):
            if key == query:
                weights[key, query] = beta
            elif (key - 1) // v == (query - 1) // v:
                weights[key, query] = alpha
    weights[0, 1:], weights[0, 0] = gamma, mask_query
    return weights


def attention_loss(model, masking, weights, W, b, clean_keys=False):
    """Squared loss by enumeration of sets, queries and targets; differentiable by a complex step."""
    total = 0.0
    for mu in (sets := word_frequencies(model)):
        xbar = mu if clean_keys else visible_law(masking, mu)
        attention = weights * xbar[:, None]
        f = W @ (attention / attention.sum(axis=0)) + b[:, None]
        for probability, query, target in outcomes(masking, mu):
            error = f[:, query] - np.eye(len(mu))[target]
            total = total + probability * (error**2).sum()
    return total / len(sets)


def logits_gradient(model, masking, G, W, b):
    """(loss, dL/dG) of the squared loss, by the chain rule through the softmax."""
    loss, gradient = 0.0, np.zeros_like(G)
    sets = word_frequencies(model)
    for mu in sets:
        weights = visible_law(masking, mu)[:, None] * np.exp(G - G.max())
        P = weights / weights.sum(axis=0)
        f = W @ P + b[:, None]
        blind = np.r_[1 - masking.kept - masking.randomized, np.full(len(mu) - 1, masking.randomized / (len(mu) - 1))]
        often, pairs = masking.kept * mu + blind, masking.kept * np.diag(mu) + np.outer(mu, blind)
        loss += 1 + (f**2 * often).sum() - 2 * (f * pairs).sum()
        by_P = W.T @ (2 * (f * often - pairs))
        gradient += P * (by_P - (P * by_P).sum(axis=0))
    return loss / len(sets), gradient / len(sets)


@st.composite
def settings(draw, most_topics=40):
    """Any model with a gap, and any masking, edges included."""
    T = draw(st.integers(2, most_topics))
    tau, v = draw(st.integers(1, T - 1)), draw(st.integers(1, 12))
    selected = draw(st.floats(0.01, 0.99))
    kept = draw(st.one_of(st.just(0.0), st.floats(0.01, 0.95)))
    randomized = draw(st.one_of(st.just(0.0), st.just(1 - kept), st.floats(0.01, 0.99).map(lambda u: u * (1 - kept))))
    return model_of(T, v, tau), masking_of(selected, kept, randomized)
