"""Every fit against another minimizer, and against what weights and ridges must do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from simulate.glm import FitError, fit, fit_coupled, fit_multiclass
from simulate.glm.fit import loss_of
from simulate.glm.weighted_ridge import kernel_of, weighted_ridge

LOSSES = ("square", "logistic", "hinge")


def data(n=40, p=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = np.where(X @ rng.standard_normal(p) + 2 * rng.standard_normal(n) + 0.5 >= 0, 1.0, -1.0)
    return X, y, rng.uniform(0.5, 2, n), rng.integers(0, 2, n)


def risk(W, b, X, y, weights, learners, loss, lam, coupling):
    """The sum that is minimized, written out."""
    h = np.sum(X * W[learners], axis=1) / np.sqrt(X.shape[1]) + b[learners]
    pairs = np.sum((W[0] - W[-1]) ** 2)
    return weights @ loss_of(loss, y, h) + lam / 2 * np.sum(W**2) + coupling / 2 * pairs


@pytest.mark.parametrize(("n", "p"), [(30, 8), (8, 30)])
def test_weighted_ridge_solves_the_augmented_least_squares_problem(n, p):
    rng = np.random.default_rng(1)
    Z, t, offsets, weights = (
        rng.standard_normal((n, p)),
        rng.standard_normal((n, 2)),
        rng.random((n, 2)),
        rng.random(n),
    )
    root = np.sqrt(weights)[:, None]
    rows = np.block([[root * Z, root * offsets], [np.eye(p), np.zeros((p, 2))]])
    x = np.linalg.lstsq(rows, np.vstack((root * t, np.zeros((p, 2)))), rcond=None)[0]
    assert (kernel_of(Z) is None) == (p < n)
    for kernel in (None, kernel_of(Z)):
        u, b = weighted_ridge(Z, t, offsets, weights, kernel)
        assert u == pytest.approx(x[:p], abs=1e-10)
        assert b == pytest.approx(x[p:], abs=1e-10)


@pytest.mark.parametrize(("n", "p"), [(5, 3), (3, 5)])
@pytest.mark.parametrize("name", ["Z", "target", "offsets", "weights"])
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_weighted_ridge_refuses_what_is_not_finite(n, p, name, number):
    rng = np.random.default_rng(2)
    given = {
        "Z": rng.standard_normal((n, p)),
        "target": rng.standard_normal(n),
        "offsets": np.ones((n, 1)),
        "weights": np.ones(n),
    }
    given[name].flat[0] = number
    with np.errstate(all="ignore"):
        for kernel in (None, kernel_of(given["Z"])):
            with pytest.raises(np.linalg.LinAlgError):
                weighted_ridge(**given, kernel=kernel)


def hinge_with_slacks(X, y, weights, learners, loss, lam, coupling):
    """The least risk of the hinge as a quadratic program in W, b and the losses of the samples."""
    n, p = X.shape
    own = np.eye(2)[learners]
    columns = y[:, None] * np.hstack((own[:, :1] * X / np.sqrt(p), own[:, 1:] * X / np.sqrt(p), own))
    rows = np.hstack((columns, np.eye(n)))
    joint = np.kron([[lam + coupling, -coupling], [-coupling, lam + coupling]], np.eye(p))

    def value(x):
        return x[: 2 * p] @ joint @ x[: 2 * p] / 2 + weights @ x[2 * p + 2 :]

    return minimize(
        value,
        np.append(np.zeros(2 * p + 2), np.ones(n)),
        jac=lambda x: np.concatenate((joint @ x[: 2 * p], np.zeros(2), weights)),
        bounds=[(None, None)] * (2 * p + 2) + [(0, None)] * n,
        constraints={"type": "ineq", "fun": lambda x: rows @ x - 1, "jac": lambda x: rows},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-13},
    ).fun


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("coupling", [0.0, 0.7])
def test_coupled_weighted_fits_are_the_least_of_the_risk(loss, coupling):
    X, y, weights, learners = data()
    fitted = fit_coupled(X, y, learners, loss, 0.3, coupling=coupling, sample_weights=weights)
    rest = (X, y, weights, learners, loss, 0.3, coupling)
    least = risk(fitted.weights, fitted.bias, *rest)
    p = X.shape[1]

    def flat(x):
        return risk(x[: 2 * p].reshape(2, p), x[2 * p :], *rest)

    start = np.append(fitted.weights.ravel(), fitted.bias)
    if loss != "hinge":  # smooth: no direction goes down, by central differences
        slopes = [(flat(start + step) - flat(start - step)) / 2e-5 for step in 1e-5 * np.eye(len(start))]
        assert np.max(np.abs(slopes)) < 1e-5
    found = minimize(flat, np.zeros(2 * p + 2)).fun if loss != "hinge" else hinge_with_slacks(*rest)
    assert found == pytest.approx(least, rel=1e-7)
    rng = np.random.default_rng(2)
    for size in (1e-4, 1e-2):
        assert all(flat(start + size * rng.standard_normal(len(start))) > least - 1e-10 for _ in range(50))


@pytest.mark.parametrize(("n", "p"), [(60, 10), (20, 40)])
@pytest.mark.parametrize("lam", [1e-3, 0.5])
def test_against_scikit_learn(n, p, lam):
    linear_model, svm = pytest.importorskip("sklearn.linear_model"), pytest.importorskip("sklearn.svm")
    X, y, weights, _ = data(n, p)
    peers = {
        "logistic": linear_model.LogisticRegression(C=1 / lam, tol=1e-10, max_iter=100_000),
        "hinge": svm.SVC(C=1 / lam, kernel="linear", tol=1e-10),
    }
    for loss, peer in peers.items():
        peer.fit(X / np.sqrt(p), y, sample_weight=weights)
        ours = fit(X, y, loss, lam, bias=True, sample_weights=weights)
        assert ours.weights == pytest.approx(peer.coef_, abs=1e-4 * abs(peer.coef_).max())
    ridge = linear_model.Ridge(alpha=lam).fit(X / np.sqrt(p), y, sample_weight=weights)
    ours = fit(X, y, "square", lam, bias=True, sample_weights=weights)
    assert ours.weights[0] == pytest.approx(ridge.coef_, rel=1e-8)
    assert ours.bias[0] == pytest.approx(ridge.intercept_)


@pytest.mark.parametrize("bias", [False, True])
def test_hard_margin_is_the_widest(bias):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20, 6))
    y = np.where(X @ rng.standard_normal(6) >= 0, 1.0, -1.0)
    columns = np.hstack((X / np.sqrt(6), np.full((20, 1), float(bias))))
    peer = minimize(
        lambda x: x[:6] @ x[:6] / 2,
        np.zeros(7),
        jac=lambda x: np.append(x[:6], 0),
        constraints={"type": "ineq", "fun": lambda x: y * (columns @ x) - 1, "jac": lambda x: y[:, None] * columns},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    ours = fit(X, y, "hard_margin", 1.0, bias=bias)
    assert ours.weights[0] == pytest.approx(peer.x[:6], rel=1e-4, abs=1e-4)
    assert ours.train_loss < 1e-7
    assert fit(X, y, "hard_margin", 0.1, bias=bias).weights == pytest.approx(ours.weights, rel=1e-5)


@settings(max_examples=12)
@given(st.sampled_from(LOSSES), st.integers(0, 50), st.floats(0.01, 10))
def test_whole_weights_are_copies_and_zeros_are_absences(loss, seed, lam):
    X, y, _, _ = data(16, 4, seed)
    if abs(y.sum()) == len(y):
        return
    counts = np.random.default_rng(seed).integers(0, 3, len(y))
    counts[[int(np.argmax(y)), int(np.argmin(y))]] += 1  # both labels are seen
    weighted = fit(X, y, loss, lam, bias=True, sample_weights=counts.astype(float))
    copied = fit(np.repeat(X, counts, axis=0), np.repeat(y, counts), loss, lam, bias=True)
    assert weighted.weights == pytest.approx(copied.weights, abs=2e-4)
    assert weighted.train_loss * len(y) == pytest.approx(copied.train_loss * counts.sum(), abs=1e-3)


def test_coupling_joins_two_learners():
    X, y, _, learners = data(60)
    apart = fit_coupled(X, y, learners, "logistic", 0.2, coupling=0.0)
    for own in (0, 1):
        alone = fit(X[learners == own], y[learners == own], "logistic", 0.2, bias=True)
        assert apart.weights[own] == pytest.approx(alone.weights[0], abs=1e-7)
    tied = fit_coupled(X, y, learners, "logistic", 0.2, coupling=1e6)
    assert tied.weights[0] == pytest.approx(tied.weights[1], abs=1e-4)


@pytest.mark.parametrize("bias", [False, True])
def test_classes_against_their_risk(bias):
    rng = np.random.default_rng(4)
    X, classes = rng.standard_normal((50, 5)), rng.integers(0, 3, 50)
    square = fit_multiclass(X, classes, 3, "square", 0.2, bias=bias)
    for c in range(3):
        alone = fit(X, (classes == c).astype(float), "square", 0.2, bias=bias)
        assert square.weights[c] == pytest.approx(alone.weights[0])
    linear_model = pytest.importorskip("sklearn.linear_model")
    peer = linear_model.LogisticRegression(C=5.0, tol=1e-12, max_iter=10_000, fit_intercept=bias)
    ours = fit_multiclass(X, classes, 3, "softmax", 0.2, bias=bias)
    assert ours.weights == pytest.approx(peer.fit(X / np.sqrt(5), classes).coef_, abs=1e-4)
    h = ours.fields(X)
    assert ours.train_loss == pytest.approx(np.mean(np.log(np.exp(h).sum(axis=1)) - h[np.arange(50), classes]))


def test_bad_input():
    X, y, weights, learners = data()
    for wrong, arguments, options in (
        ("loss", (X, y, "absolute", 1.0), {}),
        ("lam", (X, y, "square", 0.0), {}),
        ("y must", (X, y[:-1], "square", 1.0), {}),
        ("y must be -1 or 1", (X, 2 * y, "hinge", 1.0), {}),
        ("X must", (y, y, "square", 1.0), {}),
        ("X must be finite", (np.where(X > 2, np.nan, X), y, "square", 1.0), {}),
        ("sample_weights", (X, y, "square", 1.0), {"sample_weights": -weights}),
        ("sample_weights", (X, y, "square", 1.0), {"sample_weights": 0 * weights}),
        ("both labels", (X, abs(y), "hinge", 1.0), {"bias": True}),
    ):
        with pytest.raises(ValueError, match=wrong):
            fit(*arguments, **options)
    with pytest.raises(ValueError, match="learners"):
        fit_coupled(X, y, learners + 1, "square", 1.0)
    with pytest.raises(ValueError, match="coupling"):
        fit_coupled(X, y, learners, "square", 1.0, coupling=-1.0)
    with pytest.raises(ValueError, match="classes"):
        fit_multiclass(X, learners + 2, 3, "square", 1.0)
    with pytest.raises(ValueError, match="loss"):
        fit_multiclass(X, learners, 2, "hinge", 1.0)
    with pytest.raises(ValueError, match="classes must hold each of n_classes = 3"):
        fit_multiclass(X, learners, 3, "softmax", 1.0)


def test_fits_without_a_minimum_say_so():
    X, y, _, _ = data(200, 3)
    with pytest.raises(FitError, match="did not converge"):
        fit(X, y, "hard_margin", 1.0)
    with pytest.raises(ValueError, match="y must have both labels"):
        fit(X, abs(y), "logistic", 1.0, bias=True)


def test_a_learner_that_sees_one_label_follows_the_other():
    """Logistic loss, coupled: its bias grows until its loss is rounding, and only the coupling moves its weights."""
    X, y, _, learners = data(60)
    y = np.where(learners == 1, 1.0, y)
    fitted = fit_coupled(X, y, learners, "logistic", 0.2, coupling=1.0)
    assert fitted.bias[1] > 15
    assert fitted.weights[1] == pytest.approx(fitted.weights[0] * 1.0 / (0.2 + 1.0), abs=1e-6)
    with pytest.raises(ValueError, match="y must have both labels for every learner"):
        fit_coupled(X, y, learners, "hinge", 0.2, coupling=1.0)
    with pytest.raises(ValueError, match="learners must give a sample to every learner that has a bias"):
        fit_coupled(X, y, 0 * learners, "logistic", 0.2)
