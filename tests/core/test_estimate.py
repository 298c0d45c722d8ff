"""Estimates with error bars."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulate.core import Estimate, extrapolate


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
    """Student's t is taken at the degrees of freedom of the worse-known error."""
    assert extrapolate(Estimate(1.0, 0.1, small), Estimate(1.0, 0.1, large)).n == 7


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
