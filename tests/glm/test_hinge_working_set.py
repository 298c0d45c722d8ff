"""Hinge fits of many samples of few columns: beside interior points, and the working set's own conditions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simulate.glm.hinge
import simulate.glm.hinge_working_set as working_set
from simulate.glm import fit, fit_coupled
from simulate.glm.hinge_dual import Kinked
from simulate.glm.hinge_working_set import hinge_by_working_set


def data(n, p, learners=0, lam=0.1, seed=0, noise=0.5, shift=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = np.where(X @ rng.standard_normal(p) / np.sqrt(p) + noise * rng.standard_normal(n) + 0.2 >= 0, 1.0, -1.0)
    offsets = (np.arange(n)[:, None] % max(learners, 1) == np.arange(learners)).astype(float)
    return (X + shift) / np.sqrt(lam * p), y, offsets, rng.uniform(0.5, 2.0, n)


def risk(Z, y, offsets, weights, found):
    return 0.5 * found.u @ found.u + weights @ np.maximum(0, 1 - y * (Z @ found.u + offsets @ found.b))


def proved(Z, y, offsets, weights, found):
    """What the minimum owes to its multipliers: 1 beyond the kink, a share at it, found here by least squares."""
    lack = 1 - y * (Z @ found.u + offsets @ found.b)
    at = abs(lack) < 1e-9
    assert at.sum() <= Z.shape[1] + offsets.shape[1]
    G, pull = y[:, None] * np.hstack((Z, offsets)), np.concatenate((found.u, np.zeros(offsets.shape[1])))
    full = np.where(lack > 0, weights, 0.0) * ~at
    share = np.linalg.lstsq(G[at].T, pull - full @ G, rcond=None)[0]
    assert np.all(share >= -1e-8)
    assert np.all(share <= weights[at] + 1e-8)
    assert share @ G[at] + full @ G == pytest.approx(pull, abs=1e-7 * abs(full @ abs(G)).max())


@pytest.mark.parametrize("lam", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("learners", [0, 1, 3])
@pytest.mark.parametrize(("n", "p"), [(120, 3), (400, 20), (3000, 10), (6000, 4)])
def test_the_minimum_is_that_of_interior_points(n, p, learners, lam):
    given = data(n, p, learners, lam)
    found, inside = hinge_by_working_set(*given, 1e-10), Kinked(*simulate.glm.hinge._interior_point(*given))
    assert found is not None
    assert found.gap < 1e-11
    assert risk(*given, found) == pytest.approx(risk(*given, inside), rel=3e-10)
    assert np.linalg.norm(found.u - inside.u) < 1e-4 * np.linalg.norm(inside.u)
    proved(*given, found)


@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_columns_with_a_mean_change_the_bias_alone(shift):
    """The weights are penalized and the bias is not, so that a mean of all columns moves into it."""
    plain, moved = data(2000, 10, 1), data(2000, 10, 1, shift=shift)
    one, other = hinge_by_working_set(*plain, 1e-10), hinge_by_working_set(*moved, 1e-10)
    assert one is not None
    assert other is not None
    assert other.u == pytest.approx(one.u, abs=1e-8)
    assert other.b == pytest.approx(one.b - shift * one.u.sum(), abs=1e-7)


@given(seed=st.integers(0, 2**20), lam=st.floats(1e-3, 100.0), noise=st.floats(0.05, 3.0), learners=st.integers(0, 2))
@settings(derandomize=True, max_examples=25, deadline=None)
def test_what_is_returned_is_a_minimum(seed, lam, noise, learners):
    given_data = data(1200, 5, learners, lam, seed, noise)
    found = hinge_by_working_set(*given_data, 1e-10)
    if found is not None:
        assert found.gap < 1e-10
        proved(*given_data, found)


@pytest.mark.parametrize("bias", [False, True])
def test_samples_seen_twice_are_those_of_twice_the_weight(bias):
    """Their multipliers are not unique, but the gap proves those that springs find."""
    Z, y, offsets, weights = data(1500, 8, int(bias))
    pair = hinge_by_working_set(*(np.repeat(x, 2, axis=0) for x in (Z, y, offsets, weights)), 1e-10)
    one = hinge_by_working_set(Z, y, offsets, 2 * weights, 1e-10)
    assert one is not None
    assert pair is not None
    assert pair.u == pytest.approx(one.u, abs=1e-6)
    assert pair.b == pytest.approx(one.b, abs=1e-6)


def test_a_working_set_that_is_too_small_grows(monkeypatch):
    """With as many samples as columns the first solution is far off; more samples join or a larger set follows."""
    given_data = data(4000, 10)
    best = hinge_by_working_set(*given_data, 1e-10)
    monkeypatch.setattr(working_set, "NEAR", 0.0)
    monkeypatch.setattr(working_set, "LEAST", 1)
    monkeypatch.setattr(working_set, "WIDER", 6)
    tried = []
    solved = working_set._solved
    monkeypatch.setattr(working_set, "_solved", lambda *given: (tried.append(given[-1]), solved(*given))[1])
    found = hinge_by_working_set(*given_data, 1e-10)
    assert best is not None
    assert found is not None
    assert found.u == pytest.approx(best.u, abs=1e-9)
    assert tried[0] == 10
    assert tried == [10 * 4**k for k in range(len(tried))]


def test_samples_that_join_keep_the_sum_of_all_pulls(monkeypatch):
    """The weights are the sum of all multipliers, those outside of the working set and those that joined it too."""
    Z, y, _, weights = data(3000, 8)
    G = y[:, None] * Z
    tied = np.ones(8)
    x, lack, _, _ = working_set._near(G, weights, tied, 1.0)
    monkeypatch.setattr(working_set, "MANY", np.inf)
    sizes = []
    multiplied = working_set._multiplied
    monkeypatch.setattr(working_set, "_multiplied", lambda *given: (sizes.append(len(given[0])), multiplied(*given))[1])
    found = working_set._solved(G, weights, tied, 1.0, x, lack, 32)
    assert len(sizes) > 1
    assert sizes[-1] > 32
    assert found.a @ G == pytest.approx(found.x, abs=1e-9 * abs(found.a @ abs(G)).max())


def test_rows_of_few_values():
    """Columns of zeros and ones, so that most rows have others on the same point."""
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((3000, 6)) > 0.5).astype(float)
    y = np.where(X.sum(axis=1) - 2 + rng.standard_normal(3000) > 0, 1.0, -1.0)
    found = fit(X, y, "hinge", 0.5, bias=True)
    assert found.residual < 1e-10
    order = rng.permutation(3000)
    other = fit(X[order], y[order], "hinge", 0.5, bias=True)
    assert other.train_loss == pytest.approx(found.train_loss, rel=1e-6)


def test_large_weights_and_infinite_inputs_are_left_to_interior_points():
    Z, y, offsets, weights = data(400, 10)
    assert hinge_by_working_set(1e4 * Z, y, offsets, weights, 1e-10) is None
    with np.errstate(all="ignore"):
        assert hinge_by_working_set(1e200 * Z, y, np.ones((400, 1)), weights, 1e-10) is None


def test_an_offset_without_samples_at_the_kink_is_left_to_interior_points():
    """With so large a ridge no margin comes near to 1, and the bias may lie anywhere between two samples."""
    X = np.repeat([[0.1], [-0.1]], 20, axis=0)
    y = np.repeat([1.0, -1.0], 20)
    assert hinge_by_working_set(X, y, np.ones((40, 1)), np.full(40, 0.01), 1e-10) is None
    assert fit(X, y, "hinge", 100.0, bias=True).bias == pytest.approx([0.0], abs=1e-6)


def test_coupled_learners_see_the_symmetries_of_the_data():
    X, y, _, _ = data(900, 6)
    own, shuffled = np.arange(900) % 2, np.random.default_rng(1).permutation(900)
    found = fit_coupled(X, y, own, "hinge", 0.1, coupling=0.2)
    assert found.residual < 1e-11
    other = fit_coupled(X[shuffled], y[shuffled], own[shuffled], "hinge", 0.1, coupling=0.2)
    mirrored = fit_coupled(-X, y, own, "hinge", 0.1, coupling=0.2)
    assert other.weights == pytest.approx(found.weights, abs=1e-8)
    assert other.bias == pytest.approx(found.bias, abs=1e-8)
    assert mirrored.weights == pytest.approx(-found.weights, abs=1e-8)


def test_multipliers_that_settle_slowly_are_waited_for():
    """Here the gap falls by a sixth between two updates, and then by a thousandth."""
    X = np.random.default_rng(6).standard_normal((25_000, 20))
    y = np.where(X[:, 0] + X.ravel()[:25_000] > 0, 1.0, -1.0)
    found = hinge_by_working_set(X / np.sqrt(20), y, np.zeros((25_000, 0)), np.ones(25_000), 1e-10)
    assert found is not None
    assert found.gap < 1e-12
