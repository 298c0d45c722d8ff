"""Maps of binary networks at initialization: reference values, second routes, limits, and what cannot be critical."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import dblquad
from scipy.special import erf

from tests.feedforward.references import hermite_powers
from theory.feedforward import criticality, propagate, signal_fixed_point
from theory.feedforward.tanh_averages import OneField, TwoFields, _rest
from theory.models import BinaryNetwork
from theory.numerics import ConvergenceError

SHARES, BIASES = st.floats(1e-3, 1.0), st.floats(1e-12, 1e3)


def network(mean_variance, bias_variance, neurons="sign"):
    return BinaryNetwork(mean_variance=mean_variance, bias_variance=bias_variance, neurons=neurons)


def test_reference_values():
    signs, tanhs = signal_fixed_point(network(0.9, 0.1)), signal_fixed_point(network(0.99, 0.001, "tanh"))
    assert signs.variance == pytest.approx(0.236127941793, abs=1e-12)
    assert signs.correlation_slope == pytest.approx(0.530642122506, abs=1e-12)
    assert signs.depth_scale == pytest.approx(1.57811482, abs=1e-8)
    assert tanhs.variance == pytest.approx(0.0230677608989, abs=1e-13)
    assert tanhs.correlation == pytest.approx(0.817705141, abs=1e-9)
    assert tanhs.correlation_slope == pytest.approx(0.947379815, abs=1e-9)
    assert tanhs.depth_scale == pytest.approx(18.50, abs=0.005)


def test_maps_after_five_layers():
    for system, start, q, c in [
        (network(0.9, 0.1), (1.0, 0.3), 0.2583, 0.9221),
        (network(0.99, 0.01), (3.0, 0.5), 0.1264, 0.5434),
        (network(0.9, 0.05, "tanh"), (1.0, 0.3), 0.2098, 0.6202),
    ]:
        found = propagate(system, 5, *start)
        assert found.variances[-1] == pytest.approx(q, abs=6e-5)
        assert found.correlations[-1] == pytest.approx(c, abs=6e-5)


def test_fixed_point_of_signs_at_thirty_digits():
    with mpmath.workdps(30):
        s, B = mpmath.mpf("0.75"), mpmath.mpf("0.02")

        def overlap(q, c):
            return 2 / mpmath.pi * mpmath.asin(q * c / (1 + q))

        q = mpmath.findroot(lambda q: (s * overlap(q, 1) + B) / (1 - s * overlap(q, 1)) - q, 0.05)
        top = s * overlap(q, 1) + B
        chi = mpmath.diff(lambda c: (s * overlap(q, c) + B) / top, 1)
        same = mpmath.diff(lambda q: (s * overlap(q, 1) + B) / (1 - s * overlap(q, 1)), q)
        f_slope = 2 / mpmath.pi / mpmath.sqrt(1 + 2 * q)  # E f'(h)^2 of f = erf(h/sqrt 2)
        gradient = s * f_slope / (1 - s * overlap(q, 1))
    found = signal_fixed_point(network(0.75, 0.02))
    assert found.variance == pytest.approx(float(q), rel=1e-14)
    for slope, exact in [
        (found.correlation_slope, chi),
        (found.variance_slope, same),
        (found.gradient_factor, gradient),
    ]:
        assert slope == pytest.approx(float(exact), rel=1e-13)
    assert found.depth_scale == pytest.approx(float(-1 / mpmath.log(chi)), rel=1e-13)


def test_fixed_point_of_tanh_at_thirty_digits():
    B = mpmath.mpf("0.05")
    with mpmath.workdps(30):

        def mean(f, q):
            density = lambda z: mpmath.exp(-z * z / 2) / mpmath.sqrt(2 * mpmath.pi)  # noqa: E731
            return 2 * mpmath.quad(lambda z: f(mpmath.sqrt(q) * z) * density(z), [0, 1, 3, 6, 12])

        q = mpmath.findroot(lambda q: mean(lambda h: mpmath.tanh(h) ** 2, q) + B - q, (0.2, 0.25), solver="anderson")
        slope = mpmath.diff(lambda q: mean(lambda h: mpmath.tanh(h) ** 2, q), q)
        gradient = 0.9 * mean(lambda h: mpmath.sech(h) ** 4, q)
    found = signal_fixed_point(network(0.9, 0.05, "tanh"))
    assert found.variance == pytest.approx(float(q), rel=1e-13)
    assert found.variance_slope == pytest.approx(float(slope), rel=1e-9)
    assert found.gradient_factor == pytest.approx(float(gradient), rel=1e-13)


@pytest.mark.parametrize(("s", "B"), [(0.5, 0.3), (0.9, 0.05), (0.99, 0.001), (0.2, 1e-5)])
def test_correlation_of_tanh_by_its_hermite_series(s, B):
    found = signal_fixed_point(network(s, B, "tanh"))
    powers = hermite_powers(np.tanh, found.variance)
    k = np.arange(len(powers))
    following = (s * powers @ found.correlation**k + B) / found.variance
    assert following == pytest.approx(found.correlation, rel=1e-10)
    slope = s * (powers[1:] * k[1:]) @ found.correlation ** (k[1:] - 1) / found.variance
    assert slope == pytest.approx(found.correlation_slope, rel=1e-10)


@pytest.mark.parametrize("variance", [1e-4, 0.3, 1.0, 1.0001, 5.0, 60.0])
@pytest.mark.parametrize("e", [0.0, 1e-6, 0.01, 0.4, 1.0])
def test_averages_of_tanh_in_every_regime(variance, e):
    """Against the plain double sum with a step that resolves the narrower of all scales."""
    z = np.linspace(-9, 9, 1801)
    w = np.exp(-(z**2) / 2)
    w /= w.sum()
    h = np.sqrt(variance) * (np.sqrt(1 - e) * z[:, None] + np.sqrt(e) * z)
    t, sech2 = np.tanh(h), 1 - np.tanh(h) ** 2
    one, two = OneField(variance), TwoFields(variance, e)
    square = w @ np.tanh(np.sqrt(variance) * z) ** 2
    product, slope = w @ (t @ w) ** 2, w @ (sech2 @ w) ** 2
    assert one.square == pytest.approx(square, rel=1e-11)
    t2 = np.tanh(np.sqrt(variance) * z) ** 2
    assert one.gradient_loss == pytest.approx(w @ (1 - (1 - t2) ** 2), rel=1e-11)
    assert one.shrinkage_slope == pytest.approx(w @ (1 - (1 - t2) * (1 - 3 * t2)), rel=1e-11)
    assert two.product == pytest.approx(product, rel=1e-11)
    assert two.slope_loss == pytest.approx(1 - slope, rel=1e-11, abs=1e-13)
    assert two.shrinkage(one.square) == pytest.approx(variance * e - (square - product), rel=1e-6, abs=1e-12)


def test_small_averages_keep_their_digits():
    q = 1e-8  # q - E tanh^2 = 2 q^2 - 17/3 q^3 + ...; q e - ... = 2 q^2 (e + ...)
    assert OneField(q).shrinkage == pytest.approx(2 * q**2 - 17 / 3 * q**3, rel=1e-12, abs=0)
    assert OneField(q).shrinkage_slope == pytest.approx(4 * q - 17 * q**2, rel=1e-12, abs=0)
    assert TwoFields(q, 1e-6).slope_loss == pytest.approx(2 * q, rel=1e-6, abs=0)
    assert TwoFields(q, 1.0).shrinkage(OneField(q).square) == pytest.approx(OneField(q).shrinkage, rel=1e-9, abs=0)


@pytest.mark.parametrize("x", [1e-8, -1e-3, 0.03, -0.0632, 0.0633, 0.5, 30.0])
def test_the_difference_of_a_field_and_its_tanh_keeps_its_digits(x):
    with mpmath.workdps(40):
        exact = mpmath.mpf(x) - mpmath.tanh(mpmath.mpf(x))
    assert _rest(np.array([x]))[0] == pytest.approx(float(exact), rel=5e-13, abs=0)


@pytest.mark.parametrize("c", [-0.7, 0.0, 0.4, 0.95])
def test_one_layer_by_double_integrals(c):
    q, s, B = 0.8, 0.6, 0.05
    root = np.sqrt(1 - c * c)

    def joint(f, g):
        def weighted(v, u):
            return f(np.sqrt(q) * u) * g(np.sqrt(q) * (c * u + root * v)) * np.exp(-(u * u + v * v) / 2) / (2 * np.pi)

        return dblquad(weighted, -8, 8, -8, 8, epsabs=1e-10, epsrel=1e-10)[0]

    def sign_mean(h):
        return erf(h / np.sqrt(2))

    for neurons, f in [("sign", sign_mean), ("tanh", np.tanh)]:
        found = propagate(network(s, B, neurons), 1, variance=q, correlation=c)
        z, w = np.polynomial.hermite_e.hermegauss(100)
        square = (w / w.sum()) @ f(np.sqrt(q) * z) ** 2
        variance = (s * square + B) / (1 - s * square) if neurons == "sign" else square + B
        scale = (s * square + B) if neurons == "sign" else variance
        assert found.variances[1] == pytest.approx(variance, rel=1e-8)
        assert found.correlations[1] == pytest.approx((s * joint(f, f) + B) / scale, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("neurons", ["sign", "tanh"])
@settings(max_examples=40)
@given(s=SHARES, B=BIASES, q=st.floats(1e-6, 10.0), c=st.floats(-1.0, 1.0))
def test_every_start_ends_at_the_fixed_point(neurons, s, B, q, c):
    system = network(s, B, neurons)
    point = signal_fixed_point(system)
    layers = int(min(60 * max(point.depth_scale, point.variance_depth_scale) + 5, 400))
    found = propagate(system, layers, q, c)
    if layers < 400:
        assert found.variances[-1] == pytest.approx(point.variance, rel=1e-9)
        assert found.correlations[-1] == pytest.approx(point.correlation, abs=1e-7)
    on = propagate(system, 1, point.variance, point.correlation)
    assert on.variances[1] == pytest.approx(point.variance, rel=1e-10)
    assert on.correlations[1] == pytest.approx(point.correlation, abs=1e-10)


@pytest.mark.parametrize("neurons", ["sign", "tanh"])
@pytest.mark.parametrize(("s", "B"), [(0.9, 0.1), (0.5, 0.02), (0.95, 1.5)])
def test_slopes_are_those_of_the_maps(neurons, s, B):
    system, step = network(s, B, neurons), 1e-5
    point = signal_fixed_point(system)
    inside = [propagate(system, 1, point.variance, point.correlation - k * step).correlations[1] for k in range(3)]
    slope = (3 * inside[0] - 4 * inside[1] + inside[2]) / (2 * step)
    assert point.correlation_slope == pytest.approx(slope, rel=1e-6)
    up, down = (propagate(system, 1, point.variance + step * sign).variances[1] for sign in (1, -1))
    assert point.variance_slope == pytest.approx((up - down) / (2 * step), rel=1e-6)


@given(s=SHARES, B=BIASES)
def test_signs_are_never_critical(s, B):
    point, bound = signal_fixed_point(network(s, B)), criticality("sign")
    assert 0 < point.correlation_slope <= bound.largest_slope
    assert point.depth_scale <= bound.largest_depth_scale
    assert not bound.is_critical


@given(s=SHARES, B=BIASES)
def test_tanh_is_critical_only_for_means_of_one_without_biases(s, B):
    point, bound = signal_fixed_point(network(s, B, "tanh")), criticality("tanh")
    assert point.correlation_slope <= s
    assert np.isfinite(point.depth_scale)
    assert 0 <= point.correlation <= 1
    assert bound.is_critical


def test_the_best_initializations():
    best = signal_fixed_point(network(1, 0))
    assert best.depth_scale == pytest.approx(criticality("sign").largest_depth_scale, rel=1e-15)
    assert best.correlation_slope == pytest.approx(2 / np.pi, rel=1e-15)
    assert signal_fixed_point(network(1, 0, "tanh")).depth_scale == np.inf == criticality("tanh").largest_depth_scale
    # Close to the critical point q = sqrt(B/2) and 1 - chi = 2 q, to leading order.
    near = signal_fixed_point(network(1, 1e-12, "tanh"))
    assert near.variance == pytest.approx(np.sqrt(0.5e-12), rel=1e-5, abs=0)
    assert near.depth_scale == pytest.approx(1 / (2 * near.variance), rel=1e-5)


@pytest.mark.parametrize("B", [0.001, 0.05])
def test_depth_scales_grow_with_the_variance_of_the_means(B):
    for neurons in ("sign", "tanh"):
        scales = [signal_fixed_point(network(s, B, neurons)).depth_scale for s in np.linspace(0.02, 1, 50)]
        assert (np.diff(scales) > 0).all()


def test_signs_with_large_biases_approach_one_half():
    assert signal_fixed_point(network(1, 1e5)).correlation_slope == pytest.approx(0.5, rel=1e-8)


@pytest.mark.parametrize("neurons", ["sign", "tanh"])
def test_without_biases_fields_vanish(neurons):
    system = network(0.7, 0.0, neurons)
    point, tiny = signal_fixed_point(system), signal_fixed_point(network(0.7, 1e-14, neurons))
    assert point.variance == 0
    assert point.correlation_slope == pytest.approx(tiny.correlation_slope, rel=1e-6)
    still = propagate(system, 2, 0.0, 0.4)
    assert still.variances.tolist() == [0, 0, 0]
    np.testing.assert_allclose(still.correlations, 0.4 * (0.7 if neurons == "tanh" else 1) ** np.arange(3))
    almost = propagate(system, 1, 1e-200, 0.4)
    np.testing.assert_allclose(almost.correlations, still.correlations[:2])


def test_a_root_that_cannot_be_verified_is_refused(monkeypatch):
    monkeypatch.setattr("theory.feedforward.initialization.RESIDUAL_TOLERANCE", -1.0)
    with pytest.raises(ConvergenceError, match="stationary fields of a binary network: unverified"):
        signal_fixed_point(network(0.9, 0.05, "tanh"))
    assert not signal_fixed_point(network(0.9, 0.05, "tanh"), check=False).converged


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"mean_variance": 1.1}, r"mean_variance must lie in \(0, 1\], got 1.1"),
        ({"mean_variance": 0}, r"mean_variance must lie in \(0, 1\], got 0"),
        ({"mean_variance": float("nan")}, "mean_variance must be finite, got nan"),
        ({"bias_variance": -0.1}, r"bias_variance must lie in \[0, 1e\+06\], got -0.1"),
        ({"bias_variance": 5e-324}, "bias_variance must be zero or at least 1e-300, got 5e-324"),
        ({"neurons": "relu"}, "neurons must be one of 'sign', 'tanh', got 'relu'"),
    ],
)
def test_bad_networks_are_refused(keywords, message):
    with pytest.raises(ValueError, match=message):
        BinaryNetwork(**({"mean_variance": 0.9, "bias_variance": 0.1} | keywords))
