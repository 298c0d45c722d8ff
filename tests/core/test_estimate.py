"""Estimates with error bars."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, gmean, norm, ttest_ind

from figures.core.scores import normal_score
from simulate.core import Estimate, GeometricMean, Share, extrapolate
from simulate.core.estimate import wilson


def test_mean_and_standard_error():
    values = np.array([1.0, 2.0, 4.0])
    estimate = Estimate.of(values)
    assert estimate.mean == pytest.approx(7 / 3)
    assert estimate.stderr == pytest.approx(values.std(ddof=1) / math.sqrt(3))
    assert estimate.n == 3


@pytest.mark.parametrize(
    ("mean", "stderr", "text"),
    [
        (0.193854, 0.000194, "0.19385(19)"),
        (-0.193854, 0.000194, "-0.19385(19)"),
        (0.5, 0.0996, "0.50(10)"),
        (123.44, 1.54, "123.4(1.5)"),
        (123.44, 9.96, "123(10)"),
        (123.44, 56.2, "123(56)"),
        (1234.4, 562.0, "1230(560)"),
        (0.0, 0.012, "0.000(12)"),
        (2.0, 0.0, "2(0)"),
        (1.23456e-9, 1.5e-12, "1.2346(15)e-09"),
        (1.23456e9, 1.5e6, "1.2346(15)e+09"),
        (1e-3, 5.0, "0.0(5.0)"),
    ],
)
def test_printing(mean, stderr, text):
    assert str(Estimate(mean, stderr, 10)) == text


@given(st.floats(-1e12, 1e12), st.floats(1e-12, 1e12))
def test_printed_mean_is_within_a_fraction_of_the_error(mean, stderr):
    text = str(Estimate(mean, stderr, 10))
    exponent = text[text.index(")") + 1 :]
    assert abs(float(text[: text.index("(")] + exponent) - mean) <= 0.06 * stderr + 1e-15 * abs(mean)


def test_identical_values_have_no_error():
    estimate = Estimate.of([0.1] * 7)
    assert (estimate.mean, estimate.stderr) == (0.1, 0.0)
    assert estimate.z(0.1) == 0.0
    assert estimate.z(0.2) == -math.inf


@pytest.mark.parametrize("scale", [1e300, 1e200, 1e-200, 1e-300])
def test_squares_neither_overflow_nor_vanish(scale):
    estimate, plain = Estimate.of(np.array([1.0, 2.0, 4.0]) * scale), Estimate.of([1.0, 2.0, 4.0])
    assert estimate.mean == pytest.approx(plain.mean * scale)
    assert estimate.stderr == pytest.approx(plain.stderr * scale)


def test_z():
    assert Estimate(1.2, 0.1, 5).z(1.0) == pytest.approx(2.0)


@pytest.mark.parametrize("values", [[], [1.0], [[1.0, 2.0]], 3.0])
def test_values_must_be_a_list_of_two(values):
    with pytest.raises(ValueError, match=r"values must be a list of at least 2 replicates, got shape"):
        Estimate.of(values)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_values_must_be_finite(bad):
    with pytest.raises(ValueError, match=rf"values must be finite, got {bad} at position 1 \(1 of 3\)"):
        Estimate.of([1.0, bad, 2.0])


@pytest.mark.parametrize(
    ("arguments", "name"),
    [((math.nan, 1, 2), "mean"), ((0, -1, 2), "stderr"), ((0, math.inf, 2), "stderr"), ((0, 1, 1), "n")],
)
def test_fields_are_checked(arguments, name):
    with pytest.raises(ValueError, match=f"^{name} must (be|lie)"):
        Estimate(*arguments)


def test_extrapolation_removes_a_first_order_correction(agrees):
    rng = np.random.default_rng(0)
    small, large = (Estimate.of(3 + 5 / d + 0.1 * rng.standard_normal(400)) for d in (50, 100))
    limit = extrapolate(small, large)
    assert limit.mean == 2 * large.mean - small.mean
    assert limit.stderr == pytest.approx(math.sqrt(4 * large.stderr**2 + small.stderr**2))
    agrees(limit, 3.0, resolves=0.03)
    with pytest.raises(AssertionError, match="off by"):
        agrees(large, 3.0, resolves=0.03)


@pytest.mark.parametrize(("small", "large"), [(7, 40), (40, 7)])
def test_an_extrapolation_has_the_fewer_of_both_replicates(small, large):
    assert extrapolate(Estimate(1.0, 0.1, small), Estimate(1.0, 0.1, large)).n == 7


@pytest.mark.parametrize(("small", "large", "ratio"), [(7, 40, 1.0), (40, 7, 1.0), (5, 5, 3.0), (5, 5, 1e-9)])
def test_an_extrapolation_has_the_degrees_of_freedom_of_welch(small, large, ratio):
    """SciPy's test of two samples of unequal variances has the same degrees of freedom for 2 s(2d) and s(d)."""
    rng = np.random.default_rng(3)
    one, two = rng.standard_normal(small), ratio * rng.standard_normal(large)
    found = extrapolate(Estimate.of(one), Estimate.of(two))
    assert found.degrees_of_freedom == pytest.approx(ttest_ind(2 * two, one, equal_var=False).df, rel=1e-9)
    assert extrapolate(Estimate(1.0, 0.0, 4), Estimate(2.0, 0.0, 6)).degrees_of_freedom == 5


def test_scores_of_extrapolated_means_are_standard_normal():
    """With n - 1 degrees of freedom, as if both sizes were one sample, they would be too tame."""
    rng = np.random.default_rng(4)
    found = [extrapolate(*(Estimate.of(rng.standard_normal(4)) for _ in range(2))) for _ in range(8000)]
    beyond = {
        name: np.mean([abs(normal_score(one.z(0.0), degrees(one))) > 2 for one in found])
        for name, degrees in {"Welch": lambda one: one.degrees_of_freedom, "n - 1": lambda one: one.n - 1}.items()
    }
    expected = 2 * norm.sf(2)
    assert beyond["Welch"] == pytest.approx(expected, abs=0.012)
    assert beyond["n - 1"] < beyond["Welch"]


@pytest.mark.parametrize(("hits", "n"), [(0, 4), (4, 4), (3, 20), (77, 100)])
def test_a_share_has_the_interval_of_wilson(hits, n):
    share = Share.of([1] * hits + [0] * (n - hits))
    assert share.mean == hits / n
    assert share.stderr > 0
    for coverage in (0.68, 0.95):
        expected = binomtest(hits, n).proportion_ci(coverage, method="wilson")
        assert share.interval(coverage) == pytest.approx(tuple(expected), abs=1e-12)


def test_no_trial_tells_nothing():
    assert wilson(0.0, 0) == (0.0, 1.0)


@pytest.mark.parametrize("values", [[1], [0.5, 1], [[0, 1]], [math.nan, 1]])
def test_a_share_is_of_successes_and_failures(values):
    with pytest.raises(ValueError, match="values must be a list of at least 2 zeros and ones"):
        Share.of(values)


def test_a_geometric_mean_is_judged_by_its_logarithm():
    values = np.exp(np.random.default_rng(5).standard_normal(9))
    found, logs = GeometricMean.of(values), Estimate.of(np.log(values))
    assert found.mean == pytest.approx(gmean(values))
    assert found.interval() == pytest.approx(tuple(np.exp(logs.interval())))
    assert found.z(2.0) == pytest.approx(logs.z(math.log(2.0)))
    assert found.z(0.0) == math.inf
    low, high = GeometricMean.of([1e-3, 1.0, 1e3]).interval()
    assert 0 < low < high  # where mean - bar would be negative
    with pytest.raises(ValueError, match="values must be positive for a geometric mean, got -1"):
        GeometricMean.of([1.0, -1.0])


def test_agrees_refuses_what_is_too_weak(agrees):
    with pytest.raises(AssertionError, match="too weak to see"):
        agrees(Estimate(1.0, 0.1, 10), 1.0, resolves=0.1)
    agrees(Estimate(1.02, 0.001, 50), 1.0, resolves=0.03, bias=0.02)


def test_agrees_rarely_raises_a_false_alarm(agrees, comparisons):
    """5000 correct comparisons at 3.3e-6 each: 0.017 alarms expected."""
    before = len(comparisons)
    values = np.random.default_rng(1).standard_normal((5000, 10))
    for sample in values:
        agrees(Estimate.of(1 + 0.001 * sample), 1.0, resolves=0.1)
    del comparisons[before:]  # these judge the verdict itself
