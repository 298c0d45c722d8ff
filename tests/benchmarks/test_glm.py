"""Replica saddle points: beside a straightforward state evolution, and against the number of modes.

Run by `make bench`, with OPENBLAS_NUM_THREADS=1. Times are shown, never asserted; ratios are of one run.
"""

import math
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import IntegrationWarning, quad
from scipy.optimize import minimize_scalar

from tests.benchmarks.timing import seconds
from tests.glm.settings import teacher_problem
from theory import glm

pytest.importorskip("pytest_benchmark")

ALPHAS = np.geomspace(0.2, 5, 30)


def harmonic(p, alpha=1.0, lam=0.01, loss="logistic", **options):
    return teacher_problem(alpha, lam, loss, eigenvalues=1 / np.arange(1, p + 1.0), **options)


def force(t, V):
    """By a scalar minimizer, as state-evolution scripts do."""

    def objective(x):
        return (x - t) ** 2 / (2 * V) + math.log1p(math.exp(-abs(x))) + max(-x, 0)

    return (
        minimize_scalar(objective, bounds=(t - 1e-9, t + V + 1e-9), method="bounded", options={"xatol": 1e-8}).x - t
    ) / V


def evolve(problem, V, q, m):
    """One step of state evolution for logistic regression and a noiseless sign teacher."""
    modes, rho = problem.modes, problem.clusters[0].teacher_variance
    om, w, gram = modes.covariances[0], modes.weights, modes.gram[0, 0]
    spread = math.sqrt(rho - m * m / q)

    def average(function):
        def integrand(z):
            a = m / math.sqrt(q) * z / spread
            law, tilt = math.erfc(-a / math.sqrt(2)), 2 * math.exp(-a * a / 2) / math.sqrt(2 * math.pi) / spread
            return function(z, force(math.sqrt(q) * z, V), law, tilt) * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IntegrationWarning)  # the minimizer's rounding is noise to it
            return quad(integrand, -10, 10, epsabs=1e-8, limit=200)[0]

    mhat = problem.alpha * average(lambda z, f, law, tilt: f * tilt)
    qhat = problem.alpha * average(lambda z, f, law, tilt: f * f * law)
    pull = average(lambda z, f, law, tilt: z * f * law)
    Vhat = -problem.alpha * pull / math.sqrt(q) + m / q * mhat
    G = 1 / (problem.lam + Vhat * om)
    return (w * om) @ G, om @ ((w * qhat * om + mhat**2 * gram) * G * G), mhat * (gram @ G)


def iterations_of_the_loop(problem, damping=0.5, tol=1e-7):
    """Steps that the damped loop takes, counted with our own fast equations."""
    from theory.glm.overlaps import Overlaps
    from theory.glm.problem_solver import _Equations

    equations = _Equations(problem)
    x = np.array([1.0, 0.5, 0.01])
    for count in range(1, 5000):
        image = equations.image(Overlaps(x[:1], x[1:2], x[2:]))
        new = damping * x + (1 - damping) * np.concatenate((image.V, image.q, image.r))
        if np.max(abs(new - x)) < tol:
            return count
        x = new
    raise AssertionError("the loop did not converge")


def test_logistic_curve_beside_state_evolution(benchmark, show):
    """30 points at p = 1000, cold. The loop is timed for one step at two points, and scaled by its number of steps."""
    base = harmonic(1000)

    def curve():
        return [glm.solve(replace(base, alpha=float(alpha))) for alpha in ALPHAS]

    points = benchmark.pedantic(curve, rounds=3, warmup_rounds=1)
    ours = benchmark.stats.stats.min / len(ALPHAS)
    loop = []
    for k in (8, 20):
        point, start = points[k], time.perf_counter()
        V, q, m = evolve(point.problem, point.V[0], point.q[0], point.r[0])
        loop.append((time.perf_counter() - start) * iterations_of_the_loop(point.problem))
        assert pytest.approx([V, q, m], rel=1e-4) == [point.V[0], point.q[0], point.r[0]]  # the loop's own answer
    theirs = float(np.mean(loop))
    show("logistic, p=1000, lam=.01", seconds_a_point=ours, loop_a_point=theirs, times_faster=theirs / ours)


@pytest.mark.parametrize("lam", [1e-4, 1e-6])
def test_small_ridges(benchmark, show, lam):
    problem = harmonic(1000, alpha=1.5, lam=lam)
    point = benchmark.pedantic(lambda: glm.solve(problem), rounds=3, warmup_rounds=1)
    show(f"logistic, p=1000, lam={lam:g}", seconds=benchmark.stats.stats.min, evaluations=point.iterations)


def test_warm_curve_beside_a_cold_one(benchmark, show):
    base = harmonic(1000, lam=1e-4)
    cold = seconds(lambda: [glm.solve(replace(base, alpha=float(alpha))) for alpha in ALPHAS], 2)
    benchmark.pedantic(lambda: glm.learning_curve(base, ALPHAS), rounds=2, warmup_rounds=1)
    show("30 points, lam=1e-4", warm=benchmark.stats.stats.min, cold=cold)


@pytest.mark.parametrize("loss", ["logistic", "square"])
def test_number_of_modes(benchmark, show, loss):
    """Linear from where the modes, not the quadrature, cost most."""
    options = {"labels": "linear", "noise": 0.1} if loss == "square" else {}
    problems = {p: harmonic(p, loss=loss, **options) for p in (10**3, 10**4, 10**5, 10**6)}
    times = {f"seconds_{p}": seconds(lambda p=p: glm.solve(problems[p]), 2) for p in list(problems)[:-1]}
    benchmark.pedantic(lambda: glm.solve(problems[10**6]), rounds=2)
    show(f"{loss}, p modes", **times, seconds_1000000=benchmark.stats.stats.min)
