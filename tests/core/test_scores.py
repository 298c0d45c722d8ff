"""Scores: standard normal for a right theory whatever the number of replicates, and large for a wrong one."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import kstest, norm
from scipy.stats import t as student

from figures.core.scores import expected_largest, joint_score, normal_score, spread_of_rms
from simulate.core import Estimate


@pytest.mark.parametrize("n", [2, 3, 8, 40])
@pytest.mark.parametrize("t", [-3.0, -0.1, 0.5, 6.0])
def test_a_score_has_the_probability_of_its_t(t, n):
    assert norm.cdf(normal_score(t, n - 1)) == pytest.approx(student.cdf(t, n - 1), rel=1e-9)
    assert abs(normal_score(t, n - 1)) < abs(t)


def test_far_tails_and_exact_numbers():
    assert normal_score(0.0, 2) == 0
    assert normal_score(-math.inf, 2) == -math.inf  # no scatter at all, and a gap
    assert 30 < normal_score(1e9, 999) < 40  # where probabilities are below every number
    assert math.isnan(normal_score(2.0, 0))  # one replicate has no standard error, and no law
    assert normal_score(1e9, 2) == pytest.approx(norm.isf(student.sf(1e9, 2)))


def test_scores_of_few_replicates_are_standard_normal_and_raw_ratios_are_not():
    values = np.random.default_rng(0).standard_normal((4000, 3))
    t = values.mean(axis=1) / values.std(axis=1, ddof=1) * math.sqrt(3)
    assert kstest([normal_score(one, 2) for one in t], "norm").pvalue > 1e-4
    assert kstest(t, "norm").pvalue < 1e-12


def test_bars_cover_what_they_say():
    values = np.random.default_rng(1).standard_normal((20_000, 5))
    stderr = values.std(axis=1, ddof=1) / math.sqrt(5)
    ends = np.array([Estimate.of(some).interval() for some in values])
    covered = np.mean((ends[:, 0] < 0) & (ends[:, 1] > 0))
    assert abs(covered - 0.95) < 5 * math.sqrt(0.95 * 0.05 / 20_000)
    assert np.mean(abs(values.mean(axis=1)) < 2 * stderr) < 0.9  # two standard errors do not


def correlated(rng, n, p, sets):
    shared = rng.standard_normal((sets, n, 1))
    return 3 * shared + rng.standard_normal((sets, n, p)) * np.arange(1, p + 1)


@pytest.mark.parametrize(("n", "p"), [(8, 4), (8, 30), (15, 30), (12, 4), (40, 4)])
def test_a_joint_score_is_standard_normal(n, p):
    """With few replicates it is a rank among choices of signs, with more that of all rows with their covariance."""
    scores = [joint_score(one) for one in correlated(np.random.default_rng(n), n, p, 1000)]
    assert kstest(scores, "norm").pvalue > 1e-4
    wrong = [joint_score(one + np.linspace(20, 0, p) * p) for one in correlated(np.random.default_rng(n), n, p, 200)]
    assert np.median(wrong) > (2.5 if n == 8 else 3)
    assert n > 8 or max(wrong) < 2.7  # of 128 choices of signs none is rarer


def test_a_joint_score_sees_one_wrong_row_where_the_covariance_is_measured():
    gaps = correlated(np.random.default_rng(3), 40, 4, 1)[0]
    assert joint_score(gaps + np.array([0, 0, 0, 5.0])) > 5
    assert joint_score(gaps[:, :1] * [1, 2, 3]) == pytest.approx(  # three times the same number: one comparison
        norm.ppf(1 - 2 * student.sf(abs(gaps[:, 0].mean() / gaps[:, 0].std(ddof=1) * math.sqrt(40)), 39)), abs=1e-6
    )


def test_rows_without_scatter():
    rng = np.random.default_rng(0)
    exact = np.column_stack([np.zeros(20), rng.standard_normal(20)])
    assert abs(joint_score(exact)) < 4
    assert joint_score(exact[:, :1]) == 0
    assert joint_score(exact + np.array([1e-3, 0])) == math.inf


def test_what_many_scores_are_expected_to_be():
    sets = np.random.default_rng(0).standard_normal((4000, 50))
    rms = np.sqrt((sets**2).mean(axis=1))
    assert rms.std() == pytest.approx(spread_of_rms(50), rel=0.05)
    assert np.median(abs(sets).max(axis=1)) == pytest.approx(expected_largest(50), rel=0.01)


def test_the_rank_among_choices_of_signs_is_that_of_the_sum_of_squares_in_units_of_each_row():
    """All 64 choices one by one, ties counted half; sums of other powers rank these gaps otherwise."""
    gaps = np.random.default_rng(4).standard_normal((6, 4)) * [1.0, 5.0, 0.2, 1.0] + [0.5, -1.0, 0.1, 0.0]
    units = np.sqrt(np.mean(gaps**2, axis=0))
    sizes = [sum((np.array(signs) @ gaps / units) ** 2) for signs in itertools.product((1, -1), repeat=6)]
    below, tied = np.sum(sizes < sizes[0] - 1e-9), np.sum(np.isclose(sizes, sizes[0], rtol=1e-9))
    assert joint_score(gaps) == pytest.approx(norm.ppf((below + tied / 2) / 64), abs=1e-12)
