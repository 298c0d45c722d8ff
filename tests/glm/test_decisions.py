"""Which of several normal outputs is the largest: every exact form against sampling, and against the other forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from simulate.core import stream
from theory import glm
from theory.glm.multiclass import decisions
from theory.glm.multiclass.decisions import decision_probabilities
from theory.models import Modes, MulticlassMixture

DRAWS = 200_000
FALSE_ALARM = 1e-6


def law(K, rank, name):
    rng = stream(0, "outputs", K, rank, name)
    A = rng.standard_normal((K, rank))
    return rng.standard_normal(K), A @ A.T / rank


@pytest.mark.parametrize(("K", "rank"), [(2, 2), (3, 3), (3, 2), (4, 4), (4, 3), (4, 2), (4, 1), (5, 5)])
def test_probabilities_by_sampling(K, rank):
    """Chi-square of the counts at a level of 1e-6; a chance that is off by 2 % of itself would be seen."""
    mean, covariance = law(K, rank, "sampled")
    chances, error = decision_probabilities(mean, covariance)
    h = stream(0, "draws", K, rank).multivariate_normal(mean, covariance, DRAWS, method="eigh")
    counts, kept = np.bincount(h.argmax(axis=1), minlength=K), chances > 1e-4
    statistic = np.sum((counts[kept] - DRAWS * chances[kept]) ** 2 / (DRAWS * chances[kept]))
    assert statistic < chi2.isf(FALSE_ALARM, kept.sum() - 1) if kept.sum() > 1 else counts[kept] > 0.999 * DRAWS
    assert chances.sum() == pytest.approx(1, abs=K * error + 1e-12)


@given(st.floats(-0.4, 0.9), st.lists(st.floats(-2, 2), min_size=4, max_size=4))
@settings(max_examples=20)
def test_four_outputs_by_their_two_exact_forms(common, means):
    """Independent but for a common part: the integral over the largest, and that of the bivariate law."""
    mean, covariance = np.array(means), np.diag([0.5, 1.0, 1.5, 0.7]) + common
    independent, _ = decision_probabilities(mean, covariance)
    bivariate = [decisions._largest_of_four(mean, covariance, k, 32) for k in range(4)]
    np.testing.assert_allclose(independent, bivariate, atol=1e-12)


@pytest.mark.parametrize("K", [4, 5, 8])
def test_equicorrelated_outputs_are_equally_likely_to_rounding(K):
    covariance = np.full((K, K), -0.9 / (K - 1)) + (1 + 0.9 / (K - 1)) * np.eye(K)
    chances, error = decision_probabilities(np.zeros(K), covariance)
    np.testing.assert_allclose(chances, 1 / K, atol=1e-14)
    assert error < 1e-13


def independent_law(K, scale, seed):
    """Outputs that are independent but for a common part, which quasi-Monte Carlo is not told."""
    rng = stream(seed, "independent outputs", K)
    mean, covariance = scale * rng.standard_normal(K), np.diag(rng.uniform(0.2, 2, K)) + 0.3
    return decision_probabilities(mean, covariance)[0], [decisions._differences(mean, covariance, k) for k in range(K)]


def test_quasi_monte_carlo_reaches_its_accuracy_and_says_its_error():
    """Three standard errors cover every chance, also where one output is nearly always the largest."""
    rarely = []
    for seed, (K, scale) in enumerate([(5, 0.3), (5, 1.0), (7, 1.0), (9, 1.0), (5, 12.0)]):
        exact, laws = independent_law(K, scale, seed)
        chances, errors = decisions._by_scrambles(laws)
        rarely.append(1 - exact.max())
        assert 0 < errors.max() <= decisions.ACCURACY * (1 - chances.max())
        assert np.max(abs(chances - exact)) < 3 * errors.max()
    assert min(rarely) < 0.01 < 0.5 < max(rarely)


def test_points_are_doubled_up_to_their_limit(monkeypatch):
    _, laws = independent_law(5, 1.0, 0)
    asked = []

    def counted(gap, spread, points, scrambled=decisions._scrambled):
        asked.append(points)
        return scrambled(gap, spread, points)

    monkeypatch.setattr(decisions, "_scrambled", counted)
    monkeypatch.setattr(decisions, "ACCURACY", 1e-12)
    monkeypatch.setattr(decisions, "MOST_POINTS", 7000)
    decisions._by_scrambles(laws)
    assert asked == [2000] * 5 + [4000] * 5 + [7000] * 5


def test_outputs_that_do_not_vary_are_decided_by_their_means():
    zero = np.zeros((4, 4))
    np.testing.assert_array_equal(decision_probabilities(np.array([1.0, 3.0, 2.0, 0.0]), zero)[0], [0, 1, 0, 0])
    covariance = np.zeros((3, 3))
    covariance[2, 2] = 1.0  # the third alone varies
    chances, _ = decision_probabilities(np.array([0.0, 0.5, 0.0]), covariance)
    np.testing.assert_allclose(chances, [0.0, 0.6914624612740131, 0.3085375387259869], atol=1e-14)  # Phi(1/2)


def four_classes(loss="square"):
    gram = np.array([[1, 0.3, 0, 0], [0.3, 1, 0.2, 0], [0, 0.2, 1, 0], [0, 0, 0, 0.5]])[:, :, None]
    return MulticlassMixture(modes=Modes([1.0], [[0.4]], gram), probabilities=(0.4, 0.3, 0.2, 0.1), alpha=1.0, lam=0.1)


def test_the_test_error_is_computed_when_asked_for(monkeypatch):
    calls = []

    def counted(mean, covariance):
        calls.append(len(mean))
        return decision_probabilities(mean, covariance)

    monkeypatch.setattr("theory.glm.multiclass.saddle_point.decision_probabilities", counted)
    point = glm.solve(four_classes())
    assert not calls
    assert 0.2 < point.test_error < 0.75
    assert len(calls) == 4
    assert point.test_error_uncertainty < 1e-9
    assert point.confusion.sum(axis=1) == pytest.approx(np.ones(4), abs=1e-12)
    assert len(calls) == 4  # only once
