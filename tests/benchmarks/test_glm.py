"""Replica saddle points of regressions with p modes, beside a vectorized state evolution in numpy.

A point is one sample ratio alpha; lam is the penalty. Softmax regression of K classes needs averages in K - 1
dimensions: clusters that are alike have equal shares, angles and spreads, others differ in shares and angles.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import erfc, expit

from tests.glm.settings import teacher_problem
from theory import glm
from theory.models import (
    BernoulliGauss,
    Cluster,
    GaussianCovariateModel,
    GeneralizedLinearModel,
    Lasso,
    Modes,
    MulticlassMixture,
)

SUBJECT = "generalized linear models"
ALPHAS = np.geomspace(0.2, 5, 30)
RIDGES = np.geomspace(1e-3, 100, 15)
Z, WEIGHTS = np.polynomial.legendre.leggauss(256)
Z, WEIGHTS = 8 * Z, 8 * WEIGHTS * np.exp(-32 * Z**2) / math.sqrt(2 * math.pi)


def harmonic(p, alpha=1.0, lam=0.01, loss="logistic", **options):
    return teacher_problem(alpha, lam, loss, eigenvalues=1 / np.arange(1, p + 1.0), **options)


def force(t, V):
    """Minus the slope of the logistic loss at its proximal point, at all nodes together by Newton steps."""
    x = t + V * expit(-t)
    for _ in range(50):
        s = expit(-x)
        step = (x - t - V * s) / (1 + V * s * (1 - s))
        x = np.clip(x - step, t, t + V)
        if np.max(abs(step)) < 1e-10:
            break
    return (x - t) / V


def evolved(problem, V, q, m):
    """One step of state evolution for logistic regression and a noiseless sign teacher."""
    modes, rho = problem.modes, problem.clusters[0].teacher_variance
    om, w, gram = modes.covariances[0], modes.weights, modes.gram[0, 0]
    spread = math.sqrt(max(rho - m * m / q, 1e-12))
    a = m / math.sqrt(q) * Z / spread
    law, tilt = erfc(-a / math.sqrt(2)), 2 * np.exp(-a * a / 2) / math.sqrt(2 * math.pi) / spread
    f = force(math.sqrt(q) * Z, V)
    mhat, qhat = problem.alpha * (WEIGHTS @ (f * tilt)), problem.alpha * (WEIGHTS @ (f * f * law))
    Vhat = -problem.alpha * (WEIGHTS @ (Z * f * law)) / math.sqrt(q) + m / q * mhat
    G = 1 / (problem.lam + Vhat * om)
    return np.array([(w * om) @ G, om @ ((w * qhat * om + mhat**2 * gram) * G * G), mhat * (gram @ G)])


def state_evolution(problem, damping=0.5, tol=1e-7):
    x = np.array([1.0, 0.5, 0.01])
    for _ in range(5000):
        before, x = x, damping * x + (1 - damping) * evolved(problem, *x)
        if np.max(abs(x - before)) < tol:
            return x[1]
    raise ArithmeticError("5000 steps are not enough")


def points(solve, problem):
    return np.array([solve(replace(problem, alpha=float(alpha))) for alpha in ALPHAS])


def test_logistic_curve(jobs):
    """30 points at p = 1000, each from a cold start."""
    problem = harmonic(1000)
    jobs.compare(
        "saddle point of logistic regression, p = 1000, lam = 0.01",
        lambda: points(lambda each: glm.solve(each).q[0], problem),
        {"numpy, vectorized state evolution": lambda: points(state_evolution, problem)},
        per=30.0,
        off=lambda ours, theirs: np.max(abs(theirs / ours - 1)),
        goal="0.1 s",
    )


def test_one_covariance_at_many_ratios(jobs):
    """Ridge regression on 500 features at 10 sample ratios; beside it, one decomposition for every point."""
    G = np.random.default_rng(0).standard_normal((500, 400))
    covariance, signal = G @ G.T / 400 + 0.1 * np.eye(500), G[:, 0]
    model = GaussianCovariateModel(
        covariance=covariance, signal=signal, power=2.0, alpha=1.0, lam=0.1, loss="square", labels="linear"
    )
    ratios = ALPHAS[::3]

    def repeated():
        options = {"power": 2.0, "lam": 0.1, "loss": "square", "labels": "linear"}
        records = (
            GaussianCovariateModel(covariance=covariance, signal=signal, alpha=float(alpha), **options)
            for alpha in ratios
        )
        return np.array([glm.solve(each).q[0] for each in records])

    jobs.compare(
        "ridge regression with one covariance at many sample ratios, p = 500",
        lambda: np.array([glm.solve(replace(model, alpha=float(alpha))).q[0] for alpha in ratios]),
        {"the same with a new record for every point": repeated},
        per=10.0,
        off=lambda ours, theirs: np.max(abs(theirs / ours - 1)),
        goal="0.01 s",
    )


def sparse(strength):
    """A linear teacher with a quarter of its weights other than zero, learned by a lasso."""
    return GeneralizedLinearModel(
        modes=Modes([1.0], [[1.0]], [[[0.25]]]),
        clusters=[Cluster(labels="linear", teacher_signal=0, teacher_variance=0.25, noise=0.1)],
        alpha=1.0,
        loss="square",
        penalty=Lasso(strength),
        signals=BernoulliGauss(0.25),
    )


def plain_lasso(problem):
    """The error from plain steps of V, q and m, the closed averages of a thresholded normal law written out."""
    lam, share, alpha, V, q, m = problem.penalty.strength, 0.25, problem.alpha, 1.0, 0.2, 0.1
    for _ in range(5000):
        stiffness = alpha / (1 + V)
        noise = stiffness**2 * (0.35 + q - 2 * m) / alpha
        widths = [math.sqrt(noise + power) for power in (0.0, stiffness**2)]
        tails = [0.5 * erfc(lam / width / math.sqrt(2)) for width in widths]
        squares = [
            2 * ((w * w + lam * lam) * t - lam * w * math.exp(-0.5 * (lam / w) ** 2) / math.sqrt(2 * math.pi))
            for w, t in zip(widths, tails, strict=True)
        ]
        active = 2 * ((1 - share) * tails[0] + share * tails[1])
        new = active / stiffness, ((1 - share) * squares[0] + share * squares[1]) / stiffness**2, 2 * share * tails[1]
        if max(abs(new[0] - V), abs(new[1] - q), abs(new[2] - m)) < 1e-11:
            return 0.35 + q - 2 * m
        V, q, m = new
    raise ArithmeticError("5000 steps are not enough")


@pytest.mark.parametrize("strength", [0.3, 0.01])
def test_lasso(jobs, strength):
    problem = sparse(strength)
    jobs.compare(
        f"saddle point of a lasso, strength {strength:g}",
        lambda: glm.solve(problem).test_error,
        {"plain steps of V, q and m": lambda: plain_lasso(problem)},
        off=lambda ours, theirs: abs(theirs / ours - 1),
        goal="0.01 s",
    )


@pytest.mark.parametrize("lam", [1e-4, 1e-6])
def test_small_ridges(jobs, lam):
    problem = harmonic(1000, alpha=1.5, lam=lam)
    point = jobs.compare(
        f"saddle point of logistic regression, p = 1000, lam = {lam:g}", lambda: glm.solve(problem), goal="0.1 s"
    )
    jobs.number(f"evaluations of the equations in that saddle point, lam = {lam:g}", point.iterations, "evaluations")


def test_warm_curve(jobs):
    base = harmonic(1000, lam=1e-4)
    cold = {"ours, 30 cold starts": lambda: points(lambda each: glm.solve(each).q[0], base)}
    jobs.compare(
        "learning curve of logistic regression, 30 points, lam = 1e-4",
        lambda: glm.learning_curve(base, ALPHAS),
        beside=cold,
    )


@pytest.mark.parametrize("loss", ["logistic", "square"])
def test_growth_with_modes(jobs, loss):
    options = {"labels": "linear", "noise": 0.1} if loss == "square" else {}

    def make(p):
        problem = harmonic(p, loss=loss, **options)
        return lambda: glm.solve(problem)

    jobs.grows(
        f"growth of the time of a saddle point with p, {loss} loss", (10**4, 10**5, 10**6), make, goal="power 1.1"
    )


def mixture(K, alike):
    """K clusters of one covariance, with means of about unit length."""
    rng = np.random.default_rng(K)
    directions, shares = rng.standard_normal((K, 2 * K)) / math.sqrt(2 * K), 1 + rng.random(K)
    modes = Modes([1.0], [[0.4]], (np.eye(K) if alike else directions @ directions.T)[:, :, None])
    probabilities = tuple(np.full(K, 1 / K) if alike else shares / shares.sum())
    return MulticlassMixture(modes=modes, probabilities=probabilities, alpha=1.0, lam=0.1, loss="softmax")


@pytest.mark.parametrize(
    ("K", "alike", "goal"),
    [
        (4, True, "0.2 s"),
        (4, False, "0.2 s"),
        (5, True, "10 s"),
        (5, False, "10 s"),
        (10, True, "10 s"),
        (10, False, "10 s"),
        (12, False, "10 s"),
        (16, False, "20 s"),
    ],
)
def test_softmax_of_many_classes(jobs, K, alike, goal):
    which = f"{K} classes, {'all alike' if alike else 'unlike'}, lam = 0.1"
    glm.solve(replace(mixture(3, alike), alpha=0.5))  # compiles
    point = jobs.compare(
        f"saddle point of softmax regression, {which}", lambda: glm.solve(mixture(K, alike)), goal=goal, rounds=1
    )
    title = f"error that the quadrature leaves in it, {which}"
    jobs.number(title, point.quadrature_error, "relative", goal="1e-4 relative", note=f"nodes: {point.quadrature}")


def test_growth_with_classes(jobs):
    def make(K):
        problem = mixture(K, alike=False)
        return lambda: glm.solve(problem)

    jobs.grows("saddle point of softmax regression of unlike clusters, by classes", (4, 8, 16), make, goal="power 4")


@pytest.mark.parametrize("K", [5, 10])
def test_confusion_of_many_classes(jobs, K):
    """Each of the K^2 chances is a normal integral in K - 1 dimensions; a copy of the point has to compute them."""
    point = glm.solve(mixture(K, alike=False))
    which = f"confusion matrix of {K} unlike classes"
    fresh = jobs.compare(which, lambda: (copy := replace(point), copy.test_error)[0], goal="10 s", rounds=1)
    title = f"numerical error of an entry, {which}"
    jobs.number(title, fresh.test_error_uncertainty, "absolute", goal="1e-4 absolute")


def test_best_ridge(jobs):
    problem = replace(harmonic(100, 2.0), lam=1.0)
    best = jobs.compare(
        "best ridge by error, logistic loss, 100 eigenvalues 1/i",
        lambda: glm.optimal_ridge(problem),
        beside={"15 saddle points on a grid": lambda: [glm.solve(replace(problem, lam=float(lam))) for lam in RIDGES]},
        goal="1/1 times",
    )
    jobs.number("saddle points of that best ridge", best.iterations, "saddle points", goal="15 saddle points")
