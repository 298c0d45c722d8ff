"""Collapsed Gibbs sampling: its law against enumeration, disjoint topics recovered, what it reports."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import chisquare

from simulate.core import stream
from simulate.topics import gibbs_lda, sample_topic_documents
from simulate.topics.lda import _matched_distances, _reason
from simulate.topics.lda_chain import LdaChain
from theory.models.topics import TopicModel

PASSES = 1e-6
COUNTS = np.array([[2, 1, 0], [0, 1, 1]])
PRIORS = (0.7, 0.4)


def log_joint(counts, topics, n_topics, document_prior, word_prior):
    """Token by token: each draws its topic, then its word, from what came before it (two urns)."""
    total, before = 0.0, []
    tokens = [(d, w) for d, row in enumerate(counts) for w, n in enumerate(row) for _ in range(n)]
    n_words = counts.shape[1]
    for (d, w), k in zip(tokens, topics, strict=True):
        mine = [z for e, _, z in before if e == d]
        of_topic = [u for _, u, z in before if z == k]
        total += np.log((mine.count(k) + document_prior) / (len(mine) + n_topics * document_prior))
        total += np.log((of_topic.count(w) + word_prior) / (len(of_topic) + n_words * word_prior))
        before.append((d, w, k))
    return total


@pytest.mark.parametrize(("dense_topics", "chains"), [(2, 10_000), (1, 4000)], ids=["all topics", "lists"])
def test_law_is_the_posterior(dense_topics, chains):
    """Many chains, each 12 sweeps from a random start, against all 2^5 assignments of the five tokens."""
    rng, seen = stream(0, "law"), np.zeros(32)
    for _ in range(chains):
        chain = LdaChain(COUNTS, 2, rng, *PRIORS, dense_topics)
        chain.advance(12)
        seen[int("".join(map(str, chain.topics)), 2)] += 1

    def passes(document_prior, word_prior):
        weight = np.exp([log_joint(COUNTS, z, 2, document_prior, word_prior) for z in product(range(2), repeat=5)])
        return chisquare(seen, seen.sum() * weight / weight.sum()).pvalue

    assert passes(*PRIORS) > PASSES
    assert passes(PRIORS[0], (0.7 if dense_topics == 2 else 0.5) * PRIORS[1]) < PASSES
    assert passes((0.6 if dense_topics == 2 else 0.4) * PRIORS[0], PRIORS[1]) < PASSES


@pytest.mark.parametrize("dense_topics", [24, 0])
def test_log_joint_is_that_of_the_urns(dense_topics):
    chain = LdaChain(COUNTS, 3, stream(0, "joint"), *PRIORS, dense_topics)
    assert chain.log_joint() == pytest.approx(log_joint(COUNTS, chain.topics, 3, *PRIORS), rel=1e-12)
    chain.advance(3)
    assert chain.log_joint() == pytest.approx(log_joint(COUNTS, chain.topics, 3, *PRIORS), rel=1e-12)


@pytest.mark.parametrize(("n_topics", "dense_topics"), [(3, 24), (13, 24), (3, 0), (40, 24)])
def test_counts_stay_those_of_the_topics(n_topics, dense_topics):
    rng = stream(0, "counts")
    counts = rng.integers(4, size=(6, 5)) + 1
    chain = LdaChain(counts, n_topics, rng, *PRIORS, dense_topics)
    document, word = np.nonzero(counts)
    document = np.repeat(document, counts[document, word])
    for _ in range(3):
        chain.advance(2)
        one_hot = np.eye(n_topics, dtype=int)[chain.topics]
        assert np.array_equal(chain.of_document, [one_hot[document == d].sum(axis=0) for d in range(6)])
        assert np.array_equal(chain.of_word, [one_hot[chain.words == w].sum(axis=0) for w in range(5)])
        assert np.array_equal(chain.of_topic, one_hot.sum(axis=0))


@pytest.mark.parametrize("n_topics", [3, 30])
def test_sweeps_may_be_made_in_parts(n_topics):
    """Between the parts a chain is made anew from its topics and its generator, which are all that a file keeps."""
    counts = np.full((4, 6), 3)
    whole, parts = (LdaChain(counts, n_topics, stream(0, "parts"), *PRIORS) for _ in range(2))
    whole.advance(7)
    for sweeps in (1, 4, 2):
        anew = LdaChain(counts, n_topics, stream(1, "parts"), *PRIORS)
        anew.restore(parts.topics, parts.generator)
        anew.advance(sweeps)
        parts = anew
    assert np.array_equal(whole.topics, parts.topics)


def test_disjoint_topics_are_recovered():
    model = TopicModel(n_topics=5, words_per_topic=6, topics_per_document=2)
    documents = sample_topic_documents(model, 200, stream(0, "recovery"), length=60)
    fit = gibbs_lda(documents, 5, stream(0, "lda"), sweeps=150, chains=12)  # the best of chains that may be stuck
    mass = fit.topic_words.reshape(5, 5, 6).sum(axis=2)
    assert sorted(mass.argmax(axis=1)) == list(range(5))
    assert mass.max(axis=1).min() > 0.99
    share = fit.document_topics[:, mass.argmax(axis=0)]
    assert np.abs(share - documents.proportions).mean() < 0.03
    assert fit.perplexity[fit.best] == pytest.approx(12, rel=0.05)  # 2 topics of 6 words
    assert fit.iterations == 150
    hurried = gibbs_lda(documents, 5, stream(0, "lda"), sweeps=8, record_every=1)
    assert not hurried.converged  # it still climbs
    assert hurried.residual > 1e-2


def planted(seed, n_topics=10, size=6, n_documents=150, length=30):
    """Documents of two out of ten topics, each with six words of its own; in a third of the chains two stay mixed."""
    model = TopicModel(n_topics=n_topics, words_per_topic=size, topics_per_document=2)
    return sample_topic_documents(model, n_documents, stream(seed, "planted"), length=length).counts


def mixes(topic_words, n_topics=10, size=6):
    """Say whether some topic is not one of those planted: its words are of several, or two have the same."""
    mass = topic_words.reshape(n_topics, n_topics, size).sum(axis=2)
    return mass.max(axis=1).min() < 0.9 or sorted(mass.argmax(axis=1)) != list(range(n_topics))


def judged(seeds, sweeps):
    """How many fits converged, how many of those mix topics, and how many single chains settled while mixing some."""
    converged, wrong, alone = 0, 0, 0
    for seed in seeds:
        counts = planted(seed)
        fit = gibbs_lda(counts, 10, stream(seed, "four chains"), sweeps=sweeps)
        single = gibbs_lda(counts, 10, stream(seed, "four chains"), sweeps=sweeps, chains=1)
        assert not single.converged
        assert np.array_equal(single.log_joint[0], fit.log_joint[0])
        converged += int(fit.converged)
        wrong += int(fit.converged and mixes(fit.topic_words))
        alone += int(single.residual < 1e-3 and mixes(single.topic_words))
        assert (fit.distances.max() < 0.25) == ("differ in" not in fit.reason)
    return converged, wrong, alone


def test_mixed_topics_are_never_called_converged():
    converged, wrong, alone = judged(range(5), sweeps=200)
    assert wrong == 0
    assert converged >= 1
    assert alone >= 1  # what the first of the four chains alone would have passed


@pytest.mark.slow
def test_mixed_topics_are_never_called_converged_whatever_the_seed():
    converged, wrong, alone = judged(range(100, 180), sweeps=200)
    assert wrong == 0
    assert converged >= 20
    assert alone >= 20


def test_distances_are_those_of_matched_topics():
    """A permutation is undone; a topic that shares a quarter of its probability has the distance three quarters."""
    topics = np.kron(np.eye(3), np.full((1, 4), 0.25))
    others = topics[[2, 0, 1]].copy()
    others[0] = 0  # the partner of the third topic keeps one of its words
    others[0, 8], others[0, 0] = 0.25, 0.75
    assert _matched_distances(topics, topics[[1, 2, 0]]) == pytest.approx([0, 0, 0])
    assert _matched_distances(topics, others) == pytest.approx([0, 0, 0.75])


def test_topics_that_chains_disagree_on_are_named():
    for seed in range(20):
        fit = gibbs_lda(planted(seed), 10, stream(seed, "two chains"), sweeps=150, chains=2)
        if fit.distances.max() >= 0.25:
            break
    unlike = int((fit.distances >= 0.25).sum())
    assert 1 <= unlike < 10
    assert not fit.converged
    assert f"the two most probable of 2 chains differ in {unlike} of 10 topics" in fit.reason


def test_chains_that_no_longer_climb_have_settled():
    model = TopicModel(n_topics=2, words_per_topic=6, topics_per_document=1)  # no chain can be stuck
    documents = sample_topic_documents(model, 100, stream(0, "easy topics"), length=60)
    fit = gibbs_lda(documents, 2, stream(0, "easy chains"), sweeps=200, chains=2)
    assert fit.converged
    assert fit.residual < 1e-3


def test_report():
    model = TopicModel(n_topics=3, words_per_topic=4, topics_per_document=1)
    counts = sample_topic_documents(model, 20, stream(0, "report"), length=15).counts
    fit = gibbs_lda(counts, 3, stream(0, "fit"), sweeps=25, chains=2)
    assert list(fit.recorded) == [10, 20, 25]
    assert (fit.residual, fit.converged) == (1.0, False)  # three records do not tell
    assert fit.reason.startswith("fewer than 8 records cannot tell whether the log joint probability still changes")
    assert fit.distances.shape == (3,)
    assert fit.log_joint.shape == (2, 3)
    assert fit.best == fit.log_joint[:, -1].argmax()
    assert np.allclose(fit.topic_words.sum(axis=1), 1)
    assert np.allclose(fit.document_topics.sum(axis=1), 1)
    words = fit.document_topics @ fit.topic_words
    assert fit.perplexity[fit.best] == pytest.approx(np.exp(-(counts * np.log(words)).sum() / counts.sum()))
    again = gibbs_lda(sparse.csr_array(counts), 3, stream(0, "fit"), sweeps=25, chains=2)
    assert np.array_equal(fit.topic_words, again.topic_words)
    assert np.array_equal(fit.log_joint, again.log_joint)


def test_one_topic_needs_no_sampling():
    fit = gibbs_lda(COUNTS, 1, stream(0), sweeps=1, word_prior=0.5)
    assert fit.topic_words[0] == pytest.approx([2.5 / 6.5, 2.5 / 6.5, 1.5 / 6.5])
    assert (fit.converged, fit.reason, list(fit.distances)) == (True, "", [0.0])


def test_progress_is_shown(capsys):
    gibbs_lda(COUNTS, 2, stream(0), sweeps=20, progress="topics")
    assert "topics: 8" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_topics": 0}, "n_topics must be an integer of at least 1"),
        ({"n_topics": 3}, "n_topics must be at most the number of documents, 2, got 3"),
        ({"sweeps": 0}, "sweeps must be"),
        ({"chains": 0}, "chains must be"),
        ({"record_every": 0}, "record_every must be"),
        ({"document_prior": 0}, "document_prior must lie in"),
        ({"word_prior": -1}, "word_prior must lie in"),
    ],
)
def test_bad_fits_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        gibbs_lda(COUNTS, **{"n_topics": 2, "rng": stream(0), **options})


def test_the_reason_tells_a_change_from_its_limit():
    """Two digits of .0010004 are those of the limit .001, which it is said to exceed."""
    same = np.zeros(2)
    assert _reason(0.0010004, same, 4).endswith("still changes by 0.0010004 of itself, not less than 0.001")
    assert _reason(0.0234, same, 4).endswith("still changes by 0.023 of itself, not less than 0.001")
    assert _reason(0.001, same, 4).endswith("still changes by 0.001 of itself, not less than 0.001")
    assert _reason(0.0, np.array([0.2502, 0.1]), 4).endswith("one of which has a distance of 0.2502, not below 0.25")
    assert _reason(np.nan, same, 4) == "the log joint probability is not a number (NaN) in some record"
    assert _reason(0.0009999, same, 4) == ""
