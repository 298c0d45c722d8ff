"""Correlations of rows, the exact test of independence, the autoregression in time, and what tells rows apart."""

import numpy as np
import pytest
from scipy.linalg import solve_toeplitz, toeplitz
from scipy.stats import binom

from simulate.core import Estimate, stream
from simulate.masked import autocorrelation, autoregressive_rows, diagnose_rows, fit, row_autocorrelation, sample
from simulate.masked.autocorrelation import permutation_test
from simulate.masked.diagnosis import leave_one_out_ratio
from simulate.masked.heterogeneity import largest_row_scale
from simulate.masked.lagged_products import chosen_autoregression, mean_covariances, without_mean, without_shift
from theory.models import (
    AR1,
    AR1Rows,
    Autocovariance,
    EqualScales,
    GammaScales,
    IndependentRows,
    PointScales,
    Scaled,
    StudentTScales,
    SubjectRows,
)

FOURS = np.repeat(np.arange(15), 4)  # subjects of four rows each
INDEPENDENT, ALIKE = IndependentRows(), EqualScales()
SCALES = PointScales([0.4, 2.8], [0.75, 0.25])


def columns(d):
    """A covariance of d columns of unlike variance, whose effective number is d/2.6."""
    return Scaled(AR1(d, 0.6), np.sqrt(np.linspace(0.1, 1.9, d)))


def second_order(n):
    """The autocovariance of x_i = .5 x_(i-1) + .3 x_(i-2) + noise."""
    values = [1.0, 0.5 / 0.7]
    for _ in range(n - 2):
        values.append(0.5 * values[-1] + 0.3 * values[-2])
    return Autocovariance(values[:n])


def alarms(name, d, runs, law=ALIKE, dependence=INDEPENDENT, groups=None, permutations=19, n=60):
    """How many of the data sets the test calls dependent at the level .05."""
    found = 0
    for i in range(runs):
        rng = stream(0, "alarms", name, d, i)
        X = sample(columns(d), n, rng, row_scales=law, row_dependence=dependence)
        found += row_autocorrelation(X, 1, rng, groups, permutations).p_value <= 0.05
    return found


@pytest.mark.parametrize("groups", [None, FOURS], ids=["in time", "subjects"])
@pytest.mark.parametrize("law", [EqualScales(), StudentTScales(5.0)], ids=repr)
def test_false_alarms_are_at_the_level_for_any_law_of_independent_rows(law, groups):
    """At 19 permutations and the level .05 the test is exact; the bounds hold in all but 1e-5 of the cases."""
    found = alarms(f"{law!r}, {groups is None}", 20, 120, law, groups=groups)
    assert binom.ppf(5e-6, 120, 0.05) <= found <= binom.isf(5e-6, 120, 0.05)


@pytest.mark.parametrize(
    ("dependence", "groups", "power"),
    [(AR1Rows(60, 0.1), None, 0.7), (AR1Rows(60, -0.15), None, 0.9), (SubjectRows([4], 0.1, n=60), FOURS, 0.9)],
    ids=["in time", "alternating", "subjects"],
)
def test_power_against_weak_dependence(dependence, groups, power):
    found = alarms(repr(dependence), 60, 40, dependence=dependence, groups=groups)
    assert found >= binom.ppf(1e-5, 40, power)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dependence", "groups", "shares"),
    [
        (INDEPENDENT, None, (0.05, 0.05)),
        (AR1Rows(60, 0.05), None, (0.08, 0.21)),
        (AR1Rows(60, 0.1), None, (0.30, 0.78)),
        (INDEPENDENT, FOURS, (0.05, 0.05)),
        (SubjectRows([4], 0.05, n=60), FOURS, (0.29, 0.60)),
        (SubjectRows([4], 0.1, n=60), FOURS, (0.74, 0.98)),
    ],
    ids=["independent", "0.05", "0.1", "independent subjects", "subjects 0.05", "subjects 0.1"],
)
def test_level_and_power_of_the_test_with_many_permutations(dependence, groups, shares):
    """The shares of alarms of 400 sets of 20 and 60 columns, beside those of 400 other sets measured before."""
    for d, share in zip((20, 60), shares, strict=True):
        found = alarms(
            f"many {dependence!r} {groups is None}", d, 400, dependence=dependence, groups=groups, permutations=199
        )
        spread = np.sqrt(2 * max(share * (1 - share), 0.03) / 400)
        assert abs(found / 400 - share) < 4.5 * spread


def test_the_statistic_is_a_sum_over_lags_of_squared_mean_cosines():
    X = sample(AR1(6, 0.5), 25, stream(0, "statistic"), row_dependence=AR1Rows(25, 0.3))
    rows = X - X.mean(axis=0)

    def statistic(order):
        total = 0.0
        for lag in range(1, 6):
            cosines = [
                rows[a] @ rows[b] / np.linalg.norm(rows[a]) / np.linalg.norm(rows[b])
                for a, b in zip(order[:-lag], order[lag:], strict=True)
            ]
            total += (np.mean(cosines) + 1 / 24) ** 2
        return total

    rng = stream(0, "orders")
    by_chance = [statistic(rng.permutation(25)) for _ in range(39)]
    expected = (1 + sum(one >= statistic(np.arange(25)) for one in by_chance)) / 40
    assert 0 < expected < 1
    assert permutation_test(rows, stream(0, "orders"), 39) == expected


def test_many_rows_are_compared_without_all_products(monkeypatch):
    X = sample(AR1(6, 0.5), 50, stream(0, "large"), row_dependence=AR1Rows(50, 0.1))
    X -= X.mean(axis=0)
    expected = permutation_test(X, stream(1))
    monkeypatch.setattr(autocorrelation, "MAX_GRAM_ROWS", 10)
    assert permutation_test(X, stream(1)) == expected
    assert 0.01 < expected < 0.99


@pytest.mark.parametrize("correlation", [0.2, -0.15])
def test_within_groups_the_distance_of_the_mean_cosine_from_its_mean_is_ranked(correlation):
    X = sample(AR1(5, 0.5), 24, stream(0, "groups"), row_dependence=SubjectRows([3], correlation, n=24))
    rows, groups = X - X.mean(axis=0), np.repeat(np.arange(8), 3)
    unit = rows / np.linalg.norm(rows, axis=1)[:, None]

    def cosine(labels):
        return sum(unit[a] @ unit[b] for a in range(24) for b in range(a) if labels[a] == labels[b])

    mean = np.mean([unit[a] @ unit[b] for a in range(24) for b in range(a)]) * 24  # as many pairs are within groups
    rng = stream(0, "labels")
    by_chance = [abs(cosine(groups[np.argsort(rng.permutation(24))]) - mean) for _ in range(39)]
    expected = (1 + sum(one >= abs(cosine(groups) - mean) for one in by_chance)) / 40
    assert permutation_test(rows, stream(0, "labels"), 39, groups) == expected


@pytest.mark.parametrize("sizes", [[4] * 6, [3, 1, 7, 2, 2, 5, 4], [1] * 10 + [10]])
@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.9])
def test_the_correlation_within_groups_is_exact_in_the_mean(sizes, correlation):
    """The columns of T^(1/2) are data whose products of rows are the mean ones: the estimate is the correlation."""
    law = SubjectRows(sizes, correlation)
    X = np.linalg.cholesky(law.matrix)
    order = stream(0, "order").permutation(law.size)
    found = row_autocorrelation(X[order], 1, stream(0), law.groups[order])
    assert found.values[0] == pytest.approx(correlation, abs=1e-10)
    assert found.mean_variance == pytest.approx(law.matrix.mean(), rel=1e-9)


@pytest.mark.parametrize("law", [AR1Rows(40, 0.6), AR1Rows(40, -0.7), AR1Rows(60, 0.9), second_order(50)], ids=repr)
def test_the_shift_by_the_mean_is_undone_in_the_mean(law):
    """Products of rows about their mean, J T J, give back the correlations: exactly where the mean is known."""
    n = law.size
    J = np.eye(n) - 1 / n
    products = np.array([np.trace(J @ law.matrix @ J, h) for h in range(9)])
    pooled, expected = products / products[0], law.matrix[0, :9]
    np.testing.assert_allclose(mean_covariances(law.matrix[0]), law.matrix.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(without_shift(pooled, law.matrix.mean(axis=0)), expected, atol=1e-12)
    found = without_mean(pooled, n, 1e3, 8)
    assert abs(found.correlations - expected).max() < 0.2 * abs(pooled * n / (n - np.arange(9)) - expected).max() + 1e-3
    assert found.mean_variance == pytest.approx(law.matrix.mean(), rel=0.2)
    assert found.process.order == (2 if isinstance(law, Autocovariance) else 1)
    assert found.residual < 1e-9
    np.testing.assert_allclose(found.covariances, found.correlations * (1 - np.arange(9) / n), rtol=1e-12)


def test_orders_are_solved_one_after_the_other():
    values = np.array([1.0, 0.8, 0.5, 0.35, 0.1])
    for order in range(1, 5):
        found = chosen_autoregression(values, 1e9, order, order)
        expected = solve_toeplitz(values[:order], values[1 : order + 1])
        np.testing.assert_allclose(found.coefficients, expected, rtol=1e-12)
        assert found.noise == pytest.approx(1 - expected @ values[1 : order + 1])


def test_estimates_of_correlations_are_right_and_as_exact_as_said(agrees):
    d, n = 40, 60
    found = [
        row_autocorrelation(
            sample(columns(d), n, stream(0, "in time", i), row_dependence=law), 3, stream(0), permutations=19
        )
        for law in [AR1Rows(n, 0.6)]
        for i in range(80)
    ]
    for h in range(3):
        agrees(Estimate.of([one.values[h] for one in found]), 0.6 ** (h + 1), resolves=0.3, bias=0.5 / n)
    agrees(
        Estimate.of([one.mean_variance for one in found]), AR1Rows(n, 0.6).mean_variance, resolves=0.15, bias=0.1 / n
    )
    alone = [
        row_autocorrelation(sample(columns(d), n, stream(0, "alone", i)), 3, stream(0), permutations=19)
        for i in range(100)
    ]
    spread = np.std([one.values for one in alone], axis=0)
    np.testing.assert_allclose(np.mean([one.stderr for one in alone], axis=0), spread, rtol=0.3)
    variances = columns(d).matrix
    agrees(
        Estimate.of([one.effective_columns for one in alone]),
        np.trace(variances) ** 2 / np.sum(variances**2),
        resolves=0.2,
    )


def test_the_order_is_found_and_continued():
    law = second_order(300)
    found = autoregressive_rows(sample(columns(40), 300, stream(0, "order"), row_dependence=law))
    assert found.order == 2
    np.testing.assert_allclose(found.coefficients, [0.5, 0.3], atol=0.05)
    continued = found.dependence(40)
    assert continued.n == 40
    values = continued.matrix[0]
    np.testing.assert_allclose(values[:3], found.autocovariance, rtol=1e-12)
    np.testing.assert_allclose(values[2:], found.coefficients @ [values[1:-1], values[:-2]], atol=1e-12)
    assert found.noise == pytest.approx(1 - found.coefficients @ values[1:3])
    assert np.linalg.eigvalsh(toeplitz(values))[0] > 0


def test_an_order_needs_the_test_and_the_level():
    """BIC alone finds an order in half of these tables of few rows, also where the test does not reject."""
    law = AR1Rows(24, 0.3)
    tables = [sample(AR1(4, 0.5), 24, stream(0, "gate", i), row_dependence=law) for i in range(30)]
    gated = [autoregressive_rows(X, stream(1, i), permutations=99) for i, X in enumerate(tables)]
    assert all(one.order == 0 for one in gated if one.p_value > 0.01)
    free = [autoregressive_rows(X, stream(1, i), level=0.99, permutations=9).order for i, X in enumerate(tables)]
    assert sum(order > 0 and one.p_value > 0.01 for order, one in zip(free, gated, strict=True)) >= 4
    independent = [autoregressive_rows(sample(AR1(4, 0.5), 40, stream(0, "alone", i))) for i in range(40)]
    assert sum(one.order > 0 for one in independent) <= binom.isf(1e-5, 40, 0.01)
    X = sample(AR1(30, 0.5), 60, stream(0, "level"), row_dependence=AR1Rows(60, 0.7))
    assert autoregressive_rows(X).p_value == 0.005
    assert autoregressive_rows(X).order >= 1
    assert autoregressive_rows(X, level=0.004, permutations=249).p_value == 0.004
    assert autoregressive_rows(X, max_order=0).order == 0
    np.testing.assert_array_equal(autoregressive_rows(X - X.mean(axis=0)).dependence(5).matrix.shape, (5, 5))


def test_nearly_unchanging_rows_have_a_process_too():
    """A random walk is no stationary process; the estimate stays below one, and T positive semi-definite."""
    walk = np.cumsum(stream(0, "walk").standard_normal((50, 10)), axis=0)
    found = autoregressive_rows(walk)
    assert 0.8 < found.autocovariance[1] < 0.98
    assert 0.2 < found.mean_variance <= 0.9
    assert found.dependence(50).eigenvalues.min() >= 0


def test_rows_of_a_group_that_are_less_alike_than_others_are_dependent_too():
    rng = stream(0, "within means")
    X = sample(columns(20), 60, rng)
    X -= np.repeat(X.reshape(20, 3, 20).mean(axis=1), 3, axis=0)  # each group about its own mean
    groups = np.repeat(np.arange(20), 3)
    found = row_autocorrelation(X, 1, rng, groups)
    assert found.p_value == 0.005
    assert found.values[0] == pytest.approx(-0.5, abs=1e-12)
    assert found.dependence().correlation == pytest.approx(-0.5, abs=1e-12)
    assert diagnose_rows(X, 0.1, rng, groups).kind == "dependent"


def test_groups_give_a_law_of_subjects():
    law = SubjectRows([3, 5, 2], 0.5, n=60)
    X = sample(columns(40), 60, stream(0, "law"), row_dependence=law)
    found = row_autocorrelation(X, 1, stream(0), law.groups).dependence()
    assert found.sizes == law.sizes
    assert found.correlation == pytest.approx(0.5, abs=0.15)
    alone = sample(columns(40), 60, stream(0, "no law"))
    assert isinstance(row_autocorrelation(alone, 1, stream(0), law.groups).dependence(), IndependentRows)


@pytest.mark.parametrize(
    ("kind", "correlation", "law"),
    [
        ("independent", 0.0, EqualScales()),
        ("dependent", 0.6, EqualScales()),
        ("dependent", 0.9, EqualScales()),
        ("unlike", 0.0, SCALES),
        ("dependent and unlike", 0.6, SCALES),
    ],
)
def test_dependent_and_unlike_rows_are_told_apart(kind, correlation, law):
    found = []
    for i in range(8):
        rng = stream(0, "kinds", kind, correlation, i)
        X = sample(AR1(60, 0.6), 120, rng, row_scales=law, row_dependence=AR1Rows(120, correlation))
        found.append(diagnose_rows(X, 0.05, rng))
    assert sum(one.kind == kind for one in found) >= 7
    ratio = np.mean([one.loo_over_gcv for one in found])
    assert ratio == pytest.approx(1.75 if law is SCALES else 1.0, abs=0.12 if law is SCALES else 0.01)
    assert np.mean([one.autocorrelation.values[0] for one in found]) == pytest.approx(correlation, abs=0.15)


def test_one_row_of_a_large_scale_is_seen():
    """Among 60 rows it raises the ratio of the two cross-validations less than three of its standard errors."""
    for i in range(8):
        rng = stream(0, "one large row", i)
        X = sample(AR1(20, 0.6), 60, rng)
        X[7] *= 10.0
        found = diagnose_rows(X, 0.05, rng)
        assert found.largest_row == 7
        assert found.largest_p_value == 0.01
        assert found.largest_scale > 5
        assert found.kind == "unlike"
        assert found.loo_over_gcv < 1 + 3 * found.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("d", "lam", "scale", "power"), [(6, 0.05, 16, 0.75), (20, 0.5, 4, 0.75), (60, 0.1, 4, 0.75)])
def test_level_and_power_of_the_test_of_the_largest_scale(d, lam, scale, power):
    """At the level 0.1 it is wrong in one table of ten, and one row of this scale is found as often as measured."""
    wrong = right = 0
    for i in range(200):
        rng = stream(0, "largest scale", d, lam, i)
        X = sample(AR1(d, 0.6), 40, rng)
        other = X.copy()
        other[3] *= np.sqrt(scale)
        for table, large in ((X, False), (other, True)):
            table = table - table.mean(axis=0)
            row, _, p_value = largest_row_scale(fit(table, lam), table, rng, 0.1)
            wrong += not large and p_value <= 0.1
            right += large and p_value <= 0.1 and row == 3
    assert binom.isf(1 - 1e-4, 200, 0.1) <= wrong <= binom.isf(1e-4, 200, 0.1)
    assert right >= binom.isf(1 - 1e-4, 200, power)


@pytest.mark.parametrize("n", [15, 40])
def test_the_ratio_of_cross_validations_and_its_error_over_rows(n):
    X = sample(AR1(20, 0.6), n, stream(0, "ratio", n), row_scales=GammaScales())
    found = fit(X, 0.1)
    ratio, stderr = leave_one_out_ratio(found)
    assert ratio == pytest.approx(found.loo_error.mean() / found.mean_gcv_error, rel=1e-9)
    residuals = X - X @ found.predictor.T
    left_out = (found.loo_residuals**2).mean(axis=1)
    reported = (residuals**2 * found.gcv_error / found.train_error).mean(axis=1)

    def value(weights):
        return (weights @ left_out) / (weights @ reported)

    step = np.array([value(1 + 1e-5 * row) - value(1 - 1e-5 * row) for row in np.eye(n)]) * n / 2e-5
    assert stderr == pytest.approx(step.std(ddof=1) / np.sqrt(n), rel=1e-6)


X = sample(AR1(6, 0.5), 40, stream(0, "bad"))
RNG = stream(0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: row_autocorrelation(X[:19], 3, RNG), "X must have at least 20 rows"),
        (lambda: autoregressive_rows(X[:19]), "X must have at least 20 rows"),
        (lambda: diagnose_rows(X[:19], 0.1, RNG), "X must have at least 20 rows"),
        (lambda: row_autocorrelation(X, 40, RNG), "lags must be below the number of rows, which is 40"),
        (lambda: row_autocorrelation(X, 0, RNG), "lags must be an integer of at least 1"),
        (lambda: row_autocorrelation(np.where(np.arange(6) == 2, 7.0, X), 3, RNG), "X must have no constant column"),
        (lambda: row_autocorrelation(X, 3, RNG, groups=np.zeros(40)), "groups must have at least two different labels"),
        (lambda: row_autocorrelation(X, 3, RNG, groups=np.arange(40)), "groups must have a label that occurs twice"),
        (
            lambda: row_autocorrelation(X, 3, RNG, groups=[np.nan, 1.0] * 20),
            "groups must have a label for each row, got nan at row 0",
        ),
        (
            lambda: row_autocorrelation(X, 3, RNG, groups=np.array(["2020-01-01", "NaT"] * 20, dtype="M8[D]")),
            "groups must have a label for each row, got NaT at row 1",
        ),
        (lambda: row_autocorrelation(X, 3, RNG, groups=np.arange(39)), r"groups must have one label .* shape \(40,\)"),
        (
            lambda: row_autocorrelation(X, 3, RNG, groups=[None, "a"] * 20),
            "groups must be a list of labels of one kind",
        ),
        (lambda: row_autocorrelation(X, 3, RNG, permutations=18), "permutations must be an integer of at least 19"),
        (lambda: row_autocorrelation(X, 3, 0), "rng must be a Generator"),
        (lambda: autoregressive_rows(X, max_order=40), "max_order must be below the number of rows"),
        (lambda: autoregressive_rows(X, permutations=98), "permutations must be at least 99 to reach level = 0.01"),
        (lambda: row_autocorrelation(X, 1, RNG).dependence(), "groups must have been given"),
        (lambda: diagnose_rows(X, 0.0, RNG), "lam must lie in"),
        (lambda: diagnose_rows(np.where(X > 2, np.nan, X), 0.1, RNG), "X must be finite"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_permutations_that_no_memory_holds_are_refused_at_once():
    with pytest.raises(MemoryError, match="what 1000000000000 permutations give by chance needs"):
        autoregressive_rows(X, permutations=10**12)
