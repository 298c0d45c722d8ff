"""Estimates from products with a covariance: exact where nothing is random, honest about their errors, and refusals."""

import numpy as np
import pytest
from scipy.sparse import diags_array
from scipy.sparse.linalg import splu
from scipy.stats import t

from theory import masked
from theory.masked import lanczos as lanczos_module
from theory.masked.lanczos import Lanczos
from theory.models import CovarianceOperator, DiagonalPlusLowRank, MaskedRidge, PointScales, SparsePrecision
from theory.numerics import ConvergenceError

NAMES = ("effective_ridge", "df1", "df2", "mean_test_error", "mean_train_error")


def rng(seed=0):
    return np.random.default_rng(seed)


def scaled_ring(d, spread=True, diagonal=True):
    """Neighbors on a ring correlate; the coordinates are in different units where `spread`."""
    s = np.random.default_rng(5).uniform(0.5, 2, d)[:, None] if spread else np.ones((d, 1))

    def product(V):
        V = s * V
        return s * (2 * V + 0.6 * (np.roll(V, 1, axis=0) + np.roll(V, -1, axis=0)))

    return CovarianceOperator(d, product, 2 * s[:, 0] ** 2 if diagonal else None)


def test_the_matrix_is_that_of_the_products():
    operator = scaled_ring(7)
    np.testing.assert_allclose(np.diagonal(operator.matrix), operator.diagonal)
    assert operator.matrix[0, 1] == pytest.approx(0.6 * np.sqrt(operator.diagonal[:2].prod()) / 2)
    found = masked.solve(MaskedRidge(operator, 2.0, 0.1))  # a small one is solved like any other
    assert found.test_error.shape == (7,)
    assert operator.resized(7) is operator
    with pytest.raises(ValueError, match="has fixed d = 7, got 8"):
        operator.resized(8)


@pytest.mark.parametrize("rows", [2**15, 28])
def test_quadratures_are_exact_for_polynomials_and_bound_the_resolvent(monkeypatch, rows):
    """Rows are worked on at once, or seven at a time; the product returns the same memory each time."""
    monkeypatch.setattr(lanczos_module, "ROWS", rows)
    sigma, kept = scaled_ring(30).matrix, np.empty((30, 4))
    start = rng().standard_normal((30, 4))
    lanczos = Lanczos(lambda V: np.matmul(sigma, V, out=kept), start)
    for _ in range(5):
        lanczos.step()
    unit = start / np.linalg.norm(start, axis=0)

    def form(f):
        s, U = np.linalg.eigh(sigma)
        return ((U.T @ unit) ** 2 * f(s)[:, None]).sum(axis=0)

    (nodes, weights), (upper, shares) = lanczos.gauss(), lanczos.radau()
    for power in range(10):  # 2 steps - 1 = 9, and one more with a fixed node
        exact = form(lambda s, k=power: s**k)
        np.testing.assert_allclose((weights * nodes**power).sum(axis=1), exact, rtol=1e-10)
        np.testing.assert_allclose((shares * upper**power).sum(axis=1), exact, rtol=1e-10)
    np.testing.assert_allclose(upper.min(axis=1), 0.0, atol=1e-12)
    exact = form(lambda s: 1 / (s + 0.05))
    assert np.all((weights / (nodes + 0.05)).sum(axis=1) < exact)
    assert np.all((shares / (upper + 0.05)).sum(axis=1) > exact)


def test_an_exhausted_space_is_exact():
    """Two eigenvalues need two steps; what follows is rounding, and has no weight."""
    sigma = np.diag([1.0, 1.0, 3.0, 3.0])
    lanczos = Lanczos(sigma.__matmul__, np.ones((4, 1)))
    for _ in range(5):
        lanczos.step()
    nodes, weights = lanczos.gauss()
    seen = weights[0] > 1e-12
    np.testing.assert_allclose(nodes[0][seen], [1.0, 3.0])
    np.testing.assert_allclose(weights[0][seen], 0.5)


def test_all_coordinates_of_a_diagonal_are_exact():
    """Signs v have v^T D v = tr D, and where all coordinates are drawn nothing is left to chance."""
    variances = np.linspace(0.5, 4, 40)
    operator = CovarianceOperator(40, lambda V: variances[:, None] * V, variances)
    model = MaskedRidge(operator, 1.5, 0.2)
    found, exact = masked.estimate(model, rng(), coordinates=40, tol=1e-12), masked.solve(model)
    for name in NAMES:
        assert getattr(found, name) == pytest.approx(getattr(exact, name), rel=1e-9)
        assert getattr(found, f"{name}_stderr") < 1e-9
    np.testing.assert_allclose(found.test_error, exact.test_error[found.coordinates], rtol=1e-9)


@pytest.mark.parametrize(
    ("diagonal", "seeds", "least"),
    [
        (True, 50, 0.88),
        pytest.param(True, 200, 0.9, marks=pytest.mark.slow),
        pytest.param(False, 200, 0.9, marks=pytest.mark.slow),
    ],
)
def test_stated_errors_cover_the_exact_values(diagonal, seeds, least):
    """95 % of the seeds lie within the quantile of Student's t; a standard error 1.5 times too small covers 83 %."""
    model = MaskedRidge(scaled_ring(300, diagonal=diagonal), 1.5, 0.1)
    exact = masked.solve(model)
    runs = [masked.estimate(model, rng(seed), probes=12, coordinates=40, tol=1e-5) for seed in range(seeds)]
    for name in NAMES:
        gaps = np.array([getattr(run, name) - getattr(exact, name) for run in runs])
        stderrs = np.array([getattr(run, f"{name}_stderr") for run in runs])
        covered = np.mean(abs(gaps) <= t.isf(0.025, 11) * stderrs)
        assert least <= covered, name
        assert abs(gaps.mean()) < 4 * gaps.std() / np.sqrt(len(runs)), name  # no bias that could be seen
        ratio = np.sqrt(np.mean(gaps**2) / np.mean(stderrs**2))  # its own standard error is 1/sqrt(2 seeds)
        assert abs(ratio - 1) < 4 / np.sqrt(2 * seeds), name


def test_known_variances_make_the_mean_sharper():
    of = {
        known: masked.estimate(MaskedRidge(scaled_ring(2000, diagonal=known), 2.0, 0.1), rng())
        for known in (True, False)
    }
    assert of[True].mean_test_error_stderr < 0.3 * of[False].mean_test_error_stderr


def test_estimates_of_a_large_sparse_precision_agree_with_its_exact_errors():
    d = 20_000
    exact_one = SparsePrecision(diags_array([0.2, -0.8, 1.7, -0.8, 0.2], offsets=[-2, -1, 0, 1, 2], shape=(d, d)))
    inverse = splu(exact_one.precision.tocsc())
    operator = CovarianceOperator(d, inverse.solve, exact_one.variances)
    exact = masked.solve(MaskedRidge(exact_one, 2.0, 0.5))
    found = masked.estimate(MaskedRidge(operator, 2.0, 0.5), rng(), probes=8, coordinates=32)
    for name in NAMES:
        assert abs(getattr(found, name) - getattr(exact, name)) < 5 * getattr(found, f"{name}_stderr") + 1e-6, name
        assert getattr(found, f"{name}_stderr") < 2e-3 * getattr(exact, name)


def test_rows_of_different_scale():
    covariance = DiagonalPlusLowRank(rng().uniform(0.5, 2, 400), rng(1).standard_normal((400, 2)))
    model = MaskedRidge(covariance, 1.5, 0.1, row_scales=PointScales([0.2, 3.4], [0.75, 0.25]))
    exact, found = masked.solve(model), masked.estimate(model, rng(), coordinates=200)
    for name in NAMES:
        assert abs(getattr(found, name) - getattr(exact, name)) < 5 * getattr(found, f"{name}_stderr"), name


def test_a_seed_fixes_the_result():
    model = MaskedRidge(scaled_ring(50), 1.5, 0.1)
    first, again, other = (masked.estimate(model, rng(seed)) for seed in (3, 3, 4))
    assert first.mean_test_error == again.mean_test_error != other.mean_test_error
    assert first.converged
    assert first.lanczos_gap <= 1e-6
    assert "mean_test_error_stderr" in repr(first)


def test_too_few_steps_are_an_error_with_advice():
    with pytest.raises(ConvergenceError, match="raise max_steps, or take a larger lam or tol"):
        masked.estimate(MaskedRidge(scaled_ring(400), 2.0, 1e-4), rng(), max_steps=3)


RING = scaled_ring(20)
REFUSED = [
    (CovarianceOperator(6, lambda V: np.triu(np.ones((6, 6))) @ V), {}, "covariance must be symmetric"),
    (CovarianceOperator(6, lambda V: V - 2 * V.mean(axis=0)), {}, "covariance must be positive semi-definite"),
    (CovarianceOperator(6, lambda V: 0 * V), {}, "covariance must have a positive variance"),
    (
        CovarianceOperator(6, lambda V: V, np.full(6, 2.0)),
        {},
        "diagonal must be that of the covariance, got 2 at index",
    ),
    (CovarianceOperator(6, lambda V: V[:3]), {}, "product must return as many numbers as it is given"),
    (CovarianceOperator(6, lambda V: V * np.nan), {}, "product must return finite numbers, got nan"),
    (CovarianceOperator(6, lambda V: "text"), {}, "the result of product must be an array of real numbers"),
    (CovarianceOperator(3, lambda V: V), {}, "covariance must have at least 4 coordinates"),
    (RING, {"probes": 1}, "probes must be an integer of at least 2, got 1"),
    (RING, {"coordinates": 3}, "coordinates must be an integer of at least 4, got 3"),
    (RING, {"max_steps": 0}, "max_steps must be an integer of at least 1, got 0"),
    (RING, {"tol": 0.0}, r"tol must lie in \(0, inf\), got 0.0"),
]


@pytest.mark.parametrize(("covariance", "changed", "message"), REFUSED)
def test_what_cannot_be_estimated_is_refused(covariance, changed, message):
    with pytest.raises(ValueError, match=message):
        masked.estimate(MaskedRidge(covariance, 2.0, 0.1), rng(), **changed)
    with pytest.raises(ValueError, match="rng must be a Generator"):
        masked.estimate(MaskedRidge(RING, 2.0, 0.1), 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, abs), "d must be an integer of at least 1, got 0"),
        ((np.inf, abs), "d must be an integer of at least 1, got inf"),
        ((4, np.eye(4)), "product must be a function, got an array of shape"),
        ((4, lambda: 0), "product must be a function of 1 arguments"),
        ((4, abs, [1.0, 2.0]), r"diagonal must have d = 4 entries, got shape \(2,\)"),
        ((2, abs, [1.0, -2.0]), "diagonal must not be negative, got -2.0 at index 1"),
        ((2, abs, [1.0, np.nan]), "diagonal must be finite"),
    ],
)
def test_operators_that_are_none_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        CovarianceOperator(*arguments)


def test_a_matrix_of_products_must_be_symmetric():
    with pytest.raises(ValueError, match="product must be that of a symmetric matrix"):
        _ = CovarianceOperator(3, lambda V: np.triu(np.ones((3, 3))) @ V).matrix
