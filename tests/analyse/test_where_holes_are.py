"""Where the holes of a table are: columns, groups, runs, rows, by hand and against chance."""

from itertools import combinations, permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from figures.analyse.matrix.holes import hole_pattern
from figures.analyse.matrix.holes.hiding import hidden_parts
from figures.analyse.matrix.holes.where import _chance, _is_long, _longest
from figures.analyse.matrix.holes.where_report import percent, where_text
from simulate.core import stream
from simulate.masked.holes.laid import come_together


def said(seen, names="abcdefghij"):
    """The sentences on a table whose first row is line 2 of its file."""
    return " ".join(where_text(hole_pattern(seen), list(names[: seen.shape[1]]), lambda row: row + 2))


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 6), st.floats(0, 1))
def test_counts_are_those_of_the_table(seed, n, d, share):
    seen = np.random.default_rng(seed).random((n, d)) >= share
    found = hole_pattern(seen)
    assert found.cells == (~seen).sum()
    assert found.complete_rows == sum(all(row) for row in seen)
    assert list(found.missing) == [sum(not cell for cell in column) for column in seen.T]
    assert sorted(found.columns) == [k for k in range(d) if not all(seen[:, k])]
    tails = [row for row in seen.tolist() if 2 <= row.count(False) < d and row == sorted(row, reverse=True)]
    assert found.tails == len(tails)


def test_the_chance_of_common_rows_is_that_of_all_choices():
    n, first, second = 7, 3, 4
    shared = [len({0, 1, 2} & set(rows)) for rows in combinations(range(n), second)]
    for k in range(4):
        expected = sum(one >= k for one in shared) / comb(n, second)
        assert _chance(n, first, second, k) == pytest.approx(expected, rel=1e-12)


def test_a_run_is_judged_by_the_expected_number_of_such_runs():
    """Against all orders of a short column."""
    holes = (1, 1, 1, 0, 0, 0, 0, 0)
    orders = set(permutations(holes))
    starts = [sum(order[i : i + 3] == (1, 1, 1) for i in range(6)) for order in orders]
    expected = np.mean(starts)
    run = _longest(0, np.array([0, 1, 1, 1, 0, 0, 0, 0], dtype=bool))
    assert (run.first, run.last, run.length) == (1, 3, 3)
    missing = np.array([3])
    assert _is_long(run, 8, missing, d=1) == (expected < 0.01)
    # the limit is passed where so many columns could have given it
    rows = next(n for n in range(8, 200) if (n - 2) / comb(n, 3) < 0.01)
    assert _is_long(run, rows, missing, d=1)
    assert not _is_long(run, rows - 1, missing, d=1)
    assert not _is_long(run, rows, missing, d=2)


def test_holes_by_chance_are_rarely_called_together_or_a_run():
    together = runs = 0
    for draw in range(300):
        rng = stream(0, "where", draw)
        seen = rng.random((50, 10)) >= rng.uniform(0.02, 0.5, 10)
        found = hole_pattern(seen)
        together, runs = together + bool(found.together), runs + bool(found.runs)
    assert together <= 9  # 300 tables at a level of at most 1 %: more than nine have a probability below 1e-3
    assert runs <= 9


def test_groups_runs_and_ends_are_named():
    seen = np.ones((60, 5), dtype=bool)
    seen[[3, 17, 30, 44, 45], 0] = False
    seen[[3, 17, 30, 44, 45], 3] = False
    seen[41:, 2] = False
    text = said(seen)
    assert "29 of 300 cells (10 %) in 3 of 5 columns are missing; 38 rows of 60 (63 %) are complete." in text
    assert "The columns with most missing cells are c (32 %), a (8 %), d (8 %)." in text
    assert "These columns have nearly all their holes in the same rows: (a, d)." in text
    assert "column c in 19 rows that follow each other (rows 43 to 61 of the file, its end)" in text
    assert "measurements of a row end early" not in text


def test_rows_that_end_early_are_told():
    seen = np.ones((40, 6), dtype=bool)
    for row, length in enumerate(stream(1, "dropout").integers(2, 7, 40)):
        seen[row, length:] = False
    found = hole_pattern(seen)
    assert found.drops_out
    assert found.tails == found.several
    assert f"In {found.tails} of the {found.tails} rows with several holes everything is missing from some" in said(
        seen
    )


def test_few_complete_rows_are_pointed_out():
    seen = np.ones((30, 10), dtype=bool)
    seen[2:, 0] = seen[2::2, 1] = False
    assert "2 rows of 30 (7 %) are complete. The complete rows hold 8 % of the cells that are seen" in said(seen)


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0 %"), (1, "100 %"), (0.0004, "less than 0.1 %"), (0.004, "0.4 %"), (0.5, "50 %"), (0.996, "99.6 %")],
)
def test_shares_are_written_so_that_all_and_nothing_are_just_that(share, text):
    assert percent(share) == text


@given(st.integers(0, 2**32 - 1), st.floats(0, 0.9))
def test_tenths_are_hidden_once_each_and_leave_something(seed, share):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 5))
    X[:, 4] = np.arange(40) == 2  # all equal but one
    X[6:][rng.random((34, 5)) < share] = np.nan
    seen = ~np.isnan(X)
    parts = list(hidden_parts(X, 10, 3))
    times = np.sum(parts, axis=0)
    if not come_together(seen):  # six rows are complete, which many holes in all others make unlike them
        assert times.max() == 1
    assert not (times.astype(bool) & ~seen).any()
    for part in parts:
        left = seen & ~part
        assert left.sum(axis=0).min() >= 5
        assert left[2, 4]
        assert (left.any(axis=1) == seen.any(axis=1)).all()
        assert part.sum() <= np.ceil(seen.sum(axis=0) / 10).sum()
    again = list(hidden_parts(X, 12, 3))
    np.testing.assert_array_equal(again[:10], parts)
    assert (again[10] != parts[0]).any() or come_together(seen)


def test_entries_are_hidden_together_where_holes_come_together():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((120, 6))
    X[rng.random(120) < 0.3, 2:5] = np.nan
    for part in hidden_parts(X, 12, 3):
        assert not (part & np.isnan(X)).any()
        assert (part[:, 2:5].all(axis=1) == part[:, 2:5].any(axis=1)).all()
        assert 0 < part[:, 3].sum() <= np.isfinite(X[:, 3]).sum() / 10
