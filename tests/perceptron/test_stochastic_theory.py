"""The equilibrium of stochastic binary weights: reference values, identities, limits, and its stability twice over."""

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import log_ndtr, ndtr

from theory.models import StochasticPerceptron
from theory.numerics import ConvergenceError, ReplicaSymmetryError
from theory.perceptron import stochastic_averages, stochastic_saddle_point

MODEL = StochasticPerceptron(alpha=0.4, squared_norm=0.5, beta=5)


def solved(model=MODEL, **changes):
    return stochastic_saddle_point(dataclasses.replace(model, **changes), check=False)


@pytest.mark.parametrize(
    ("alpha", "squared_norm", "beta", "q", "loss", "error"),
    # Made by an independent script on grids of twice and four times as many nodes, which agree in nine digits.
    [
        (0.4, 0.5, 5, 0.222862933, 0.100507769, 0.096829185),
        (0.55, 0.7, 20, 0.591349993, 0.067480260, 0.021849822),
    ],
)
def test_reference_values(alpha, squared_norm, beta, q, loss, error):
    point = stochastic_saddle_point(StochasticPerceptron(alpha=alpha, squared_norm=squared_norm, beta=beta))
    assert (point.q, point.loss, point.binarized_error) == pytest.approx((q, loss, error), abs=1.5e-9)
    assert point.converged
    assert point.residual < 1e-9


@pytest.mark.parametrize(
    ("alpha", "squared_norm", "beta", "q", "loss", "error"),
    [(0.4, 0.8, 5, 0.3580, 0.0431, 0.0210), (0.4, 0.6, 10, 0.3726, 0.0589, 0.0318), (0.55, 0.9, 20, 0.7014, 0.018, 0)],
)
def test_rounded_reference_values(alpha, squared_norm, beta, q, loss, error):
    point = stochastic_saddle_point(StochasticPerceptron(alpha=alpha, squared_norm=squared_norm, beta=beta))
    assert (point.q, point.loss, point.binarized_error) == pytest.approx((q, loss, error), abs=6e-5)
    assert error or point.binarized_error == pytest.approx(3.3e-5, abs=1e-6)


def nested_averages(model, q, qhat, curvature):
    """(qhat, squared norm, q, loss, binarized error) at given order parameters, by adaptive quadrature."""
    Q, beta = model.squared_norm, model.beta

    def gaussian(function):
        def integrand(z):
            return np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * function(z)

        return quad(integrand, -8, 8, epsabs=1e-9, epsrel=1e-9, limit=200)[0]

    def over_u(z, *values):
        def density(u):
            x = (np.sqrt(q) * z + np.sqrt(Q - q) * u) / np.sqrt(1 - Q)
            return np.exp(beta * log_ndtr(x) - u * u / 2), x

        places = np.linspace(-8, 16, 200)
        mode = places[np.argmax(density(places)[0])]
        top = density(mode)[0]

        def integral(value):
            def integrand(u):
                return density(u)[0] / top * value(u, density(u)[1])

            return quad(integrand, -9, 20, points=[mode], epsrel=1e-10)[0]

        return [integral(value) / integral(lambda u, _: 1) for value in values]

    def over_m(z, *values):
        def integral(value):
            def integrand(m):
                return np.exp(curvature * (m * m - 1) / 2 + np.sqrt(qhat) * (z * m - abs(z))) * value(m)

            return quad(integrand, -1, 1, points=[0])[0]

        return [integral(value) / integral(lambda m: 1) for value in values]

    found = [
        model.alpha * gaussian(lambda z: over_u(z, lambda u, _: u)[0] ** 2) / (Q - q),
        gaussian(lambda z: over_m(z, lambda m: m * m)[0]),
        gaussian(lambda z: over_m(z, lambda m: m)[0] ** 2),
        -model.alpha * gaussian(lambda z: over_u(z, lambda _, x: log_ndtr(x))[0]),
    ]
    p1 = gaussian(lambda z: over_m(z, abs)[0])
    p0 = gaussian(lambda z: np.prod(over_m(z, lambda m: m, np.sign)))
    v = 1 - p0**2 / q - (p1 - p0) ** 2 / (Q - q)

    def wrong(z, u):
        return ndtr(-(p0 * z / np.sqrt(q) + (p1 - p0) * u / np.sqrt(Q - q)) / np.sqrt(v))

    return [*found, gaussian(lambda z: over_u(z, lambda u, _: wrong(z, u))[0])]


def test_adaptive_quadrature_of_all_integrals_gives_the_same():
    point = solved()
    found = nested_averages(MODEL, point.q, point.qhat, point.norm_conjugate - point.qhat)
    assert found == pytest.approx([point.qhat, 0.5, point.q, point.loss, point.binarized_error], rel=2e-7)


@pytest.mark.parametrize("model", [MODEL, StochasticPerceptron(alpha=0.55, squared_norm=0.8, beta=15)])
def test_derivatives_of_the_free_entropy(model):
    """At a saddle point d phi/d beta = -loss, and d phi/d Q holds the conjugate and the explicit part of the fields."""
    h = 1e-4
    up, down = (solved(model, beta=model.beta * (1 + sign * h)) for sign in (1, -1))
    slope = (up.free_entropy - down.free_entropy) / (2 * h * model.beta)
    assert slope == pytest.approx(-solved(model).loss, rel=1e-7)


def variance_of_tilted_means(exponents, values, weights):
    """E_z0 of the variance over z1 of <value>, where z1 is tilted by the norm: one step with Parisi parameter 1.

    `exponents` (z0, z1, nodes) are the logarithms of the densities at the nodes of `values`.
    """
    top = exponents.max(axis=(1, 2), keepdims=True)
    density = np.exp(exponents - top)
    norm = density.sum(axis=-1)
    mean = (density @ values) / norm
    tilt = weights * norm
    tilt = tilt / tilt.sum(axis=1, keepdims=True)
    return (tilt * (mean - (tilt * mean).sum(axis=1, keepdims=True)) ** 2).sum(axis=1)


def one_step_growth(model, point, tiny=1e-7):
    """How much a small q1 - q0 grows in one iteration of one step of replica symmetry breaking."""
    Q, q0 = model.squared_norm, point.q
    z0 = np.linspace(-7, 7, 421)[:, None, None]
    z1, w1 = np.polynomial.hermite_e.hermegauss(3)
    w0 = np.exp(-(z0.ravel() ** 2) / 2)
    w0 = w0 / w0.sum()
    u = np.linspace(-12, 20, 1001)
    x = (np.sqrt(q0) * z0 + np.sqrt(tiny) * z1[:, None] + np.sqrt(Q - q0 - tiny) * u) / np.sqrt(1 - Q)
    spread = variance_of_tilted_means(model.beta * log_ndtr(x) - u * u / 2, u, w1)
    difference_hat = model.alpha * (w0 @ spread) / (Q - q0 - tiny)
    m = (np.arange(1000) + 0.5) / 500 - 1
    curvature = point.norm_conjugate - point.qhat - difference_hat
    field = np.sqrt(point.qhat) * z0 + np.sqrt(difference_hat) * z1[:, None]
    return (w0 @ variance_of_tilted_means(curvature * m * m / 2 + field * m, m, w1)) / tiny


@pytest.mark.parametrize(
    ("alpha", "squared_norm", "beta"),
    [(0.4, 0.5, 5), (0.5, 0.8, 8), (1.2, 0.85, 10)],
)
def test_the_replicon_is_the_growth_of_a_difference_between_overlaps(alpha, squared_norm, beta):
    """The third model is unstable: its difference grows."""
    model = StochasticPerceptron(alpha=alpha, squared_norm=squared_norm, beta=beta)
    point = stochastic_saddle_point(model, check=False)
    growth = one_step_growth(model, point)
    assert 1 - point.replicon == pytest.approx(growth, rel=1e-4)
    assert point.stable == (growth < 1)


def test_an_unstable_point_is_refused_unless_asked_for():
    model = StochasticPerceptron(alpha=0.55, squared_norm=0.9, beta=50)
    with pytest.raises(
        ReplicaSymmetryError, match=r"replicon -0\.69 is negative; replica symmetry is broken"
    ) as caught:
        stochastic_saddle_point(model)
    assert isinstance(caught.value, ConvergenceError)
    assert caught.value.solution.value.replicon == solved(model).replicon
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    point = solved(model)
    assert not point.stable
    assert point.converged


def test_parameters_beyond_the_quadrature_are_refused():
    with pytest.raises(ConvergenceError, match="nodes"):
        stochastic_saddle_point(StochasticPerceptron(alpha=1, squared_norm=1 - 1e-7, beta=1))
    with pytest.raises(ConvergenceError, match="max_iter"):
        stochastic_saddle_point(MODEL, max_iter=1)
    assert not stochastic_saddle_point(MODEL, max_iter=1, check=False).converged


def test_a_quadrature_that_is_too_coarse_is_noticed(monkeypatch):
    """With nodes of a lower order the equations have another solution, which finer grids do not confirm."""
    monkeypatch.setattr(stochastic_averages, "ORDER", 4)
    with pytest.raises(ConvergenceError, match="unverified"):
        stochastic_saddle_point(MODEL)
    assert not solved().converged


@settings(max_examples=8)
@given(st.floats(0.05, 2), st.floats(0.1, 0.95), st.floats(0.1, 30))
def test_bounds_and_monotonicity(alpha, squared_norm, beta):
    model = StochasticPerceptron(alpha=alpha, squared_norm=squared_norm, beta=beta)
    point, colder = solved(model), solved(model, beta=1.2 * beta)
    assert 0 < point.q < colder.q < squared_norm
    assert point.loss > colder.loss > 0
    assert 0 <= point.binarized_error <= 0.5
    assert point.replicon <= 1
    assert squared_norm <= point.mean_magnitude <= np.sqrt(squared_norm)
    assert point.sign_overlap <= point.mean_magnitude


def test_infinite_temperature():
    """Means are then uniform on the part of the sphere in the cube, and fields are Gaussian: the loss is a mean."""
    point = solved(beta=1e-4)
    assert point.q == pytest.approx(0, abs=1e-7)
    assert point.replicon == pytest.approx(1, abs=1e-7)
    loss = -0.4 * quad(lambda u: log_ndtr(u) * np.exp(-u * u / 2) / np.sqrt(2 * np.pi), -9, 9)[0]
    # The field has the variance Q = 1/2 and the width sqrt(1 - Q), so that their ratio is a standard Gaussian.
    assert point.loss == pytest.approx(loss, rel=1e-3)
    assert point.binarized_error == pytest.approx(0.5, abs=1e-3)
