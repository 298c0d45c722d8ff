"""Masking patterns: one point of theory beside the honest simulation that it replaces.

Data have d coordinates of the named covariance; R is the number of random masks, each of which hides 15 % of them. A
window hides neighboring coordinates.
"""

import math

import numpy as np
import pytest

from simulate.core import stream
from simulate.masked import masks
from theory import masked
from theory.models import AR1, Blocks, RandomMasks, Scaled, SpanMask, SpanWindows, TwoLevel

SUBJECT = "masking patterns"
D, ALPHA, LAM, RATE = 300, 1.0, 0.01, 0.15
COVARIANCES = {
    "AR1 d = 300": lambda: AR1(D, 0.6),
    "scaled AR1 d = 300": lambda: Scaled(AR1(D, 0.6), np.linspace(0.5, 2, D)),
    "blocks d = 300": lambda: Blocks(D, 5, 0.5),
    "two-level d = 300": lambda: TwoLevel(D),
    "AR1 d = inf": lambda: AR1(math.inf, 0.6),
}


def number_of(n_masks):
    return "R = inf" if n_masks is None else f"R = {n_masks}"


@pytest.mark.parametrize("n_masks", [None, 1, 7])
@pytest.mark.parametrize("name", COVARIANCES)
def test_random_masks_from_a_fresh_record(jobs, name, n_masks):
    """The record's eigendecomposition included; beside one point of a record that has it."""
    make = COVARIANCES[name]
    covariance = make()
    jobs.compare(
        f"theory of random masks from a new record, {name}, {number_of(n_masks)}",
        lambda: masked.solve(RandomMasks(make(), ALPHA, LAM, RATE, n_masks)),
        beside={
            "ours, with known eigenvalues": lambda: masked.solve(RandomMasks(covariance, ALPHA, LAM, RATE, n_masks))
        },
    )


@pytest.mark.parametrize("n_masks", [None, 1, 7])
def test_random_masks_beside_one_simulated_data_set(jobs, n_masks):
    covariance = COVARIANCES["scaled AR1 d = 300"]()
    model = RandomMasks(covariance, ALPHA, LAM, RATE, n_masks)
    jobs.compare(
        f"theory of random masks, scaled AR1 d = {D}, {number_of(n_masks)}",
        lambda: masked.solve(RandomMasks(covariance, ALPHA, LAM, RATE, n_masks)),
        beside={"ours, one simulated data set": lambda: masks.coordinate_errors(model, D, stream(0, "bench"))},
        rounds=2,
    )


def test_curve_over_sample_ratios_beside_its_points(jobs):
    """Dense, infinitely many masks: one spectrum serves all alphas."""
    covariance, alphas = COVARIANCES["scaled AR1 d = 300"](), np.linspace(0.2, 4, 20)
    jobs.compare(
        f"theory at 20 sample ratios, scaled AR1 d = {D}",
        lambda: masked.mask_curve(covariance, alphas, LAM, RATE),
        beside={"ours, point by point": lambda: [masked.solve(RandomMasks(covariance, a, LAM, RATE)) for a in alphas]},
        rounds=2,
        limit="1 times",
    )


@pytest.mark.parametrize("exact_size", [False, True])
@pytest.mark.parametrize("length", [5, 20])
def test_all_windows(jobs, length, exact_size):
    covariance = COVARIANCES["AR1 d = 300"]()
    _ = covariance.eigenvectors
    model = SpanWindows(covariance, ALPHA, LAM, length)
    size = ", exact size" if exact_size else ""
    jobs.compare(
        f"theory of all {D - length + 1} windows of {length}, AR1 d = {D}{size}",
        lambda: masked.solve(SpanWindows(covariance, ALPHA, LAM, length), exact_size=exact_size).test_error,
        beside={
            "ours, one window": lambda: masked.solve(
                SpanMask(covariance, ALPHA, LAM, range(length)), exact_size=exact_size
            ),
            "ours, one simulated data set": lambda: masks.span_errors(model, D, stream(0, "bench")),
        },
        rounds=2,
    )
