"""Averages of a user's functions that jump, bend, have poles or narrow peaks: right to all digits, or refused."""

import numpy as np
import pytest
from scipy.special import expit, ndtr

from theory import glm
from theory.feedforward import activation_kernel
from theory.glm import ConvexMargin
from theory.glm.classification import fresh_loss
from theory.models import GaussianMixture, RandomFeatures, SpectralDensity, Toeplitz
from theory.numerics import ConvergenceError


def density(x):
    return np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


def of_steps(places, values):
    """Moments (E f, E z f, E f^2) of a function with the values between places; exact."""
    edges = np.concatenate(([-np.inf], places, [np.inf]))
    share, first = np.diff(ndtr(edges)), -np.diff(density(edges))
    return values @ share, values @ first, values**2 @ share


def steps(z, places, values):
    return np.asarray(values)[np.searchsorted(places, z)]


ZEROS = np.pi * np.arange(-20, 21) / 5
STEPS = {
    "box": ([0.95, 1.05], [0.0, 1.0, 0.0]),
    "thin box": ([1.1303, 1.1323], [0.0, 1.0, 0.0]),
    "sign": ([1.13], [-1.0, 1.0]),
    "square wave": (ZEROS, np.resize([-1.0, 1.0], len(ZEROS) + 1)),
    "round": (np.arange(-12.5, 13), np.arange(-13.0, 14)),
}


def moments(activation):
    return RandomFeatures(activation=activation, samples_per_input=1.0, features_per_input=1.0, lam=0.1).moments


def root(mean, linear, square):
    return np.sqrt(square - mean**2 - linear**2)


@pytest.mark.parametrize("name", STEPS)
def test_jumps_anywhere(name):
    places, values = STEPS[name]
    mean, linear, square = of_steps(places, np.asarray(values))
    found = moments(lambda z: steps(z, places, values))
    assert found == pytest.approx((mean, linear, root(mean, linear, square)), abs=1e-13)
    if name == "thin box":  # a network refuses what seems to be constant
        return
    kernel = activation_kernel(lambda z: steps(z, places, values))
    assert kernel.moments[:2] == pytest.approx([mean, linear], abs=1e-13)
    assert kernel.power == pytest.approx(square - mean**2, abs=1e-13)


def test_the_usual_names_of_these_functions():
    """sign(sin 5z) has kappa_1 = .0000237, round(z) almost that of z."""
    assert moments(lambda z: 1.0 * (abs(z - 1) < 0.05))[1] == pytest.approx(density(0.95) - density(1.05), abs=1e-13)
    assert moments(lambda z: np.sign(np.sin(5 * z)))[1] == pytest.approx(2.372461e-5, rel=1e-6)
    assert moments(np.round)[1] == pytest.approx(1 - 5.350576e-9, abs=1e-13)


def test_kinks_peaks_and_straight_lines():
    ramp = moments(lambda z: np.maximum(z - 1.3, 0))
    mean, linear = density(1.3) - 1.3 * ndtr(-1.3), ndtr(-1.3)
    square = 2.69 * ndtr(-1.3) - 1.3 * density(1.3)
    assert ramp == pytest.approx((mean, linear, root(mean, linear, square)), abs=1e-13)
    width = 1e-3  # of a peak that no node of wide panels sees: E exp(-(z - m)^2/(2 w^2)) in closed form
    peak = moments(lambda z: np.exp(-(((z - 1.13) / width) ** 2) / 2))
    total = width / np.sqrt(1 + width**2) * np.exp(-(1.13**2) / (2 * (1 + width**2)))
    assert peak[:2] == pytest.approx((total, total * 1.13 / (1 + width**2)), rel=1e-10)
    assert moments(lambda z: 3.0 * z) == pytest.approx((0.0, 3.0, 0.0), abs=1e-14)


def test_declared_jumps_are_not_missed():
    """A step of width 3e-5 lies between the nodes of all panels, unless its ends are told."""
    places, values = [1.1303, 1.13033], [0.0, 100.0, 0.0]
    mean, linear, square = of_steps(places, np.asarray(values))
    options = {"samples_per_input": 1.0, "features_per_input": 1.0, "lam": 0.1}
    thin = RandomFeatures(activation=lambda z: steps(z, places, values), jumps=places, **options)
    assert thin.moments == pytest.approx((mean, linear, root(mean, linear, square)), rel=1e-9)
    told = RandomFeatures(activation=lambda z: steps(z, *STEPS["sign"]), jumps=[1.13, 40.0], **options)
    assert told.moments == pytest.approx(moments(lambda z: steps(z, *STEPS["sign"])), abs=1e-13)
    assert glm.solve(glm.random_features(told.activation, jumps=[1.13], **options)).converged
    for jumps, message in (([np.inf], "jumps must be finite"), ("0", "jumps must"), ([[1.0]], r"jumps\[0\] must")):
        with pytest.raises(ValueError, match=message):
            RandomFeatures(activation=np.cos, jumps=jumps, **options)
    with pytest.raises(ValueError, match="jumps must be left out for activation='relu', whose jumps are known"):
        RandomFeatures(activation="relu", jumps=[0.0], **options)


def test_smooth_activations_keep_their_moments():
    for name, function in (("tanh", np.tanh), ("relu", lambda z: np.maximum(z, 0))):
        assert moments(function) == pytest.approx(moments(name), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda z: 1 / z, "pole or the like near h = 0"),
        (np.tan, "pole or the like near h = -?1.5708"),
        (lambda z: np.abs(z - 0.3) ** -0.5, "pole or the like near h = 0.3|finite"),
        (lambda z: np.exp(z**2 / 4), r"grow more slowly than exp\(h\^2/4\)"),
        (lambda z: np.sin(1e7 * z), "vary everywhere at the smallest scales"),
    ],
)
def test_what_no_quadrature_resolves_is_refused(function, message):
    with pytest.raises(ValueError, match=message):
        moments(function)
    model = glm.random_features(function, samples_per_input=2.0, features_per_input=1.0, lam=0.1)
    with pytest.raises(ValueError, match="activation must"):
        glm.solve(model)
    with pytest.raises((ValueError, ConvergenceError), match="activation"):
        activation_kernel(function)


def test_symbols():
    """A narrow peak between the first nodes is seen, a kink costs many nodes, jumps and poles are refused."""
    peak = Toeplitz(np.inf, lambda t: 1 + 5 * np.exp(-(((t - 1) / 1e-3) ** 2))).spectrum
    assert peak.weights @ peak.eigenvalues == pytest.approx(1 + 5e-3 * np.sqrt(np.pi) / np.pi, rel=1e-10)
    kink = Toeplitz(np.inf, lambda t: 1 + abs(t - 1)).spectrum
    assert kink.weights @ kink.eigenvalues == pytest.approx(1 + (0.5 + (np.pi - 1) ** 2 / 2) / np.pi, rel=1e-9)
    for symbol in (
        lambda t: 1.0 + (t > 1),
        lambda t: 1 + 1.0 * (abs(t - 1) < 0.01),
        lambda t: 1 / abs(t - 1),
        lambda t: 1 + abs(t - 1) ** -0.4,
    ):
        with pytest.raises(ValueError, match="not smooth enough"):
            Toeplitz(np.inf, symbol)


@pytest.mark.parametrize("declared", [True, False])
def test_the_fresh_loss_bends_where_the_loss_does(declared):
    """The absolute loss |1.1 - t|, whose kink is no place where its prox bends at a response of order 1."""
    absolute = glm.ConvexMargin(
        lambda t: abs(1.1 - t),
        proximal=lambda t, V: 1.1 + np.sign(t - 1.1) * np.maximum(abs(t - 1.1) - V, 0),
        kinks=(1.1,) if declared else (),
    )
    point = glm.solve(GaussianMixture.opposite(alpha=2.0, lam=0.5, loss=absolute, variances=0.5, bias=False))
    if not declared:
        with pytest.raises(ConvergenceError, match="kinks are not all declared"):
            fresh_loss(point)
        return
    mean, s = point.r[0], np.sqrt(point.q[0])
    a = (1.1 - mean) / s
    assert fresh_loss(point) == pytest.approx(s * (a * (2 * ndtr(a) - 1) + 2 * density(a)), rel=1e-10)


def test_only_margin_losses_are_told_of_the_hard_margin():
    """Of which a hard margin is the limit; square loss and losses of one's own have none."""
    own = glm.ConvexMargin(lambda t: t**2 / 2, derivative=lambda t: t)
    for loss, named in (("square", False), (own, False), ("logistic", True), ("hinge", True)):
        failures = [said for alpha in (1.9, 2.0, 2.2, 2.5) if (said := failure_of(loss, alpha))]
        assert failures
        for said in failures:
            assert ("hard_margin" in said) == named
            assert "alpha or lam" in said


def failure_of(loss, alpha):
    """What an impossible tolerance leads to; nothing where the residual happens to be zero exactly."""
    model = GaussianMixture.opposite(alpha=alpha, lam=0.5, loss=loss, variances=(0.5, 1.0), weights=(0.5, 0.5))
    try:
        glm.solve(model, tol=1e-300, max_iter=2)
    except ConvergenceError as failure:
        return str(failure)
    return ""


def test_functions_that_work_in_place_are_averaged_as_their_values_say():
    """A spectral density that wrote into its eigenvalues had moved all of them to 1, without a word."""

    def density(s):
        s[...] = 1.0
        return s

    def activation(z):
        z[z < 0] = 0
        return z

    uniform = SpectralDensity(density, 0.0, 1.0).spectrum
    assert uniform.mean(uniform.eigenvalues) == pytest.approx(0.5, abs=1e-12)
    options = {"samples_per_input": 2.0, "features_per_input": 1.0, "lam": 0.1}
    ours, usual = (RandomFeatures(f, **options).moments for f in (activation, "relu"))
    np.testing.assert_allclose(ours, usual, atol=1e-10)


def test_a_loss_that_works_in_place_has_the_saddle_point_of_its_values():
    def value(t):
        return np.logaddexp(0, np.negative(t, out=t), out=t)

    def slope(t):
        t[...] = -expit(-t)
        return t

    own = ConvexMargin(value, derivative=slope)
    arguments = np.linspace(-3, 3, 7)
    np.testing.assert_allclose(own.prox(arguments, 0.7), arguments + 0.7 * expit(-own.prox(arguments, 0.7)), atol=1e-9)
    np.testing.assert_allclose(own.value(arguments), np.logaddexp(0, -arguments))


@pytest.mark.parametrize(
    ("derivative", "message"),
    [
        (lambda t: -2 * expit(-t), "derivative of loss 'custom' must be that of its function: near t = "),
        (lambda t: expit(-t), "derivative of loss 'custom' must be that of its function"),
        (lambda t: None, "derivative of loss 'custom' must be an array of real numbers"),
        (lambda t: 0.0, "derivative of loss 'custom' must map arrays to arrays of their shape"),
        (lambda t: -expit(-t) + 0j, "derivative of loss 'custom' must be an array of real numbers, got dtype complex"),
    ],
)
def test_a_derivative_that_is_not_that_of_the_loss_is_refused(derivative, message):
    """With twice the derivative the weights were those of another loss, and the stated loss was neither."""
    with pytest.raises(ValueError, match=message):
        ConvexMargin(lambda t: np.logaddexp(0, -t), derivative=derivative)


def test_a_loss_may_return_lists():
    own = ConvexMargin(lambda t: np.logaddexp(0, -t).tolist(), derivative=lambda t: (-expit(-t)).tolist())
    assert own.prox(np.zeros(1), 1.0) == pytest.approx(expit(-own.prox(np.zeros(1), 1.0)))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"derivative": lambda t: 1.02 * t}, "derivative of loss 'own' must be that of its function: near t = -3.99"),
        ({"derivative": lambda t: t if t > 0 else 0.0}, "derivative of loss 'own' must work elementwise on arrays"),
        ({"proximal": lambda t, V: t / (1 + 1.02 * V)}, "proximal of loss 'own' must minimize .* at t = -4, V = 1"),
    ],
)
def test_a_loss_is_the_function_whose_derivative_is_given(given, message):
    """Theory would solve another loss than simulations fit."""
    right = {"derivative": lambda t: t, "proximal": lambda t, V: t / (1 + V)}
    for name in given:
        glm.ConvexMargin(lambda t: t**2 / 2, name="own", **{name: right[name]})
    with pytest.raises(ValueError, match=message):
        glm.ConvexMargin(lambda t: t**2 / 2, name="own", **given)
