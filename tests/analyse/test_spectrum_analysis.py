"""The spectrum of a matrix: as many outliers as there are spikes, none in noise, and directions that follow columns."""

import numpy as np
import pytest
from scipy.stats import binom

from figures.analyse.matrix import (
    analyse_matrix,
    matrix_spectrum,
    report,
    spectrum_report,
    spectrum_rows,
)
from figures.analyse.matrix.spectrum.analyse import noise_bulk
from figures.analyse.matrix.spectrum.noise_part import noise_part, white_limit
from figures.analyse.matrix.spectrum.record import CORRELATION, COVARIANCE, MASKED
from figures.analyse.matrix.spectrum.report import subspace_overlap
from figures.analyse.matrix.spectrum.table import DATA
from simulate.core import stream
from simulate.masked import sample
from theory.models import Diagonal, Isotropic, Spiked, TwoLevel
from theory.random_matrix import covariance_law

D, N, LAM, SEEDS = 40, 120, 0.1, 8
FALSE_ALARM = 1e-6  # of each bound below
NAMES = [f"column {k}" for k in range(D)]


def data(noise, strengths, number, n=N):
    """Rows of noise with spikes in random directions about a mean that is not zero; and the directions."""
    rng = stream(0, "spectrum analysis", len(strengths), number)
    directions = np.linalg.qr(rng.standard_normal((D, D)))[0][: len(strengths)]
    covariance = Spiked(noise, directions, strengths) if len(strengths) else noise
    return sample(covariance, n, rng) + np.linspace(-3, 5, D), directions


def outliers(noise, strengths, n=N, seeds=SEEDS):
    """(seeds, 3): numbers found by each method."""
    found = [matrix_spectrum(data(noise, strengths, r, n)[0], NAMES, LAM) for r in range(seeds)]
    return np.array([[method.outliers for method in one.methods] for one in found])


def most_wrong(n, share=0.02):
    """So many of n samples may have another number of outliers: the limits allow one more in 1 % of samples, or 2 %."""
    return int(binom.isf(FALSE_ALARM, n, share))


@pytest.mark.parametrize("noise", [Isotropic(D), TwoLevel(D)])
@pytest.mark.parametrize("strengths", [(), (9.0,), (25.0, 14.0, 9.0)])
def test_as_many_outliers_as_spikes(noise, strengths):
    counts = outliers(noise, strengths)
    wrong = (counts != len(strengths)).sum(axis=0)
    assert wrong[0] <= most_wrong(SEEDS)
    if isinstance(noise, Isotropic) or not strengths:  # PCA may miss what masked regression sees in unequal noise
        assert wrong.max() <= most_wrong(SEEDS)


def test_fewer_rows_than_columns():
    for strengths in ((), (40.0,)):
        assert (outliers(TwoLevel(D), strengths, n=30, seeds=5)[:, 0] != len(strengths)).sum() <= most_wrong(5)


def test_the_limit_is_exceeded_by_white_noise_in_one_of_a_hundred_samples():
    d, n = 50, 150
    tops = [np.linalg.eigvalsh(np.cov(stream(1, r).standard_normal((n + 1, d)).T))[-1] for r in range(300)]
    assert (np.array(tops) > white_limit(n, d)).sum() <= most_wrong(300, 0.012)
    assert (np.array(tops) > 0.9 * white_limit(n, d)).sum() > most_wrong(300, 0.012)
    bulk = noise_bulk(covariance_law(Isotropic(d), n / d), d)
    assert bulk.high + bulk.high_margin == pytest.approx(white_limit(n, d), rel=2e-3)


@pytest.mark.parametrize("noise", [Isotropic(D), TwoLevel(D)])
def test_the_noise_part_is_found_under_the_spikes(noise):
    for number in range(6):  # one sample in a hundred has one more outlier by chance
        X, _ = data(noise, (25.0, 14.0, 9.0), number, n=4000)
        found = noise_part(np.cov(X.T), len(X) - 1)
        if found.removed == 3:
            break
    assert (found.removed, found.settled) == (3, True)
    assert found.variances == pytest.approx(noise.variances, rel=0.15)
    assert (np.var(X, axis=0) / noise.variances).max() > 1.5


def test_correlations_without_end_are_said_not_to_be_a_few_directions():
    rng = stream(0, "smooth")
    X = np.cumsum(rng.standard_normal((400, D)), axis=1) + 0.01 * rng.standard_normal((400, D))
    found = matrix_spectrum(X, NAMES, LAM)
    assert not found.noise.settled
    assert "The assumption does not hold" in spectrum_report(found)


def test_directions_follow_their_columns():
    X, directions = data(TwoLevel(D), (25.0,), 1)
    order = stream(0, "order").permutation(D)
    plain = matrix_spectrum(X, NAMES, LAM)
    moved = matrix_spectrum(X[:, order], [NAMES[k] for k in order], LAM)
    for method in (MASKED, COVARIANCE, CORRELATION):
        np.testing.assert_allclose(moved[method].eigenvalues, plain[method].eigenvalues, rtol=1e-8, atol=1e-10)
        assert moved[method].noise.high == pytest.approx(plain[method].noise.high, rel=1e-6)
        expected, found = plain[method].leading(1)[0][order], moved[method].leading(1)[0]
        assert abs(expected @ found) == pytest.approx(1, abs=1e-8)
        assert (directions[0] @ plain[method].leading(1)[0]) ** 2 > 0.6
    overlap, count = subspace_overlap(plain[MASKED], plain[COVARIANCE])
    assert count == 1
    assert 0.6 < overlap < 1


def test_units_do_not_matter():
    X, _ = data(TwoLevel(D), (25.0,), 2)
    plain, scaled = matrix_spectrum(X, NAMES, LAM), matrix_spectrum(1e4 * X, NAMES, 1e8 * LAM)
    for one, other in zip(plain.methods, scaled.methods, strict=True):
        assert (one.outliers, one.outliers_left) == (other.outliers, other.outliers_left)
    np.testing.assert_allclose(scaled[MASKED].eigenvalues, plain[MASKED].eigenvalues, rtol=1e-8, atol=1e-10)


def test_seed_changes_the_permutation_alone():
    X, _ = data(Isotropic(D), (25.0,), 3)
    first, again, other = (matrix_spectrum(X, NAMES, LAM, seed) for seed in (0, 0, 1))
    assert spectrum_rows(first) == spectrum_rows(again)
    assert not np.array_equal(first[MASKED].permuted, other[MASKED].permuted)
    np.testing.assert_array_equal(first[MASKED].eigenvalues, other[MASKED].eigenvalues)
    assert first[CORRELATION].permuted[-1] < 0.6 * first[CORRELATION].eigenvalues[-1]


def test_rows_hold_every_eigenvalue_with_its_rank():
    found = matrix_spectrum(data(Isotropic(D), (), 4)[0], NAMES, LAM)
    rows = [entry for entry in spectrum_rows(found) if entry["curve"] == DATA and entry["panel"] == MASKED]
    assert [entry["x"] for entry in rows] == list(range(D, 0, -1))
    assert np.array([entry["simulation"] for entry in rows]) == pytest.approx(found[MASKED].eigenvalues)
    assert found[MASKED].eigenvalues.sum() == pytest.approx(0, abs=1e-9)  # zero diagonal


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((9, 20), "There is no spectrum: 9 rows are too few to tell where noise ends, 10 are needed."),
        ((40, 4), "There is no spectrum: 4 columns are too few to tell where noise ends, 5 are needed."),
        ((12, 1501), "There is no spectrum: it would take minutes for 1501 columns; choose at most 1500 of them."),
    ],
)
def test_what_has_no_spectrum_says_why_in_one_line(shape, message):
    X = stream(0, "small").standard_normal(shape)
    assert matrix_spectrum(X, [str(k) for k in range(shape[1])], LAM) == message
    assert spectrum_report(message) == message


def test_the_analysis_reports_it_at_its_best_ridge():
    X, _ = data(Diagonal(np.geomspace(0.3, 3, D)), (25.0,), 5)
    analysis = analyse_matrix(X, repeats=2, lams=[LAM], sizes=[60])
    assert analysis.spectrum.lam == analysis.best.gcv
    text = report(analysis, "title")
    assert "These limits assume rows that are independent" in text
    assert "Direction 1 of masked regression" in text
    assert "a squared overlap of" in text


@pytest.mark.parametrize("shape", [(10, 5), (12, 30), (31, 30), (30, 30)])
def test_copies_and_tiny_ridges(shape):
    X = stream(0, "copies").standard_normal(shape)
    X[:, 1] = X[:, 0]
    found = matrix_spectrum(X, [str(k) for k in range(shape[1])], 1e-6)
    assert "\n" not in found if isinstance(found, str) else spectrum_report(found)
