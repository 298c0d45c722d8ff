"""Softmax of three and four classes on coarser products first, and sums of nodes in lockstep."""

import numpy as np
import pytest

from theory import glm
from theory.glm.multiclass import solve
from theory.glm.multiclass.channel import contrasts
from theory.glm.multiclass.equations import Classes
from theory.glm.multiclass.nodes import gaussian_nodes
from theory.glm.multiclass.prox_kernel import softmax_prox_rows
from theory.glm.multiclass.softmax_sums import softmax_sums
from theory.models import Modes, MulticlassMixture
from theory.numerics.steps import relative_gap


def mixture(K, alpha=1.0, lam=0.1, size=1.0):
    rng = np.random.default_rng(K)
    directions, shares = size * rng.standard_normal((K, 2 * K)) / np.sqrt(2 * K), 1 + rng.random(K)
    modes = Modes([1.0], [[0.4]], (directions @ directions.T)[:, :, None])
    return MulticlassMixture(
        modes=modes, probabilities=tuple(shares / shares.sum()), alpha=alpha, lam=lam, loss="softmax"
    )


@pytest.mark.parametrize("D", [2, 3, 7, 12])
def test_sums_in_lockstep_are_those_of_single_nodes(D):
    """37 nodes leave lanes of the last round empty; some rows start at a prox far away, one at no number."""
    rng = np.random.default_rng(D)
    z, weights = rng.standard_normal((37, D)), rng.random(37)
    mean, spread = rng.standard_normal(D), rng.standard_normal((2, D, 2 * D)) / np.sqrt(D)
    root, inverse = np.linalg.cholesky(spread[0] @ spread[0].T), spread[1] @ spread[1].T
    inverse = (inverse + inverse.T) / 2
    h = mean + z @ root.T
    for label in (0, D - 1, D):
        start = 30 * rng.standard_normal((37, D))
        start[5] = np.nan
        prox, exact = start.copy(), np.full((37, D), np.nan)
        sums = np.zeros(D), np.zeros((D, D)), np.zeros((D, D))
        loss, _ = softmax_sums(z, weights, mean, root, inverse, label, prox, *sums)
        softmax_prox_rows(h, inverse, label, exact)
        assert prox == pytest.approx(exact, abs=1e-11)
        full = np.column_stack([exact, np.zeros(37)])
        full -= np.logaddexp.reduce(full, axis=1)[:, None]
        p = np.exp(full)[:, :D]
        force = np.eye(D + 1)[label, :D] - p
        S = p[:, :, None] * np.eye(D) - p[:, :, None] * p[:, None, :]
        slope = S @ np.linalg.inv(np.eye(D) + np.linalg.inv(inverse) @ S)
        assert loss == pytest.approx(-weights @ full[:, label], rel=1e-11)
        assert sums[0] == pytest.approx(weights @ force, abs=1e-11)
        assert sums[1] == pytest.approx(np.einsum("n,ni,nj->ij", weights, force, force), abs=1e-11)
        assert sums[2] == pytest.approx(np.einsum("n,nij->ij", weights, slope), abs=1e-9)


@pytest.mark.parametrize(("K", "alpha", "lam", "size"), [
    (3, 1.0, 0.1, 1.0), (3, 3.0, 1e-3, 2.0), (4, 1.0, 0.1, 1.0), (4, 0.4, 1.0, 3.0), (4, 2.0, 3e-3, 1.0),
])  # fmt: skip
def test_a_point_found_on_coarser_products_solves_the_equations_of_the_full_one(monkeypatch, K, alpha, lam, size):
    model = mixture(K, alpha, lam, size)
    found = glm.solve(model)
    assert found.quadrature == "product"
    assert found.residual <= 1e-10
    monkeypatch.setattr(solve, "_solved_by_products", lambda classes, *limits: solve._searched(classes, *limits))
    other = glm.solve(model)
    for name in ("V", "q", "r", "bias", "train_loss", "test_loss"):
        assert getattr(found, name) == pytest.approx(getattr(other, name), rel=1e-7, abs=1e-8), name
    classes = Classes(model, contrasts(K), gaussian_nodes(K - 1), "product")
    x = found._in_contrasts(classes)
    assert relative_gap(classes.image(x), x) <= 1.1e-10


def test_a_smooth_problem_needs_the_full_product_once(monkeypatch):
    sizes = []

    def counted(self, x):
        sizes.append(len(self.nodes[1]))
        return averaged(self, x)

    averaged = Classes._averaged
    monkeypatch.setattr(Classes, "_averaged", counted)
    glm.solve(mixture(4))
    full = len(gaussian_nodes(3)[1])
    assert sizes.count(full) == 1
    assert len(sizes) < 40


@pytest.mark.parametrize("fails", ["pilot", "middle"])
def test_the_full_product_is_searched_where_coarser_ones_fail(monkeypatch, fails):
    model = mixture(3)
    expected = glm.solve(model)
    if fails == "pilot":
        searched = solve._searched

        def without_pilot(classes, *limits):
            full = classes.nodes is gaussian_nodes(2)
            return searched(classes, *limits) if full else (classes.start(), 1)

        monkeypatch.setattr(solve, "_searched", without_pilot)
    else:
        monkeypatch.setattr(solve, "polished", lambda update, y, tol: (y + 1.0, np.inf))
    again = glm.solve(model)
    assert again.residual <= 1e-10
    assert again.q == pytest.approx(expected.q, rel=1e-8)
