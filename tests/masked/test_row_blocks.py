"""Tables that come in blocks of rows: the same numbers as in memory, and what is refused."""

import copy
import pickle
import sys
import weakref

import numpy as np
import pytest

from simulate.masked import RowBlocks, fit, fit_path, row_blocks
from simulate.masked.moments import Gram
from theory.models import AR1

N, D, LAMS = 900, 12, [1e-3, 0.1, 3.0]


def table(n=N, d=D, mean=0.0):
    rng = np.random.default_rng([n, d])
    return rng.standard_normal((n, d)) @ np.linalg.cholesky(AR1(d, 0.6).matrix).T * np.geomspace(1, 3, d) + mean


def cut(X, step=137):
    return [X[i : i + step] for i in range(0, len(X), step)]


def as_mapped(X, folder):
    np.save(folder / "x.npy", X)
    return np.load(folder / "x.npy", mmap_mode="r")


def as_npy_path(X, folder):
    np.save(folder / "x.npy", X)
    return folder / "x.npy"


def as_parquet(X, folder):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({f"c{k}": X[:, k] for k in range(X.shape[1])}), folder / "x.parquet")
    return folder / "x.parquet"


def as_dask(X, folder):
    return pytest.importorskip("dask.array").from_array(X, chunks=(211, 5))


FORMS = {
    "mapped": as_mapped,
    "path": as_npy_path,
    "list": lambda X, _: cut(X),
    "tuple of single precision and integers": lambda X, _: tuple(cut(X)),
    "function": lambda X, _: lambda: iter(cut(X)),
    "parquet": as_parquet,
    "dask": as_dask,
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of few rows, so that a small table has many."""
    for module in ("simulate.masked.row_blocks", "simulate.masked.row_sources"):
        monkeypatch.setattr(sys.modules[module], "block_rows", lambda d: 64)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", [N, 10, 6, 3])  # above and below the number of columns
def test_every_number_is_that_of_the_table_in_memory(tmp_path, form, n):
    X = table(n)
    given = FORMS[form](X, tmp_path)
    for lam in LAMS:
        found, known = fit(given, lam), fit(X, lam)
        assert (found.n, found.d, found.method) == (n, D, known.method)
        for name in ("predictor", "train_error", "gcv_error", "shrinkage", "effective_ridge"):
            np.testing.assert_allclose(getattr(found, name), getattr(known, name), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(found.loo_error, known.loo_error, rtol=1e-12)
        np.testing.assert_allclose(found.loo_residuals, known.loo_residuals, rtol=1e-9, atol=1e-12)
    path, known_path = fit_path(given, LAMS), fit_path(X, LAMS)
    for name in ("train_error", "gcv_error", "effective_ridge", "diagonal", "mean_loo_error"):
        np.testing.assert_allclose(getattr(path, name), getattr(known_path, name), rtol=1e-11)
    assert path.best("loo") == known_path.best("loo")
    np.testing.assert_allclose(path.loo_residuals(1), known_path.loo_residuals(1), rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("lam", [0.0, 1e-14])
def test_a_table_that_its_gram_matrix_does_not_resolve(lam):
    """Two columns agree to eight digits: the squares of the Gram matrix lose them, the triangular factor does not."""
    X = table()
    X[:, 1] = X[:, 0] + 1e-8 * X[:, 1]
    found, known = fit(cut(X), lam), fit(X, lam)
    assert found.method == known.method == "spectral"
    np.testing.assert_allclose(found.train_error, known.train_error, rtol=1e-6)
    np.testing.assert_allclose(found.loo_error, known.loo_error, rtol=1e-6)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("mean", [0.0, 1e7])
def test_rows_about_their_mean_in_one_pass(standardize, mean):
    """A mean of 1e7 has 14 digits in its square: X'X - n mean mean' would keep none."""
    X = table(mean=mean)
    centered = X - X.mean(axis=0)
    if standardize:
        centered /= centered.std(axis=0)
    passes = []

    def blocks():
        passes.append(1)
        return iter(cut(X))

    rows = row_blocks(blocks).centered(standardize)
    passes.clear()
    found, known = fit(rows, 0.1), fit(centered, 0.1)
    assert len(passes) == 0  # the pass that measured the means has measured the second moments too
    rtol = 1e-12 if mean == 0 else 1e-7
    np.testing.assert_allclose(found.gcv_error, known.gcv_error, rtol=rtol)
    np.testing.assert_allclose(found.loo_error, known.loo_error, rtol=rtol)
    assert len(passes) == 1


def test_residuals_that_were_asked_for_spare_the_pass_for_their_mean_squares():
    X, passes = table(), []

    def blocks():
        passes.append(1)
        return iter(cut(X))

    found, streamed = fit(blocks, 0.1), fit(blocks, 0.1)
    residuals, before = found.loo_residuals, len(passes)
    np.testing.assert_allclose(found.loo_error, np.mean(residuals**2, axis=0), rtol=1e-13)
    assert len(passes) == before
    np.testing.assert_allclose(found.loo_error, streamed.loo_error, rtol=1e-13)
    assert len(passes) == before + 1


def test_means_variances_and_ends_of_the_columns():
    X = table(mean=-40.0)
    found = row_blocks(cut(X)).moments
    assert found.n == N
    np.testing.assert_allclose(found.mean, X.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(found.variances, X.var(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.covariance, np.cov(X.T), rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal([found.lowest, found.highest], [X.min(axis=0), X.max(axis=0)])


def test_a_pass_holds_one_block_at_a_time():
    """Blocks that came before are freed, all but the last."""
    given, most = list[weakref.ref](), 0

    def blocks():
        nonlocal most
        for block in cut(table()):
            one = block.copy()
            given.append(weakref.ref(one))
            most = max(most, sum(each() is not None for each in given))
            yield one

    found = fit(blocks, 0.1)
    assert found.loo_error.shape == (D,)
    assert len(given) > 10
    assert most <= 3


def test_rows_of_a_mapped_file_are_found_in_every_block(tmp_path, monkeypatch):
    monkeypatch.setattr("simulate.masked.row_sources.block_rows", lambda d: 7)
    X = np.arange(60.0).reshape(20, 3)
    rows = row_blocks(as_mapped(X, tmp_path))
    for numbers in (np.arange(20), np.array([0, 6, 7, 13, 14, 19]), np.array([6]), np.array([], dtype=int)):
        assert rows.take(numbers).tolist() == X[numbers].tolist()


def test_pages_of_a_mapped_file_are_given_back(tmp_path):
    """They would count as memory of the process until the array is closed; changes of a private copy are kept."""
    np.save(tmp_path / "x.npy", table())
    private = np.load(tmp_path / "x.npy", mmap_mode="c")
    private[5, 5] = 100.0
    np.testing.assert_array_equal(row_blocks(private).moments.highest, np.asarray(private).max(axis=0))
    assert private[5, 5] == 100.0


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            iter(cut(table())),
            "X must give its blocks more than once, .* that returns the iterator anew",
        ),
        ((block for block in cut(table())), "X must give its blocks more than once"),
        (lambda: 3.0, "X must be a function without arguments that returns an iterator of blocks"),
        (lambda a: iter(cut(table())), "X must be a function without arguments"),
        (lambda: iter([]), "X must have at least one row, got no blocks"),
        ([table(5), table(5, 7)], "X must have 12 columns in every block, got 7"),
        ([table(5), table(5)[:, 0]], "X must be a rectangular array"),
        (lambda: iter([table(5), table(5)[:, 0]]), "X must have blocks of shape"),
        (lambda: iter([table(5), table(5).astype(str)]), "X must contain real numbers, got dtype <U"),
        ([1e200 * table(20)], r"X must have columns of size .*e\+200"),
        ([1e-200 * table(20)], r"X must have columns of size .*e-200"),
    ],
)
def test_blocks_that_cannot_be_fitted(data, message):
    with pytest.raises(ValueError, match=message):
        fit(data, 0.1)


@pytest.mark.parametrize("form", ["mapped", "list", "function", "parquet", "dask"])
def test_a_missing_value_is_named_by_its_row_among_all(tmp_path, form):
    X = table()
    X[700, 3] = np.nan
    with pytest.raises(ValueError, match="X must be finite, got nan at row 700, column 3"):
        fit(FORMS[form](X, tmp_path), 0.1)


def test_a_null_of_a_parquet_file_is_a_missing_value(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"a": [1.0] * 99 + [None], "b": [2.0] * 100}
    parquet.write_table(pyarrow.table(columns), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="X must be finite, got nan at row 99, column 0"):
        fit(tmp_path / "x.parquet", 0.1)


def test_blocks_that_change_between_two_passes_are_refused():
    sizes = iter([N, N, N - 1])
    found = fit(lambda: iter(cut(table()[: next(sizes)])), 0.1)
    with pytest.raises(ValueError, match=r"must give the same blocks each time .* got 900 rows at first and 899 later"):
        found.loo_error  # noqa: B018


def test_a_column_that_does_not_vary_cannot_be_standardized():
    X = table(mean=3.0)
    X[:, 2] = 0.1
    with pytest.raises(ValueError, match="X must vary in every column to be standardized, column 2 does not"):
        row_blocks(cut(X)).centered(standardize=True)


def test_other_paths_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"X must be a \.npy or \.parquet file"):
        fit(tmp_path / "x.csv", 0.1)


def blocks_of_the_table():
    X = np.random.default_rng(0).standard_normal((60, 4))
    return (X[i : i + 25] for i in range(0, 60, 25))


@pytest.mark.parametrize("source", ["array", "list", "function", "mapped", "part of a mapped one"])
@pytest.mark.parametrize("again", [lambda value: pickle.loads(pickle.dumps(value)), copy.deepcopy])
def test_fits_and_their_rows_can_be_pickled_and_copied(tmp_path, source, again):
    X = np.concatenate(list(blocks_of_the_table()))
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    given = {
        "array": X,
        "list": list(blocks_of_the_table()),
        "function": blocks_of_the_table,
        "mapped": mapped,
        "part of a mapped one": mapped[10:],
    }[source]
    rows = row_blocks(given)
    for change in (
        lambda: rows,
        lambda: rows.centered(standardize=True),
        lambda: rows.columns([0, 2]),
        lambda: rows.rows(np.arange(rows.n) % 3 > 0),
    ):
        own = change()
        copied = again(own)
        assert np.array_equal(np.concatenate(list(copied)), np.concatenate(list(own)))
        assert np.array_equal(copied.take(np.array([1, 7])), own.take(np.array([1, 7])))
    for lam, few in ((0.1, rows), (0.0, rows), (0.1, rows.rows(np.arange(rows.n) < 3))):
        found = fit(few, lam)
        copied = again(found)
        assert np.array_equal(copied.predictor, found.predictor)
        assert np.array_equal(copied.loo_residuals, found.loo_residuals)
    path = fit_path(rows, [0.01, 0.1, 1.0])
    assert again(path).best("loo") == path.best("loo")


def test_a_table_in_a_file_is_pickled_by_its_name(tmp_path):
    np.save(tmp_path / "X.npy", np.ones((30000, 4)))
    assert len(pickle.dumps(row_blocks(tmp_path / "X.npy"))) < 2000


@pytest.mark.parametrize("in_memory", [True, False])
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rows: rows.take(np.array([3, 1])), "rows must be ascending numbers of rows"),
        (lambda rows: rows.take(np.array([-1, 1])), "rows must be ascending numbers of rows"),
        (lambda rows: rows.take(np.array([1, N])), f"rows must be numbers of rows from 0 to {N - 1}, got {N}"),
        (lambda rows: rows.columns([0, D]), f"chosen must be numbers of columns from 0 to {D - 1}"),
        (lambda rows: rows.columns([]), "chosen must be numbers of columns"),
        (lambda rows: rows.rows(np.ones(N - 1, bool)).all_rows(), "chosen must have one entry for each row"),
        (lambda rows: rows.rows(np.arange(N)), "chosen must be an array of truth values"),
        (lambda rows: rows.moments_of_parts(np.zeros(N - 1, int), 1), "part must have one entry for each row"),
        (lambda rows: rows.moments_of_parts(np.zeros(N, int), 2), "got none for part 1"),
        (lambda rows: rows.moments_of_parts(None, 2), "count must be 1 where part is None"),
        (lambda rows: rows.mapped(lambda start, block: block[:, :2]).all_rows(), f"change must have {D} columns"),
        (lambda rows: rows.mapped(lambda start, block: block * np.nan).all_rows(), "change must be finite, got nan"),
        (lambda rows: rows.mapped(lambda block: block), "change must be a function of 2 arguments"),
        (lambda rows: rows.centered(standardize="no"), "standardize must be True or False"),
        (lambda rows: rows.numbered("first"), "start must be an integer"),
        (lambda rows: rows.moments.with_rows(row_blocks(np.eye(3)).moments), f"the moments of {D} columns, got 3"),
    ],
)
def test_methods_refuse_what_does_not_fit(call, message, in_memory):
    X = table()
    rows = row_blocks(X) if in_memory else row_blocks(lambda: iter(cut(X)))
    with pytest.raises(ValueError, match=message):
        call(rows)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"d": 0}, "d must be an integer of at least 1"),
        ({"blocks": 3}, "blocks must be a function"),
        ({"name": 3}, "name must be text"),
        ({"in_memory": np.eye(3)}, r"in_memory must have shape \(n, 2\)"),
        ({"known": Gram(3, np.eye(3), None)}, "known must be the Gram matrix of 2 columns, got 3"),
        ({"known": np.eye(2)}, "known must be a record"),
        ({"size": -1}, "size must be an integer of at least 0"),
        ({"select": lambda: None}, "select must be a function of 1 arguments"),
    ],
)
def test_blocks_that_contradict_themselves_are_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        RowBlocks(**({"d": 2, "blocks": lambda: iter([np.ones((5, 2))])} | changed))


def test_a_matrix_in_memory_is_checked_when_it_is_taken():
    for wrong, message in (([[1.0, np.nan]], "X must be finite, got nan"), (np.ones(3), "X must have blocks of shape")):
        with pytest.raises(ValueError, match=message):
            RowBlocks.of_array("X", wrong)
    X = table()
    assert RowBlocks.of_array("X", X).in_memory is X  # and not copied
    path = fit_path(X, LAMS)
    with pytest.raises(ValueError, match=f"rows must have {D} columns"):
        path.residual_pair(0, X[:, :3])
