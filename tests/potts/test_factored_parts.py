"""The parts of the loss of factored attention beside numpy: exponentials, sums of logarithms, products of matrices."""

import numpy as np
import pytest
from numba import njit

from simulate.core import stream
from simulate.potts.inference.exponentials import MAX_SUM, MAX_SUM_SINGLE, all_moderate, exponential, log_sums
from simulate.potts.inference.small_products import add_inner_products, set_product


@njit
def exponentials(x):
    result = np.empty_like(x)
    for k in range(len(x)):
        result[k] = exponential(x[k])
    return result


@pytest.mark.parametrize(("dtype", "least", "most"), [(np.float64, -708.0, 700.0), (np.float32, -87.0, 87.0)])
def test_exponentials_have_all_digits(dtype, least, most):
    x = np.concatenate([np.linspace(least, most, 200_001), np.linspace(-1, 1, 20_001), [0.0]]).astype(dtype)
    exact = np.exp(x.astype(np.longdouble))
    found = exponentials(x)
    assert found.dtype == dtype
    assert np.max(abs(found / exact - 1)) < 2 * np.finfo(dtype).eps
    assert found[-1] == 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_exponentials_of_much_less_than_zero_are_tiny_and_those_of_nan_are_nan(dtype):
    tiny, none, nan = exponentials(np.array([-1e4, -np.inf, np.nan], dtype))
    assert 0 < tiny == none < 10 * np.finfo(dtype).tiny
    assert np.isnan(nan)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_exponentials_of_much_more_than_zero_are_huge_and_finite(dtype):
    huge, most = exponentials(np.array([1e4, np.inf], dtype))
    assert 0.1 * np.finfo(dtype).max < huge == most < np.inf


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sums_are_moderate_where_neither_products_of_four_nor_inverses_overflow(dtype):
    limit = {np.float64: MAX_SUM, np.float32: MAX_SUM_SINGLE}[dtype]
    sums = np.array([0.9 * limit, 1.1 / limit, 1.0], dtype)
    assert all_moderate(sums, 3)
    for bad in (1.1 * limit, 0.9 / limit, 0.0, np.inf, np.nan):
        assert not all_moderate(np.append(sums, dtype(bad)), 4)
        assert all_moderate(np.append(sums, dtype(bad)), 3)


def test_exponentials_are_for_compiled_code_only():
    with pytest.raises(NotImplementedError, match="compiled code only"):
        exponential(1.0)


@pytest.mark.parametrize("n_sites", [1, 3, 4, 6, 9])
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-14), (np.float32, 1e-6)])
def test_logarithms_of_sums_are_weighted_by_sample(n_sites, dtype, rtol):
    rng = stream(0, "sums", n_sites)
    weights, sums = rng.random(5).astype(dtype), np.exp(rng.uniform(-60, 60, (5, n_sites))).astype(dtype)
    shares, own = sums.ravel().copy(), rng.standard_normal(5)
    expected = weights @ (np.log(sums.astype(float)).sum(axis=1) - own)
    assert log_sums(weights, own, shares, n_sites) == pytest.approx(expected, rel=rtol)
    np.testing.assert_allclose(shares.reshape(sums.shape), weights[:, None] / sums, rtol=rtol)


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-13), (np.float32, 1e-5)])
@pytest.mark.parametrize("n", [1, 4, 6, 11])
@pytest.mark.parametrize("m", [1, 2, 3, 4, 9])
def test_products_are_those_of_numpy_whatever_the_number_of_rows(n, m, dtype, rtol):
    rng = stream(0, "products", n, m)
    M, x, y = (rng.standard_normal(shape).astype(dtype) for shape in ((n, m), (m, 37), (n, 37)))
    for start in (rng.standard_normal((n, 40)).astype(dtype), np.ones((1, 40), dtype)):
        out = np.full((n, 37), 7.0, dtype)
        set_product(M, x, start, out, 35)
        np.testing.assert_allclose(out[:, :35], start[:, :35] + (M @ x)[:, :35], rtol=rtol, atol=rtol)
        assert (out[:, 35:] == 7).all()
    sums = np.ones((n, m))
    add_inner_products(y, x, sums, 35)
    np.testing.assert_allclose(sums, 1 + y[:, :35] @ x[:, :35].T, rtol=rtol, atol=10 * rtol)
