"""The record of rows about their mean: in memory and in blocks it says the same, which is what numpy says."""

import pickle

import numpy as np
import pytest

from figures.analyse.matrix.admissible import admitted, without_constant
from figures.analyse.matrix.centered_rows import centered_rows, table_rows
from simulate.masked import RowBlocks, row_blocks

N, D = 700, 4
X = np.random.default_rng(0).standard_normal((N, D)) * [1, 2, 3, 4] + [0, 50, -3, 1e3]
ORDER = np.random.default_rng(1).permutation(N)


def blocks():
    return (X[i : i + 300] for i in range(0, N, 300))


@pytest.fixture(params=["in memory", "in blocks"])
def rows(request):
    return centered_rows(table_rows(X) if request.param == "in memory" else row_blocks(blocks), names=list("abcd"))


def same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def gram(found):
    whole = np.concatenate(list(found))
    return whole.T @ whole


def test_it_holds_the_moments_of_the_columns(rows):
    assert (rows.n, rows.d, rows.names, rows.notes, rows.constant) == (N, D, ("a", "b", "c", "d"), (), ())
    same(rows.mean, X.mean(axis=0))
    same(rows.variances, X.var(axis=0))
    same(rows.size, abs(X).max(axis=0))
    same(rows.covariance().matrix, np.cov(X.T))
    same(gram(rows.standardized()), N * np.corrcoef(X.T))


def test_contrasts_have_the_gram_matrix_of_the_centered_rows(rows):
    contrasts = rows.contrasts()
    assert contrasts.n == N - 1
    same(gram(contrasts), N * np.cov(X.T, bias=True))
    permuted = rows.permuted(0)
    assert permuted.n == N - 1
    same(np.diagonal(gram(permuted)), N * X.var(axis=0))
    assert abs(np.corrcoef(np.concatenate(list(permuted)).T) - np.eye(D)).max() < 0.2


@pytest.mark.parametrize("size", [3, 6, 400])
def test_training_sets_are_the_first_rows_of_an_order(rows, size):
    sets = list(rows.training_sets(ORDER, (2, size, 500)))
    mean, contrasts = sets[1]
    training = X[ORDER[:size]]
    same(mean, training.mean(axis=0))
    assert contrasts.n == size - 1
    same(gram(contrasts), size * np.cov(training.T, bias=True))
    same(contrasts.gram.trace, size * training.var(axis=0).sum())


def test_constant_columns_are_found_and_left_out_by_name(rows):
    assert without_constant(rows) is rows
    rows = centered_rows(rows.rows.mapped(lambda _, block: block * [1, 0, 1, 1] + 7), names=rows.names)
    left = without_constant(rows)
    assert (rows.constant, left.names) == ((1,), ("a", "c", "d"))
    assert left.notes == ("left out 1 constant column: 'b'",)
    same(left.variances, X.var(axis=0)[[0, 2, 3]])
    assert isinstance(left.rows, RowBlocks)
    assert admitted(left) is left


def test_rows_in_memory_can_be_pickled():
    again = pickle.loads(pickle.dumps(centered_rows(table_rows(X))))
    assert again.names == ("column 1", "column 2", "column 3", "column 4")
    same(gram(again.contrasts()), N * np.cov(X.T, bias=True))
