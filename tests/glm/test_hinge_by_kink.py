"""Hinge fits by the samples at the kink: beside enumeration, interior points, and where these have to take over."""

from itertools import product

import numpy as np
import pytest

import simulate.glm.hinge
import simulate.glm.hinge_dual
from simulate.glm import fit, fit_coupled
from simulate.glm.hinge_dual import SET_STEPS, Kinked, hinge_by_kink, settled
from simulate.glm.hinge_kernel import descend


def data(n, p, bias, lam=0.1, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = np.where(X @ rng.standard_normal(p) / np.sqrt(p) + noise * rng.standard_normal(n) + 0.2 >= 0, 1.0, -1.0)
    return X / np.sqrt(lam * p), y, np.ones((n, int(bias))), rng.uniform(0.5, 2.0, n)


def objective(Z, y, offsets, weights, u, b):
    return 0.5 * u @ u + weights @ np.maximum(0, 1 - y * (Z @ u + offsets @ b))


def enumerated(Z, y, offsets, weights):
    """The minimum by trying for each sample whether it is below the kink, at it or above."""
    n, k = len(y), offsets.shape[1]
    for states in product((0, 1, 2), repeat=n):
        at = np.array(states)
        free, a = at == 1, np.where(at == 2, weights, 0.0)
        f = free.sum()
        G, E = y[:, None] * Z, y[:, None] * offsets
        system = np.block([[G[free] @ G[free].T, E[free]], [E[free].T, np.zeros((k, k))]])
        if f > Z.shape[1] + k or np.linalg.matrix_rank(system) < f + k:
            continue
        found = np.linalg.solve(system, np.concatenate((1 - G[free] @ G.T @ a, -E.T @ a)))
        a[free], b = found[:f], found[f:]
        margins = G @ G.T @ a + E @ b
        inside = np.all(a[free] > 0) and np.all(a[free] < weights[free])
        if inside and np.all(margins[at == 0] > 1) and np.all(margins[at == 2] < 1):
            return G.T @ a, b
    raise AssertionError("no set of samples obeys the conditions")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("bias", [False, True])
def test_the_minimum_is_that_of_all_sets(bias, seed):
    given = data(6, 2, bias, lam=1.0, seed=seed)
    u, b = enumerated(*given)
    found = hinge_by_kink(*given, 1e-10)
    assert found is not None
    assert found.u == pytest.approx(u, abs=1e-12)
    assert found.b == pytest.approx(b, abs=1e-12)


@pytest.mark.parametrize("lam", [1e-3, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("n", "p"), [(100, 50), (300, 150), (80, 160)])
def test_the_minimum_is_that_of_interior_points(n, p, bias, lam):
    """Interior points end at a gap of 1e-10, and the square root of it tells how far they are from the minimum."""
    given = data(n, p, bias, lam)
    found, inside = hinge_by_kink(*given, 1e-10), simulate.glm.hinge._interior_point(*given)
    assert found is not None
    assert found.gap < 1e-12
    assert np.linalg.norm(found.u - inside[0]) < 2e-5 * np.linalg.norm(inside[0])
    best, other = objective(*given, found.u, found.b), objective(*given, *inside[:2])
    assert best <= other * (1 + 1e-12)
    assert best == pytest.approx(other, rel=3e-10)


def test_few_steps_move_between_the_sets():
    found = hinge_by_kink(*data(300, 150, True), 1e-10)
    assert found is not None
    assert 0 < found.steps <= SET_STEPS
    Z, y, _, weights = data(300, 150, True)
    fitted = fit(Z * np.sqrt(150), y, "hinge", 1.0, bias=True, sample_weights=weights)
    assert fitted.weights[0] == pytest.approx(found.u, abs=1e-10)
    assert fitted.iterations == found.steps
    assert fitted.residual < 1e-12


def test_all_samples_below_the_kink():
    """With a ridge so large that no margin reaches 1 all multipliers are at their bound, and no system is solved."""
    Z, y, offsets, weights = data(60, 30, False, lam=1e3)
    found = hinge_by_kink(Z, y, offsets, weights, 1e-10)
    assert found is not None
    assert found.u == pytest.approx(Z.T @ (y * weights), rel=1e-13)


def test_an_offset_without_samples_at_the_kink_is_left_to_interior_points():
    """A bias moves freely between the margins of two samples of equal weight: the middle is what symmetry asks for."""
    X, y = np.array([[0.1], [-0.1]]), np.array([1.0, -1.0])
    assert hinge_by_kink(X, y, np.ones((2, 1)), np.ones(2), 1e-10) is None
    assert fit(X, y, "hinge", 1.0, bias=True).bias == pytest.approx([0.0], abs=1e-6)


@pytest.mark.parametrize("bias", [False, True])
def test_samples_seen_twice_are_those_of_twice_the_weight(bias):
    """Their multipliers are not unique, so that interior points fit them."""
    Z, y, offsets, weights = data(60, 30, bias)
    twice = [np.repeat(x, 2, axis=0) for x in (Z, y, offsets, weights)]
    assert hinge_by_kink(*twice, 1e-10) is None
    pair = fit(twice[0], twice[1], "hinge", 0.1, bias=bias, sample_weights=twice[3])
    one = fit(Z, y, "hinge", 0.1, bias=bias, sample_weights=2 * weights)
    assert one.residual < 1e-12 < pair.residual < 1e-10
    assert pair.weights == pytest.approx(one.weights, abs=1e-4)


@pytest.mark.parametrize(("n", "p", "lam"), [(100, 50, 1e-5), (500, 20, 1.0)])
def test_long_descents_are_not_begun(monkeypatch, n, p, lam):
    monkeypatch.setattr(simulate.glm.hinge_dual, "settled", None)
    assert hinge_by_kink(*data(n, p, False, lam), 1e-10) is None


def test_learners_of_their_own_biases():
    """Coupled learners carry an offset each; the order of the samples is nothing to them."""
    Z, y, _, weights = data(200, 40, True)
    own, shuffled = np.arange(200) % 2, np.random.default_rng(1).permutation(200)
    found = fit_coupled(Z, y, own, "hinge", 0.1, coupling=0.2, sample_weights=weights)
    assert found.residual < 1e-12
    other = fit_coupled(
        Z[shuffled], y[shuffled], own[shuffled], "hinge", 0.1, coupling=0.2, sample_weights=weights[shuffled]
    )
    assert other.weights == pytest.approx(found.weights, abs=1e-9)
    assert other.bias == pytest.approx(found.bias, abs=1e-9)
    mirrored = fit_coupled(Z, -y, own, "hinge", 0.1, coupling=0.2, sample_weights=weights)
    assert mirrored.weights == pytest.approx(-found.weights, abs=1e-9)
    assert mirrored.bias == pytest.approx(-found.bias, abs=1e-9)


@pytest.mark.parametrize("bias", [False, True])
def test_a_descent_keeps_its_bounds_and_lowers_the_dual_problem(bias):
    given = data(100, 50, bias)
    Z, y, offsets, weights = (np.ascontiguousarray(x, np.float32) for x in given)
    a, u, b = np.zeros(100, np.float32), np.zeros(50, np.float32), np.zeros(int(bias), np.float32)
    risk = []
    for _ in range(6):
        assert descend(Z, y, offsets, weights, 1.0, a, u, b, 1e-9, 20) == 20
        assert np.all((a >= 0) & (a <= weights))
        assert u == pytest.approx(Z.T @ (y * a), abs=1e-4)
        risk.append(0.5 * u @ u - a.sum())
    if not bias:  # with a spring the sums of multipliers come to zero on the way
        assert np.all(np.diff(risk) < 1e-4)
    best = hinge_by_kink(*given, 1e-10)
    assert best is not None
    assert risk[-1] == pytest.approx(-objective(*given, best.u, best.b), rel=1e-2)
    assert abs(offsets.T @ (y * a)) == pytest.approx(0.0, abs=0.1)


@pytest.mark.parametrize("seed", range(10))
def test_no_start_of_the_sets_leads_to_a_wrong_minimum(seed):
    """Far from the minimum the sets may not come to rest, but what is returned is proved by its gap."""
    given = data(60, 30, True)
    best = hinge_by_kink(*given, 1e-10)
    assert best is not None
    rng = np.random.default_rng(seed)
    start = given[3] * np.clip(rng.normal(0.5, 0.6, 60), 0, 1)
    found = settled(*given, start, rng.standard_normal(1), 1e-10)
    if isinstance(found, Kinked):
        assert found.u == pytest.approx(best.u, abs=1e-8)
    else:
        assert 0 <= found <= SET_STEPS


@pytest.mark.parametrize("scale", [1e-40, 1e40])
def test_inputs_outside_of_single_precision(scale):
    """Interior points fit what single precision does not hold."""
    Z, y, _, _ = data(60, 30, False)
    one = fit(Z, y, "hinge", 0.1)
    other = fit(scale * Z, y, "hinge", 0.1 * scale**2)
    assert scale * other.weights == pytest.approx(one.weights, abs=1e-4)


@pytest.mark.parametrize(("n", "p"), [(500, 20), (2000, 100)])
def test_many_samples_of_little_pull_are_fitted_at_the_kink(n, p):
    Z, y, offsets, weights = data(n, p, True, lam=2.0)
    found = hinge_by_kink(Z, y, offsets, weights, 1e-10)
    assert found is not None
    u, b, _, _ = simulate.glm.hinge._interior_point(Z, y, offsets, weights)
    least = objective(Z, y, offsets, weights, u, b)
    assert objective(Z, y, offsets, weights, found.u, found.b) == pytest.approx(least, rel=1e-9)
    assert found.u == pytest.approx(u, abs=1e-4)
    assert found.b == pytest.approx(b, abs=1e-4)
    assert hinge_by_kink(Z * np.sqrt(10.0), y, offsets, weights, 1e-10) is None
