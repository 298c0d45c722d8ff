"""The parts of the loss of factored attention beside numpy: exponentials, sums of logarithms, products of matrices."""

import mpmath
import numpy as np
import pytest
from numba import njit

from simulate.core import stream
from simulate.potts.inference.exponentials import (
    MAX_SUM,
    MAX_SUM_SINGLE,
    all_moderate,
    exponential,
    log_sums,
    power_of_two,
)
from simulate.potts.inference.small_products import add_inner_products, in_blocks, set_product


def of_each(function):
    """Compile a loop over the numbers of an array."""

    @njit
    def found(x):
        result = np.empty_like(x)
        for k in range(len(x)):
            result[k] = function(x[k])
        return result

    return found


exponentials, powers = of_each(exponential), of_each(power_of_two)


@pytest.mark.parametrize(
    ("found_by", "exactly", "dtype", "least", "most"),
    [
        (exponentials, np.exp, np.float64, -708.0, 700.0),
        (exponentials, np.exp, np.float32, -87.0, 87.0),
        (powers, np.exp2, np.float64, -1022.0, 1023.0),
        (powers, np.exp2, np.float32, -126.0, 127.0),
    ],
)
def test_exponentials_have_all_digits(found_by, exactly, dtype, least, most):
    x = np.concatenate([np.linspace(least, most, 200_001), np.linspace(-1, 1, 20_001), [0.0]]).astype(dtype)
    exact = exactly(x.astype(np.longdouble))
    found = found_by(x)
    assert found.dtype == dtype
    assert np.max(abs(found / exact - 1)) < 2 * np.finfo(dtype).eps
    assert found[-1] == 1


@pytest.mark.parametrize(("dtype", "most"), [(np.float64, 1022), (np.float32, 126)])
def test_powers_of_two_are_those_of_many_digits(dtype, most):
    """Their error is at most 1.4 units of the last digit, and 1.7 on a processor without fused multiply-add."""
    rng = stream(0, "powers")
    x = np.concatenate([rng.uniform(-1, 1, 500), rng.uniform(-most, most, 500)]).astype(dtype)
    with mpmath.workdps(40):
        for each, found in zip(x, powers(x), strict=True):
            exact = mpmath.power(2, mpmath.mpf(float(each)))
            assert abs(mpmath.mpf(float(found)) - exact) <= 1.75 * float(np.spacing(found))


def test_powers_of_two_of_integers_are_exact():
    n = np.arange(-1022, 1024)
    np.testing.assert_array_equal(powers(n.astype(float)), np.ldexp(1.0, n))


@pytest.mark.parametrize("found_by", [exponentials, powers])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_exponentials_of_much_less_than_zero_are_tiny_and_those_of_nan_are_nan(found_by, dtype):
    tiny, none, nan = found_by(np.array([-1e4, -np.inf, np.nan], dtype))
    assert 0 < tiny == none < 10 * np.finfo(dtype).tiny
    assert np.isnan(nan)


@pytest.mark.parametrize("found_by", [exponentials, powers])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_exponentials_of_much_more_than_zero_are_huge_and_finite(found_by, dtype):
    huge, most = found_by(np.array([1e4, np.inf], dtype))
    assert 0.1 * np.finfo(dtype).max < huge == most < np.inf


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sums_are_moderate_where_neither_products_of_eight_nor_inverses_overflow(dtype):
    limit = {np.float64: MAX_SUM, np.float32: MAX_SUM_SINGLE}[dtype]
    sums = np.array([0.9 * limit, 1.1 / limit, 1.0], dtype)
    assert all_moderate(sums, 3)
    for bad in (1.1 * limit, 0.9 / limit, 0.0, np.inf, np.nan):
        assert not all_moderate(np.append(sums, dtype(bad)), 4)
        assert all_moderate(np.append(sums, dtype(bad)), 3)


@pytest.mark.parametrize("function", [exponential, power_of_two])
def test_exponentials_are_for_compiled_code_only(function):
    with pytest.raises(NotImplementedError, match="compiled code only"):
        function(1.0)


@pytest.mark.parametrize("n_sites", [1, 7, 8, 9, 17])
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-14), (np.float32, 1e-6)])
def test_logarithms_of_sums_are_weighted_by_sample(n_sites, dtype, rtol):
    rng = stream(0, "sums", n_sites)
    weights, sums = rng.random(5).astype(dtype), np.exp(rng.uniform(-59, 59, (5, n_sites))).astype(dtype)
    shares, own = sums.ravel().copy(), rng.standard_normal(5)
    expected = weights @ (np.log(sums.astype(float)).sum(axis=1) - own)
    assert log_sums(weights, own, shares, n_sites) == pytest.approx(expected, rel=rtol)
    np.testing.assert_allclose(shares.reshape(sums.shape), weights[:, None] / sums, rtol=rtol)


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-13), (np.float32, 1e-5)])
@pytest.mark.parametrize("n", [1, 4, 6, 11])
@pytest.mark.parametrize("m", [1, 2, 3, 4, 9])
def test_products_are_those_of_numpy_whatever_the_number_of_rows(n, m, dtype, rtol):
    rng = stream(0, "products", n, m)
    M, x, y = (rng.standard_normal(shape).astype(dtype) for shape in ((n, m), (m + 1, 37), (n + 1, 37)))
    for start in (rng.standard_normal((n, 40)).astype(dtype), np.ones((1, 40), dtype)):
        out = np.full((n + 1, 37), 7.0, dtype)
        set_product(M, x, start, out, 35)
        np.testing.assert_allclose(out[:n, :35], start[:, :35] + (M @ x[:m])[:, :35], rtol=rtol, atol=rtol)
        assert (out[:, 35:] == 7).all()
        assert (out[n] == 7).all()
    sums = np.ones((n, m))
    add_inner_products(y, x, sums, 35)
    np.testing.assert_allclose(sums, 1 + y[:n, :35] @ x[:m, :35].T, rtol=rtol, atol=10 * rtol)


def test_rows_fill_blocks_of_four():
    assert [in_blocks(n) for n in (1, 3, 4, 5, 20, 21)] == [4, 4, 4, 8, 20, 24]
