"""A user's own loss is fitted by its values: against built-in fits, other solvers, and a theory that has the prox."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from simulate.core import Estimate, stream
from simulate.glm import FitError, fit, fit_coupled, measure, own_loss
from tests.glm.own_losses import Sigmoid
from theory import glm
from theory.glm import ConvexMargin
from theory.models import (
    AR1,
    Cluster,
    GaussianMixture,
    GeneralizedLinearModel,
    Modes,
    RandomFeatures,
    RandomLabels,
    TeacherMixture,
)


class Plain:
    """A loss that tells nothing but its values."""

    name = "plain"

    def __init__(self, value):
        self.value = value


def hinge(t):
    return np.maximum(0.0, 1 - t)


def logistic(t):
    return np.logaddexp(0, -t)


HINGE = ConvexMargin(hinge, derivative=lambda t: -1.0 * (t < 1), kinks=(1.0,))
LOGISTIC = ConvexMargin(logistic, derivative=lambda t: -expit(-t))
HUBER = ConvexMargin(
    lambda e: np.where(abs(e) < 1, e * e / 2, abs(e) - 0.5),
    derivative=lambda e: np.clip(e, -1, 1),
    kinks=(-1.0, 1.0),
    name="Huber",
)
PINBALL = ConvexMargin(
    lambda e: np.maximum(0.3 * e, -0.7 * e), derivative=lambda e: np.where(e > 0, 0.3, -0.7), kinks=(0.0,)
)


def softened(t):
    """Hinge loss with a parabola in the place of its kink."""
    return np.where(t < 0, 0.5 - t, np.where(t < 1, (1 - t) ** 2 / 2, 0.0))


SOFTENED = ConvexMargin(  # by its proximal operator, which a fit does not use
    softened, proximal=lambda t, V: np.where(t < -V, t + V, np.where(t < 1, (t + V) / (1 + V), t)), kinks=(0.0, 1.0)
)


def data(n=60, p=20, seed=0):
    rng = stream(seed, "own losses")
    X = rng.standard_normal((n, p))
    return X, np.where(X[:, 0] + rng.standard_normal(n) + 0.3 > 0, 1.0, -1.0), rng.uniform(0.5, 2, n)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(
    ("loss", "name", "digits"),
    [
        (HINGE, "hinge", 1e-5),
        (Plain(hinge), "hinge", 1e-5),
        (LOGISTIC, "logistic", 1e-6),
        (Plain(logistic), "logistic", 1e-6),
        (Plain(lambda t: (1 - t) ** 2 / 2), "square", 1e-6),
    ],
)
def test_a_loss_that_is_built_in_too_has_the_same_fit(loss, name, digits, bias):
    X, y, weights = data()
    found, expected = (fit(X, y, one, 0.3, bias=bias, sample_weights=weights) for one in (loss, name))
    scale = np.linalg.norm(expected.weights)
    assert np.linalg.norm(found.weights - expected.weights) <= digits * scale
    assert found.bias == pytest.approx(expected.bias, abs=10 * digits)
    assert found.train_loss == pytest.approx(expected.train_loss, rel=10 * digits)
    assert found.converged
    assert found.residual < 1e-6


def test_more_weights_than_samples():
    X, y, _ = data(15, 40)
    found, expected = (fit(X, y, one, 0.3, bias=True) for one in (HINGE, "hinge"))
    assert np.linalg.norm(found.weights - expected.weights) < 1e-5 * np.linalg.norm(expected.weights)


def test_coupled_learners():
    X, y, weights = data()
    learners = np.arange(60) % 2
    options = {"coupling": 0.4, "sample_weights": weights}
    found, expected = (fit_coupled(X, y, learners, one, 0.3, **options) for one in (LOGISTIC, "logistic"))
    assert found.weights == pytest.approx(expected.weights, abs=1e-6)
    assert found.bias == pytest.approx(expected.bias, abs=1e-6)


def test_residuals_of_a_square():
    X, _, _ = data()
    y = X[:, :3].sum(axis=1) + stream(1, "own losses").standard_normal(60)
    found = fit(X, y, Plain(lambda e: e**2 / 2), 0.3, bias=True, argument="residual")
    expected = fit(X, y, "square", 0.3, bias=True)
    assert found.weights == pytest.approx(expected.weights, abs=1e-6)
    assert fit(X, y, "square", 0.3, bias=True, argument="residual").weights == pytest.approx(expected.weights)


@pytest.mark.parametrize(("loss", "slopes"), [(PINBALL, (-0.7, 0.3)), (Plain(abs), (-1.0, 1.0))])
def test_piecewise_linear_losses_solve_their_dual_problem(loss, slopes):
    """min_g |Z'g|^2/2 - g.y between the slopes, by L-BFGS with bounds, has the weights Z'g."""
    X, _, _ = data(40, 12)
    y = X[:, :3].sum(axis=1) + stream(2, "own losses").standard_t(3, 40)
    Z = X / np.sqrt(12 * 0.3)

    def dual(g):
        back = Z.T @ g
        return back @ back / 2 - g @ y, Z @ back - y

    options = {"maxiter": 10_000, "ftol": 0.0, "gtol": 1e-12}
    solved = minimize(dual, np.zeros(40), jac=True, bounds=[slopes] * 40, method="L-BFGS-B", options=options)
    found = fit(X, y, loss, 0.3, argument="residual")
    assert found.weights[0] == pytest.approx(Z.T @ solved.x / np.sqrt(0.3), abs=2e-6)
    assert 0.5 * 0.3 * np.sum(found.weights**2) + 40 * found.train_loss == pytest.approx(-solved.fun, rel=1e-7)


def test_a_smooth_loss_has_no_gradient_left():
    X, y, _ = data()
    loss = ConvexMargin(lambda t: np.exp(-t), derivative=lambda t: -np.exp(-t))
    found = fit(X, y, loss, 0.3, bias=True)
    pull = y * np.exp(-y * found.fields(X))
    assert np.abs(0.3 * found.weights[0] - pull @ X / np.sqrt(20)).max() < 1e-5
    assert abs(pull.sum()) < 1e-5


def test_the_gap_tells_a_wrong_minimum():
    """What verifies a fit is no formula of it: weights that are a little off have a gap."""
    X, y, _ = data()
    Z, none = X / np.sqrt(20 * 0.3), np.zeros((60, 0))
    problem = own_loss._Problem(Z, 0 * y, y, none, np.ones(60), own_loss.own_loss(LOGISTIC), None)
    u, _, gap, *_ = own_loss.convex(Z, 0 * y, y, none, np.ones(60), LOGISTIC)
    t = problem.arguments(u)
    exact = own_loss._Point(u, t, -expit(-t))
    assert gap < 1e-12
    assert problem.gap(exact)[0] < 1e-12
    left, error = problem.gap(exact._replace(x=u * (1 + 1e-4)))
    assert 1e-9 < left < 1e-6
    assert 1e-4 <= error < 1e-3  # it bounds the error of the weights
    assert problem.gap(exact._replace(g=exact.g * 1.01))[0] == np.inf  # no slopes of the loss at these places


def teacher(loss, **options):
    cluster = Cluster(labels="linear", teacher_signal=0, noise=0.5)
    modes = Modes([1.0], [[1.0]], [[[1.0]]])
    return GeneralizedLinearModel(modes=modes, clusters=[cluster], alpha=2.0, loss=loss, lam=0.3, **options)


EXPONENTIAL = ConvexMargin(lambda t: np.exp(-t), derivative=lambda t: -np.exp(-t), name="exponential")
JUMPING = RandomFeatures(
    activation=lambda z: np.where(z > 0.3, 1.0, -0.2 * z),
    samples_per_input=2.0,
    features_per_input=1.0,
    lam=0.1,
    loss=HUBER,
    labels="linear",
    noise=0.3,
)
OPPOSITE = {"variances": 0.5, "probability": 0.3, "alpha": 2.0, "lam": 0.3}
MODELS = {  # a model, what is compared, and the relative error that 16 samples of 100 inputs show
    "Huber": (teacher(HUBER), "test_error", 0.2),
    "pinball with a bias": (teacher(PINBALL, bias=True), "test_error", 0.2),
    "exponential": (GaussianMixture.opposite(**OPPOSITE, loss=EXPONENTIAL), "test_error", 0.25),
    "by its prox": (GaussianMixture.opposite(**OPPOSITE, loss=SOFTENED), "test_error", 0.25),
    "random labels": (RandomLabels(covariance=AR1(np.inf, 0.5), alpha=2.0, lam=0.3, loss=SOFTENED), "train_loss", 0.2),
    "activation with a jump": (JUMPING, "test_error", 0.15),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if "bias" in name else ()) for name in MODELS]
)
def test_theory_agrees(name, agrees):
    """The theory knows the prox, the simulation the values; finite sizes move these numbers by less than 3/d."""
    model, number, resolves = MODELS[name]
    predicted = getattr(glm.solve(model), number)
    measured = [getattr(measure(model, 100, stream(0, name, r)), number) for r in range(16)]
    agrees(Estimate.of(measured), predicted, resolves=resolves, bias=3e-2 * predicted)


def test_groups_with_learners_of_their_own_take_an_own_loss():
    model = TeacherMixture(group_fraction=0.4, alpha=2.0, lam=0.3, coupling=0.5, loss=LOGISTIC)
    built_in = TeacherMixture(group_fraction=0.4, alpha=2.0, lam=0.3, coupling=0.5)
    found, expected = (measure(one, 20, stream(3, "own losses")) for one in (model, built_in))
    assert found.test_error == pytest.approx(expected.test_error, abs=1e-6)


class Bad:
    """A loss whose parts are wrong."""

    name = "bad"

    def __init__(self, value, derivative=None):
        self.value, self.derivative = value, derivative


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (Sigmoid(), r"loss 'sigmoid' must be convex to be fitted: its slope falls from .* at .* no minimum can be"),
        (Bad(lambda t: np.log1p(t * t)), "loss 'bad' must be convex to be fitted"),
        (ConvexMargin(np.sin, derivative=np.cos), "loss 'custom' must be convex to be fitted"),
        (Bad(hinge, lambda t: -2.0 * (t < 1)), "must have the derivative of its values"),
        (Bad(lambda t: t[:2]), "must have a value for every argument, got shape"),
        (Bad(lambda t: np.log(-t)), "must have a finite value, got -inf at the argument 0"),
        (Bad(lambda t: hinge(t).astype(np.float32)), "must have a value in double precision, got dtype float32"),
        (Bad(lambda t: hinge(t) + 0j), "value of loss 'bad' must be an array of real numbers, got dtype complex128"),
        (Bad(lambda t: {}["no"]), "must have a value of arrays, it raised KeyError"),
        (Bad(hinge, lambda t: 1 / 0), "must have a derivative of arrays, it raised ZeroDivisionError"),
        (Bad, "loss must be one of 'square', .* or an object with a method value"),
        (Bad(3.0), "loss must be one of"),
        ("softmax", "loss must be"),
    ],
)
def test_what_no_fit_can_take_is_refused(loss, message):
    X, y, _ = data()
    with pytest.raises(ValueError, match=message):
        fit(X, y, loss, 0.3)


def test_a_loss_that_works_in_place_is_fitted_as_its_values_say():
    def in_place(t):
        return np.logaddexp(0, np.negative(t, out=t), out=t)

    X, y, _ = data()
    np.testing.assert_array_equal(fit(X, y, Plain(in_place), 0.3).weights, fit(X, y, Plain(logistic), 0.3).weights)


def test_a_loss_that_is_not_convex_among_the_samples_alone_is_refused():
    """It bends beyond the arguments that are always looked at, where real labels may lie."""
    X, _, _ = data()
    bends = Plain(lambda e: np.where(abs(e) < 10, e * e / 2, 10 * abs(e) - 50 - 0.1 * (abs(e) - 10) ** 2 / 2))
    y = X[:, 0] + stream(4, "own losses").standard_normal(60)
    assert fit(X, y, bends, 0.3, argument="residual").converged
    with pytest.raises(ValueError, match="must be convex to be fitted"):
        fit(X, 40 * y, bends, 100.0, argument="residual")


def test_a_bias_that_nothing_bounds_is_no_fit():
    X, _, _ = data()
    loss = ConvexMargin(lambda t: np.exp(-t), derivative=lambda t: -np.exp(-t))
    with pytest.raises(FitError, match=r"loss 'custom' did not converge in \d+ steps: gap|too small or too"):
        fit(X, np.ones(60), loss, 0.3, bias=True)


def test_weights_that_the_risk_does_not_tell_are_no_fit():
    """A large ridge leaves weights so small that a gap of rounding decides on them."""
    X, y, _ = data()
    with pytest.raises(FitError, match=r"the weights may be off by 0.* of their size; take a less extreme lam"):
        fit(X, y, HINGE, 1e6, bias=True)
    smooth, expected = (fit(X, y, one, 1e6, bias=True) for one in (LOGISTIC, "logistic"))
    assert smooth.weights == pytest.approx(expected.weights, rel=1e-6)


def test_arguments_of_losses():
    X, y, _ = data()
    with pytest.raises(ValueError, match="argument must be 'margin' for loss='hinge'"):
        fit(X, y, "hinge", 0.3, argument="residual")
    with pytest.raises(ValueError, match=r"y must be -1 or 1 for a loss of the margin; argument='residual'"):
        fit(X, 2 * y, HINGE, 0.3)
    with pytest.raises(ValueError, match="argument must be"):
        fit(X, y, HINGE, 0.3, argument="label")
    with pytest.raises(ValueError, match="model cannot be measured at d = 20: loss 'sigmoid' must be convex"):
        measure(RandomLabels(covariance=AR1(20, 0.5), alpha=2.0, lam=0.3, loss=Sigmoid()), 20, stream(0, "refused"))
