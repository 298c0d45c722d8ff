"""Truncated Newton steps: their minima beside whole steps and mpmath, and what their residual proves."""

import mpmath
import numpy as np
import pytest

import simulate.glm.own_loss
import simulate.glm.smooth
import simulate.glm.truncated_newton as truncated
from simulate.glm import fit, fit_coupled, fit_multiclass
from simulate.glm.convex_loss import own_loss
from simulate.glm.samples import Descent, Pulls
from simulate.glm.truncated_newton import truncated_newton


def data(n, p, loss="logistic", decay=0.0, seed=0):
    """Inputs of variances k^-decay with the labels of a noisy teacher."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * np.arange(1.0, p + 1) ** (-decay / 2)
    nu = X @ rng.standard_normal(p) / np.sqrt(p)
    if loss == "poisson":
        return X, rng.poisson(np.exp(nu)).astype(float)
    return X, np.where(nu + 0.5 * rng.standard_normal(n) + 0.2 >= 0, 1.0, -1.0)


def without_truncation(monkeypatch):
    monkeypatch.setattr(simulate.glm.smooth, "SMALL", np.inf)


def gradient(found, X, y, loss, lam, weights=1.0):
    """The two parts of the gradient by w, what whole steps leave of it, and the relative derivative by the bias."""
    h = found.fields(X)
    pull = weights * (y / (1 + np.exp(y * h)) if loss == "logistic" else y - np.exp(h))
    size = abs(pull) if loss == "logistic" else weights * (y + np.exp(h))
    tied, back = lam * found.weights[0], pull @ X / np.sqrt(X.shape[1])
    return tied, back, 1e-12 * np.linalg.norm(size @ abs(X)), pull.sum() / size.sum()


# Wide, square and tall inputs; those of 9000 rows are so tall that a part of them is fitted first.
SHAPES = [(60, 200), (150, 150), (400, 100), (9000, 8)]


@pytest.mark.parametrize("loss", ["logistic", "poisson"])
@pytest.mark.parametrize("lam", [1e-3, 1.0])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("n", "p"), SHAPES)
def test_the_minimum_is_that_of_whole_steps(monkeypatch, n, p, bias, lam, loss):
    X, y = data(n, p, loss)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, n)
    found = fit(X, y, loss, lam, bias=bias, sample_weights=weights)
    tied, back, rounding, free = gradient(found, X, y, loss, lam, weights)
    assert np.linalg.norm(tied - back) < 1e-9 * np.linalg.norm(tied) + rounding
    assert abs(free) < 1e-9 or not bias
    without_truncation(monkeypatch)
    whole = fit(X, y, loss, lam, bias=bias, sample_weights=weights)
    assert np.linalg.norm(found.weights - whole.weights) < 1e-8 * np.linalg.norm(whole.weights)
    assert found.bias == pytest.approx(whole.bias, rel=1e-8, abs=1e-9)
    assert found.train_loss == pytest.approx(whole.train_loss, rel=1e-9)


@pytest.mark.parametrize("decay", [1.0, 2.0])
@pytest.mark.parametrize(("n", "p"), [(100, 150), (300, 100)])
def test_unequal_inputs(monkeypatch, n, p, decay):
    """Variances over four decades: conjugate gradients alone would need as many products as columns."""
    X, y = data(n, p, decay=decay)
    found = fit(X, y, "logistic", 1e-4)
    without_truncation(monkeypatch)
    assert found.weights == pytest.approx(fit(X, y, "logistic", 1e-4).weights, rel=1e-6, abs=1e-7)


def test_the_residual_bounds_the_error_of_the_weights():
    """Steps that end early, at any residual r, are within 2 r of the minimum; whole steps tell where it is."""
    X, y = data(300, 60)
    least = fit(X, y, "logistic", 0.1)

    def pulls(h, rows):
        slope = y[rows] / (1 + np.exp(y[rows] * h))
        curvature = abs(slope) * (1 - abs(slope))
        return Pulls(slope, curvature, lambda moved: curvature * moved)

    for tolerance in (1e-2, 1e-4, 1e-7, 1e-10):
        found = truncated_newton(X, np.zeros((300, 0)), 0.1 * 60, pulls, tolerance=tolerance)
        w = found.v * np.sqrt(60)
        assert found.residual <= tolerance
        assert np.linalg.norm(w - least.weights[0]) <= 2.001 * (found.residual + 1e-10) * np.linalg.norm(w)


def test_one_weight_beside_mpmath():
    """All rows alike: one equation, lam h = n (x.x/p)/(1 + exp(h)), for the field that they share."""
    rng = np.random.default_rng(3)
    x, n, lam = rng.standard_normal(40), 200, 0.3
    found = fit(np.tile(x, (n, 1)), np.ones(n), "logistic", lam)
    with mpmath.workdps(30):
        size = mpmath.mpf(float(x @ x)) / 40
        h = mpmath.findroot(lambda h: lam * h - n * size / (1 + mpmath.exp(h)), 5)
    assert found.fields(x[None])[0] == pytest.approx(float(h), rel=1e-9)


def test_coupled_learners_and_several_classes(monkeypatch):
    X, y = data(400, 60)
    learners = np.arange(400) % 2
    found = fit_coupled(X, y, learners, "logistic", 0.1, coupling=0.5)
    classes = np.arange(400) % 3
    several = fit_multiclass(X, classes, 3, "softmax", 0.1)
    P = np.exp(several.fields(X))
    pull = (classes[:, None] == np.arange(3)) - P / P.sum(axis=1, keepdims=True)
    assert np.linalg.norm(0.1 * several.weights - pull.T @ X / np.sqrt(60)) < 1e-8 * np.linalg.norm(several.weights)
    assert abs(pull.sum(axis=0)).max() < 1e-7
    assert abs(several.bias.sum()) < 1e-12
    without_truncation(monkeypatch)
    whole = fit_coupled(X, y, learners, "logistic", 0.1, coupling=0.5)
    assert found.weights == pytest.approx(whole.weights, rel=1e-7, abs=1e-8)


class Softened:
    """A smooth loss between hinge and logistic."""

    name = "softened"

    def value(self, t):
        return np.logaddexp(0, 4 - 4 * t) / 4

    def derivative(self, t):
        return -1 / (1 + np.exp(4 * t - 4))


class Huber:
    """A loss with jumps of its second derivative."""

    name = "Huber"

    def value(self, t):
        return np.where(abs(t) < 1, t * t / 2, abs(t) - 0.5)

    def derivative(self, t):
        return np.clip(t, -1, 1)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("n", "p"), [(60, 90), (200, 50)])
@pytest.mark.parametrize(("loss", "argument"), [(Softened(), "margin"), (Huber(), "residual")])
def test_smooth_losses_of_a_user_need_no_multipliers(monkeypatch, loss, argument, n, p, bias):
    X, y = data(n, p)
    y = y if argument == "margin" else X[:, 0] + np.random.default_rng(1).standard_normal(n)
    found = fit(X, y, loss, 0.1, bias=bias, argument=argument)
    assert found.residual < 1e-10
    monkeypatch.setattr(simulate.glm.own_loss._Problem, "smoothly_descended", lambda problem, ridge: None)
    copies = fit(X, y, loss, 0.1, bias=bias, argument=argument)
    assert found.weights == pytest.approx(copies.weights, abs=1e-6)
    assert found.train_loss == pytest.approx(copies.train_loss, rel=1e-7)


def test_a_loss_that_overflows_far_away_is_fitted_from_nearby():
    """A whole step leads to where exp(-t) is infinite; the method of multipliers goes nowhere near."""

    class Exponential:
        name = "exponential"

        def value(self, t):
            with np.errstate(over="raise"):
                return np.exp(-t)

        def derivative(self, t):
            with np.errstate(over="raise"):
                return -np.exp(-t)

    X, y = data(200, 50)
    found = fit(X, y, Exponential(), 0.1)
    pull = y * np.exp(-y * found.fields(X))
    assert found.weights[0] == pytest.approx(pull @ X / np.sqrt(50) / 0.1, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("units", [1e-25, 1e-3, 1e3, 1e25])
def test_inputs_in_any_units(units):
    """Beyond the range of single precision whole steps take over; the answer is the same."""
    X, y = data(200, 50)
    one = fit(X, y, "logistic", 0.1)
    other = fit(units * X, y, "logistic", 0.1 * units**2)
    assert units * other.weights == pytest.approx(one.weights, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("order", ["C", "F"])
def test_inputs_are_neither_copied_nor_changed(order):
    X, y = data(200, 50)
    given = np.array(X, order=order)
    given.setflags(write=False)
    found = fit(given, y, "logistic", 0.1)
    strided = np.repeat(X, 2, axis=1)[:, ::2]
    assert np.array_equal(given, X)
    assert found.weights == pytest.approx(fit(strided, y, "logistic", 0.1).weights, rel=1e-8)


def test_inputs_that_are_all_zero_have_no_weights():
    X, y = np.zeros((200, 50)), data(200, 50)[1]
    for bias in (False, True):
        found = fit(X, y, "logistic", 0.1, bias=bias)
        assert not found.weights.any()
        assert found.bias[0] == pytest.approx(np.log(np.mean(y > 0) / np.mean(y < 0)) if bias else 0.0, abs=1e-9)


def test_sorted_samples_whose_part_is_of_one_label_only():
    """The part that is fitted first is one in so many samples; here these all may have one label."""
    X, _ = data(9000, 8)
    y = np.where(np.arange(9000) % 10 == 0, 1.0, -1.0)
    found = fit(X, y, "logistic", 0.1, bias=True)
    assert abs(gradient(found, X, y, "logistic", 0.1)[3]) < 1e-9
    assert found.bias[0] == pytest.approx(-np.log(9), abs=0.1)


@pytest.mark.parametrize("argument", ["margin", "residual"])
def test_smooth_losses_are_proved_without_copies(monkeypatch, argument):
    def never(*_):
        raise AssertionError("the method of multipliers is not needed")

    monkeypatch.setattr(simulate.glm.own_loss._Problem, "descended", never)
    loss = Softened() if argument == "margin" else Huber()
    for seed in (8, 19, 24):  # at which descents of margins that end a hundred times earlier are seen
        X, y = data(300, 80, seed=seed)
        # Descents end at a relative gradient of 1e-11, and the derivative by the bias is a part of it. That is no
        # rounding, since a last step is only as exact as it has to be; the gap itself is of second order.
        assert fit(X, y, loss, 0.3, bias=True, argument=argument).residual <= 1e-11


@pytest.mark.parametrize(("n", "p"), [(300, 20), (9000, 8)])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("loss", "argument"), [(Softened(), "margin"), (Huber(), "residual")])
def test_a_small_ridge_does_not_ask_for_more_than_rounding_leaves(monkeypatch, loss, argument, n, p, bias):
    """The parts of the gradient are as small as the ridge; the weights are right before it is small beside them."""
    monkeypatch.setattr(simulate.glm.own_loss._Problem, "descended", lambda *_: pytest.fail("multipliers are slow"))
    X, y = data(n, p)
    y = y if argument == "margin" else X[:, 0] + np.random.default_rng(1).standard_normal(n)
    lam = 1e-7
    found = fit(X, y, loss, lam, bias=bias, argument=argument)
    h = found.fields(X)
    A = np.hstack((X / np.sqrt(p), np.ones((n, int(bias)))))
    x, ridge = np.append(found.weights[0], found.bias[: int(bias)]), np.append(np.full(p, lam), np.zeros(int(bias)))
    if argument == "margin":
        pull, bend = -y * loss.derivative(y * h), 1 / np.cosh(2 * y * h - 2) ** 2
    else:
        pull, bend = loss.derivative(y - h), 1.0 * (abs(y - h) < 1)
    step = np.linalg.solve((A.T * bend) @ A + np.diag(ridge), A.T @ pull - ridge * x)
    assert np.linalg.norm(step) < 3e-11 * np.linalg.norm(x)


def test_the_gap_of_slopes_is_that_of_the_gradient():
    """Beside the primal and the dual problem themselves, away from the minimum: max_c g c - l(c) = g^2/2 for Huber."""
    X, y = data(300, 20)
    y, ridge = X[:, 0] + np.random.default_rng(1).standard_normal(300), 4.0
    weights = np.random.default_rng(2).uniform(0.5, 2, 300)
    problem = simulate.glm.own_loss._Problem(X, y, -np.ones(300), np.zeros((300, 0)), weights, own_loss(Huber()))
    v = np.random.default_rng(3).standard_normal(20) / 5
    t = y - X @ v
    g, value = np.clip(t, -1, 1), Huber().value(t)
    left = np.linalg.norm(ridge * v - (weights * g) @ X)
    gap, error = problem.smooth_gap(Descent(v, v[:0], X @ v, 1.0, 1, 1, left, 0.0, np.inf), value, ridge)
    primal = ridge / 2 * v @ v + weights @ value
    back = (weights * g) @ X
    dual = weights @ (g * y - g**2 / 2) - back @ back / (2 * ridge)
    size = primal + ridge / 2 * v @ v
    assert gap * size == pytest.approx(primal - dual, rel=1e-12)
    assert error == pytest.approx(np.sqrt(2 * (primal - dual) / ridge) / np.linalg.norm(v), rel=1e-5)


def test_slopes_and_bends_come_from_one_call():
    calls = []

    class Counted(Softened):
        def derivative(self, t):
            calls.append(len(t))
            return super().derivative(t)

    t = np.linspace(-2, 3, 11)
    slope, bend = own_loss(Counted()).slope_and_bend(t)
    assert calls == [22]
    assert slope == pytest.approx(-1 / (1 + np.exp(4 * t - 4)), rel=1e-15)
    assert bend == pytest.approx(1 / np.cosh(2 * t - 2) ** 2, rel=1e-4)


def test_the_matrix_is_kept_near_the_minimum(monkeypatch):
    """Of many samples it is set up at the first steps alone, and the minimum is the same."""
    X, y = data(9000, 20, "poisson")
    monkeypatch.setattr(truncated, "WHOLE", 0.0)  # no matrix of all samples
    monkeypatch.setattr(truncated._Descent, "secants", lambda *_: None)  # and no steps by gradients alone
    set_up = truncated._Descent.set_up
    made = []
    monkeypatch.setattr(truncated._Descent, "set_up", lambda self, *how: (made.append(1), set_up(self, *how)))
    few = fit(X, y, "poisson", 0.1)
    kept = len(made)
    monkeypatch.setattr(truncated, "KEPT", 0.0)
    many = fit(X, y, "poisson", 0.1)
    assert kept < len(made) - kept
    assert few.weights == pytest.approx(many.weights, rel=1e-9)
