"""Bayes-optimal students of narrow networks: reference values, second routes to every average, limits, failures."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import erf, expit, owens_t

from theory import ConvergenceError
from theory.feedforward import activation_kernel, bayes_curve, bayes_optimal, specialization, stable_states
from theory.feedforward.narrow_kernels import CLOSED
from theory.feedforward.narrow_labels import LAWS
from theory.feedforward.narrow_line import Line
from theory.models import NarrowNetwork
from theory.models.feedforward.narrow import ACTIVATIONS

NAMES = sorted(ACTIVATIONS)


def model(activation, alpha, noise=0.0, labels="linear"):
    return NarrowNetwork(alpha=alpha, activation=activation, noise=noise, labels=labels)


def test_reference_values():
    erf_point = bayes_optimal(model("erf", 3.0, 0.01))
    assert erf_point.q == pytest.approx(0.875265613067, abs=1e-12)
    assert erf_point.bayes_risk == pytest.approx(0.00526312091764, abs=1e-14)
    assert erf_point.gibbs_risk == pytest.approx(2 * 0.00526312091764, abs=1e-14)
    first = specialization("erf", noise=0.01)
    assert (first.order, first.onset) == ("first", math.inf)
    assert first.spinodal == pytest.approx(2.14833388, abs=1e-8)
    assert first.transition == pytest.approx(2.32683406, abs=1e-8)
    relu_point = bayes_optimal(model("relu", 2.0, 0.1))
    assert relu_point.q == pytest.approx(0.482342757235, abs=1e-12)
    assert relu_point.bayes_risk == pytest.approx(0.071944008111, abs=1e-12)
    second = specialization("relu", noise=0.1)
    assert (second.order, second.jumps) == ("continuous", ())
    assert second.onset == second.spinodal == second.transition == pytest.approx(1.1991148576, abs=1e-10)
    assert second.onset == pytest.approx(2 * math.pi * (0.1 + (math.pi - 1) / (2 * math.pi) - 0.25), rel=1e-13)
    assert bayes_optimal(model("quadratic", 1.2, 0.1)).q == pytest.approx(0.825834261323, abs=1e-12)


def test_signs_of_signs():
    # Regression values of our own; the test below finds the transition without any code of the toolkit.
    found = specialization("sign", labels="sign")
    assert found.spinodal == pytest.approx(7.169239303563, abs=1e-10)
    assert found.transition == pytest.approx(7.680221270243, abs=1e-10)


def test_both_states_of_signs_of_signs_have_the_same_free_entropy_at_the_transition():
    found = specialization("sign", labels="sign")
    with mpmath.workdps(16):

        def average(f, S):  # of f(a z), whose bend has the width 1/a
            a = mpmath.sqrt(S / (1 - S))
            return mpmath.quad(lambda z: mpmath.npdf(z) * f(a * z), [-10, -3 / a, 0, 3 / a, 10])

        def likelihood(S):
            return average(lambda u: 2 * mpmath.ncdf(u) * mpmath.log(mpmath.ncdf(u)), S)

        q = mpmath.mpf(found.q_transition)
        known, nothing = 2 / mpmath.pi * (mpmath.asin(q) - q + 1), 2 / mpmath.pi
        information = average(lambda u: 2 * mpmath.npdf(u) ** 2 / mpmath.ncdf(u), known) / (1 - known)
        alpha = q / (1 - q) / (information * 2 / mpmath.pi * (1 / mpmath.sqrt(1 - q * q) - 1))
        gain = (q + mpmath.log(1 - q)) / 2 + alpha * (likelihood(known) - likelihood(nothing))
    assert found.transition == pytest.approx(float(alpha), rel=1e-11)
    assert float(gain) == pytest.approx(0.0, abs=1e-10)


@pytest.mark.parametrize("alpha", [0.3, 0.56, 1.2, 7.0])
def test_quadratic_units_have_a_closed_form(alpha):
    noise = 0.1
    q = alpha - math.sqrt((alpha - 1) ** 2 + noise) if alpha > (1 + noise) / 2 else 0.0
    found = bayes_optimal(model("quadratic", alpha, noise))
    assert found.q == pytest.approx(q, abs=1e-13)
    assert found.bayes_risk == pytest.approx(1 - q**2, rel=1e-12)


def test_without_noise_the_teacher_is_found_from_one_sample_a_weight_on():
    assert bayes_optimal(model("quadratic", 0.75)).q == pytest.approx(0.5, abs=1e-12)
    for name, threshold in (("quadratic", 1.0), ("relu", 1.0), ("erf", 1.0), ("sign", 2.0)):
        found = bayes_optimal(model(name, threshold * 1.01))
        assert (found.q, found.bayes_risk, found.free_entropy, found.replicon) == (1.0, 0.0, math.inf, 1.0)
        assert bayes_optimal(model(name, threshold * 0.99)).q < 1
    assert specialization("relu").jumps == (1.0,)
    assert specialization("erf").transition == 1.0


# Hermite series and mpmath's two-dimensional integrals are second routes to the closed kernels.


@pytest.mark.parametrize("name", NAMES)
def test_closed_kernels_agree_with_hermite_series(name):
    q = np.array([1e-3, 0.2, 0.7, 0.95])
    closed, series = CLOSED[name], Line.of(lambda h: ACTIVATIONS[name](h), "linear", 1.0).kernel
    assert series.power == pytest.approx(closed.power, rel=1e-13)
    assert series.linear_power == pytest.approx(closed.linear_power, abs=1e-13)
    assert series.quadratic_power == pytest.approx(closed.quadratic_power, abs=1e-13)
    for part in ("slope", "curvature", "gap"):
        assert getattr(series, part)(q, 1 - q) == pytest.approx(getattr(closed, part)(q, 1 - q), rel=1e-11)
    for A, B, rho in ((1.0, 0.9, 0.6), (1.2, 1.2, 0.4)):
        ours, theirs = closed.pair(A, B, rho), series.pair(A, B, rho)
        for part in ("value", "by_second", "by_rho", "by_rho_twice"):
            assert getattr(theirs, part) == pytest.approx(getattr(ours, part), rel=1e-9, abs=1e-13)
    assert series.own(1.3) == pytest.approx(closed.own(1.3), rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("p", [1e-9, 9e-4, 1.1e-3, 0.3])
def test_gap_keeps_its_digits(name, p):
    with mpmath.workdps(40):
        q = 1 - mpmath.mpf(p)
        kernels = {
            "erf": lambda t: 2 / mpmath.pi * (mpmath.asin(t / 2) - t / 2),
            "sign": lambda t: 2 / mpmath.pi * (mpmath.asin(t) - t),
            "relu": lambda t: (mpmath.sqrt(1 - t * t) + t * mpmath.asin(t) - 1) / (2 * mpmath.pi),
            "quadratic": lambda t: t * t,
        }
        exact = float(kernels[name](mpmath.mpf(1)) - kernels[name](q))
        slope = float(mpmath.diff(kernels[name], q, h=mpmath.mpf(p) / 1e12))
    x = np.array(float(q)), np.array(p)
    assert CLOSED[name].gap(*x) == pytest.approx(exact, rel=3e-12)
    assert CLOSED[name].slope(*x) == pytest.approx(slope, rel=1e-9)


def test_kernel_of_relu_is_its_double_integral():
    q = 0.6
    z, w = np.polynomial.legendre.leggauss(200)
    r, w = 6 * (z + 1), 6 * w
    # E relu(u) relu(v) with v given u > 0 integrated in closed form: u (q u Phi(q u/s) + s phi(q u/s)).
    s = math.sqrt(1 - q * q)
    inner = q * r * 0.5 * (1 + erf(q * r / s / math.sqrt(2))) + s * np.exp(-((q * r / s) ** 2) / 2) / math.sqrt(
        2 * math.pi
    )
    exact = w @ (r * inner * np.exp(-(r**2) / 2) / math.sqrt(2 * math.pi)) - 1 / (2 * math.pi)
    assert activation_kernel("relu").kernel(q) == pytest.approx(exact, abs=1e-11)


@pytest.mark.parametrize(("S", "v"), [(0.3, 0.7), (0.999, 1e-3), (1e-6, 0.5), (0.0, 1.0), (1.0, 1e-8)])
def test_averages_over_signs(S, v):
    a = mpmath.sqrt(mpmath.mpf(S) / v)
    R = lambda u: mpmath.npdf(u) / mpmath.ncdf(u)  # noqa: E731
    integrands = {
        "response": lambda u: mpmath.ncdf(u) * R(u) ** 2 / v,
        "squared_slope": lambda u: mpmath.ncdf(u) * (R(u) * (R(u) + u)) ** 2 / v**2,
        "log_likelihood": lambda u: mpmath.ncdf(u) * mpmath.log(mpmath.ncdf(u)),
    }
    for name, f in integrands.items():
        bends = sorted({-12, *(x for k in (1, 4, 16) for x in (-k / max(a, 1), k / max(a, 1))), 0, 12})
        exact = 2 * mpmath.quad(lambda z, f=f: mpmath.npdf(z) * f(a * z), bends)
        assert float(getattr(LAWS["sign"], name)(np.array(S), np.array(v))) == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize("labels", ["linear", "sign"])
@pytest.mark.parametrize("activation", [*NAMES, np.tanh])
def test_replicon_is_the_slope_of_the_line_and_the_curvature_of_the_free_entropy(activation, labels):
    line = Line.of(activation, labels, 0.05)
    for x in (-3.0, 0.5, 4.0):
        h = 1e-4
        slope = float(line.log_alpha(np.array(x + h)) - line.log_alpha(np.array(x - h))) / (2 * h)
        assert float(line.replicon(np.array(x))) == pytest.approx(slope, abs=3e-7)


@pytest.mark.parametrize("labels", ["linear", "sign"])
@pytest.mark.parametrize("activation", NAMES)
def test_states_are_maxima_of_the_free_entropy(activation, labels):
    """The free entropy alone, without the equation for q, has its maxima at the states."""
    line, alpha = Line.of(activation, labels, 0.05), 9.0
    x = np.linspace(-9, 14, 8001)
    q, p = expit(x), expit(-x)
    S, v = line.field(q, p)
    phi = (q + np.log(p)) / 2 + alpha * line.labels.log_likelihood(S, v)
    top = np.flatnonzero((phi[1:-1] > phi[:-2]) & (phi[1:-1] > phi[2:])) + 1
    states = [one.q for one in stable_states(model(activation, alpha, 0.05, labels)) if one.q > 0]
    assert q[top] == pytest.approx(states, abs=5e-4)


def test_errors_of_signs_are_angles():
    found = bayes_optimal(model("relu", 4.0, 0.2, "sign"))
    kernel = CLOSED["relu"]
    share = 1 - float(kernel.gap(np.array(found.q), np.array(1 - found.q))) / kernel.power
    # P(sign u != sign v) at correlation c is 1/2 - 2 (P(u, v > 0) - 1/4) = 4 T(0, .) in terms of Owen's function.
    for c, ours in ((math.sqrt(share), found.bayes_risk), (share, found.gibbs_risk)):
        a = math.sqrt((1 - c) / (1 + c))
        assert ours == pytest.approx(float(4 * owens_t(0, a)), rel=1e-12)


@given(
    st.sampled_from(NAMES),
    st.sampled_from(["linear", "sign"]),
    st.floats(0.05, 30.0),
    st.floats(1e-3, 3.0),
)
def test_every_state_solves_its_equation_and_is_stable(name, labels, alpha, noise):
    states = stable_states(model(name, alpha, noise, labels))
    line = Line.of(name, labels, noise)
    for one in states:
        assert one.replicon > 0
        assert 0 <= one.bayes_risk <= one.gibbs_risk <= 2 * one.bayes_risk * (1 + 1e-12)
        q = np.array(one.q)
        r = alpha * float(line.labels.response(*line.field(q, 1 - q)) * line.kernel.slope(q, 1 - q))
        assert one.q == pytest.approx(r / (1 + r), abs=1e-9)
    risks = [one.bayes_risk for one in states]
    assert risks == sorted(risks, reverse=True)


@given(st.sampled_from(NAMES), st.floats(1e-3, 1.0))
def test_errors_fall_with_more_samples(name, noise):
    curve = bayes_curve(name, np.geomspace(0.1, 50, 12), noise=noise)
    assert (np.diff(curve.bayes_risk) <= 1e-13).all()
    assert (curve.risk_at_largest_q <= curve.risk_at_smallest_q).all()
    assert curve.converged


def test_curve_and_points_agree():
    curve = bayes_curve("erf", [4.0, 1.0, 2.2], noise=0.01)
    for i, alpha in enumerate((4.0, 1.0, 2.2)):
        one = bayes_optimal(model("erf", alpha, 0.01))
        assert (curve.q[i], curve.bayes_risk[i], curve.free_entropy[i]) == (one.q, one.bayes_risk, one.free_entropy)
    # Between spinodal and transition the specialized state exists, but is not the equilibrium.
    assert curve.bayes_risk[2] == curve.risk_at_smallest_q[2] > curve.risk_at_largest_q[2]
    assert bayes_optimal(model("erf", 2.2, 0.01), state="largest_q").q > 0.6
    assert len(curve.to_frame()) == 3


def test_two_specialized_states_and_their_jump():
    """A weak He_2 beside a strong He_4: a continuous onset first, then a jump between states with q > 0."""

    def f(h):
        return h**2 - 1 + 0.314 * (h**4 - 6 * h**2 + 3)

    found = specialization(f, noise=0.1)
    assert found.order == "continuous"
    assert found.spinodal < found.transition == found.onset < found.jumps[0]
    assert len(found.jumps) == 1
    before, after = (bayes_optimal(model(f, found.jumps[0] + d, 0.1)).q for d in (-1e-6, 1e-6))
    assert 0 < before < after - 0.3
    weaker = specialization(lambda h: 0.2 * (h**2 - 1) + (h**4 - 6 * h**2 + 3), noise=0.1)
    assert weaker.order == "first"
    assert weaker.spinodal < weaker.transition < weaker.onset < math.inf


def test_functions_give_what_names_give():
    for name in NAMES:
        alpha = 8.0
        named, given_ = (stable_states(model(f, alpha, 0.3)) for f in (name, lambda h, n=name: ACTIVATIONS[n](h)))
        assert [one.q for one in given_] == pytest.approx([one.q for one in named], abs=1e-9)
        assert [one.replicon for one in given_] == pytest.approx([one.replicon for one in named], rel=1e-6)


def test_kinks_are_found_wherever_they_are():
    for place in (0.0, 0.3123, math.sqrt(2)):
        # E (z - c)_+ = phi(c) - c P(z > c), E z (z - c)_+ = P(z > c), E He_2 (z - c)_+ = phi(c).
        found = activation_kernel(lambda h, c=place: np.maximum(h - c, 0))
        density = math.exp(-(place**2) / 2) / math.sqrt(2 * math.pi)
        above = 0.5 * math.erfc(place / math.sqrt(2))
        assert found.moments[:3] == pytest.approx([density - place * above, above, density], abs=1e-13)
    step = activation_kernel(lambda h: (h > 0.7).astype(float))
    assert step.power == pytest.approx(0.25 * math.erfc(0.7 / math.sqrt(2)) * (2 - math.erfc(0.7 / math.sqrt(2))))


def test_a_series_that_is_not_exact_is_refused():
    jump = model(lambda h: np.sign(h - 0.3), 2000.0, 1e-4)
    with pytest.raises(ConvergenceError, match="solved up to alpha"):
        bayes_optimal(jump)
    with pytest.raises(ValueError, match="noise must be positive"):
        bayes_optimal(model(lambda h: abs(h), 2.0))
    with pytest.raises(ConvergenceError, match="solved up to alpha"):
        bayes_optimal(model("quadratic", 1.0))


@pytest.mark.parametrize(
    ("activation", "message"),
    [
        ("tanh", "activation must be one of erf, sign, relu, quadratic or a function, got 'tanh'"),
        (3.0, "activation must be one of"),
        (lambda h: h * np.nan, "activation must be finite, got nan at h = -6"),
        (lambda h: 1.0, "activation must map an array"),
        (lambda h: list(h)[:3], "activation must map an array"),
        (lambda h: "text", "activation must map an array"),
        (lambda h: h + 1j, "activation must map an array"),
        (lambda h: 1 / 0, "activation must be a function of an array, got one that fails"),
        (lambda h: 0 * h + 2, "activation must vary"),
    ],
)
def test_wrong_activations_are_refused_by_name(activation, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        model(activation, 1.0)


@pytest.mark.parametrize(
    ("activation", "message"),
    [
        (lambda h: 2 * h + 1, "activation must not be linear"),
        (lambda h: np.exp(h * h / 2), "activation must grow more slowly"),
        (lambda h: np.where(h > 9, np.nan, h * h), "activation must be finite, got nan"),
    ],
)
def test_activations_without_a_kernel_are_refused_by_name(activation, message):
    with pytest.raises(ValueError, match=message):
        bayes_optimal(model(activation, 1.0, 0.1))


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"alpha": 0.0}, "alpha must lie in"),
        ({"alpha": math.nan}, "alpha must be finite"),
        ({"noise": -0.1}, "noise must lie in"),
        ({"noise": 1e-20}, "noise must be zero or lie between"),
        ({"labels": "probit"}, "labels must be one of"),
    ],
)
def test_wrong_records_are_refused_by_name(keywords, message):
    with pytest.raises(ValueError, match=message):
        NarrowNetwork(**{"alpha": 1.0, "activation": "erf", **keywords})


@pytest.mark.parametrize("labels", ["linear", "sign"])
def test_fast_oscillations_are_refused_by_name_and_without_a_warning(labels):
    """Sigma' begins with q to a power of hundreds, which underflows at small q (warnings are errors here)."""
    with pytest.raises(ConvergenceError, match="ends too early: take a smoother activation"):
        bayes_optimal(NarrowNetwork(alpha=2.0, activation=lambda h: np.sin(300 * h), noise=0.1, labels=labels))


def test_the_line_falls_where_its_slope_underflows():
    line = Line.of(lambda h: np.sin(30 * h), "linear", 0.1)
    x = np.array([-23.0, -20.0, 6.0])
    slopes = line.replicon(x)
    assert line.kernel.slope(expit(x), expit(-x))[0] == 0
    assert slopes[0] == -29
    steps = (line.log_alpha(x[2:] + 1e-5) - line.log_alpha(x[2:] - 1e-5)) / 2e-5
    assert slopes[2] == pytest.approx(steps[0], rel=1e-6)
    assert bayes_optimal(model(lambda h: np.sin(30 * h), 2.0, 0.1)).q == 0
