"""Tables with holes: limits and symmetries, patterns drawn beside all of them, and what results say of themselves."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.masked.holes_draws import ring
from theory import masked
from theory.masked.holes.least_ridge import EdgeSearch, Shifted
from theory.models import (
    AR1,
    Dropout,
    Empirical,
    GammaScales,
    GivenSpectrum,
    Isotropic,
    MaskedRidge,
    MissingEntries,
    PointScales,
    StudentTScales,
    TwoLevel,
)

INF = math.inf
TWO = PointScales([0.2, 3.4], [0.75, 0.25])
METHODS = st.sampled_from(["own_rows", "pairwise"])
LAWS = st.sampled_from([PointScales([1.0]), TWO, GammaScales(0.7), StudentTScales(5.0)])
SOME = settings(max_examples=15)


@SOME
@given(METHODS, LAWS, st.floats(0.2, 20), st.floats(0.01, 10), st.floats(-0.9, 0.9))
def test_without_holes_it_is_masked_ridge(method, law, alpha, lam, r):
    for covariance in (AR1(INF, r), AR1(6, r), Isotropic(5), TwoLevel(INF), GivenSpectrum([0.2, 1.8])):
        if covariance.d * alpha < 2:
            continue
        for exact in (False, True)[: 1 + covariance.is_finite]:
            plain = masked.solve(MaskedRidge(covariance, alpha, lam, row_scales=law), exact_size=exact)
            for p in (0.0, 1e-9):
                model = MissingEntries(covariance, alpha, lam, p, method, "complete", row_scales=law)
                found = masked.solve(model, exact_size=exact)
                np.testing.assert_allclose(found.test_error, plain.test_error, rtol=1e-6 if p else 1e-9)


@pytest.mark.parametrize("rows", ["holes", "table"])
def test_without_holes_every_kind_of_row_is_complete(rows):
    for rates in (0.0, Dropout(np.ones(6))):
        if rows == "table" and rates != 0.0:
            continue
        model = MissingEntries(AR1(6, 0.7), 3.0, 0.3, rates, rows=rows)
        plain = masked.solve(MaskedRidge(AR1(6, 0.7), 3.0, 0.3), exact_size=True)
        np.testing.assert_allclose(masked.solve(model, exact_size=True).test_error, plain.test_error, rtol=1e-10)
    pairwise = MissingEntries(AR1(6, 0.7), 3.0, 0.3, 0.0, "pairwise", "holes")
    np.testing.assert_allclose(masked.solve(pairwise).test_error, plain.test_error, rtol=1e-10)


@SOME
@given(METHODS, LAWS, st.permutations(range(5)), st.floats(0.1, 10), st.booleans())
def test_the_order_of_columns_and_their_units(method, law, order, unit, exact):
    """Other units for all columns are another unit of the ridge."""
    Sigma, p = AR1(5, 0.6).matrix * np.outer(s := np.linspace(0.7, 1.3, 5), s), np.array([0.1, 0.3, 0.0, 0.2, 0.4])
    rows = "complete" if method == "pairwise" else "holes"

    def errors(Sigma, p, lam):
        model = MissingEntries(Empirical(Sigma), 8.0, lam, p, method, rows, row_scales=law)
        found = masked.solve(model, exact_size=exact)
        return found.test_error, found.least_ridge

    plain, least = errors(Sigma, p, 2.0)
    permuted, same = errors(Sigma[np.ix_(order, order)], p[list(order)], 2.0)
    np.testing.assert_allclose(permuted, plain[list(order)], rtol=1e-9)
    assert same == pytest.approx(least, rel=1e-7)
    scaled, larger = errors(unit * Sigma, p, unit * 2.0)
    np.testing.assert_allclose(scaled, unit * plain, rtol=1e-9)
    assert larger == pytest.approx(unit * least, rel=1e-7)


@SOME
@given(METHODS, st.floats(0.05, 0.6), st.floats(0.3, 30.0), st.floats(0.0, 0.9), LAWS)
def test_bounds(method, p, alpha, r, law):
    """No error is below the oracle, and a huge ridge leaves the variance; more holes raise the oracle."""
    for lam in (2.0, 1e6):
        found = masked.solve(
            MissingEntries(AR1(INF, r), alpha, lam + p / (1 - p), p, method, "complete", row_scales=law)
        )
        assert found.mean_test_error >= found.mean_oracle_error * (1 - 1e-9)
    assert found.mean_test_error == pytest.approx(1.0, rel=1e-2)
    oracles = [masked.oracle_error(AR1(INF, r), rate).mean for rate in (p, min(1.1 * p, 0.9))]
    assert oracles[0] <= oracles[1] * (1 + 1e-12)


@pytest.mark.parametrize("method", ["own_rows", "pairwise"])
def test_infinitely_many_rows(method):
    """Pairwise covariances tend to Sigma and reach the regression of complete rows; zeros in the inputs do not."""
    found = masked.solve(MissingEntries(AR1(INF, 0.7), 1e7, 1e-6, 0.3, method, "complete")).mean_test_error
    floor = 0.51 / 1.49
    if method == "pairwise":
        assert found == pytest.approx(floor, rel=1e-4)
    else:
        assert found > 1.1 * floor


@pytest.mark.parametrize("rows", ["holes", "table"])
def test_drawn_patterns_have_the_mean_of_all_of_them_and_honest_errors(rows):
    """Seven columns, one of which is never missing: by enumeration, and by 20 draws."""
    p = np.array([0.3, 0.2, 0.0, 0.5, 0.1, 0.3, 0.4])
    model = MissingEntries(AR1(7, 0.7), 5.0, 1.5, p, "pairwise", rows)
    exact = masked.solve(model, patterns=128)
    assert exact.mean_stderr == 0
    assert not exact.stderr.any()
    drawn = [masked.solve(model, patterns=120, seed=seed) for seed in range(20)]
    scores = np.array([(one.mean_test_error - exact.mean_test_error) / one.mean_stderr for one in drawn])
    assert 0.5 < np.sqrt(np.mean(scores**2)) < 1.4
    assert abs(scores.mean()) < 0.7
    single = np.array([(one.test_error - exact.test_error) / one.stderr for one in drawn])
    assert 0.6 < np.sqrt(np.mean(single**2)) < 1.5
    again = masked.solve(model, patterns=120, seed=3)
    assert np.array_equal(again.test_error, drawn[3].test_error)


def test_new_rows_lie_between_complete_ones_and_the_variance():
    complete, holes, table = (
        masked.solve(MissingEntries(ring(7, 0.7), 5.0, 2.0, 0.4, "pairwise", rows), patterns=128).mean_test_error
        for rows in ("complete", "holes", "table")
    )
    assert complete < holes < table < 1


def test_the_own_holes_of_a_table_are_new_ones_to_own_rows():
    one, two = (masked.solve(MissingEntries(AR1(8, 0.6), 4.0, 0.1, 0.3, rows=rows)) for rows in ("holes", "table"))
    assert np.array_equal(one.test_error, two.test_error)


def test_dropout_counts_kinds_of_rows():
    kinds = Dropout([0.9, 0.9, 0.6, 0.6, 0.2])
    np.testing.assert_array_equal(kinds.lengths, [0, 2, 4, 5])
    np.testing.assert_allclose(kinds.shares, [0.1, 0.3, 0.4, 0.2])
    assert kinds.d == 5
    assert repr(kinds) == "Dropout(d=5, fractions_seen from 0.9 to 0.2)"


def test_one_kind_of_rows_with_the_mean_covariance_is_close_to_dropout():
    """Own rows of kinds with one covariance would be independent holes; the shares of pairs seen decide the rest."""
    d = 24
    seen = 1 - 0.5 * (np.arange(d) // 4) / 6
    found = masked.solve(MissingEntries(ring(d, 0.7), 4.0, 0.1, Dropout(seen)))
    Sigma, k = ring(d, 0.7).matrix, 6
    shown = np.minimum.outer(seen, seen)
    shown = np.minimum(shown, seen[k]) / seen[k]  # of the rows that have column k
    T = Empirical(shown * Sigma)
    one = masked.solve(MaskedRidge(T, 4.0 * seen[k], 0.1), exact_size=True)
    assert found.test_error[k] == pytest.approx(one.test_error[k], rel=5e-3)
    assert found.effective_ridge[k] == pytest.approx(one.effective_ridge[k], rel=5e-3)


def test_a_column_without_holes_has_no_error_in_the_table():
    model = MissingEntries(AR1(6, 0.6), 5.0, 0.1, Dropout([1, 1, 1, 0.5, 0.5, 0.5]), rows="table")
    found = masked.solve(model)
    np.testing.assert_array_equal(np.isnan(found.test_error), [True] * 3 + [False] * 3)
    assert found.mean_test_error == np.mean(found.test_error[3:])
    assert found.mean_oracle_error <= found.mean_test_error
    # The columns after the end of a row tell nothing of each other there.
    assert found.test_error[3] < found.test_error[4] < found.test_error[5]


def test_results_and_records_show_and_carry_themselves():
    model = MissingEntries(AR1(6, 0.6), 5.0, 0.9, np.array([0.1, 0.2, 0.1, 0.1, 0.1, 0.1]), "pairwise", "complete")
    assert "missing_rates=<6 from 0.1 to 0.2>" in repr(model)
    assert "rescaled" not in repr(model)
    assert "rescaled=False" in repr(MissingEntries(AR1(6, 0.6), 5.0, 0.9, 0.1, rows="complete", rescaled=False))
    found = masked.solve(model)
    assert found.effective_ridge.shape == (6,)
    assert list(found.to_frame().columns) == ["coordinate", "test_error", "stderr"]
    assert "mean_stderr=0" in repr(found)
    copy = pickle.loads(pickle.dumps(found))
    assert np.array_equal(copy.test_error, found.test_error)
    equal = MissingEntries(AR1(6, 0.6), 5.0, 0.9, np.full(6, 0.1), "pairwise", "complete")
    assert equal.missing_rates == 0.1
    np.testing.assert_allclose(model.rows_per_column, 30 * np.array([0.9, 0.8, 0.9, 0.9, 0.9, 0.9]))
    assert isinstance(masked.solve(equal).effective_ridge, float)


def test_the_edge_is_the_smallest_ridge_of_any_leverage():
    """Independent columns: ridges (p - x)/q + (1/n) sum/(...), by brute force over leverages."""
    modes = EdgeSearch(lambda x: Shifted(np.array([0.25 - 1.25 * x]), np.array([0.5 * 1.25])), PointScales([1.0]))
    leverages = np.geomspace(1e-3, 1e3, 4001)
    ridges = [modes.ridge(float(one)) for one in leverages]
    assert modes.least() <= min(ridges)
    assert modes.least() == pytest.approx(min(ridges), rel=1e-5)
    np.testing.assert_allclose(ridges, 0.25 - 1.25 / (1 + leverages) + 0.625 / leverages, rtol=1e-10)


@pytest.mark.parametrize(("method", "d"), [("pairwise", 5), ("own_rows", 6), ("own_rows", 9)])
def test_columns_that_are_alike_have_one_ridge_though_each_is_solved_with_its_own_rounding(method, d):
    model = MissingEntries(ring(d, 0.4), 2.3, 1.5, 0.3, method=method)
    ridge = masked.solve(model, exact_size=True).effective_ridge
    assert isinstance(ridge, float)
    unlike = MissingEntries(ring(d, 0.4), 2.3, 1.5, [0.3] * (d - 1) + [0.3 + 1e-9], method=method)
    assert np.shape(masked.solve(unlike, exact_size=True).effective_ridge) == (d,)
