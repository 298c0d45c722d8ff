"""Measured errors at the holes of a table: the theory of every kind of row, and plain sums over rows."""

import numpy as np
import pytest

from simulate.core import Estimate, extrapolate, stream
from simulate.masked import coordinate_test_errors, mean_test_error, sample
from simulate.masked.holes import replicate
from theory import masked
from theory.models import AR1, Dropout, MissingEntries

RATES = np.where(np.arange(12) % 2, 0.1, 0.4)
MODELS = {
    "own rows, holes": MissingEntries(AR1(24, 0.7), 2.0, 0.1, 0.2),
    "own rows, complete": MissingEntries(AR1(24, 0.7), 2.0, 0.1, 0.2, rows="complete"),
    "pairwise, complete": MissingEntries(AR1(24, 0.7), 4.0, 0.9, 0.2, "pairwise", "complete"),
    "pairwise, holes": MissingEntries(AR1(24, 0.7), 4.0, 0.9, 0.2, "pairwise", "holes"),
    "pairwise, table": MissingEntries(AR1(24, 0.7), 4.0, 0.9, 0.2, "pairwise", "table"),
}


@pytest.mark.parametrize("name", MODELS)
def test_theory(agrees, name):
    model = MODELS[name]
    small, large = (
        Estimate.of([mean_test_error(model, d, stream(0, "holes", name, d, r)) for r in range(count)])
        for d, count in ((24, 60), (48, 30))
    )
    theory = masked.solve(model).mean_test_error
    larger = masked.solve(MissingEntries(AR1(48, 0.7), model.alpha, model.lam, 0.2, model.method, model.rows))
    # Both sizes have their own theory, since a chain has ends; what is left falls like 1/d.
    ratio = extrapolate(_over(small, theory), _over(large, larger.mean_test_error))
    agrees(ratio, 1.0, resolves=0.25)


def _over(estimate, predicted):
    return Estimate(estimate.mean / predicted, estimate.stderr / predicted, estimate.n)


def test_the_exact_average_over_rows_is_that_of_many_rows():
    rng = np.random.default_rng(0)
    Sigma = AR1(12, 0.7)
    X = sample(Sigma, 60_000, rng)
    seen = rng.random(X.shape) >= RATES
    weights = rng.standard_normal((12, 12)) * 0.2
    np.fill_diagonal(weights, 0)
    for rows, inputs, factors in (("holes", np.where(seen, X, 0), 1.0), ("complete", X, 1 - RATES)):
        model = MissingEntries(Sigma, 4.0, 0.1, RATES, rows=rows)
        exact = replicate._own_rows(model, weights, Sigma.matrix)
        np.testing.assert_allclose(exact, np.mean((X - inputs @ (weights * factors).T) ** 2, axis=0), rtol=0.04)
    drop = Dropout(np.linspace(1, 0.4, 12))
    ends = rng.random((60_000, 1)) < drop.fractions_seen
    for rows in ("holes", "table"):
        exact = replicate._own_rows(MissingEntries(Sigma, 4.0, 0.1, drop, rows=rows), weights, Sigma.matrix)
        for k in (4, 9):
            chosen = ends[:, k] if rows == "holes" else ~ends[:, k]
            errors = (X[:, k] - np.where(ends, X, 0) @ weights[k])[chosen] ** 2
            assert exact[k] == pytest.approx(errors.mean(), rel=0.05)
    assert np.isnan(exact[0])


def test_a_pattern_leaves_the_column_itself_out():
    rng = np.random.default_rng(1)
    S, Sigma = np.cov(rng.standard_normal((30, 6)).T) + 0.3 * np.eye(6), AR1(6, 0.5).matrix
    seen = np.array([True, True, False, True, False, True])
    found = replicate._of_pattern(S, Sigma, seen)
    for k in range(6):
        others = seen & (np.arange(6) != k)
        a = np.linalg.solve(S[np.ix_(others, others)], S[others, k])
        expected = Sigma[k, k] - 2 * a @ Sigma[others, k] + a @ Sigma[np.ix_(others, others)] @ a
        assert found[k] == pytest.approx(expected)


def test_columns_and_bad_tables():
    model = MissingEntries(AR1(12, 0.7), 4.0, 0.1, RATES)
    errors = coordinate_test_errors(model, 12, stream(0, "columns"))
    assert errors.shape == (12,)
    assert mean_test_error(model, 12, stream(0, "columns")) == pytest.approx(errors.mean())
    with pytest.raises(ValueError, match="one number, or one for each of d = 24"):
        mean_test_error(model, 24, stream(0))
    with pytest.raises(ValueError, match="lam must be above the least ridge"):
        mean_test_error(MissingEntries(AR1(24, 0.7), 1.0, 1e-3, 0.2, "pairwise", "complete"), 24, stream(0))
    with pytest.raises(ValueError, match="got none in column"):
        mean_test_error(MissingEntries(AR1(40, 0.7), 0.1, 0.1, 0.5), 40, stream(0))
