"""Students of narrow networks at finite temperature: reference values, the Bayes line, and the replicated action."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory import ConvergenceError
from theory.feedforward import bayes_optimal, tempered_orders
from theory.feedforward.narrow_kernels import CLOSED
from theory.models import NarrowNetwork
from theory.models.feedforward.narrow import ACTIVATIONS

ERF = NarrowNetwork(alpha=4.0, activation="erf", noise=0.01)


def test_reference_values():
    found = tempered_orders(ERF, beta=60.0, lam=1.0)
    assert found.self_overlap == pytest.approx(0.917711766, abs=1e-9)
    assert found.overlap == pytest.approx(0.789534083, abs=1e-9)
    assert found.teacher_overlap == pytest.approx(0.852488057, abs=1e-9)
    assert found.gibbs_risk == pytest.approx(0.008855, abs=5e-7)
    assert found.mean_risk == pytest.approx(0.003869, abs=5e-7)
    assert found.train_error == pytest.approx(0.012055, abs=5e-7)
    other = tempered_orders(ERF, beta=100.0, lam=0.5)
    assert other.gibbs_risk == pytest.approx(0.007273, abs=5e-7)
    assert other.mean_risk == pytest.approx(0.003510, abs=5e-7)
    assert other.train_error == pytest.approx(0.009866, abs=5e-7)
    assert other.self_overlap == pytest.approx(1.0817, abs=5e-5)


@given(st.sampled_from(sorted(ACTIVATIONS)), st.floats(1.0, 12.0), st.floats(0.02, 1.0))
def test_the_true_temperature_and_prior_give_the_bayes_line(activation, alpha, noise):
    model = NarrowNetwork(alpha=alpha, activation=activation, noise=noise)
    optimum = bayes_optimal(model, state="smallest_q")
    if optimum.replicon < 0.02:  # near a transition both equations are nearly neutral
        return
    found = tempered_orders(model, 1 / noise, start="random")
    assert found.self_overlap == pytest.approx(1.0, abs=1e-8)
    assert found.overlap == pytest.approx(optimum.q, abs=1e-7)
    assert found.teacher_overlap == pytest.approx(optimum.q, abs=1e-7)
    assert found.mean_risk == pytest.approx(optimum.bayes_risk, rel=1e-6)
    assert found.gibbs_risk == pytest.approx(optimum.gibbs_risk, rel=1e-6)
    assert found.train_error == pytest.approx(noise, rel=1e-6)  # the residuals of a sample are the noise itself
    assert found.replicon == pytest.approx(optimum.replicon, abs=1e-5)


def test_functions_give_what_names_give():
    for name in ("erf", "relu"):
        named, given_ = (
            tempered_orders(NarrowNetwork(alpha=4.0, activation=f, noise=0.1), 8.0, 1.2)
            for f in (name, lambda h, n=name: ACTIVATIONS[n](h))
        )
        for part in ("self_overlap", "overlap", "teacher_overlap", "gibbs_risk", "replicon"):
            assert getattr(given_, part) == pytest.approx(getattr(named, part), abs=1e-8)


# The replicated action of n real replicas and the teacher, as a function of all overlaps: no replica symmetry is used.
# Its variations among real replicas must be those of the formulas before n -> 0.


def action(name, alpha, noise, beta, lam, Q):
    """log of the n-th moment per weight at overlaps Q (n + 1, n + 1), the teacher last."""
    kernel, n = CLOSED[name], len(Q) - 1
    tail = np.array([[_tail(name, Q[a, a], Q[b, b], Q[a, b]) for b in range(n + 1)] for a in range(n + 1)])
    S = tail + kernel.linear_power  # of outputs, whose linear part is that of the teacher
    residual = S[:n, :n] - S[:n, -1:] - S[-1:, :n] + S[-1, -1] + noise
    entropy = 0.5 * np.linalg.slogdet(Q)[1] - lam / 2 * np.trace(Q[:n, :n])
    return entropy - alpha / 2 * np.linalg.slogdet(np.eye(n) + beta * residual)[1]


def _tail(name, A, B, rho):
    if A == B == rho:
        return CLOSED[name].own(A)[0]
    return CLOSED[name].pair(A, B, rho).value


@pytest.mark.parametrize(
    ("name", "alpha", "noise", "beta", "lam"), [("erf", 4, 0.01, 60, 1.0), ("relu", 2, 0.1, 6, 0.8)]
)
def test_variations_of_the_replicated_action(name, alpha, noise, beta, lam):
    found = tempered_orders(NarrowNetwork(alpha=alpha, activation=name, noise=noise), beta, lam)
    Q0, q, m = found.self_overlap, found.overlap, found.teacher_overlap
    kernel, sizes = CLOSED[name], range(2, 10)
    E = kernel.power - kernel.linear_power + noise - 2 * kernel.pair(1, Q0, m).value + kernel.pair(Q0, Q0, q).value
    c = 1 + beta * (kernel.own(Q0)[0] - kernel.pair(Q0, Q0, q).value)
    slopes, curvatures = [], []
    for n in sizes:
        Q = np.full((n + 1, n + 1), q) + (Q0 - q) * np.eye(n + 1)
        Q[:n, -1] = Q[-1, :n] = m
        Q[-1, -1] = 1.0

        def at(eps, direction, Q=Q):
            return action(name, alpha, noise, beta, lam, Q + eps * direction)

        diagonal, one, teacher = (np.zeros((n + 1, n + 1)) for _ in range(3))
        diagonal[0, 0] = one[0, 1] = one[1, 0] = teacher[0, -1] = teacher[-1, 0] = 1.0
        slopes.append([(at(1e-5, d) - at(-1e-5, d)) / 2e-5 for d in (diagonal, one, teacher)])
        if n < 4:  # four replicas carry the variation that is antisymmetric in two pairs
            continue
        replicon = np.zeros((n + 1, n + 1))
        replicon[0, 1] = replicon[2, 3] = 1.0
        replicon[0, 2] = replicon[1, 3] = -1.0
        replicon += replicon.T
        h = 1e-3
        curvature = (at(h, replicon) - 2 * at(0, replicon) + at(-h, replicon)) / h**2
        curvatures.append(-curvature * (Q0 - q) ** 2 / 4)  # four pairs, each of weight 1/(Q - q)^2
    # Both are rational in n with known poles: those of the inverses of 1 + beta residual and of Q.
    kappa, rho = beta * E / c, (q - m * m) / (Q0 - q)
    basis = np.array([[1, *((1 + n * pole) ** -k for pole in (kappa, rho) for k in (1, 2))] for n in sizes])
    at_zero, *_ = np.linalg.lstsq(basis, np.array(slopes), rcond=1e-10)
    assert at_zero.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-3)
    line = np.linalg.lstsq(basis[2:, :2], np.array(curvatures), rcond=None)[0]
    assert basis[2:, :2] @ line == pytest.approx(curvatures, abs=1e-4)
    assert line.sum() == pytest.approx(found.replicon, abs=1e-3)


def growth_of_a_difference(model, beta, orders, x=0.5, difference=1e-6, rounds=3):
    """By what factor a small q1 - q0 grows in a round of the equations with one step of replica symmetry breaking.

    Groups of x replicas have the overlap q1, and replicas of different groups q0. Both Q and 1 + beta times the
    covariance of residuals are then matrices in blocks, of which inverses are known in closed form as n -> 0: with the
    eigenvalues r (in a group), r + x (k1 - k0) (of groups) an inverse has the difference (1/(r + x (k1 - k0)) - 1/r)/x.
    """
    name, alpha, noise = model.activation, model.alpha, model.noise
    Q, q, m = orders.self_overlap, orders.overlap, orders.teacher_overlap
    linear, start, h = CLOSED[name].linear_power, difference, 1e-5
    target = CLOSED[name].power + noise - 2 * (_tail(name, 1.0, Q, m) + linear)

    def S(rho):
        return _tail(name, Q, Q, rho) + linear

    for _ in range(rounds):
        q1, q0 = q + (1 - x) * difference, q - x * difference
        V, one, zero = S(Q), S(q1), S(q0)
        inner = 1 + beta * (V - one)
        middle = inner + beta * x * (one - zero)
        w0 = -beta * (target + zero) / middle**2
        w1 = w0 + (1 / middle - 1 / inner) / x
        k1, k0 = (alpha * beta * w * (S(at + h) - S(at - h)) / (2 * h) for w, at in ((w1, q1), (w0, q0)))
        r = 1 / (Q - q)
        difference = (1 / (r + x * (k1 - k0)) - 1 / r) / x
    return (difference / start) ** (1 / rounds)


@pytest.mark.parametrize("x", [0.2, 0.9])
@pytest.mark.parametrize(
    ("name", "alpha", "noise", "beta", "lam"),
    [
        ("erf", 4.0, 0.01, 60.0, 1.0),
        ("relu", 2.0, 0.1, 6.0, 0.8),
        ("sign", 4.0, 0.1, 10.0, 1.0),
        ("quadratic", 3.0, 0.2, 5.0, 1.0),
        ("relu", 1.5, 0.1, 100.0, 1.0),
    ],
)
def test_the_replicon_is_the_growth_of_a_difference_between_overlaps(name, alpha, noise, beta, lam, x):
    """The last one is unstable: its difference doubles. Where beta = 1/noise the optimum has the same replicon."""
    model = NarrowNetwork(alpha=alpha, activation=name, noise=noise)
    found = tempered_orders(model, beta, lam, check=False)
    growth = growth_of_a_difference(model, beta, found, x)
    assert growth == pytest.approx(1 - found.replicon, rel=1e-3)
    assert found.stable == (growth < 1) == (beta != 100)
    if beta * noise == lam == 1:
        assert bayes_optimal(model, state="largest_q").replicon == pytest.approx(1 - growth, abs=2e-4)


def test_where_plain_steps_creep_implicit_ones_reach_the_same_state():
    """Signs drift in their length: damped by a half the map needs 6097 steps to these values, at max_iter = 20000."""
    model = NarrowNetwork(alpha=5.78486, activation="sign", noise=0.02698)
    found = tempered_orders(model, 16.5537, 0.410121, max_iter=200)
    assert found.self_overlap == pytest.approx(2.438304793, abs=1e-8)
    assert found.overlap == pytest.approx(2.436250129, abs=1e-8)
    assert found.teacher_overlap == pytest.approx(1.560558966, abs=1e-8)
    assert found.train_error == pytest.approx(0.0401699836, abs=1e-9)
    assert found.iterations < 800
    slower = NarrowNetwork(alpha=3.99695, activation="sign", noise=0.0265322)
    assert tempered_orders(slower, 37.55737, 1.31184, max_iter=200).self_overlap == pytest.approx(0.762287, abs=1e-5)


def test_a_self_overlap_that_circles_is_damped_at_once():
    model = NarrowNetwork(alpha=12.58126, activation="erf", noise=0.0193764)
    found = tempered_orders(model, 72.025018, 2.0181824, start="random")
    assert found.self_overlap == pytest.approx(1.085995, abs=1e-6)  # after 4181 steps of which all but 181 circled
    assert found.iterations < 600


def test_an_unstable_point_is_refused_and_can_be_seen():
    model = NarrowNetwork(alpha=1.5, activation="relu", noise=0.1)
    with pytest.raises(ConvergenceError, match="replicon -"):
        tempered_orders(model, beta=100.0)
    seen = tempered_orders(model, beta=100.0, check=False)
    assert not seen.converged
    assert seen.replicon < 0


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"beta": 0.0}, "beta must lie in"),
        ({"beta": math.inf}, "beta must be finite"),
        ({"beta": 1e20}, "beta must lie between"),
        ({"lam": -1.0}, "lam must lie in"),
        ({"start": "zero"}, "start must be one of"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"tol": -1.0}, "tol must lie in"),
        ({"model": NarrowNetwork(alpha=1.0, activation="erf", labels="sign")}, "model must have linear labels"),
    ],
)
def test_wrong_arguments_are_refused_by_name(keywords, message):
    with pytest.raises(ValueError, match=message):
        tempered_orders(**{"model": ERF, "beta": 60.0, **keywords})
