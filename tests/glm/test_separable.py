"""Separable penalties: reference values, other derivations of them, limits, and every kind of bad input.

The reference values come from a solver of its own (Newton's method in V, q and m), the errors of the lasso from the
calibration in one unknown too, which `calibrated` below repeats by numerical integration.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from tests.bad_arguments import _Hostile
from theory import glm
from theory.glm import lasso, problem_solver
from theory.glm.coordinates import Coordinates
from theory.glm.equations import Equations, judged
from theory.glm.lasso import has_calibration
from theory.models import (
    BernoulliGauss,
    Cluster,
    DenseModes,
    ElasticNet,
    GeneralizedLinearModel,
    Lasso,
    Modes,
    NonNegative,
)
from theory.numerics import ConvergenceError, first_solved, search

ERRORS = {  # (alpha, share): test errors at lam = .05, .3, 1
    (0.5, 0.1): (0.2128287332, 0.1541553465, 0.1869237954),
    (0.5, 0.25): (0.2941446533, 0.2480580827, 0.3147304946),
    (1.0, 0.1): (0.2275420614, 0.1314297786, 0.1523484665),
    (1.0, 0.25): (0.2528943097, 0.1708446187, 0.2382744492),
    (2.0, 0.1): (0.1656511346, 0.1202015604, 0.1220086248),
    (2.0, 0.25): (0.1694052834, 0.1323099856, 0.1597917540),
}
SHARES = {  # share of weights that are not zero, F1 of the support
    (0.5, 0.1): ((0.411495, 0.24872), (0.152756, 0.35612), (0.009007, 0.15096)),
    (0.5, 0.25): ((0.426804, 0.43425), (0.208301, 0.43688), (0.029514, 0.17155)),
    (1.0, 0.1): ((0.722322, 0.21181), (0.289116, 0.35545), (0.040034, 0.47395)),
    (1.0, 0.25): ((0.741289, 0.43525), (0.359280, 0.54591), (0.097302, 0.45995)),
    (2.0, 0.1): ((0.885111, 0.19604), (0.467139, 0.29948), (0.091586, 0.63779)),
    (2.0, 0.25): ((0.898365, 0.42027), (0.531160, 0.53971), (0.187134, 0.68120)),
}
STRENGTHS = (0.05, 0.3, 1.0)


def linear(alpha, share, penalty, noise=0.1, *, signals=None, weights=(1.0,), variances=(1.0,), power=1.0, **options):
    """A linear teacher theta with a share of entries of variance `power`, on inputs of the given variances."""
    w, om = np.array(weights), np.array(variances)
    rho = share * power
    teacher = Cluster(labels="linear", teacher_signal=0, teacher_variance=float(rho * (w @ om)), noise=noise)
    return GeneralizedLinearModel(
        modes=Modes(w, om[None], (rho * w * om**2)[None, None]),
        clusters=[teacher],
        alpha=alpha,
        loss="square",
        penalty=penalty,
        signals=BernoulliGauss(share) if signals is None else signals,
        **options,
    )


def generic(problem, x=None):
    """Solve a problem by the search over overlaps, whatever closed forms it has; return its equations and solution."""
    update = Equations(problem)
    start = Coordinates(problem).pack(glm.solve(problem).overlaps) if x is None else x
    return update, judged(update, search(update, start, 1e-12, 500)[0], 1e-11)


@pytest.mark.parametrize("setting", ERRORS)
def test_lasso_reference_values(setting):
    for lam, error, (nonzero, f1) in zip(STRENGTHS, ERRORS[setting], SHARES[setting], strict=True):
        point = glm.solve(linear(*setting, Lasso(lam)))
        assert point.test_error == pytest.approx(error, abs=6e-11)
        assert point.nonzero == pytest.approx(nonzero, abs=6e-7)
        assert point.support_f1 == pytest.approx(f1, abs=6e-6)
        assert point.replicon == pytest.approx(1 - point.nonzero / setting[0], rel=1e-12)


def test_more_reference_values():
    point = glm.solve(linear(1.0, 0.25, Lasso(0.3)))
    found = (point.V[0], point.q[0], point.r[0], point.train_loss)
    assert found == pytest.approx((0.5607436537, 0.1534550817, 0.1663052315, 0.03506777026), abs=6e-11)
    net = glm.solve(linear(1.0, 0.25, ElasticNet(0.3, 0.2)))
    assert (net.test_error, net.train_loss) == pytest.approx((0.1851328192, 0.0436528859), abs=6e-11)
    assert net.nonzero == pytest.approx(0.4045193476, abs=6e-11)
    # by hand from q and r: tails of the thresholded law with and without a signal
    stiffness = 1 / (1 + net.V[0])
    noise = (0.35 + net.q[0] - 2 * net.r[0]) * stiffness**2
    seen, silent = (2 * norm.sf(0.3 / np.sqrt(power + noise)) for power in (stiffness**2, 0.0))
    assert net.nonzero == pytest.approx(0.25 * seen + 0.75 * silent, rel=1e-9)
    assert net.support_f1 == pytest.approx(0.5 * seen / (0.25 + net.nonzero), rel=1e-9)
    assert net.support_f1 == pytest.approx(0.5257345535, abs=6e-11)
    assert net.replicon == pytest.approx(0.75738, abs=6e-6)
    two = glm.solve(linear(1.0, 0.25, Lasso(0.3), weights=(0.8, 0.2), variances=(0.3, 4.0)))
    assert (two.test_error, two.nonzero) == pytest.approx((0.1578681464, 0.2387623098), abs=6e-11)
    positive = glm.solve(linear(1.5, 1.0, NonNegative(0.2), 0.3, signals="gaussian"))
    found = (positive.V[0], positive.q[0], positive.r[0], positive.test_error)
    assert found == pytest.approx((0.3911649916, 0.6083254570, 0.4217670017, 1.0647914536), abs=6e-11)
    assert positive.V[0] == pytest.approx(0.5 / (positive.Vhat[0] + 0.2), rel=1e-9)


def calibrated(problem, lam):
    """The error of the lasso by one unknown, with numerical integration: no function of the solver is used."""
    share, alpha, noise = problem.signals.share, problem.alpha, problem.clusters[0].noise

    def soft(x, t):
        return np.sign(x) * max(abs(x) - t, 0.0)

    def level(a):
        def excess(tau):
            t = a * tau
            silent = 2 * quad(lambda z: (tau * z - t) ** 2 * norm.pdf(z), a, 12)[0]
            size = np.hypot(1, tau)
            c = 1 / size**2
            seen = quad(
                lambda b: ((soft(b, t) - c * b) ** 2) * norm.pdf(b, 0, size), -9 * size, 9 * size, points=(-t, t)
            )
            return noise + share * (seen[0] + 1 - c) + (1 - share) * silent - alpha * tau**2

        return brentq(excess, 0.3, 1, xtol=1e-11)

    def strength(a):
        tau = level(a)
        nonzero = 2 * (share * norm.sf(a * tau / np.hypot(1, tau)) + (1 - share) * norm.sf(a))
        return a * tau * (alpha - nonzero)

    a = brentq(lambda a: strength(a) - lam, 0.9, 1.2, xtol=1e-10)
    return alpha * level(a) ** 2


def test_one_unknown_by_quadrature_gives_the_same_error():
    problem = linear(1.0, 0.25, Lasso(0.3))
    assert calibrated(problem, 0.3) == pytest.approx(glm.solve(problem).test_error, rel=1e-9)


LAWS = (None, "gaussian", "signs", "array")


def of_law(law, alpha, penalty, noise, weights=(0.3, 0.5, 0.2), variances=(1.0, 0.4, 2.5)):
    if law != "array":
        return linear(alpha, 0.3, penalty, noise, signals=law, weights=weights, variances=variances)
    w, om, theta = np.array(weights), np.array(variances), np.array([1.0, 0.0, -0.4])
    teacher = Cluster(labels="linear", teacher_signal=0, teacher_variance=float(w @ (om * theta**2)), noise=noise)
    modes = Modes(w, om[None], (w * (om * theta) ** 2)[None, None])
    return GeneralizedLinearModel(
        modes=modes, clusters=[teacher], alpha=alpha, loss="square", penalty=penalty, signals=om * theta
    )


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("alpha", "lam", "noise"), [(0.6, 0.2, 0.1), (1.7, 0.01, 0.3), (0.4, 1e-3, 0.05)])
def test_the_calibrated_form_solves_the_general_equations(law, alpha, lam, noise):
    problem = of_law(law, alpha, Lasso(lam), noise)
    assert has_calibration(problem)
    point, (update, solution) = glm.solve(problem), generic(problem)
    assert solution.converged
    for name in ("V", "q", "r"):
        assert getattr(solution.value, name) == pytest.approx(getattr(point, name), rel=2e-9)
    hats = update.conjugates(solution.value)
    for name in ("Vhat", "qhat", "rhat"):
        assert getattr(hats, name) == pytest.approx(getattr(point, name), rel=2e-9)
    near = glm.solve(replace(problem, penalty=ElasticNet(lam, 1e-12)))  # which has no calibrated form
    for name in ("train_loss", "test_error", "energy", "nonzero", "true_positive_rate", "support_f1", "replicon"):
        assert getattr(near, name) == pytest.approx(getattr(point, name), rel=1e-6), name


def brute(problem, n=400_000):
    """The overlaps to which one round of the equations leads, by drawing weights: (V, q, r, |w|, nonzero)."""
    rng = np.random.default_rng(5)
    point = glm.solve(problem)
    modes, (l1, l2), law = problem.modes, problem.penalty.strengths, problem.signals
    m = rng.choice(len(modes.weights), n, p=modes.weights)
    om, size = modes.covariances[0][m], np.sqrt(modes.gram[0, 0] / modes.weights)[m]
    if isinstance(law, np.ndarray):
        s = law[0][m]
    elif isinstance(law, BernoulliGauss):
        s = size / np.sqrt(law.share) * rng.standard_normal(n) * (rng.random(n) < law.share)
    else:
        s = size * (rng.standard_normal(n) if law == "gaussian" else rng.choice((-1.0, 1.0), n))
    B = point.rhat[0] * s + np.sqrt(point.qhat[0] * om) * rng.standard_normal(n)
    A = point.Vhat[0] * om + l2
    grid = np.maximum(B - l1, 0.0) if problem.penalty.non_negative else np.sign(B) * np.maximum(abs(B) - l1, 0)
    w = grid / A
    drawn = (om * (w != 0) / A, om * w**2, s * w, abs(w), w != 0.0)
    return point, [(float(np.mean(one)), float(np.std(one)) / np.sqrt(n)) for one in drawn]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("penalty", [Lasso(0.2), ElasticNet(0.2, 0.3), NonNegative(0.3)])
def test_averages_over_drawn_weights(law, penalty):
    problem = of_law(law, 0.8, penalty, 0.1)
    point, drawn = brute(problem)
    l1, l2 = penalty.strengths
    size = (point.energy - point.problem.alpha * point.train_loss - l2 * point.squared_norm[0] / 2) / (l1 or 1)
    expected = (point.V[0], point.q[0], point.r[0], size if l1 else drawn[3][0], point.nonzero)
    for (mean, error), value in zip(drawn, expected, strict=True):
        assert abs(mean - value) < 4.5 * error + 1e-12


def test_energy_falls_with_the_strength_as_the_envelope_says():
    """By the strength the energy changes by the mean of |w|, and by the ridge by that of w^2/2."""
    step = 1e-4
    for penalty, part in ((Lasso(0.3), 0), (ElasticNet(0.3, 0.2), 0), (ElasticNet(0.3, 0.2), 1), (NonNegative(0.2), 1)):
        l1, l2 = penalty.strengths
        point = glm.solve(linear(1.0, 0.25, penalty))
        kind = {0: lambda x, l2=l2: ElasticNet(x, l2), 1: lambda x, l1=l1: ElasticNet(l1, x)}[part]
        kind = NonNegative if penalty.non_negative else kind
        center = (l1, l2)[part]
        ends = [glm.solve(linear(1.0, 0.25, kind(center + sign * step))).energy for sign in (1, -1)]
        size = (point.energy - point.problem.alpha * point.train_loss - l2 * point.squared_norm[0] / 2) / (l1 or 1)
        expected = (size, point.squared_norm[0] / 2)[part]
        assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(expected, rel=1e-6)


@settings(max_examples=15)
@given(
    alpha=st.floats(0.2, 4),
    lam=st.floats(0.02, 2),
    noise=st.floats(0.01, 1),
    law=st.sampled_from(["gaussian", "signs"]),
)
def test_an_elastic_net_without_a_lasso_is_the_ridge(alpha, lam, noise, law):
    net = linear(alpha, 0.5, ElasticNet(0.0, lam), noise, signals=law, variances=(0.7,))
    ridge = replace(net, penalty=None, signals=None, lam=lam)
    point, expected = glm.solve(net), glm.ridge_regression(ridge)
    assert point.test_error == pytest.approx(expected.test_error, rel=1e-8)
    assert point.train_loss == pytest.approx(expected.train_loss, rel=1e-8)
    assert point.nonzero == pytest.approx(1, rel=1e-12)


@settings(max_examples=15)
@given(size=st.floats(0.01, 100), alpha=st.floats(0.3, 3), lam=st.floats(1e-3, 1))
def test_units(size, alpha, lam):
    """Labels times a factor with the strength times the factor are weights times the factor."""
    one = glm.solve(linear(alpha, 0.2, Lasso(lam), 0.1))
    other = glm.solve(linear(alpha, 0.2, Lasso(size * lam), 0.1 * size**2, power=size**2))
    assert other.test_error == pytest.approx(size**2 * one.test_error, rel=1e-9)
    assert other.nonzero == pytest.approx(one.nonzero, rel=1e-9)
    assert other.energy == pytest.approx(size**2 * one.energy, rel=1e-9)


def test_a_given_vector_is_the_law_of_its_entries():
    """A vector of +-1 in 40 coordinates is the law of signs for a lasso; for non-negative weights its signs count."""
    signs = np.where(np.arange(40) % 2 == 0, 1.0, -1.0)
    for penalty in (Lasso(0.2), NonNegative(0.3)):
        common = {"alpha": 1.0, "loss": "square", "penalty": penalty}
        teacher = [Cluster(labels="linear", teacher_signal=0, noise=0.2)]
        given = GeneralizedLinearModel(
            modes=Modes.of_coordinates(np.ones(40), [signs]), clusters=teacher, signals=signs, **common
        )
        law = GeneralizedLinearModel(
            modes=Modes([1.0], [[1.0]], [[[1.0]]]), clusters=teacher, signals="signs", **common
        )
        positive = replace(given, modes=Modes.of_coordinates(np.ones(40), [abs(signs)]), signals=abs(signs))
        expected = glm.solve(law).test_error
        assert glm.solve(given).test_error == pytest.approx(expected, rel=1e-9)
        same = glm.solve(positive).test_error == pytest.approx(expected, rel=1e-9)
        assert same != penalty.non_negative


def test_a_signal_of_several_groups():
    """Rates count the coordinates in which there is a signal: here three in ten, with 0 and 1 as given values."""
    teacher = Cluster(labels="linear", teacher_signal=0, teacher_variance=0.3, noise=0.1)
    modes = Modes([0.3, 0.7], [[1.0, 1.0]], [[[0.3, 0.0]]])
    model = GeneralizedLinearModel(
        modes=modes, clusters=[teacher], alpha=1.0, loss="square", penalty=Lasso(0.3), signals=[1.0, 0.0]
    )
    point = glm.solve(model)
    total = 0.3 * point.true_positive_rate + 0.7 * point.false_positive_rate
    assert total == pytest.approx(point.nonzero, rel=1e-12)
    assert point.support_f1 == pytest.approx(2 * 0.3 * point.true_positive_rate / (0.3 + point.nonzero), rel=1e-12)
    assert 0.5 < point.true_positive_rate < 1
    assert 0 < point.false_positive_rate < 0.4


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize("penalty", [Lasso(0.1), ElasticNet(0.1, 0.05), NonNegative(0.1)])
def test_other_losses_and_labels(loss, penalty):
    """A sign teacher, another loss: verified by the energy, whose slope in the strength is the mean of |w| or w^2/2."""
    teacher = Cluster(labels="sign", teacher_signal=0, noise=0.1)
    modes = Modes([1.0], [[1.0]], [[[1.0]]])
    model = GeneralizedLinearModel(
        modes=modes, clusters=[teacher], alpha=2.0, loss=loss, penalty=penalty, signals=BernoulliGauss(0.2)
    )
    ends = [glm.solve(replace(model, penalty=penalty.scaled(1 + sign * 1e-4))) for sign in (1, 0, -1)]
    slope = (ends[0].energy - ends[2].energy) / 2e-4
    assert slope == pytest.approx(ends[1].energy - model.alpha * ends[1].train_loss, rel=1e-5)
    assert ends[1].test_error < 0.4
    if loss == "hinge" and isinstance(penalty, Lasso):  # a linear program, as many weights as samples at the kink
        assert ends[1].replicon == pytest.approx(0, abs=1e-9)
    else:
        assert ends[1].replicon > 0.1


def test_without_a_teacher_weights_are_noise():
    model = GeneralizedLinearModel(
        modes=Modes([1.0], [[1.0]]), clusters=[Cluster(labels="random")], alpha=3.0, loss="square", penalty=Lasso(0.5)
    )
    point = glm.solve(model)
    assert point.test_error == pytest.approx(0.5)
    assert 0 < point.nonzero < 1
    assert np.isnan(point.true_positive_rate)
    assert point.false_positive_rate == point.nonzero


def test_a_ridge_has_every_weight_and_no_support():
    point = glm.solve(replace(linear(1.0, 0.25, None, lam=0.1), signals=BernoulliGauss(0.25)))
    assert point.nonzero == 1
    assert np.isnan([point.true_positive_rate, point.false_positive_rate, point.support_f1]).all()


def test_small_strengths_keep_their_digits():
    """Without noise and below the threshold a lasso recovers: its error falls as the square of the strength."""
    errors = [glm.solve(linear(0.5, 0.1, Lasso(lam), 0.0)).test_error for lam in (1e-4, 1e-5, 1e-6)]
    assert errors[0] / errors[1] == pytest.approx(100, rel=1e-3)
    assert errors[1] / errors[2] == pytest.approx(100, rel=1e-4)
    assert 1e-13 < errors[2] < 1e-11


def test_a_strength_that_leaves_no_weight():
    point = glm.solve(linear(1.0, 0.25, Lasso(100.0)))
    assert (point.test_error, point.train_loss, point.nonzero, point.q[0]) == (pytest.approx(0.35), 0.175, 0, 0)
    with pytest.raises(ValueError, match=r"penalty must leave weights that are not zero, got ElasticNet\(l1=100.0"):
        glm.solve(linear(1.0, 0.25, ElasticNet(100.0, 0.1)))


def test_a_search_that_is_cut_short_says_so(monkeypatch):
    """The searches are left a little beside their ends: these may be exact to the last bit, which no `tol` refuses."""
    monkeypatch.setattr(problem_solver, "first_solved", lambda *given: (first_solved(*given)[0] + 1e-6, 1.0))
    with pytest.raises(ConvergenceError, match=r"penalty=ElasticNet\(l1=0.01, l2=1e-06\)"):
        glm.solve(linear(0.5, 0.1, ElasticNet(0.01, 1e-6)))
    polished = lasso.Lasso._polished
    monkeypatch.setattr(lasso.Lasso, "_polished", lambda *given: (*polished(*given)[:2], 1e-6))
    with pytest.raises(ConvergenceError, match=r"penalty=Lasso"):
        glm.solve(linear(0.5, 0.1, Lasso(0.01)))
    assert not glm.solve(linear(0.5, 0.1, Lasso(0.01)), check=False).converged


ROTATION = np.array([[0.6, -0.8], [0.8, 0.6]])
BASE = linear(1.0, 0.25, Lasso(0.3))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Lasso(0.0), "strength must lie in"),
        (lambda: ElasticNet(-1.0, 0.1), "l1 must lie in"),
        (lambda: ElasticNet(0.0, 0.0), "l1 and l2 must not both be 0"),
        (lambda: NonNegative(0.0), "ridge must lie in"),
        (lambda: Lasso(0.1).scaled(0.0), "factor must lie in"),
        (lambda: BernoulliGauss(0.0), r"share must lie in \(0, 1\]"),
        (lambda: BernoulliGauss(1.1), r"share must lie in \(0, 1\]"),
        (lambda: replace(BASE, signals=None), "signals must tell the law of the signals for penalty=Lasso"),
        (lambda: replace(BASE, signals="laplace"), "signals must be one of 'gaussian', 'signs'"),
        (lambda: replace(BASE, signals=3), "signals must be one of 'gaussian', 'signs', a BernoulliGauss or an array"),
        (lambda: replace(BASE, signals=BernoulliGauss), "signals must be one of"),
        (lambda: replace(BASE, signals=_Hostile()), "signals must be an array of real numbers, got _Hostile"),
        (lambda: replace(BASE, signals=[0.5, 0.5]), r"signals must have shape \(1, 1\)"),
        (lambda: replace(BASE, signals=[0.7]), "signals must have the Gram matrix of the modes"),
        (lambda: replace(BASE, signals=[np.nan]), "signals must be finite"),
        (lambda: replace(BASE, penalty=0.3), "penalty must be"),
        (lambda: replace(BASE, lam=0.1), "lam must be left out with penalty=Lasso"),
        (lambda: replace(BASE, penalty=None), "lam must be positive"),
        (lambda: replace(BASE, n_learners=2), "penalty=Lasso needs one learner"),
        (
            lambda: replace(BASE, modes=DenseModes([np.eye(2)], [np.full(2, 0.5)])),
            "needs modes that are coordinates, that is diagonal covariances",
        ),
        (
            lambda: replace(
                BASE, modes=Modes.of_matrix(ROTATION @ np.diag([1.0, 2.0]) @ ROTATION.T, [np.full(2, 0.5)])
            ),
            "needs modes that are coordinates, that is diagonal covariances",
        ),
        (
            lambda: replace(BASE, modes=Modes([1.0], [[1.0]], [[[0.25], [0.0]], [[0.0], [0.1]]]), signal_learners=None),
            "signals must be 'gaussian' or an array for several signals",
        ),
        (lambda: Modes.of_coordinates([1.0, -1.0]), "variances must not be negative"),
        (lambda: Modes.of_coordinates([1.0, 1.0], [[1.0]]), "signals must have one entry for each of 2 variances"),
        (lambda: glm.learning_curve(BASE, [1.0], lams=[0.1]), "lam must be left out"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_diagonal_matrix_is_in_coordinates():
    assert Modes.of_matrix(np.diag([2.0, 1.0, 3.0])).diagonal
    assert not Modes.of_matrix(ROTATION @ np.diag([1.0, 2.0]) @ ROTATION.T).diagonal


def test_a_curve_over_sample_ratios():
    curve = glm.learning_curve(BASE, [0.5, 1.0])
    assert curve.test_error[0] == pytest.approx([0.2480580827, 0.1708446187], abs=6e-11)
    assert "penalty(w)" in repr(BASE)
