"""The deterministic surrogate with phi = tanh: published recursion, depth scales, edge of chaos and drawn networks."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulate.core import Estimate, stream
from simulate.feedforward import decay, field_statistics, stochastic_activations
from tests.feedforward.references import hermite_powers
from theory.feedforward import critical_mean_variance, criticality, propagate, signal_fixed_point
from theory.feedforward.tanh_averages import OneField
from theory.models import BinaryNetwork


def network(mean_variance, bias_variance, phi="tanh"):
    return BinaryNetwork(mean_variance=mean_variance, bias_variance=bias_variance, phi=phi)


@pytest.mark.parametrize(
    ("s", "B", "scale"),
    [
        (0.2, 1e-3, 0.6205),
        (0.5, 1e-3, 1.4365),
        (0.9, 1e-3, 8.6772),
        (0.99, 1e-3, 27.695),
        (0.99, 1e-4, 61.668),
        (0.99, 1e-6, 98.519),
    ],
)
def test_depth_scales_of_tanh_by_plain_iteration(s, B, scale):
    """The recursion of arXiv:1902.00177, eqs. 12-19, by Gauss-Hermite nodes and plain iteration."""
    z, w = np.polynomial.hermite_e.hermegauss(60)
    w = w / w.sum()
    q = 0.5
    for _ in range(3000):
        square = w @ np.tanh(np.sqrt(q) * z) ** 2
        q = (s * square + B) / (1 - s * square)
    square = w @ np.tanh(np.sqrt(q) * z) ** 2
    chi = s * (w @ np.cosh(np.sqrt(q) * z) ** -4.0) / (1 - s * square)
    found = signal_fixed_point(network(s, B))
    assert found.depth_scale == pytest.approx(scale, rel=1e-4)
    assert found.depth_scale == pytest.approx(-1 / np.log(chi), rel=1e-9)
    assert found.variance == pytest.approx(q, rel=1e-10)
    assert found.correlation == 1
    assert found.gradient_factor == found.correlation_slope


def test_depth_scales_of_the_probit_are_much_smaller():
    for s, scale in [(0.2, 0.485), (0.5, 0.8728), (0.9, 1.7923), (0.99, 2.1616)]:
        assert signal_fixed_point(network(s, 1e-3, "erf")).depth_scale == pytest.approx(scale, abs=6e-4)


@pytest.mark.parametrize(("s", "B", "q"), [(0.5, 1e-3, "0.002"), (0.99, 5.0, "25"), (1.0, 1e-12, "1e-6")])
def test_fixed_point_at_thirty_digits(s, B, q):
    with mpmath.workdps(30):
        s_, B_ = mpmath.mpf(s), mpmath.mpf(B)

        def mean(f, q):
            def weighted(z):
                return f(mpmath.sqrt(q) * z) * mpmath.exp(-z * z / 2) / mpmath.sqrt(2 * mpmath.pi)

            return 2 * mpmath.quad(weighted, [0, 0.25, 0.5, 1, 2, 4, 8, 13])

        def square(q):
            return mean(lambda h: mpmath.tanh(h) ** 2, q)

        def excess(log_q):
            a = square(mpmath.exp(log_q))
            return mpmath.log((s_ * a + B_) / (1 - s_ * a)) - log_q

        q = mpmath.exp(mpmath.findroot(excess, mpmath.log(mpmath.mpf(q))))
        chi = s_ * mean(lambda h: mpmath.sech(h) ** 4, q) / (1 - s_ * square(q))
        slope = mpmath.diff(lambda q: (s_ * square(q) + B_) / (1 - s_ * square(q)), q, h=q * mpmath.mpf("1e-8"))
    found = signal_fixed_point(network(s, B))
    assert found.variance == pytest.approx(float(q), rel=1e-12, abs=0)
    assert found.depth_scale == pytest.approx(float(-1 / mpmath.log(chi)), rel=1e-9)
    assert found.variance_slope == pytest.approx(float(slope), rel=1e-9)
    assert found.variance_depth_scale == pytest.approx(float(-1 / mpmath.log(slope)), rel=1e-7)


@settings(max_examples=40)
@given(s=st.floats(1e-3, 1.0), B=st.floats(1e-12, 1e6), q=st.floats(1e-6, 10.0), c=st.floats(-1.0, 1.0))
def test_every_start_ends_at_the_one_fixed_point(s, B, q, c):
    system = network(s, B)
    point = signal_fixed_point(system)
    on = propagate(system, 1, point.variance, point.correlation)
    assert on.variances[1] == pytest.approx(point.variance, rel=1e-9)
    assert on.correlations[1] == pytest.approx(1, abs=1e-12)
    layers = 60 * max(point.depth_scale, point.variance_depth_scale) + 30
    if layers < 400:
        found = propagate(system, int(layers), q, c)
        assert found.variances[-1] == pytest.approx(point.variance, rel=1e-8)
        assert found.correlations[-1] == pytest.approx(1, abs=1e-7)


@pytest.mark.parametrize("c", [-0.9, 0.3, 0.95])
def test_one_layer_by_the_hermite_series(c):
    q, s, B = 0.8, 0.6, 0.05
    powers = hermite_powers(np.tanh, q)
    product = powers @ c ** np.arange(len(powers))
    z, w = np.polynomial.hermite_e.hermegauss(120)
    square = (w / w.sum()) @ np.tanh(np.sqrt(q) * z) ** 2
    found = propagate(network(s, B), 1, variance=q, correlation=c)
    variance = (s * square + B) / (1 - s * square)
    assert found.variances[1] == pytest.approx(variance, rel=1e-12)
    # As published: (1 + q')/q' (s E phi_a phi_b + B)/(1 + B), with the new variance q'.
    published = (1 + variance) / variance * (s * product + B) / (1 + B)
    assert found.correlations[1] == pytest.approx(published, rel=1e-10)


@pytest.mark.parametrize("q", [1e-6, 0.02, 1.0, 1.01, 30.0, 1e4])
def test_averages_for_the_new_maps(q):
    """Against a plain sum over the field itself, fine enough for narrow and for wide laws."""
    h = np.linspace(-min(25.0, 10 * np.sqrt(q)), min(25.0, 10 * np.sqrt(q)), 20_001)
    density = np.exp(-(h**2) / (2 * q)) / np.sqrt(2 * np.pi * q) * (h[1] - h[0])
    t2 = np.tanh(h) ** 2
    field = OneField(q)
    assert field.slope_gap == pytest.approx(density @ (t2 * (1 - t2)), rel=1e-9)
    # E t^2 = 1 - E sech^2, of which the range above holds all that counts.
    assert field.missing == pytest.approx(density @ (1 - t2), rel=1e-9)
    slope = density @ ((1 - h**2 / q) * (1 - t2)) / (2 * q)
    assert field.square_slope == pytest.approx(slope, rel=1e-7)


@pytest.mark.parametrize("phi", ["tanh", "erf"])
def test_the_edge_is_where_the_slope_is_one(phi):
    """With the edge's mean variance in the place of s, chi = s E phi'^2/(1 - s E phi^2) is one, by a plain sum."""
    z = np.linspace(-12, 12, 4001)
    w = np.exp(-(z**2) / 2)
    w /= w.sum()
    for q in (0.0, 0.1, 1.0, 7.0, 50.0):
        h = np.sqrt(q) * z
        if phi == "tanh":
            square, slopes = w @ np.tanh(h) ** 2, w @ np.cosh(h) ** -4.0
        else:
            square, slopes = 2 / np.pi * np.arcsin(q / (1 + q)), w @ (2 / np.pi * np.exp(-(h**2)))
        s = critical_mean_variance(q, phi=phi)
        assert s * slopes / (1 - s * square) == pytest.approx(1, abs=1e-10)
        assert s > 1 or (phi, q) == ("tanh", 0.0)


@given(s=st.floats(1e-3, 1.0), B=st.floats(1e-12, 1e3))
def test_tanh_is_critical_only_at_the_edge(s, B):
    point, bound = signal_fixed_point(network(s, B)), criticality("sign", "tanh")
    assert 0 < point.correlation_slope < 1
    assert s < critical_mean_variance(point.variance)
    assert bound.is_critical
    assert (bound.mean_variance, bound.bias_variance, bound.largest_slope) == (1.0, 0.0, 1.0)


def test_close_to_the_edge_scales_diverge():
    # q = sqrt(B) and 1 - chi = q at s = 1, to leading order.
    near = signal_fixed_point(network(1, 1e-12))
    assert near.variance == pytest.approx(1e-6, rel=1e-5, abs=0)
    assert near.depth_scale == pytest.approx(1e6, rel=1e-5)
    assert signal_fixed_point(network(1, 0)).depth_scale == np.inf
    still = signal_fixed_point(network(0.7, 0))
    assert (still.variance, still.correlation_slope) == (0.0, 0.7)
    assert propagate(network(0.7, 0), 2, 0.0, 0.4).correlations.tolist() == [0.4, 0.4, 0.4]


@pytest.mark.parametrize("B", [1e-290, 1e-300, 1e6])
@pytest.mark.parametrize("s", [1e-9, 0.3, 1.0])
def test_extreme_biases_are_solved(s, B):
    found = signal_fixed_point(network(s, B))
    assert found.converged
    assert propagate(network(s, B), 1, found.variance).variances[1] == pytest.approx(found.variance, rel=1e-10, abs=0)


def test_fields_after_five_layers(agrees):
    system, width = network(0.9, 0.05), 400
    law = propagate(system, 5, variance=1.0, correlation=0.3)
    runs = [field_statistics(system, width, 5, stream(0, "smooth fields", r), correlation=0.3) for r in range(60)]
    agrees(Estimate.of([run.variances[-1] for run in runs]), law.variances[-1], resolves=0.15, bias=1 / width)
    agrees(Estimate.of([run.correlations[-1] for run in runs]), law.correlations[-1], resolves=0.15, bias=1 / width)


def test_correlations_and_gradients_decay_as_predicted(agrees):
    system = network(0.95, 0.05)
    point = signal_fixed_point(system)
    runs = [decay(system, 300, 5, stream(0, "smooth decay", r), variance=point.variance) for r in range(40)]
    for values in ([run.correlations[-1] for run in runs], [run.gradients[-1] for run in runs]):
        agrees(Estimate.of(values), point.correlation_slope**5, resolves=0.3)


def test_phi_belongs_to_sign_neurons():
    with pytest.raises(ValueError, match="phi must be one of 'erf', 'tanh', got 'relu'"):
        network(0.5, 0.1, "relu")
    with pytest.raises(ValueError, match="phi must be 'erf' unless neurons is 'sign', got 'tanh' with 'tanh'"):
        BinaryNetwork(mean_variance=0.5, bias_variance=0.1, neurons="tanh", phi="tanh")
    with pytest.raises(ValueError, match="phi must be 'erf' unless neurons is 'sign', got 'tanh' with 'tanh'"):
        criticality("tanh", "tanh")
    with pytest.raises(ValueError, match="network must have sign neurons and phi='erf'"):
        stochastic_activations(network(0.5, 0.1), 10, 1, 2, np.random.default_rng(0))
