"""Separable penalties: fits against other programs and optimality conditions, and theory against them at two sizes."""

import importlib
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.stats import norm

import simulate.glm.penalized as module
from simulate.core import Estimate, extrapolate, stream
from simulate.glm import FitError, fit, fit_penalized, measure, population
from simulate.glm.fit import loss_of
from simulate.glm.signal_layout import lay_out
from tests.glm.test_separable import linear, of_law
from theory import glm
from theory.models import (
    BernoulliGauss,
    Cluster,
    ElasticNet,
    GeneralizedLinearModel,
    Lasso,
    Modes,
    NonNegative,
)
from theory.numerics import ConvergenceError


def data(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X, theta = rng.standard_normal((n, p)), rng.standard_normal(p) * (rng.random(p) < 0.3)
    return X, X @ theta / math.sqrt(p) + 0.3 * rng.standard_normal(n)


SHAPES = [(60, 40), (40, 60), (50, 50)]


@pytest.mark.parametrize(("n", "p"), SHAPES)
@pytest.mark.parametrize("penalty", [Lasso(0.3), Lasso(0.02), ElasticNet(0.2, 0.1)])
def test_squares_against_scikit_learn(n, p, penalty):
    linear_model = pytest.importorskip("sklearn.linear_model")
    X, y = data(n, p)
    l1, l2 = penalty.strengths
    options = {"fit_intercept": False, "tol": 1e-14, "max_iter": 1_000_000}
    program = linear_model.ElasticNet(alpha=(l1 + l2) / n, l1_ratio=l1 / (l1 + l2), **options)
    expected = program.fit(X / math.sqrt(p), y).coef_
    found = fit_penalized(X, y, "square", penalty)
    assert found.weights[0] == pytest.approx(expected, abs=1e-7)
    assert np.array_equal(found.weights[0] != 0, expected != 0)
    assert found.residual < 1e-10


@pytest.mark.parametrize(("n", "p"), SHAPES)
def test_non_negative_weights_against_scipy(n, p):
    X, y = data(n, p)
    rows = np.vstack([X / math.sqrt(p), math.sqrt(0.2) * np.eye(p)])
    expected = nnls(rows, np.concatenate([y, np.zeros(p)]))[0]
    assert fit_penalized(X, y, "square", NonNegative(0.2)).weights[0] == pytest.approx(expected, abs=1e-10)


def gap_of_conditions(X, y, loss, penalty, found, weights=None):
    """By how much the subgradient of the sum fails to contain zero, written out."""
    w, Z = found.weights[0], X / math.sqrt(X.shape[1])
    h, kappa, (l1, l2) = Z @ w + found.bias[0], 1.0 if weights is None else weights, penalty.strengths
    slope = h - y if loss == "square" else -y / (1 + np.exp(y * h))
    g = Z.T @ (kappa * slope) + l2 * w
    silent = np.maximum(-g, 0) if penalty.non_negative else np.maximum(abs(g) - l1, 0)
    return max(np.max(np.where(w == 0, silent, abs(g + l1 * np.sign(w)))), 0.0), abs(np.sum(kappa * slope))


@pytest.mark.parametrize("loss", ["square", "logistic"])
@pytest.mark.parametrize("penalty", [Lasso(0.3), Lasso(0.05), ElasticNet(0.2, 0.1), NonNegative(0.2)])
@pytest.mark.parametrize("bias", [False, True])
def test_conditions_of_a_minimum(loss, penalty, bias):
    X, y = data(50, 40, 1)
    y = y if loss == "square" else np.where(y > -0.2, 1.0, -1.0)
    weights = np.random.default_rng(2).uniform(0.5, 2, 50)
    found = fit_penalized(X, y, loss, penalty, bias=bias, sample_weights=weights)
    by_weights, by_bias = gap_of_conditions(X, y, loss, penalty, found, weights)
    assert by_weights < 1e-8
    assert by_bias < 1e-8 or not bias
    assert found.bias[0] == 0 or bias
    h = found.fields(X)
    assert found.train_loss == pytest.approx(np.mean(weights * loss_of(loss, y, h)), rel=1e-12)
    if penalty.non_negative:
        assert found.weights.min() >= 0


@pytest.mark.parametrize("loss", ["square", "logistic", "hinge"])
@pytest.mark.parametrize("units", [1e-160, 1e-25, 1e-6, 1e6, 1e25, 1e160])
def test_the_units_of_the_inputs_do_not_matter(loss, units):
    """The weights times the units are the same, and so is the bias, which is a sum over labels and not over inputs."""
    X, y = data(50, 20, 1)
    y = y if loss == "square" else np.where(y > -0.2, 1.0, -1.0)
    one = fit_penalized(X, y, loss, Lasso(0.3), bias=True)
    other = fit_penalized(units * X, y, loss, Lasso(0.3 * units), bias=True)
    assert np.allclose(units * other.weights, one.weights, rtol=1e-9, atol=1e-9)
    assert other.bias == pytest.approx(one.bias, abs=1e-9)
    assert fit_penalized(units * X, y, loss, Lasso(1e3 * units), bias=True).weights.any() == 0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("loss", ["square", "logistic"])
@pytest.mark.parametrize("units", [1e25, 1e160])
def test_beside_huge_inputs_a_penalty_is_as_good_as_none_and_the_bias_is_that_of_the_minimum(loss, units):
    X, y = data(50, 10, 1)
    y = y if loss == "square" else np.sign(y + 2 * np.random.default_rng(3).standard_normal(50))
    least = fit(X, y, loss, 1e-9, bias=True)
    for penalty in (Lasso(0.3), ElasticNet(0.2, 0.1)):
        found = fit_penalized(units * X, y, loss, penalty, bias=True)
        assert units * found.weights == pytest.approx(least.weights, abs=1e-6)
        assert found.bias == pytest.approx(least.bias, abs=1e-6)


@pytest.mark.filterwarnings("error")
def test_fits_that_leave_the_range_of_numbers_say_what_to_change():
    X, y = data(50, 10, 1)
    out = "left the range of floating point numbers: change the units of X and y, or the penalty"
    for inputs, labels, penalty in (
        (X, 1e200 * y, Lasso(0.1)),
        (1e-200 * X, y, ElasticNet(0.1, 0.1)),
        (1e160 * X, 1e160 * y, NonNegative(0.1)),
    ):
        with pytest.raises(FitError, match=out):
            fit_penalized(inputs, labels, "square", penalty, bias=True)
    with pytest.raises(FitError, match=r"gap to its dual is .*; take a larger penalty, or change the units of X"):
        fit_penalized(1e25 * X, np.sign(X[:, 0] + 0.1), "hinge", Lasso(0.1), bias=True)


def test_more_weights_than_samples_at_a_small_strength():
    """Down to strengths at which the fit interpolates; no more weights than samples are left."""
    X, y = data(40, 120, 6)
    for lam in (1e-2, 1e-4, 1e-6):
        found = fit_penalized(X, y, "square", Lasso(lam))
        assert gap_of_conditions(X, y, "square", Lasso(lam), found)[0] < 1e-9
        assert np.count_nonzero(found.weights) <= 40


def test_without_a_lasso_it_is_the_ridge():
    X, y = data(40, 30, 3)
    found, expected = fit_penalized(X, y, "square", ElasticNet(0.0, 0.5)), fit(X, y, "square", 0.5)
    assert found.weights[0] == pytest.approx(expected.weights[0], abs=1e-10)
    signs = np.sign(y)
    found, expected = fit_penalized(X, signs, "logistic", ElasticNet(0.0, 0.5)), fit(X, signs, "logistic", 0.5)
    assert found.weights[0] == pytest.approx(expected.weights[0], abs=1e-8)


def test_a_large_lasso_leaves_nothing():
    X, y = data(40, 30)
    largest = np.max(abs(X.T @ y)) / math.sqrt(30)
    assert not fit_penalized(X, y, "square", Lasso(largest * 1.001)).weights.any()
    assert np.count_nonzero(fit_penalized(X, y, "square", Lasso(largest * 0.999)).weights) == 1


@pytest.mark.parametrize("bias", [False, True])
def test_hinge_loss_is_a_linear_program(bias):
    """No neighbor of the minimum is lower, and as many weights (and the bias) are left as samples at the kink."""
    X, y = data(60, 40, 4)
    y = np.where(y > 0.1, 1.0, -1.0)
    found = fit_penalized(X, y, "hinge", Lasso(0.3), bias=bias)
    Z, w, b = X / math.sqrt(40), found.weights[0], found.bias[0]

    def risk(w, b):
        return np.sum(np.maximum(0, 1 - y * (Z @ w + b))) + 0.3 * np.sum(abs(w))

    rng, least = np.random.default_rng(5), risk(w, b)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(50):
            assert risk(w + size * rng.standard_normal(40), b + bias * size * rng.standard_normal()) >= least - 1e-9
    assert np.sum(abs(y * (Z @ w + b) - 1) < 1e-9) == np.count_nonzero(abs(w) > 1e-9) + bias
    assert found.residual < 1e-9


def test_signals_follow_their_law():
    for law in ("gaussian", "signs", BernoulliGauss(0.3)):
        model = linear(1.0, 0.3, Lasso(0.2), signals=law, weights=(0.75, 0.25), variances=(1.0, 2.0))
        covariances, signals = lay_out(model, 400)
        for m, own in enumerate((slice(0, 300), slice(300, 400))):
            assert covariances[0, own] == pytest.approx(model.modes.covariances[0, m])
            assert np.sum(signals[0, own] ** 2) / 400 == pytest.approx(model.modes.gram[0, 0, m], rel=1e-12)
            assert abs(np.mean(signals[0, own])) < 1e-9
        share = law.share if isinstance(law, BernoulliGauss) else 1.0
        assert np.mean(signals != 0) == share
        kurtosis = np.mean(signals[0, :300] ** 4) / np.mean(signals[0, :300] ** 2) ** 2
        assert kurtosis == pytest.approx(1 if law == "signs" else 3 / share, rel=0.1)
    given = of_law("array", 1.0, Lasso(0.2), 0.1)
    assert set(np.round(lay_out(given, 100)[1][0], 12)) == {1.0, 0.0, -1.0}
    assert population(given, 100).support.sum() == 50


def test_several_signals_keep_their_gram_matrix():
    gram = np.array([[1.0, 0.4], [0.4, 0.6]])
    clusters = [
        Cluster(probability=0.5, labels="linear", teacher_signal=k, teacher_variance=1.0, noise=0.1) for k in (0, 1)
    ]
    model = GeneralizedLinearModel(
        modes=Modes([1.0], [[1.0]], gram[:, :, None]),
        clusters=clusters,
        alpha=2.0,
        loss="square",
        penalty=Lasso(0.2),
        signals="gaussian",
    )
    signals = lay_out(model, 300)[1]
    assert signals @ signals.T / 300 == pytest.approx(gram, rel=1e-12)
    assert np.mean(signals[1] ** 4) / 0.36 == pytest.approx(3, rel=0.1)
    assert np.mean(signals[0] ** 2 * signals[1] ** 2) == pytest.approx(0.6 + 2 * 0.16, rel=0.1)


CASES = {
    "lasso, sparse": linear(1.0, 0.25, Lasso(0.3)),
    "lasso, normal": linear(1.0, 0.25, Lasso(0.3), signals="gaussian"),
    "lasso, signs": linear(0.6, 0.25, Lasso(0.2), signals="signs"),
    "lasso, given": of_law("array", 1.0, Lasso(0.2), 0.1),
    "net, sparse": linear(1.0, 0.25, ElasticNet(0.3, 0.2)),
    "net, signs": of_law("signs", 1.0, ElasticNet(0.2, 0.2), 0.1),
    "positive, normal": linear(1.5, 1.0, NonNegative(0.2), 0.3, signals="gaussian"),
    "positive, sparse": linear(1.0, 0.25, NonNegative(0.3)),
    "positive, given": of_law("array", 1.0, NonNegative(0.3), 0.1),
}


def extrapolated(model, name, count, d=60):
    """What is measured at d and 2d, extrapolated: a function of the name of a number."""
    runs = [[measure(model, size, stream(0, "separable", name, size, r)) for r in range(count)] for size in (d, 2 * d)]
    return lambda what: extrapolate(*(Estimate.of([getattr(one, what) for one in some]) for some in runs))


SLOW = ("lasso, normal", "lasso, given", "net, signs", "positive, sparse", "positive, given")


@pytest.mark.parametrize("name", [pytest.param(one, marks=[pytest.mark.slow] * (one in SLOW)) for one in CASES])
def test_theory_at_two_sizes(agrees, name):
    found, point = extrapolated(CASES[name], name, 60), glm.solve(CASES[name])
    agrees(found("test_error"), point.test_error, resolves=0.25)
    agrees(found("nonzero"), point.nonzero, resolves=0.23)


def sign_model(loss, penalty):
    teacher = Cluster(labels="sign", teacher_signal=0, noise=0.1)
    return GeneralizedLinearModel(
        modes=Modes([1.0], [[1.0]], [[[1.0]]]),
        clusters=[teacher],
        alpha=2.0,
        loss=loss,
        penalty=penalty,
        signals=BernoulliGauss(0.2),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "penalty"), [("logistic", Lasso(0.2)), ("logistic", NonNegative(0.2)), ("hinge", Lasso(0.5))]
)
def test_signs_at_two_sizes(agrees, loss, penalty):
    model = sign_model(loss, penalty)
    found, point = extrapolated(model, f"{loss} {penalty}", 60), glm.solve(model)
    agrees(found("test_error"), point.test_error, resolves=0.25)
    agrees(found("train_loss"), point.train_loss, resolves=0.5)
    agrees(found("nonzero"), point.nonzero, resolves=0.25)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lasso, sparse", "net, sparse", "positive, normal"])
def test_theory_at_larger_sizes(agrees, name):
    found, point = extrapolated(CASES[name], f"large {name}", 100, 200), glm.solve(CASES[name])
    for what, resolves in (("test_error", 0.14), ("train_loss", 0.14), ("nonzero", 0.1), ("support_f1", 0.14)):
        agrees(found(what), getattr(point, what), resolves=resolves)


def test_recovery_of_a_sparse_teacher():
    """Least |w|_1 finds the teacher below the threshold and not above; its digits are those of the literature."""
    known = {0.1: 0.189429, 0.25: 0.267384, 0.5: 0.385690, 0.75: 0.533712}  # nonzero weights over samples
    for alpha, ratio in known.items():
        assert glm.sparse_recovery_threshold(alpha) / alpha == pytest.approx(ratio, abs=1e-6)
    threshold = glm.sparse_recovery_threshold(0.5)
    below, above = (glm.solve(linear(0.5, s * threshold, Lasso(1e-4), 0.0)).test_error for s in (0.95, 1.05))
    # mpmath with 30 digits: rho + q - 2 m at the root of the equations for the ratio and the noise level
    assert below == pytest.approx(5.2958507671324e-07, rel=1e-8)
    assert above == pytest.approx(9.084e-4, rel=1e-3)
    errors = []
    for share in (0.6 * threshold, 1.5 * threshold):
        model = linear(0.5, share, Lasso(1e-4), 0.0)
        errors.append([measure(model, 200, stream(0, "recovery", share, r)).test_error for r in range(5)])
    assert max(errors[0]) < 1e-5
    assert min(errors[1]) > 1e-3


def test_the_threshold_by_the_risk_at_small_noise():
    """At the best threshold the risk over tau^2 equals alpha; the library's tails are not used."""
    for alpha in (0.2, 0.6, 0.95):
        share = glm.sparse_recovery_threshold(alpha)
        a = np.linspace(0.05, 4, 40_001)
        silent = 2 * ((1 + a**2) * norm.sf(a) - a * norm.pdf(a))
        assert np.min(share * (1 + a**2) + (1 - share) * silent) == pytest.approx(alpha, abs=1e-8)
    assert glm.sparse_recovery_threshold(1 - 1e-6) > 0.97
    assert glm.sparse_recovery_threshold(1e-4) < 1e-4


BEST = {
    (0.5, 0.1): (0.31944, 0.1540525382),
    (0.5, 0.25): (0.23960, 0.2464641303),
    (1.0, 0.1): (0.40140, 0.1294853124),
    (1.0, 0.25): (0.26729, 0.1704188362),
    (2.0, 0.1): (0.54719, 0.1150771226),
    (2.0, 0.25): (0.36623, 0.1315904342),
}


@pytest.mark.parametrize("setting", BEST)
def test_best_strength(setting):
    found = glm.optimal_strength(linear(*setting, Lasso(0.01)))
    strength, error = BEST[setting]
    assert found.penalty.strength == pytest.approx(strength, abs=6e-6)
    assert found.test_error == pytest.approx(error, abs=6e-11)
    assert found.factor == pytest.approx(100 * found.penalty.strength)
    assert found.limit is None
    assert abs(found.slope) < 1e-6
    assert found.test_error <= min(found.test_errors)


def test_best_strength_at_an_end():
    nearly = glm.optimal_strength(linear(2.0, 0.25, Lasso(0.3), 1e-12))
    assert (nearly.limit, nearly.converged) == ("zero", True)
    nothing = GeneralizedLinearModel(
        modes=Modes([1.0], [[1.0]], [[[0.0]]]),
        clusters=[Cluster(labels="linear", teacher_signal=0, noise=0.1)],
        alpha=1.0,
        loss="square",
        penalty=NonNegative(0.1),
        signals="gaussian",
    )
    assert glm.optimal_strength(nothing).limit == "infinity"
    with pytest.raises(ValueError, match="model must have a separable penalty"):
        glm.optimal_strength(linear(1.0, 0.25, None, lam=0.1))


def test_a_strength_at_which_the_error_is_not_flat_is_no_answer(monkeypatch):
    module = importlib.import_module("theory.glm.optimal_strength")
    monkeypatch.setattr(
        module, "minimize_scalar", lambda f, bounds, **_: SimpleNamespace(x=bounds[0], fun=f(bounds[0]))
    )
    with pytest.raises(ConvergenceError, match="best strength of Lasso"):
        glm.optimal_strength(linear(1.0, 0.25, Lasso(0.3)))


X, Y = np.eye(3), np.array([1.0, -1.0, 1.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fit_penalized(X, Y[:2], "square", Lasso(0.1)), "y must have one entry for each of 3 rows"),
        (lambda: fit_penalized(X, 2 * Y, "logistic", Lasso(0.1)), "y must be -1 or 1 for loss='logistic'"),
        (lambda: fit_penalized(X, Y, "cubic", Lasso(0.1)), "loss must be one of"),
        (lambda: fit_penalized(X, Y, "square", 0.1), "penalty must be"),
        (lambda: fit_penalized(X, Y, "square", Lasso(0.1), sample_weights=[1, -1, 1]), "sample_weights must be 3"),
        (lambda: fit_penalized(X, Y, "hinge", ElasticNet(0.1, 0.1)), "penalty must be a Lasso for loss='hinge'"),
        (lambda: fit_penalized(X, abs(Y), "hinge", Lasso(0.1), bias=True), "y must have both labels for a bias"),
        (lambda: fit_penalized(np.full((3, 3), np.nan), Y, "square", Lasso(0.1)), "X must be"),
        (lambda: measure(linear(1.0, 0.25, Lasso(0.1)), 3, np.random.default_rng(0)), "d is too small"),
        (lambda: glm.sparse_recovery_threshold(1.0), "alpha must lie in"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_fit_that_finds_nothing_says_so(monkeypatch):

    monkeypatch.setattr(module, "STEPS", 1)
    monkeypatch.setattr(module, "TOLERANCE", -1.0)
    with pytest.raises(FitError, match="the fit of the square loss with Lasso"):
        fit_penalized(*data(20, 10), "square", Lasso(0.1))
