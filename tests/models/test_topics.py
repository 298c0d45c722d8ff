"""Records of topics and masking: what they derive, and what they refuse."""

import math
from itertools import combinations

import numpy as np
import pytest

from simulate.core import stream
from theory.models import Masking, TopicMixture, TopicModel


def test_shares_of_visible_tokens():
    masking = Masking(selected=0.15, kept=0.1, randomized=0.2)
    shares = masking.true_fraction, masking.random_fraction, masking.mask_fraction
    assert shares == pytest.approx((0.865, 0.03, 0.105))
    assert sum(shares) == pytest.approx(1)
    assert masking.hidden_fraction == pytest.approx(0.135)


def test_sizes():
    model = TopicModel(n_topics=np.int64(10), words_per_topic=7.0, topics_per_document=2)
    assert (model.n_words, model.n_tokens) == (70, 71)
    assert isinstance(model.n_topics, int)
    assert isinstance(model.words_per_topic, int)
    assert repr(model) == "TopicModel(n_topics=10, words_per_topic=7, topics_per_document=2)"


@pytest.mark.parametrize(("T", "v", "tau"), [(5, 3, 2), (4, 1, 3), (3, 2, 3), (1, 4, 1), (6, 2, 1)])
def test_topic_variance_by_enumeration(T, v, tau):
    proportions = np.array([[(k in S) / tau for k in range(T)] for S in combinations(range(T), tau)])
    words = np.repeat(proportions, v, axis=1) / v
    covariance = np.cov(words.T, bias=True).reshape(T * v, T * v)
    top = np.linalg.eigvalsh(covariance)[::-1]
    model = TopicModel(n_topics=T, words_per_topic=v, topics_per_document=tau)
    assert top[: T - 1] == pytest.approx(np.full(T - 1, model.topic_variance), abs=1e-15)
    assert np.abs(top[T - 1 :]).max(initial=0.0) < 1e-15
    mixture = TopicMixture(n_topics=T, words_per_topic=v, proportion_variance=np.var(proportions[:, 0]))
    assert mixture.topic_variance == pytest.approx(model.topic_variance, abs=1e-16)


@pytest.mark.parametrize(("T", "v", "a"), [(2, 5, 0.3), (10, 1, 0.1), (6, 4, 0.5)])
def test_dirichlet_by_its_moments(T, v, a):
    """Moments of the Beta(a, (T - 1) a) law of one proportion; the sum of all proportions does not vary."""
    second = math.exp(math.lgamma(a + 2) - math.lgamma(a) + math.lgamma(T * a) - math.lgamma(T * a + 2))
    variance = second - 1 / T**2
    covariance = np.full((T, T), -variance / (T - 1)) + np.eye(T) * variance * T / (T - 1)
    mixture = TopicMixture.dirichlet(n_topics=T, words_per_topic=v, concentration=a)
    assert mixture.topic_variance == pytest.approx(np.linalg.eigvalsh(covariance)[-1] / v, rel=1e-10)
    assert mixture.topic_variance == pytest.approx(1 / (v * T * (T * a + 1)), rel=1e-12)


def test_dirichlet_against_samples():
    """0.05 for T = 10, a = 0.1, v = 1; 2 % are more than six standard deviations of 10 000 draws."""
    theta = stream(0, "dirichlet").dirichlet(np.full(10, 0.1), 10_000)
    mixture = TopicMixture.dirichlet(n_topics=10, words_per_topic=1, concentration=0.1)
    assert mixture.topic_variance == pytest.approx(0.05)
    assert np.var(theta, axis=0).mean() * 10 / 9 == pytest.approx(0.05, rel=0.02)


def test_small_concentration_is_one_topic_a_document():
    mixture = TopicMixture.dirichlet(n_topics=5, words_per_topic=2, concentration=1e-12)
    one = TopicModel(n_topics=5, words_per_topic=2, topics_per_document=1)
    assert mixture.topic_variance == pytest.approx(one.topic_variance, rel=1e-10)


MIXTURE = {"n_topics": 4, "words_per_topic": 2}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TopicModel(**MIXTURE, topics_per_document=0), "topics_per_document must be an integer of at least 1"),
        (lambda: TopicModel(**MIXTURE, topics_per_document=5), r"must lie in 1..n_topics = 4, got 5"),
        (lambda: TopicModel(**MIXTURE, topics_per_document=1.5), "topics_per_document must be an integer"),
        (lambda: TopicModel(n_topics=4, words_per_topic=0, topics_per_document=1), "words_per_topic must be an int"),
        (lambda: TopicModel(n_topics="4", words_per_topic=2, topics_per_document=1), "n_topics must be an integer"),
        (lambda: TopicModel(n_topics=True, words_per_topic=2, topics_per_document=1), "n_topics must be an integer"),
        (lambda: TopicModel(n_topics=math.inf, words_per_topic=2, topics_per_document=1), "n_topics must be"),
        (lambda: TopicMixture(**MIXTURE, proportion_variance=0.2), r"at most \(n_topics - 1\)/n_topics\^2 = 0.1875"),
        (lambda: TopicMixture(**MIXTURE, proportion_variance=-0.1), "proportion_variance must lie in"),
        (lambda: TopicMixture(**MIXTURE, proportion_variance=math.nan), "proportion_variance must be finite"),
        (lambda: TopicMixture.dirichlet(**MIXTURE, concentration=0.0), "concentration must lie in"),
        (lambda: Masking(selected=0.0), r"selected must lie in \(0, 1\], got 0.0"),
        (lambda: Masking(selected=1.1), "selected must lie in"),
        (lambda: Masking(kept=-0.1), r"kept must lie in \[0, 1\], got -0.1"),
        (lambda: Masking(randomized=math.nan), "randomized must be finite"),
        (lambda: Masking(kept=0.6, randomized=0.6), r"kept \+ randomized must be at most 1, got 0.6 \+ 0.6"),
        (lambda: Masking(selected=1.0, kept=0.0), "leave no true word visible: selected = 1.0, kept = 0.0"),
    ],
)
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()
