"""Filters of training as sums of ridges: poles of the exponential, contours of polynomials, their measured errors."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.numerics.filters import Recursion, exponential_poles, flow_filter, polynomial_filter

# Best rational approximation of e^-x with 14 poles, computed once in another program.
ZETA = [5.62317153 + 1.19406643j, 5.08937456 + 3.5888161j, 3.99340043 + 6.00481806j, 2.26981653 + 8.46171781j,
        -0.20872378 + 10.99123203j, -3.70323916 + 13.65633346j, -8.89773541 + 16.63093521j]  # fmt: skip
WEIGHTS = [8.43453300 + 16.3748541j, -10.3833246 - 1.64670557j, 2.47510660 - 2.26732725j, 0.00348314682 + 0.569049869j,
           -0.0311364929 - 0.0336508628j, 0.00134682964 + 0.000325935825j, -8.50312e-6 + 2.47717e-7j]  # fmt: skip


def test_poles_and_weights_of_the_exponential():
    """The error of e^-x, below 1e-12 on every machine, lets the poles move with rounding by up to 1e-5 or so."""
    zeta, weights = exponential_poles()
    np.testing.assert_allclose(zeta, ZETA, rtol=1e-5)
    np.testing.assert_allclose(weights[:-1], WEIGHTS[:-1], rtol=1e-4)
    np.testing.assert_allclose(weights[-1], WEIGHTS[-1], rtol=2e-4)
    assert 2 * weights.sum().real == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("n", [4, 6, 8, 10])
def test_two_poles_more_reduce_the_error_eighty_times(n):
    """The constant of this geometric decay is that of Halphen, 9.289, a pole."""
    assert flow_filter(1.0, n).error / flow_filter(1.0, n + 2).error == pytest.approx(9.289**2, rel=0.15)
    assert flow_filter(1.0, 14).error < 1e-12  # where rounding wins


@pytest.mark.parametrize("n", [1, 7, 16])
def test_numbers_of_poles(n):
    with pytest.raises(ValueError, match="n must be even and at most 14"):
        exponential_poles(n)


@given(st.floats(-3, 3), st.floats(-6, 4))
@settings(max_examples=30)
def test_the_filter_of_the_flow(log_time, log_eigenvalue):
    time, s = 10.0**log_time, 10.0**log_eigenvalue
    found = flow_filter(time)
    assert s * found(np.array(s)) == pytest.approx(-np.expm1(-time * s), abs=max(1e-12, 2e-12 * time * s))
    ridge = found.shifted(0.3)
    assert (s + 0.3) * ridge(np.array(s)) == pytest.approx(-np.expm1(-time * (s + 0.3)), abs=1e-11 * (1 + time))


POLYNOMIALS = {
    "descent by Talbot's contour": (Recursion(0.03, 300, 0.0), 18),
    "descent of large steps": (Recursion(0.45, 30, 0.0), None),
    "one step": (Recursion(0.2, 1, 0.0), None),
    "heavy ball": (Recursion(0.03, 40, 0.8), None),
    "Nesterov": (Recursion(0.03, 40, None), None),
}


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_filters_of_polynomials_against_the_recursion_in_exact_arithmetic(name):
    residual, nodes = POLYNOMIALS[name]
    top = 4.0
    found = polynomial_filter(residual, top)
    assert found.error < 1e-11
    assert nodes is None or len(found.ridges) == nodes
    for s in (1e-3, 0.3, 1.7, 3.99):
        exact = (1 - in_steps(residual, mp.mpf(s))) / mp.mpf(s)
        assert float(found(np.array(s))) == pytest.approx(float(exact), rel=3e-11 * max(1, 1 / abs(float(exact))))


def in_steps(residual, s):
    """1 - s a after all steps a += step (1 - s a) on one coordinate, with momentum, in 30 digits."""
    with mp.workdps(30):
        before = a = mp.mpf(0)
        for k in range(1, residual.steps + 1):
            if residual.momentum is None:
                ahead = a + mp.mpf(k - 1) / (k + 2) * (a - before)
                before, a = a, ahead + mp.mpf(residual.step) * (1 - s * ahead)
            else:
                before, a = a, a + mp.mpf(residual.step) * (1 - s * a) + mp.mpf(residual.momentum) * (a - before)
        return 1 - s * a


@pytest.mark.parametrize(("step", "steps"), [(0.03, 300), (0.1, 60)])
def test_both_contours_of_descent_are_one_filter(step, steps):
    from theory.numerics import filters

    residual = Recursion(step, steps, 0.0)
    talbot, ellipse = filters._talbot(residual), filters._ellipse(residual, 3.0)
    s = np.linspace(1e-3, 3, 50)
    one, other = (filters.Filter(*nodes, 0.0)(s) for nodes in (talbot, ellipse))
    np.testing.assert_allclose(one, other, rtol=3e-11)


def test_a_polynomial_that_no_contour_resolves_says_so_in_its_error():
    """Above the stable step the residual grows between the spectrum and the ellipse by more than rounding allows."""
    assert polynomial_filter(Recursion(0.9, 60, 0.0), 4.0).error > 1e-3


@pytest.mark.parametrize(("reach", "steps"), [(0.7, 20), (1.0, 20), (1.5, 60), (1.9, 3000)])
def test_long_descent_needs_few_ridges(reach, steps):
    found = polynomial_filter(Recursion(reach / 7, steps, 0.0), 7.0)
    assert len(found.ridges) == 18
    assert found.error < 5e-12


def test_momentum_of_more_steps_than_fit_in_memory_is_refused_before_any_work():
    with pytest.raises(MemoryError, match=r"the filter of 1000000 steps needs .* take fewer steps, or a Flow"):
        polynomial_filter(Recursion(0.1, 10**6, 0.9), 7.0)
