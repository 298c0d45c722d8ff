"""Losses that are not convex: jumps of the proximal operator, the stability of replica symmetry, and bounds."""

import mpmath
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from figures.glm.sigmoid import LARGEST_CONVEX, _ends_of_branches
from simulate.core import Estimate, stream
from tests.glm.own_losses import Sigmoid, averages_over_prox, bend, common_tangent, force
from tests.glm.settings import teacher_problem
from theory import glm
from theory.glm.losses import LOSSES
from theory.glm.own_losses import kinks_of, shape_of
from theory.models import (
    Cluster,
    GaussianCovariateModel,
    GaussianMixture,
    GeneralizedLinearModel,
    HiddenManifold,
    Isotropic,
    Modes,
    RandomLabels,
    TransferModel,
)
from theory.numerics import ConvergenceError, ReplicaSymmetryError

ISOTROPIC = Isotropic(np.inf)
# alpha = 3; V, q, training loss, energy per weight, place of the jump: from averages over x = prox instead of the
# field, where a jump is an interval left out, at its place by the common tangent (as `averages_over_prox`).
TABLE = {
    0.1: (6.38463726, 3.37152648, 0.31691523, 1.11932200, None),
    0.05: (11.53787392, 7.52179087, 0.26922328, 0.99571460, -3.235934),
    0.02: (24.82960909, 18.62837631, 0.21151682, 0.82083423, -5.031224),
    0.01: (42.90346563, 33.16842823, 0.17750443, 0.69835542, -6.918160),
}


def sigmoid(lam, **options):
    return RandomLabels(covariance=ISOTROPIC, alpha=3.0, lam=lam, loss=Sigmoid(**options))


@pytest.fixture(scope="module")
def points():
    """The saddle points of the table: nothing is declared, and for two of them a slope is given."""
    options = {0.1: {"slope": 1.0}, 0.05: {"jumps_declared": True}, 0.02: {"slope": 1.0}, 0.01: {}}
    return {lam: glm.solve(sigmoid(lam, **chosen), check=False) for lam, chosen in options.items()}


@pytest.mark.parametrize("lam", TABLE)
def test_a_jump_is_found_at_the_own_response(points, lam):
    V, q, train, energy, place = TABLE[lam]
    point = points[lam]
    assert point.converged
    assert (point.V[0], point.q[0]) == (pytest.approx(V, rel=1e-8), pytest.approx(q, rel=1e-8))
    assert point.train_loss == pytest.approx(train, abs=1e-8)
    assert point.energy == point.energy_bound == pytest.approx(energy, abs=1e-8)
    if place is None:
        assert point.jumps == ()
        assert point.replicon == pytest.approx(0.3889, abs=5e-5)
        return
    (jump,) = point.jumps
    assert point.replicon == -np.inf
    assert not point.stable
    assert jump.t == pytest.approx(place, abs=1e-6)
    assert jump[:3] == pytest.approx(common_tangent(point.V[0]), abs=1e-6)
    assert jump.response == point.V[0]


@pytest.mark.parametrize("lam", TABLE)
def test_the_equations_hold_as_averages_over_the_prox(points, lam):
    """By parts, V = 1/(lam + alpha E[f h]/q); and q = alpha E f^2 V^2. No prox and no derivative of one is used."""
    V, q = points[lam].V[0], points[lam].q[0]
    envelope, square, by_parts = averages_over_prox(V, q)
    # The margin is t = y h, on which the force is positive: E[f t]/q is the response of f to t, and Vhat its opposite.
    assert pytest.approx(V, rel=1e-8) == 1 / (lam - 3 * by_parts)
    assert pytest.approx(q, rel=1e-8) == 3 * square * V**2
    assert points[lam].energy_bound == pytest.approx(lam * q / 2 - q / (2 * V) + 3 * envelope, abs=1e-8)


def test_the_energy_bound_is_a_minimum_over_q_of_a_maximum_over_V(points):
    """Of Gordon's functional, from whose inequality the bound comes."""
    lam, point = 0.02, points[0.02]

    def greatest(q):
        def negative(log_V):
            V = np.exp(log_V)
            return -(lam * q / 2 - q / (2 * V) + 3 * averages_over_prox(V, q)[0])

        return -minimize_scalar(negative, bounds=(1.0, 6.0), method="bounded", options={"xatol": 1e-6}).fun

    q = point.q[0]
    around = [greatest(q * factor) for factor in (0.3, 0.8, 1.0, 1.25, 3.0)]
    assert around[2] == pytest.approx(point.energy_bound, abs=1e-8)
    assert min(around[:2] + around[3:]) > around[2] + 1e-4


def test_a_jump_is_refused_with_its_place():
    with pytest.raises(ReplicaSymmetryError, match=r"not convex at V = 24\.8296, .* jumps at t = -5\.03122") as caught:
        glm.solve(sigmoid(0.02))
    assert "energy_bound" in str(caught.value)
    assert caught.value.solution.value.replicon == -np.inf


def test_the_answer_does_not_depend_on_the_start(points):
    other = glm.solve(sigmoid(0.02), start=points[0.1], check=False)
    assert pytest.approx(points[0.02].V, rel=1e-9) == other.V


def test_jumps_are_those_of_the_common_tangent():
    for V in (10.6, 11.0, 25.0, 300.0):
        (jump,) = shape_of(Sigmoid(), V, -30.0, 10.0).jumps
        assert jump[:3] == pytest.approx(common_tangent(V), abs=4e-6)
    assert shape_of(Sigmoid(), 10.3, -30.0, 10.0).jumps == ()
    assert shape_of(Sigmoid(), 10.3, -30.0, 10.0).steep


@pytest.mark.parametrize("V", [0.1, 3.0, 300.0])
@pytest.mark.parametrize("name", sorted(LOSSES))
def test_a_convex_loss_has_no_jump(name, V):
    assert shape_of(LOSSES[name], V, -20 - V, 20.0) == ((), (), False)


@pytest.mark.parametrize("V", [0.1, 3.0])
def test_kinks_are_found_without_being_declared(V):
    found = kinks_of(LOSSES["hinge"], V, -10.0, 10.0)
    assert sorted(found) == pytest.approx([1 - V, 1.0], abs=1e-7)
    assert kinks_of(LOSSES["logistic"], V, -10.0, 10.0) == []


@pytest.mark.parametrize("lam", [0.1, pytest.param(0.02, marks=pytest.mark.slow)])
def test_a_wrong_slope_has_no_effect(lam):
    """It differs from the integral by parts, which decides; with a jump it would lack what this adds."""
    point = glm.solve(sigmoid(lam, slope=0.9), check=False)
    assert pytest.approx([TABLE[lam][0]], rel=1e-8) == point.V
    assert point.replicon == pytest.approx(0.3889 if lam == 0.1 else -np.inf, abs=5e-5)


class Forgetful:
    """A built-in loss as one's own that tells nothing of its kinks, with or without its slope."""

    def __init__(self, name, slope=True):
        self.known, self.name, self.with_slope = LOSSES[name], name + " in disguise", slope

    def __getattr__(self, name):
        return getattr(self.known, name)

    def slope(self, t, prox, V):
        return self.known.slope(t, prox, V) if self.with_slope else None

    def breakpoints(self, V):
        return []


@pytest.mark.parametrize("slope", [True, False])
def test_undeclared_kinks_of_an_own_loss_are_found(slope):
    for make in (
        lambda loss: GaussianMixture.opposite(alpha=2.0, lam=0.3, loss=loss, probability=0.3, variances=0.5),
        lambda loss: teacher_problem(2.0, 0.3, loss, noise=0.1),
    ):
        point, known = glm.solve(make(Forgetful("hinge", slope))), glm.solve(make("hinge"))
        assert point.converged
        assert point.q == pytest.approx(known.q, rel=1e-7)
        assert point.test_error == pytest.approx(known.test_error, rel=1e-7)
        assert point.replicon == pytest.approx(known.replicon, rel=1e-5)


def test_losses_that_no_quadrature_resolves_are_refused():
    """A force with a hundred kinks in each step of the grid."""
    saw = glm.ConvexMargin(
        lambda t: np.where(t < 1, (1 - t) ** 2, 0.0),
        proximal=lambda t, V: np.where(t < 1, np.round((t + 2 * V) * 2000 / (1 + 2 * V)) / 2000, t),
        name="saw",
    )
    with pytest.raises((ConvergenceError, ValueError), match="saw"):
        glm.solve(teacher_problem(2.0, 0.3, saw, noise=0.1))
    pole = {"function": lambda t: 1 / t, "proximal": lambda t, V: t + V / t**2, "name": "pole"}
    with pytest.raises(ValueError, match="proximal of loss 'pole' must minimize"):
        glm.ConvexMargin(**pole)


def growth_at_the_jump(point, delta, rng, size=16_000):
    """alpha E (f_1 - f_2)^2 V^2 over 2 delta, for fields h of variance q with E (h_1 - h_2)^2 = 2 delta near the jump.

    Their mean is drawn uniformly from a window, with the normal density as its weight.
    """
    V, q, (jump,) = point.V[0], point.q[0], point.jumps
    window, spread = 6 * np.sqrt(delta / 2), q - delta / 2
    mean = jump.t + window * rng.uniform(-1, 1, size)
    weights = 2 * window * np.exp(-(mean**2) / (2 * spread)) / np.sqrt(2 * np.pi * spread)
    half = np.sqrt(delta / 2) * rng.standard_normal(size)
    one, two = (point.problem.loss.prox(mean + side * half, V) for side in (1, -1))
    return point.problem.alpha * np.mean(weights * (force(one) - force(two)) ** 2) * V**2 / (2 * delta)


@pytest.mark.parametrize("delta", [1e-2, 1e-4])
def test_a_small_difference_grows_without_bound_at_a_jump(agrees, points, delta):
    """As the inverse root of the difference, alpha J^2 p(t) V^2/sqrt(pi delta): 36 and 362 times."""
    point = points[0.01]
    V, q, (jump,) = point.V[0], point.q[0], point.jumps
    density = np.exp(-(jump.t**2) / (2 * q)) / np.sqrt(2 * np.pi * q)
    predicted = 3 * ((jump.above - jump.below) / V) ** 2 * density * V**2 / np.sqrt(np.pi * delta)
    measured = [growth_at_the_jump(point, delta, stream(0, "pairs of replicas", delta, r)) for r in range(10)]
    agrees(Estimate.of(measured), predicted, resolves=0.15, bias=0.02 * predicted)
    assert np.mean(measured) > 30


def contraction(model, p, rng, steps=10):
    """The factor by which message passing of two replicas shrinks |w_1 - w_2|^2 in one step, near its fixed point."""
    loss, lam, n = model.loss, model.lam, round(model.alpha * p)
    xi = rng.standard_normal((n, p)) / np.sqrt(p)

    def step(w, f, V):
        omega = xi @ w - V * f
        x = loss.prox(omega, V)
        f = loss.force(omega, x, V)
        A = -np.sum(loss.slope(omega, x, V)) / p
        return (xi.T @ f + A * w) / (lam + A), f, 1 / (lam + A)

    state = np.zeros(p), np.zeros(n), 1.0
    for _ in range(25):
        state = step(*state)
    other = (state[0] + 1e-5 * rng.standard_normal(p), state[1], state[2])
    gaps = []
    for _ in range(steps):
        state, other = step(*state), step(*other)
        gaps.append(np.sum((state[0] - other[0]) ** 2))
    return (gaps[-1] / gaps[1]) ** (1 / (steps - 2))


@pytest.mark.parametrize(("own", "lam"), [(True, 0.2), (False, 0.1)])
def test_message_passing_of_two_replicas_shrinks_by_one_minus_the_replicon(agrees, own, lam):
    """With data: no average, no quadrature and no saddle point; .182 for the sigmoid and .230 for the logistic loss."""
    loss = Sigmoid(slope=1.0) if own else LOSSES["logistic"]
    model = RandomLabels(covariance=ISOTROPIC, alpha=3.0, lam=lam, loss=loss)
    predicted = 1 - glm.solve(model).replicon
    measured = [contraction(model, 400, stream(0, "two replicas", own, r)) for r in range(12)]
    agrees(Estimate.of(measured), predicted, resolves=0.25, bias=0.03 * predicted)


def test_bend_is_the_derivative_of_the_force():
    x, h = np.linspace(-5, 5, 21), 1e-5
    np.testing.assert_allclose((force(x - h) - force(x + h)) / (2 * h), bend(x), atol=1e-9)


def response_by_differences(loss, kappa, V, center, size, step=1e-3):
    """-kappa d/dc E f(e) for e ~ N(c, size^2), by a plain sum: the derivative of a mean has what a jump adds."""

    def mean(c):
        e = np.linspace(center - 9 * size, center + 9 * size, 400_001)
        f = force(loss.prox(e, kappa * V))
        density = np.exp(-(((e - c) / size) ** 2) / 2) / np.sqrt(2 * np.pi) / size
        return np.sum(f * density) * (e[1] - e[0])

    return -kappa * (mean(center + step) - mean(center - step)) / (2 * step)


def test_a_jump_of_a_residual_loss():
    """Linear labels average over the residual y - h, which has a mean here: Vhat is minus the slope of E f."""
    cluster = Cluster(labels="linear", teacher_signal=0, teacher_mean=-1.5, noise=0.2, loss_weights=(2.0, 2.0))
    modes = Modes([1.0], [[1.0]], [[[0.8]]])
    problem = GeneralizedLinearModel(modes=modes, clusters=[cluster], alpha=3.0, loss=Sigmoid(slope=1.0), lam=0.04)
    point = glm.solve(problem, check=False)
    assert point.converged
    assert len(point.jumps) == 1
    assert point.replicon == -np.inf
    V, q, r = (float(part[0]) for part in (point.V, point.q, point.r))
    Vhat = 3 * response_by_differences(Sigmoid(), 2.0, V, -1.5, np.sqrt(1.2 + q - 2 * r))
    assert pytest.approx(V, rel=1e-4) == 1 / (0.04 + Vhat)
    assert r == pytest.approx(0.8 * Vhat * V, rel=1e-4)


def systems():
    """Every system that takes a loss of one's own, at few samples or a small ridge."""
    loss, common = Sigmoid(), {"alpha": 3.0, "lam": 0.02}
    eye = np.eye(3)
    yield "classification", glm.masked_classification(eye, [0.2, 0.1, 0.1], loss=loss, **common)
    yield "mixture", GaussianMixture.opposite(loss=loss, variances=[[1.0], [2.0]], bias=False, **common)
    yield (
        "covariates",
        GaussianCovariateModel.from_blocks(eye, eye, eye, np.ones(3) / 3, loss=loss, noise=3.0, **common),
    )
    task = HiddenManifold(eye, np.ones(3))
    yield "transfer", TransferModel(task=task, first_layer=2 * eye, loss=loss, alpha=3.0, lam=0.005)
    yield (
        "features",
        glm.random_features("tanh", samples_per_input=4.0, features_per_input=0.5, lam=0.003, loss=loss, noise=3.0),
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["classification", "mixture", "covariates", "transfer", "features"])
def test_every_system_finds_jumps(name):
    model = dict(systems())[name]
    with pytest.raises(ReplicaSymmetryError, match="its proximal operator jumps") as caught:
        glm.solve(model)
    point = caught.value.solution.value
    assert point.converged
    assert point.jumps
    assert point.replicon == -np.inf
    assert np.isnan(point.energy_bound) == (len(point.V) > 1)


def test_the_limit_of_random_labels_takes_no_own_loss():
    with pytest.raises(ValueError, match="solve at a small lam"):
        glm.random_labels_limit(3.0, Sigmoid())


@pytest.mark.slow
def test_a_bias_that_balances_no_forces_is_refused_with_a_reason():
    """The forces vanish far away on both sides: with unequal labels all samples may be given the more frequent one."""
    model = GaussianMixture.opposite(loss=Sigmoid(), probability=0.2, alpha=3.0, lam=0.3)
    with pytest.raises(ConvergenceError, match="no bias may balance the forces"):
        glm.solve(model)
    assert not glm.solve(model, check=False).converged


@pytest.mark.parametrize("excess", [1e-15, 1e-8, 0.1, 1e3, 1e9])
def test_branches_of_the_sigmoid_of_figures_end_where_its_energy_stops_bending_upward(excess):
    V = float(np.nextafter(LARGEST_CONVEX * (1 + excess), np.inf))
    with mpmath.workdps(60):
        roots = mpmath.polyroots([-2, 3, -1, 1 / mpmath.mpf(V)], maxsteps=500, extraprec=500)
        exact = [float(mpmath.log(s / (1 - s))) for s in sorted(mpmath.re(s) for s in roots)[:2]]
    # They merge like a square root of the excess, in which V and 6 sqrt 3 have the rounding of a double.
    np.testing.assert_allclose(_ends_of_branches(V), exact, rtol=1e-12 if excess > 1e-9 else 1e-7)
