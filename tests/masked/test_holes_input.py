"""Tables with holes: bad input is named, with its value and what is allowed."""

import math

import numpy as np
import pytest

from tests.masked.holes_draws import ring
from theory import masked
from theory.models import (
    AR1,
    Dropout,
    Equicorrelated,
    GaussianFreeField,
    Isotropic,
    MaskedRidge,
    MissingEntries,
    PowerLaw,
    RandomMasks,
    Toeplitz,
)

SIGMA = AR1(10, 0.5)
INF = math.inf


@pytest.mark.parametrize(
    "rate", [-0.1, 1, 1.5, math.nan, math.inf, "much", None, True, [], [[0.1]], [0.1, 1.0], [0.1, -0.1]]
)
def test_missing_rates(rate):
    for call in (
        lambda: MissingEntries(SIGMA, 2.0, 0.1, rate),
        lambda: MissingEntries(AR1(2, 0.5), 5.0, 0.1, rate),
        lambda: masked.oracle_error(AR1(2, 0.5), rate),
    ):
        with pytest.raises(ValueError, match="missing_rates"):
            call()


def test_rates_of_another_number_of_columns():
    with pytest.raises(ValueError, match="missing_rates must be one number, or one for each of d = 10, got 3"):
        MissingEntries(SIGMA, 2.0, 0.1, [0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match="missing_rates must be one number, or one for each of d = 10, got 3"):
        MissingEntries(SIGMA, 2.0, 0.1, Dropout([1.0, 0.5, 0.5]))
    with pytest.raises(ValueError, match="missing_rates must be one number, or one for each of d = inf, got 2"):
        MissingEntries(AR1(INF, 0.5), 2.0, 0.1, [0.1, 0.2])
    for rates in ([0.1, 0.2], Dropout([1.0, 0.5]), [0.1]):
        with pytest.raises(ValueError, match="missing_rates must be one number, or one for each of d = 10"):
            masked.oracle_error(SIGMA, rates)
        with pytest.raises(ValueError, match="missing_rates must be one number in the limit"):
            masked.oracle_error(AR1(INF, 0.5), rates)


@pytest.mark.parametrize(
    ("fractions", "message"),
    [
        ([1.0, 0.5, 0.6], "must not increase from one column to the next.*got 0.5 and then 0.6 at column 2"),
        ([1.0, 0.0], r"must lie in \(0, 1\]"),
        ([1.2, 0.5], r"must lie in \(0, 1\]"),
        ([], "non-empty"),
        ([1.0, math.nan], "finite"),
        (0.5, "1 axes"),
        ("some", "real numbers"),
    ],
)
def test_fractions_of_dropout(fractions, message):
    with pytest.raises(ValueError, match=f"fractions_seen.*{message}|{message}"):
        Dropout(fractions)


def test_dropout_has_own_rows_only_and_needs_holes_for_a_table():
    with pytest.raises(ValueError, match="method must be 'own_rows' with a Dropout, got 'pairwise'"):
        MissingEntries(SIGMA, 2.0, 0.1, Dropout(np.linspace(1, 0.5, 10)), "pairwise")
    with pytest.raises(ValueError, match="rows must be 'holes' or 'complete' with a Dropout without holes"):
        MissingEntries(SIGMA, 2.0, 0.1, Dropout(np.ones(10)), rows="table")


@pytest.mark.parametrize("alpha", [1.0, 0, -1, math.inf, math.nan, "some"])
@pytest.mark.parametrize("lam", [0, -1, math.nan, math.inf, None])
def test_ratios_and_ridges(alpha, lam):
    with pytest.raises(ValueError, match=r"(lam|alpha) must"):
        MissingEntries(SIGMA, alpha, lam, 0.2)


@pytest.mark.parametrize(
    ("name", "value"),
    [("method", "em"), ("rows", "new"), ("rescaled", "no"), ("row_scales", 1.0), ("covariance", np.eye(3))],
)
def test_choices_and_records(name, value):
    fields = {"covariance": SIGMA, "alpha": 2.0, "lam": 0.1, "missing_rates": 0.2} | {name: value}
    with pytest.raises(ValueError, match=f"{name} must be"):
        MissingEntries(**fields)


@pytest.mark.parametrize(("method", "rows"), [("own_rows", "holes"), ("own_rows", "table"), ("pairwise", "complete")])
def test_only_own_rows_on_complete_rows_can_be_left_as_they_are_fitted(method, rows):
    with pytest.raises(ValueError, match=f"rescaled must be True but for.*got False for '{method}' on '{rows}'"):
        MissingEntries(SIGMA, 2.0, 2.0, 0.2, method, rows, rescaled=False)


def test_columns_that_are_expected_in_too_few_rows():
    with pytest.raises(ValueError, match=r"2 rows of every column: at n = 20 column 3, seen with probability 0.05"):
        MissingEntries(SIGMA, 2.0, 0.1, np.where(np.arange(10) == 3, 0.95, 0.1))
    with pytest.raises(ValueError, match="leave 2 rows of every column: at n = 3"):
        MissingEntries(SIGMA, 0.3, 0.1, 0.4)
    with pytest.raises(ValueError, match="leave 2 rows of every column"):
        MissingEntries(SIGMA, 1.0, 0.1, Dropout(np.append(np.ones(9), 0.1)))


def test_rows_without_anything_to_predict_from():
    with pytest.raises(ValueError, match=r"entries to predict from: a hole is expected to have 0.9 in its row"):
        MissingEntries(SIGMA, 50.0, 0.1, 0.9)


def test_pairs_of_columns_that_are_never_seen_together():
    rates = np.where(np.arange(10) < 2, 0.85, 0.1)
    with pytest.raises(ValueError, match=r"every pair of columns a row for .*, got a pair expected in 0.45"):
        MissingEntries(SIGMA, 2.0, 5.0, rates, "pairwise")
    assert masked.solve(MissingEntries(SIGMA, 2.0, 5.0, rates)).converged


def test_a_ridge_that_is_too_small_names_the_least_one():
    model = MissingEntries(Isotropic(INF), 0.5, 0.2499, 0.2, "pairwise", "complete")
    with pytest.raises(ValueError, match=r"lam must exceed the least ridge 0.25 of the pairwise estimator, got 0.2499"):
        masked.solve(model)
    for rows in ("complete", "holes", "table"):
        with pytest.raises(ValueError, match=r"lam must exceed the least ridge 0.2.* got 0.05.*'own_rows'"):
            masked.solve(MissingEntries(ring(20, 0.5), 1.0, 0.05, 0.2, "pairwise", rows))


@pytest.mark.parametrize("rows", ["holes", "table"])
def test_patterns_need_a_finite_size(rows):
    with pytest.raises(ValueError, match=f"rows must be 'complete' for method 'pairwise' in the limit.*got '{rows}'"):
        masked.solve(MissingEntries(AR1(INF, 0.5), 2.0, 2.0, 0.2, "pairwise", rows))


@pytest.mark.parametrize("count", [0, -1, 2.5, True, "all"])
def test_patterns_and_seeds(count):
    model = MissingEntries(SIGMA, 5.0, 2.0, 0.2, "pairwise")
    with pytest.raises(ValueError, match="patterns must be an integer"):
        masked.solve(model, patterns=count)
    with pytest.raises(ValueError, match="patterns must be"):
        masked.oracle_error(SIGMA, 0.2, patterns=count)
    if count != 0:
        with pytest.raises(ValueError, match="seed must be"):
            masked.solve(model, seed=count)


def test_other_problems_have_no_patterns():
    for model in (MaskedRidge(SIGMA, 2.0, 0.1), RandomMasks(SIGMA, 2.0, 0.1, 0.2)):
        with pytest.raises(ValueError, match=f"patterns must be left out for {type(model).__name__}"):
            masked.solve(model, patterns=10)


def test_exact_size_needs_a_size():
    with pytest.raises(ValueError, match="is the limit d -> infinity"):
        masked.solve(MissingEntries(AR1(INF, 0.5), 2.0, 0.1, 0.2), exact_size=True)
    with pytest.raises(ValueError, match="exact_size needs d of at least 2, got 1"):
        masked.solve(MissingEntries(AR1(1, 0.5), 20.0, 0.1, 0.2), exact_size=True)


def test_covariances_whose_limit_is_not_described():
    with pytest.raises(ValueError, match="covariance must have no factor that carries a finite part of every column"):
        masked.solve(MissingEntries(Equicorrelated(INF, 0.5), 2.0, 0.1, 0.2))
    with pytest.raises(ValueError, match="no finite variance"):
        masked.solve(MissingEntries(PowerLaw(INF, 1.5, rotation=0), 2.0, 0.1, 0.2))
    for covariance in (GaussianFreeField(INF, 0.5, 2), Toeplitz(INF, lambda t: 2 + np.cos(t))):
        with pytest.raises(ValueError, match="covariance must have a finite d, Haar-distributed eigenvectors"):
            masked.oracle_error(covariance, 0.2)
        found = masked.solve(MissingEntries(covariance, 2.0, 0.1, 0.2))
        assert found.converged
        with pytest.raises(ValueError, match="covariance must have a finite d"):
            _ = found.oracle_error


def test_what_is_no_record():
    with pytest.raises(ValueError, match=r"model must be a record of theory.models"):
        masked.solve("holes")
