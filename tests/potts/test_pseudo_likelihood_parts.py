"""What a large fit is made of: the vector of all pairs, the variances that scale its steps, and its memory."""

import tracemalloc

import numpy as np
import pytest

from simulate.potts import pseudo_likelihood
from simulate.potts.inference import pair_blocks, symmetric
from simulate.potts.inference.descent import independent_fields
from simulate.potts.inference.memory import peak_bytes
from simulate.potts.inference.objective import group_loss
from simulate.potts.inference.sequences import Sequences
from theory.models import DensePottsModel

L, C = 5, 3


def symmetric_tables(rng):
    """Tables [i, a, j, b] = [j, b, i, a], zero for i = j."""
    J = rng.standard_normal((L, C, L, C)) * (1 - np.eye(L))[:, None, :, None]
    return J + J.transpose(2, 3, 0, 1)


def test_groups_of_sites_read_the_tables_that_were_packed():
    rng = np.random.default_rng(0)
    fields, tables = rng.standard_normal((L, C)), symmetric_tables(rng)
    x = pair_blocks.pack(fields, tables)
    assert len(x) == pair_blocks.size(L, C)
    for sites in (slice(0, 2), slice(2, 5), slice(0, 5)):
        table = np.full((L, C, sites.stop - sites.start, C), np.nan)
        pair_blocks.take(x, sites.start, table)
        np.testing.assert_array_equal(table, tables[:, :, sites])
    again = pair_blocks.unpack(x, L, C)
    np.testing.assert_array_equal(again[0], fields)
    np.testing.assert_array_equal(again[1], tables)


def test_groups_of_sites_add_both_directions_of_a_pair():
    rng = np.random.default_rng(1)
    tables, f, by_field = rng.standard_normal((L, C, L, C)), rng.random((L, C)), rng.standard_normal((L, C))
    x = np.zeros(pair_blocks.size(L, C))
    for sites in (slice(0, 3), slice(3, 5)):
        pair_blocks.add(np.ascontiguousarray(tables[:, :, sites]), f, by_field[sites], sites.start, x)
    shifted = tables - np.multiply.outer(f, by_field)
    expected = pair_blocks.pack(np.zeros((L, C)), shifted + shifted.transpose(2, 3, 0, 1))
    np.testing.assert_allclose(x, expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_counts_give_the_gradient_where_all_couplings_are_zero(dtype):
    rng = np.random.default_rng(5)
    data = Sequences.of(rng.integers(0, C, (40, L)), C, rng.random(40))
    scale, others = (symmetric.PairCurvatures(data.frequencies(), 0.02, 0.3) for _ in range(2))
    x = np.zeros(pair_blocks.size(L, C), dtype)
    x[: L * C] = rng.standard_normal(L * C)
    value, gradient = symmetric.objective(data, 0.02, 0.3, dtype=dtype, scale=scale)(x)
    x[-1] = 1e-30  # all samples are summed over
    expected = symmetric.objective(data, 0.02, 0.3, dtype=dtype, scale=others)(x)
    assert gradient.dtype == dtype
    assert value == pytest.approx(expected[0], rel=1e-6 if dtype == np.float32 else 1e-13)
    np.testing.assert_allclose(gradient, expected[1], atol=1e-6 if dtype == np.float32 else 1e-14)
    for (_, found), (_, other) in zip(scale(), others(), strict=True):
        np.testing.assert_allclose(found(), other(), rtol=1e-5)


@pytest.mark.parametrize(("strength", "larger"), [(0.0, "supposed"), (3.0, "observed")])  # far too sure of themselves
def test_variances_of_predictions_are_means_over_the_samples(strength, larger):
    rng = np.random.default_rng(2)
    states, weights, sites = rng.integers(0, C - 1, (30, L)), rng.random(30), slice(1, 4)  # one color never occurs
    fields, tables = rng.standard_normal((L, C)) / 10, strength * symmetric_tables(rng)
    data = Sequences.of(states, C, weights)
    found = group_loss(data, sites, tables[:, :, sites], fields[sites], data.frequencies()).variances
    P = np.exp(DensePottsModel(tables.transpose(0, 2, 1, 3), fields).log_conditionals(states))[:, sites]
    supposed = np.tensordot(data.weights, P * (1 - P), axes=1)
    observed = np.tensordot(data.weights, (P - np.eye(C)[states[:, sites]]) ** 2, axes=1)
    assert np.any({"supposed": supposed > observed, "observed": supposed < observed}[larger])
    np.testing.assert_allclose(found, np.maximum(supposed, observed), rtol=1e-12)


def test_scales_are_inverse_second_derivatives_where_sites_are_independent():
    rng = np.random.default_rng(3)
    states = np.stack(np.meshgrid(*[[0, 1, 1, 2]] * 3, indexing="ij"), axis=-1).reshape(-1, 3)  # independent sites
    data, l2, field_l2 = Sequences.of(states, C), 0.02, 0.003
    scale = symmetric.PairCurvatures(data.frequencies(), l2, field_l2)
    function = symmetric.objective(data, l2, field_l2, scale=scale)
    x = np.zeros(pair_blocks.size(3, C))
    x[: 3 * C] = np.log(data.frequencies()).ravel()
    function(x)
    inverse = np.concatenate([each() for _, each in scale()])
    for k in rng.choice(len(x), 12, replace=False):
        step = 1e-5 * (np.arange(len(x)) == k)
        second = (function(x + step)[1][k] - function(x - step)[1][k]) / 2e-5
        # The penalty of fields acts on the couplings too, since the fields are those at the mean of the data.
        assert 1 / inverse[k] == pytest.approx(second, abs=2 * field_l2)


@pytest.mark.parametrize(
    ("is_symmetric", "tol"), [(True, 1e-4), (True, 1e-6), pytest.param(False, 1e-4, marks=pytest.mark.slow)]
)
def test_memory_is_what_was_predicted(is_symmetric, tol):
    """Of Python's allocations, for sequences that are few enough to take none of it."""
    states = np.random.default_rng(4).integers(0, 21, (30, 50))
    options = {"symmetric": is_symmetric, "l2": 1e-3, "max_iter": 30, "check": False}
    pseudo_likelihood(states[:, :2], 21, tol=tol, **options)  # compiles
    tracemalloc.start(1)
    pseudo_likelihood(states, 21, tol=tol, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_bytes(50, 21, symmetric=is_symmetric, tol=tol) == pytest.approx(peak, rel=0.25)


@pytest.mark.parametrize("field_l2", [1e-7, 1e-5])
def test_colors_that_never_occur_start_near_their_optimum(field_l2):
    """Within a factor of two of its probability, and the others within what that takes from them."""
    states = np.repeat([[0], [1], [2]], [1, 4, 5], axis=0)
    start = independent_fields(Sequences.of(states, 4).frequencies(), field_l2)
    fit = pseudo_likelihood(states, 4, field_l2=field_l2, tol=1e-8)
    P, optimum = (np.exp(fields[0]) / np.exp(fields[0]).sum() for fields in (start, fit.fields))
    assert 0.5 < P[3] / optimum[3] < 2
    np.testing.assert_allclose(P[:3], optimum[:3], rtol=30 * field_l2 / 0.1)
