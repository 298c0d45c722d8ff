"""Single draws of the samplers of topics: their conditional law, for few and many topics, and their random numbers."""

import numpy as np
import pytest
from scipy.stats import chisquare

from simulate.core import stream
from simulate.topics.lda_chain import LdaChain

PASSES = 1e-6
DRAWS = 20_000
# A document prior so large that all topics are seen.
PRIORS = (0.5, 0.3)


def chain_of(n_topics, name, priors=PRIORS, dense_topics=24, length=4):
    """Make a chain of 60 documents, some words of which have nearly all topics and others only one or two."""
    rng = stream(0, name, n_topics)
    frequency = np.array([6, 3, 1, 0.3, 0.1, 0.02]) * length / 2
    counts = rng.poisson(frequency, size=(60, len(frequency)))
    counts[:, 0] += 1
    counts[3:9, 5] = 2
    return LdaChain(counts, n_topics, rng, *priors, dense_topics)


class OneToken:
    """The sampler of a chain, made to redraw one token again and again; its draws are independent."""

    def __init__(self, chain, token):
        self.chain, self.token = chain, token
        self.document = int(np.searchsorted(chain.starts, token, side="right") - 1)
        chain.starts = np.array([token, token + 1])
        self.counts, chain.of_document = chain.of_document, chain.of_document[self.document : self.document + 1]

    def seen(self, draws):
        seen = np.zeros(len(self.chain.of_topic))
        for _ in range(draws):
            self.chain.advance(1)
            seen[self.chain.topics[self.token]] += 1
        return seen

    def law(self, document_prior, word_prior):
        """The law of the token's topic given all others."""
        own = np.eye(len(self.chain.of_topic))[self.chain.topics[self.token]]
        of_word = self.chain.of_word[self.chain.words[self.token]] - own
        weight = (self.counts[self.document] - own + document_prior) * (of_word + word_prior)
        weight /= self.chain.of_topic - own + len(self.chain.of_word) * word_prior
        return weight / weight.sum()


@pytest.mark.parametrize("rare", [False, True], ids=["frequent", "rare"])
@pytest.mark.parametrize(
    ("n_topics", "dense_topics"), [(5, 24), (12, 24), (22, 24), (5, 0), (25, 24), (70, 24)],
    ids=["one sum", "four sums", "sums of six", "list", "longer list", "several blocks"],
)  # fmt: skip
def test_draws_have_the_conditional_law(n_topics, dense_topics, rare):
    chain = chain_of(n_topics, "draws", dense_topics=dense_topics)
    chain.advance(3)
    token = np.flatnonzero(chain.words == (5 if rare else 1))[0]
    single = OneToken(chain, token)
    seen = single.seen(DRAWS)

    def passes(document_prior, word_prior):
        expected = seen.sum() * single.law(document_prior, word_prior)
        kept = expected >= 5  # what is seldom is counted together
        put = lambda values: np.append(values[kept], values[~kept].sum() + 1e-9)  # noqa: E731
        return chisquare(put(seen), put(expected), sum_check=False).pvalue

    assert passes(*PRIORS) > PASSES
    assert passes(0.6 * PRIORS[0], PRIORS[1]) < PASSES
    # The smaller of two terms, except where a word is rare.
    assert not rare or passes(PRIORS[0], 0.5 * PRIORS[1]) < PASSES


def uniform_numbers(state):
    """Yield the numbers of xoroshiro128+ in [0, 1), in Python's integers."""
    mask = 2**64 - 1
    turned = lambda x, by: ((x << by) | (x >> (64 - by))) & mask  # noqa: E731
    a, b = (int(each) for each in state)
    while True:
        yield (((a + b) & mask) >> 11) * 2.0**-53
        b ^= a
        a, b = turned(a, 24) ^ b ^ ((b << 16) & mask), turned(b, 37)


@pytest.mark.parametrize("n_topics", [2, 8, 9, 20, 23])
def test_topics_are_those_that_a_plain_running_sum_draws(n_topics):
    """However the sums are made, a seed gives the same topics: a draw is where the running sum passes the number."""
    chain, plain = (chain_of(n_topics, "plain") for _ in range(2))
    chain.advance(2)
    numbers = uniform_numbers(plain.generator)
    topics, documents, words = plain.topics, plain.of_document, plain.of_word
    of_topic, document_of = plain.of_topic, np.repeat(np.arange(60), np.diff(plain.starts))
    for _ in range(2):
        for i, (d, w) in enumerate(zip(document_of, plain.words, strict=True)):
            for change in (-1, 1):
                documents[d, topics[i]] += change
                words[w, topics[i]] += change
                of_topic[topics[i]] += change
                if change == -1:
                    weight = (documents[d] + PRIORS[0]) * (words[w] + PRIORS[1]) / (of_topic + len(words) * PRIORS[1])
                    upto = np.cumsum(weight)
                    topics[i] = np.searchsorted(upto, next(numbers) * upto[-1], side="right")
    assert np.array_equal(chain.topics, topics)


@pytest.mark.parametrize("priors", [(1e-100, 1e-100), (1e100, 1e-100), (1e-100, 1e100), (1e100, 1e100), (1e-9, 1e-12)])
@pytest.mark.parametrize(("n_topics", "dense_topics"), [(5, 24), (12, 24), (30, 24)])
def test_draws_at_the_limits_of_the_priors(n_topics, dense_topics, priors):
    """With priors that vanish a token may only join topics that its document and its word have."""
    chain = chain_of(n_topics, "limits", priors, dense_topics)
    chain.advance(5)
    single = OneToken(chain, np.flatnonzero(chain.words == 5)[0])
    seen, law = single.seen(1000), single.law(*priors)
    assert seen[law < 1e-12].sum() == 0
    assert np.abs(seen / 1000 - law).max() < 0.08  # five standard errors


@pytest.mark.parametrize(("n_topics", "dense_topics"), [(5, 24), (12, 24), (30, 24)])
def test_the_only_token_of_its_word_and_its_document_may_join_any_topic(n_topics, dense_topics):
    """Without the token its document has a prior of 1e-100 alone, which a sum less its largest term does not tell."""
    counts = np.zeros((40, 3), dtype=int)
    counts[:, :2] = stream(0, "alone").poisson(6, size=(40, 2)) + 1
    counts[0] = [0, 0, 1]
    single = OneToken(LdaChain(counts, n_topics, stream(0, "alone", n_topics), 1e-100, 0.3, dense_topics), 0)
    seen, law = single.seen(DRAWS), single.law(1e-100, 0.3)
    assert chisquare(seen, DRAWS * law, sum_check=False).pvalue > PASSES
    assert chisquare(seen, np.full(n_topics, DRAWS / n_topics)).pvalue < PASSES
