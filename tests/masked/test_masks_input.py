"""Masking patterns: bad input is named, with its value and what is allowed."""

import math

import numpy as np
import pytest

from simulate.core import stream
from simulate.masked import mean_test_error
from theory import masked
from theory.models import AR1, PowerLaw, RandomMasks, SpanMask, SpanWindows

SIGMA = AR1(10, 0.5)


@pytest.mark.parametrize("rate", [-0.1, 1, 1.5, math.nan, math.inf, "much", None])
def test_mask_rates(rate):
    with pytest.raises(ValueError, match="mask_rate must"):
        masked.solve(RandomMasks(SIGMA, 1.0, 0.1, rate))
    with pytest.raises(ValueError, match="mask_rate"):
        masked.mask_curve(SIGMA, [1.0], 0.1, [0.1, rate])


@pytest.mark.parametrize("count", [0, -3, 2.5, math.nan, math.inf, True, "four"])
def test_numbers_of_masks(count):
    with pytest.raises(ValueError, match="n_masks must be an integer"):
        masked.solve(RandomMasks(SIGMA, 1.0, 0.1, 0.2, count))
    with pytest.raises(ValueError, match="n_masks must be an integer"):
        masked.mask_curve(SIGMA, [1.0], 0.1, [0.1], count)
    with pytest.raises(ValueError, match="n_masks must be an integer"):
        RandomMasks(SIGMA, 1.0, 0.1, 0.2, count)


def test_whole_numbers_of_any_type_count():
    for count in (4, 4.0, np.int64(4), np.float64(4)):
        assert masked.solve(RandomMasks(SIGMA, 1.0, 0.1, 0.2, count)).n_masks == 4


def test_finitely_many_masks_that_hide_nothing():
    with pytest.raises(ValueError, match="mask_rate must be positive with a finite number of masks"):
        masked.solve(RandomMasks(SIGMA, 1.0, 0.1, 0.0, 3))
    with pytest.raises(ValueError, match="mask_rate must be positive"):
        RandomMasks(SIGMA, 1.0, 0.1, 0.0, 3)
    with pytest.raises(ValueError, match=r"mask_rate must lie in \[0, 1\)"):
        RandomMasks(SIGMA, 1.0, 0.1, 1.0)


@pytest.mark.parametrize("lam", [0, -1, math.nan])
@pytest.mark.parametrize("alpha", [1.0, 0, -1, math.inf])
def test_ridges_and_ratios(alpha, lam):
    for call in (
        lambda: masked.solve(RandomMasks(SIGMA, alpha, lam, 0.2)),
        lambda: masked.solve(RandomMasks(SIGMA, alpha, lam, 0.2, 3)),
        lambda: masked.mask_curve(SIGMA, [alpha], lam, [0.2]),
        lambda: masked.solve(SpanMask(SIGMA, alpha, lam, [1])),
        lambda: masked.solve(SpanWindows(SIGMA, alpha, lam, 2)),
    ):
        with pytest.raises(ValueError, match=r"(lam|alpha|alphas) must"):
            call()


def test_a_covariance_without_variance():
    with pytest.raises(ValueError, match="no finite variance"):
        masked.solve(RandomMasks(PowerLaw(math.inf, 1.5, rotation=0), 1.0, 0.1, 0.2))


@pytest.mark.parametrize(
    ("span", "message"),
    [
        ([], "at least one coordinate"),
        (range(10), "must leave a coordinate"),
        ([1, 2, 1], "must not repeat"),
        ([3, 10], r"must lie in 0..9, got 3..10"),
        ([-1], r"must lie in 0..9"),
        ([1.5], r"span\[0\] must be an integer"),
        ([1, True], r"span\[1\] must be an integer"),
        ([math.nan], r"span\[0\] must be an integer"),
        (3, "must be a sequence"),
        ("ab", "span must be a sequence"),
    ],
)
def test_spans(span, message):
    with pytest.raises(ValueError, match=message):
        masked.solve(SpanMask(SIGMA, 1.0, 0.1, span))


@pytest.mark.parametrize("length", [0, -1, 10, 11, 2.5, True, math.nan])
def test_lengths(length):
    with pytest.raises(ValueError, match="length must be"):
        SpanWindows(SIGMA, 1.0, 0.1, length)


def test_spans_need_a_finite_size():
    with pytest.raises(ValueError, match="is the limit d -> infinity"):
        masked.solve(SpanMask(AR1(math.inf, 0.5), 1.0, 0.1, [1, 2]))
    with pytest.raises(ValueError, match="is the limit d -> infinity"):
        SpanWindows(AR1(math.inf, 0.5), 1.0, 0.1, 2)
    with pytest.raises(ValueError, match="is the limit d -> infinity"):
        _ = masked.solve(RandomMasks(AR1(math.inf, 0.5), 1.0, 0.1, 0.2)).predictor


def test_a_simulated_size_must_hold_the_span():
    with pytest.raises(ValueError, match=r"span must lie in 0..7, got 8..8"):
        mean_test_error(SpanMask(SIGMA, 1.0, 0.1, [8]), 8, stream(0))
    with pytest.raises(ValueError, match="length must be below d = 4"):
        mean_test_error(SpanWindows(SIGMA, 1.0, 0.1, 5), 4, stream(0))
