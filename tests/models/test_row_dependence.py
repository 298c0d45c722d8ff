"""Dependence between rows: its matrices and laws beside closed forms, its limits, and what is no dependence."""

import math
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from theory.models import (
    AR1,
    AR1Rows,
    Autocovariance,
    EqualScales,
    GivenRows,
    IndependentRows,
    Isotropic,
    LongMemoryRows,
    MaskedRegression,
    MaskedRidge,
    PointScales,
    SpikedData,
    StudentTScales,
    SubjectRows,
)
from theory.models.joint_rows import joint_rows
from theory.models.row_scales import GAUSSIAN

TWO = PointScales([0.4, 2.8], [0.75, 0.25])
FINITE = [
    AR1Rows(12, 0.6),
    AR1Rows(12, -0.9),
    LongMemoryRows(12, 0.35),
    LongMemoryRows(12, -0.4),
    SubjectRows([4, 1, 7], 0.6),
    SubjectRows([4], -0.3, n=12),
    SubjectRows([3], 1.0, n=12),
    Autocovariance([1.0, 0.5, 0.2], n=12),
    Autocovariance(0.7 ** np.arange(20), n=12),
    GivenRows.rescaled(np.eye(12) + 0.1),
    joint_rows(TWO, AR1Rows(12, 0.6)),
]
LIMITS = [
    AR1Rows(math.inf, 0.6),
    AR1Rows(math.inf, -0.3),
    LongMemoryRows(math.inf, 0.35),
    LongMemoryRows(math.inf, -0.35),
    SubjectRows([4, 2], 0.6, n=math.inf),
    Autocovariance([1.0, 0.5, 0.2], n=math.inf),
]


@pytest.mark.parametrize("rows", FINITE, ids=repr)
def test_eigenvalues_are_those_of_the_matrix(rows):
    T = rows.matrix
    assert T.shape == (rows.n, rows.n) == (12, 12)
    np.testing.assert_allclose(T, T.T, atol=1e-15)
    assert np.mean(np.diagonal(T)) == pytest.approx(1, abs=1e-14)
    np.testing.assert_allclose(np.sort(rows.eigenvalues), np.maximum(np.linalg.eigvalsh(T), 0), atol=1e-13)
    t, vectors = rows.modes
    np.testing.assert_allclose((vectors * t) @ vectors.T, T, atol=1e-13)
    law = rows.law
    assert law.probabilities @ law.nodes == pytest.approx(1, abs=1e-14)
    assert law.heterogeneity == pytest.approx((T**2).sum() / 12, rel=1e-12)
    assert rows.mean_variance == pytest.approx(T.sum() / 144, rel=1e-12)
    assert not T.flags.writeable
    assert not rows.eigenvalues.flags.writeable
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(rows)).matrix, T)


@pytest.mark.parametrize("phi", [0.1, 0.6, -0.6, 0.9, 0.97, 0.999, 0.99999])
@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.7, 30.0, 1e6])
def test_averages_of_an_infinite_autoregression_have_closed_forms(phi, delta):
    """With a = 1 - phi^2, P = 1 + phi^2 + a D and W = P^2 - 4 phi^2, in 40 digits of mpmath."""
    from mpmath import mp, mpf, sqrt

    law = AR1Rows(math.inf, phi).law
    kept = law.nodes / (1 + law.nodes * delta)
    found = [law.probabilities @ kept, law.probabilities @ kept**2, law.probabilities @ (1 / (1 + law.nodes * delta))]
    with mp.workdps(40):
        r, D = mpf(phi), mpf(delta)
        a = 1 - r * r
        P = 1 + r * r + a * D
        W = P * P - 4 * r * r
        g = a / sqrt(W)
        expected = [float(g), float(a * a * P / W ** mpf("1.5")), float(1 - D * g)]
        spread = (1 + r * r) / a
        expected_moments = [float(spread), float(spread), float((1 + abs(r)) / (1 - abs(r)))]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13 * delta / (1 + delta))
    np.testing.assert_allclose([law.heterogeneity, law.mean_inverse, law.largest], expected_moments, rtol=1e-12)
    assert law.nodes.max() <= law.largest * (1 + 1e-12)


@pytest.mark.parametrize("memory", [-0.45, -0.2, 0.1, 0.2, 0.35, 0.45])
def test_averages_of_infinite_long_memory_are_those_of_its_spectral_density(memory):
    law = LongMemoryRows(math.inf, memory).law
    scale = math.gamma(1 - memory) ** 2 / math.gamma(1 - 2 * memory)
    assert scale * math.gamma(1 - 2 * memory) / math.gamma(1 - memory) ** 2 == pytest.approx(1)

    def mean(function):
        """In the logarithm of the frequency, where the power at frequency zero is smooth."""

        def integrand(x):
            w = math.exp(x)
            return function(scale * (2 * math.sin(w / 2)) ** (-2 * memory)) * w / math.pi

        cuts = [-300.0, -60.0, -30.0, -15.0, -6.0, -2.0, math.log(math.pi)]
        return sum(quad(integrand, *ends, epsabs=1e-15, epsrel=1e-13)[0] for ends in pairwise(cuts))

    for delta in (0.3, 1.0, 20.0):
        for power in (1, 2):
            found = law.probabilities @ (law.nodes / (1 + law.nodes * delta) ** power)
            assert found == pytest.approx(mean(lambda t, D=delta, k=power: t / (1 + t * D) ** k), rel=1e-11)
    assert law.probabilities @ law.nodes == pytest.approx(1, abs=1e-13)
    assert law.mean_inverse == pytest.approx(law.probabilities @ (1 / law.nodes), rel=1e-10)
    if memory < 0.25:
        squares = 1 + 2 * sum(LongMemoryRows(2000, memory).autocovariances(2000)[1:] ** 2)
        tail = 2 * 2000 * LongMemoryRows(2000, memory).autocovariances(2000)[-1] ** 2 / (1 - 4 * memory)
        assert law.heterogeneity == pytest.approx(squares + tail, rel=3e-3)
    else:
        assert law.heterogeneity == math.inf
    assert (law.largest == math.inf) == (memory > 0)


@pytest.mark.parametrize("rows", LIMITS, ids=repr)
def test_many_rows_have_the_law_of_the_limit(rows):
    """Ends are felt by O(1/n): twice the average of n rows less that of n/2 is near the limit."""
    far, near = rows.resized(1200).law, rows.resized(600).law

    def mean(law):
        return law.probabilities @ (law.nodes / (1 + 0.8 * law.nodes) ** 2)

    assert 2 * mean(far) - mean(near) == pytest.approx(mean(rows.law), abs=3e-5)
    assert mean(far) == pytest.approx(mean(rows.law), abs=2e-3)
    assert rows.mean_variance == 0
    assert rows.effective_rows() == math.inf or rows.law.heterogeneity == math.inf
    with pytest.raises(ValueError, match="must be finite for a matrix"):
        rows.matrix  # noqa: B018  # a property that raises


def test_families_agree_where_they_are_the_same():
    series = AR1Rows(9, 0.4)
    for other in (Autocovariance(0.4 ** np.arange(9)), GivenRows(series.matrix)):
        np.testing.assert_allclose(other.matrix, series.matrix, atol=1e-15)
        np.testing.assert_allclose(other.eigenvalues, series.eigenvalues, rtol=1e-12)
    np.testing.assert_allclose(Autocovariance(0.4 ** np.arange(30), n=9).next_row(2), series.next_row(2))
    np.testing.assert_allclose(series.next_row(2), 0.4 ** np.arange(10, 1, -1.0))
    np.testing.assert_allclose(Autocovariance(0.4 ** np.arange(9)).next_row(), [0.0, *series.next_row()[1:]])
    exchangeable = SubjectRows([9], 0.4)
    np.testing.assert_allclose(exchangeable.matrix, 0.6 * np.eye(9) + 0.4, atol=1e-15)
    many = Autocovariance(0.6 ** np.arange(120), n=math.inf).law
    closed = AR1Rows(math.inf, 0.6).law
    for delta in (0.1, 5.0):
        of = [law.probabilities @ (1 / (1 + delta * law.nodes) ** 2) for law in (many, closed)]
        assert of[0] == pytest.approx(of[1], rel=1e-12)
    assert Autocovariance.rescaled([2.0, 0.8], n=4).autocovariances(3).tolist() == [1.0, 0.4, 0.0]
    np.testing.assert_allclose(LongMemoryRows(5, 0.2).autocovariances(3), [1, 0.25, 0.25 * 1.2 / 1.8])


@pytest.mark.parametrize(
    "rows",
    [
        IndependentRows(),
        AR1Rows(8, 0.0),
        AR1Rows(math.inf, 0.0),
        LongMemoryRows(8, 0.0),
        LongMemoryRows(math.inf, 0.0),
        SubjectRows([1, 1, 6], 0.0),
        SubjectRows([1], 0.7, n=math.inf),
        Autocovariance([1.0], n=8),
        GivenRows(np.eye(8)),
    ],
    ids=repr,
)
def test_independent_rows_are_recognized(rows):
    assert rows.is_identity
    assert rows.law.alike
    assert rows.effective_share(3.0) == rows.effective_share() == 1
    model = MaskedRidge(Isotropic(4), 2.0, 0.1, TWO, rows)
    assert model.row_law is TWO
    assert MaskedRidge(Isotropic(4), 2.0, 0.1, row_dependence=rows).row_law is GAUSSIAN


@settings(derandomize=True, deadline=None, max_examples=15)
@given(phi=st.floats(-0.95, 0.95), alpha=st.floats(1.05, 50.0))
def test_effective_rows_lie_between_those_of_many_rows_and_all(phi, alpha):
    rows = AR1Rows(math.inf, phi)
    share = rows.effective_share(alpha)
    assert rows.effective_share() - 1e-12 <= share <= 1 + 1e-12
    assert share >= rows.effective_share(1.2 * alpha) - 1e-12
    assert rows.effective_share() == pytest.approx((1 - phi * phi) / (1 + phi * phi), rel=1e-12)


@pytest.mark.parametrize(
    ("phi", "shares"),
    [(0.6, (0.997, 0.945, 0.866, 0.681, 0.552, 0.478)), (0.9, (0.996, 0.924, 0.804, 0.487, 0.241, 0.115))],
)
def test_reference_values_of_effective_rows(phi, shares):
    """Of least squares, from the closed forms of an autoregression."""
    rows = AR1Rows(math.inf, phi)
    found = [rows.effective_share(alpha) for alpha in (1.1, 1.5, 2.0, 4.0, 10.0, 100.0)]
    np.testing.assert_allclose(found, shares, atol=6e-4)
    assert AR1Rows(80, phi).effective_rows(1.1) == pytest.approx(80 * AR1Rows(80, phi).effective_share(1.1))


def test_rows_of_subjects():
    rows = SubjectRows([2, 1], 0.5, n=6)
    assert rows.sizes == (2, 1, 2, 1)
    assert rows.groups.tolist() == [0, 0, 1, 2, 2, 3]
    assert rows.further_row(2).tolist() == [0, 0, 0, 0.5, 0.5, 0]
    assert SubjectRows([2, 1], 0.5, n=math.inf).further_row().tolist() == [0.5, 0.5, 0]
    assert SubjectRows(3, 0.5).sizes == (3,)
    assert SubjectRows([2, 1], 0.5).resized(9).n == 9


def test_scales_and_dependence_together():
    both = joint_rows(TWO, AR1Rows(400, 0.6))
    T = both.matrix
    scales = np.diagonal(T)
    assert sorted(set(scales.round(9))) == pytest.approx([0.4, 2.8])
    assert np.mean(scales > 1) == pytest.approx(0.25)
    np.testing.assert_allclose(T / np.sqrt(np.outer(scales, scales)), AR1Rows(400, 0.6).matrix, atol=1e-12)
    np.testing.assert_allclose(both._ahead(1) / np.sqrt(scales), AR1Rows(400, 0.6).next_row(), atol=1e-12)
    # Cells of a law with a density have its mean, and nearly its mean square.
    wide = joint_rows(StudentTScales(9.0), AR1Rows(400, 0.6))
    assert np.mean(np.diagonal(wide.matrix)) == pytest.approx(1)
    assert np.mean(np.diagonal(wide.matrix) ** 2) == pytest.approx(StudentTScales(9.0).heterogeneity, rel=0.03)
    model = MaskedRidge(AR1(200, 0.5), 2.0, 0.1, TWO, AR1Rows(400, 0.6))
    np.testing.assert_array_equal(np.sort(model.row_law.nodes), both.law.nodes)


def test_independent_rows_are_not_shown():
    plain = MaskedRidge(Isotropic(4), 2.0, 0.1, row_dependence=IndependentRows())
    assert "row_" not in repr(plain)
    assert plain == MaskedRidge(Isotropic(4), 2.0, 0.1)
    series = {"row_dependence": AR1Rows(8, 0.5)}
    for model in (
        MaskedRidge(Isotropic(4), 2.0, 0.1, **series),
        MaskedRegression(Isotropic(4), 2.0, **series),
        SpikedData(Isotropic(4), alpha=2.0, **series),
    ):
        assert "row_dependence=AR1Rows(n=8, correlation=0.5)" in repr(model)
        assert "row_scales" not in repr(model)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: AR1Rows(5, 1.0), "correlation must lie in"),
        (lambda: AR1Rows(5, -1.0), "correlation must lie in"),
        (lambda: AR1Rows(0, 0.5), "n must be an integer of at least 1 or infinity"),
        (lambda: AR1Rows(2.5, 0.5), "n must be an integer"),
        (lambda: LongMemoryRows(5, 0.5), r"memory must lie in \(-0.5, 0.5\)"),
        (lambda: LongMemoryRows(5, -0.5), r"memory must lie in \(-0.5, 0.5\)"),
        (lambda: SubjectRows([4], -0.34), r"at least -1/\(m - 1\) = -0.333333 for subjects of m = 4 rows"),
        (lambda: SubjectRows([4], 1.1), "correlation must lie in"),
        (lambda: SubjectRows([4, 0], 0.5), "group_sizes must be integers of at least 1"),
        (lambda: SubjectRows([2.5], 0.5), "group_sizes must be an array of integers"),
        (lambda: SubjectRows([], 0.5), "group_sizes must be"),
        (lambda: SubjectRows([4], 0.5, n=6), "n must be a multiple of the sum 4"),
        (lambda: SubjectRows([4], 0.5).further_row(1), "group must be a subject from 0 to 0, got 1"),
        (lambda: AR1Rows(4, 0.5).next_row(0), "steps must be an integer of at least 1"),
        (lambda: AR1Rows(math.inf, 0.5).next_row(), "must be finite"),
        (lambda: Autocovariance([0.9, 0.1]), "values must begin with 1, the variance, got 0.9.*rescaled"),
        (lambda: Autocovariance([1.0, 0.9, 0.1]), "got a variance -0.2.* at the frequency of 0.5 cycles per row"),
        (lambda: Autocovariance([1.0, -0.8], n=50), "at the frequency of 0 cycles per row"),
        (lambda: Autocovariance([1.0, 0.0, -0.7], n=math.inf), r"at the frequency of 0.49\d+ cycles|0.0009"),
        (lambda: Autocovariance([1.0, math.nan]), "values must be finite"),
        (lambda: Autocovariance.rescaled([0.0, 0.1]), "positive variance"),
        (lambda: GivenRows([[1.0, 0.5], [0.4, 1.0]]), "covariances must be symmetric"),
        (lambda: GivenRows([[1.0, 1.5], [1.5, 1.0]]), "covariances must be positive semi-definite"),
        (lambda: GivenRows(2 * np.eye(3)), "mean diagonal of 1, got 2; GivenRows.rescaled divides by it"),
        (lambda: GivenRows(np.ones((2, 3))), "covariances must be square"),
        (lambda: GivenRows.rescaled(np.zeros((2, 2))), "must not be zero"),
        (lambda: GivenRows(np.eye(3)).resized(4), "has fixed n = 3, got n = 4"),
        (lambda: AR1Rows(5, 0.5).effective_share(1.0), "alpha must exceed 1"),
        (lambda: AR1Rows(5, 0.5).effective_share(1e200), "be at most 1e\\+100 or inf, got 1e\\+200"),
        (lambda: AR1Rows(5, 0.5).resized(2.5), "n must be an integer"),
        (lambda: SubjectRows([2], 1.0).effective_share(1.5), "alpha must exceed 2 for the rank of T"),
        (lambda: MaskedRidge(Isotropic(10), 2.0, 0.1, row_dependence=AR1Rows(10, 0.5)), "n = alpha d = 20 rows"),
        (lambda: MaskedRegression(Isotropic(10), 2.0, row_dependence=AR1Rows(21, 0.5)), "take n = 20, or n = inf"),
        (lambda: SpikedData(Isotropic(10), alpha=2.0, row_dependence=AR1Rows(10, 0.5)), "n = alpha d = 20 rows"),
        (lambda: MaskedRidge(Isotropic(math.inf), 2.0, 0.1, row_dependence=AR1Rows(10, 0.5)), "inf rows"),
        (lambda: MaskedRidge(Isotropic(10), 2.0, 0.1, TWO, AR1Rows(math.inf, 0.5)), "finite n beside row_scales"),
        (lambda: MaskedRidge(Isotropic(10), 2.0, 0.1, row_dependence=TWO), "row_dependence must be"),
        (lambda: MaskedRidge(Isotropic(10), 2.0, 0.1, row_dependence=0.5), "row_dependence must be"),
        (lambda: MaskedRidge(Isotropic(10), 2.0, 0.1, row_scales=AR1Rows(20, 0.5)), "row_scales must be"),
    ],
)
def test_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_no_numbers_of_rows_are_compared_for_infinitely_many():
    for covariance in (Isotropic(7), Isotropic(math.inf)):
        model = MaskedRidge(covariance, 1.3, 0.1, row_dependence=AR1Rows(math.inf, 0.5))
        assert model.row_law is model.row_dependence.law
    assert MaskedRidge(Isotropic(7), 1.3, 0.1, row_dependence=AR1Rows(9, 0.5)).row_dependence.n == 9  # 1.3 * 7 = 9.1
    assert EqualScales().alike


@pytest.mark.parametrize(
    "rows",
    [
        AR1Rows(7, -0.9),
        AR1Rows(1, 0.3),
        LongMemoryRows(30, 0.4),
        LongMemoryRows(30, -0.45),
        Autocovariance([1.0, -0.5], n=20),
        Autocovariance([1.0, 0.3, 0.1], n=2),
    ],
    ids=repr,
)
def test_the_variance_of_the_mean_is_a_sum_over_lags_that_needs_no_matrix(rows):
    assert rows.mean_variance == pytest.approx(rows.matrix.sum() / rows.n**2, rel=1e-12)
    many = rows.resized(10**6)  # whose matrix is 8 TB
    assert many.mean_variance < rows.mean_variance
    assert AR1Rows(10**6, 0.5).mean_variance == pytest.approx(3e-6, rel=1e-5)
