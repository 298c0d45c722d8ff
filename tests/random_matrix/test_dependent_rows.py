"""Eigenvalues of data whose rows depend on each other: edges, thresholds, spikes, and factors that are none."""

import math

import numpy as np
import pytest

from simulate.core import Estimate, extrapolate, stream
from theory import random_matrix
from theory.models import (
    AR1,
    AR1Rows,
    Autocovariance,
    GivenRows,
    IndependentRows,
    Isotropic,
    LongMemoryRows,
    MaskedRidge,
    PointScales,
    SpikedData,
    SubjectRows,
    TwoLevel,
)

INDEPENDENT_EDGE = (1 + 3**-0.5) ** 2  # of n = 3 d independent rows


def series(phi):
    return lambda n: AR1Rows(n, phi)


def subjects(n):
    return SubjectRows([4], 0.7, n=n)


def pca(d, alpha, rows, strength=None):
    return SpikedData(Isotropic(d), strength=strength, alpha=alpha, method="pca", row_dependence=rows)


def root(matrix):
    eigenvalues, vectors = np.linalg.eigh(matrix)
    return (vectors * np.sqrt(np.maximum(eigenvalues, 0))) @ vectors.T


@pytest.mark.parametrize(
    ("alpha", "rows", "edge", "threshold", "eigenvalue", "overlap"),
    [
        (1, series(0.5), 6.07, 1.76, 7.68, 0.598),
        (1, series(0.8), 13.03, 3.57, 16.07, 0.504),
        (1, subjects, 7.22, 1.82, 8.82, 0.521),
        (3, series(0.5), 3.29, 0.91, 4.14, 0.681),
        (3, series(0.8), 5.97, 1.78, 7.60, 0.611),
        (3, subjects, 3.84, 1.01, 4.75, 0.627),
    ],
)
def test_reference_values_of_principal_components(alpha, rows, edge, threshold, eigenvalue, overlap):
    """Of d = 200 coordinates, with the eigenvalues of T in a hundred groups; spikes of 2.5 thresholds."""
    rows = rows(200 * alpha)
    found = random_matrix.threshold(pca(200, alpha, rows))
    law = random_matrix.covariance_law(Isotropic(200), alpha, row_dependence=rows)
    spike = random_matrix.outlier(pca(200, alpha, rows, 2.5 * found.value))
    np.testing.assert_allclose([found.edge, found.value], [edge, threshold], rtol=5e-3)
    assert law.edges[-1, -1] == pytest.approx(found.edge, rel=1e-9)
    np.testing.assert_allclose([spike.eigenvalue, spike.overlap], [eigenvalue, overlap], rtol=2e-3)


@pytest.mark.parametrize(
    ("d", "eigenvalue", "overlap"), [(200, 16.97, 0.553), (400, 17.01, 0.551), (800, 17.02, 0.550)]
)
def test_a_spike_in_few_rows_and_in_many(d, eigenvalue, overlap):
    found = random_matrix.outlier(pca(d, 1.0, AR1Rows(d, 0.8), 10.0))
    np.testing.assert_allclose([found.eigenvalue, found.overlap], [eigenvalue, overlap], rtol=2e-3)
    limit = random_matrix.outlier(pca(math.inf, 1.0, AR1Rows(math.inf, 0.8), 10.0))
    assert found.eigenvalue == pytest.approx(limit.eigenvalue, rel=1.0 / d)


def test_spikes_are_found_where_they_are_predicted(agrees):
    """Draws at d and 2d, whose deviations of order 1/d are extrapolated away."""
    theta, phi, by_size = 10.0, 0.8, []
    for d in (60, 120):
        left, limit = root(AR1Rows(d, phi).matrix), random_matrix.outlier(pca(d, 1.0, AR1Rows(d, phi), theta))
        found = []
        for i in range(200):
            X = left @ stream(0, "spike in a series", d, i).standard_normal((d, d))
            X[:, 0] *= math.sqrt(1 + theta)
            values, vectors = np.linalg.eigh(X.T @ X / d)
            found.append([values[-1] / limit.eigenvalue, vectors[0, -1] ** 2 / limit.overlap])
        by_size.append(np.array(found))
    for column in (0, 1):
        near, far = (Estimate.of(values[:, column]) for values in by_size)
        agrees(extrapolate(near, far), 1.0, resolves=0.4)


@pytest.mark.parametrize(
    ("phi", "edges", "eigenvalue", "overlap"),
    [(0.5, (-2.005, 0.9057), 0.9242, 0.857), (0.8, (-1.723, 0.9566), 0.9483, 0.651)],
)
def test_reference_values_of_the_joint_predictor(phi, edges, eigenvalue, overlap):
    rows = AR1Rows(math.inf, phi)
    law = random_matrix.predictor_law(MaskedRidge(AR1(math.inf, 0.5), 3.0, 0.1, row_dependence=rows))
    np.testing.assert_allclose(law.edges[0], edges, rtol=3e-3)
    spike = SpikedData(TwoLevel(math.inf), strength=4.0, alpha=3.0, lam=0.1, row_dependence=rows)
    found = random_matrix.outlier(spike)
    np.testing.assert_allclose([found.eigenvalue, found.overlap], [eigenvalue, overlap], rtol=3e-3)
    given = SpikedData(TwoLevel(math.inf), strength=4.0, alpha=3.0, lam=0.1, row_scales=PointScales(*_points(rows)))
    assert random_matrix.outlier(given).eigenvalue == pytest.approx(found.eigenvalue, rel=1e-12)
    best = random_matrix.optimal_ridge(SpikedData(TwoLevel(math.inf), alpha=3.0, row_dependence=rows))
    assert best.value > random_matrix.optimal_ridge(SpikedData(TwoLevel(math.inf), alpha=3.0)).value


def _points(rows):
    return rows.law.nodes, rows.law.probabilities


@pytest.mark.parametrize(("phi", "count"), [(0.3, 2.61), (0.5, 10.33), (0.8, 24.87)])
def test_false_factors(phi, count, agrees):
    """Of 200 eigenvalues of pure noise so many lie 2 % or more beyond the edge of independent rows, n = 600."""
    law = random_matrix.covariance_law(Isotropic(200), 3.0, row_dependence=AR1Rows(600, phi))
    assert 200 * (1 - law.cumulative(1.02 * INDEPENDENT_EDGE)) == pytest.approx(count, abs=0.01)
    assert law.mean() == pytest.approx(1, rel=1e-6)
    left, found = root(AR1Rows(300, phi).matrix), []
    for i in range(100):
        X = left @ stream(0, "false factors", phi, i).standard_normal((300, 100))
        found.append(2 * np.sum(np.linalg.eigvalsh(X.T @ X / 300) > 1.02 * INDEPENDENT_EDGE))
    agrees(Estimate.of(found), count, resolves=0.5, bias=0.2)


@pytest.mark.parametrize("alpha", [0.4, 3.0])
@pytest.mark.parametrize("rows", [series(0.7), subjects], ids=["series", "subjects"])
def test_eigenvalues_of_a_draw_follow_the_density(alpha, rows):
    """The share of eigenvalues below quantiles of the law, whose fluctuations are of order 1/d."""
    d = 240
    n = round(alpha * d)
    rows = rows(n)
    law = random_matrix.covariance_law(AR1(d, 0.5), alpha, row_dependence=rows)
    X = root(rows.matrix) @ stream(0, "density", n).standard_normal((n, d)) @ root(AR1(d, 0.5).matrix)
    found = np.sort(np.linalg.eigvalsh(X.T @ X / n))
    p = max(0, 1 - alpha) + min(alpha, 1) * np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    below = [(found <= x).mean() for x in law.quantiles(p)]
    np.testing.assert_allclose(below, p, atol=4 / d)


def test_laws_and_ridges_follow_the_dependence():
    rows = SubjectRows([5, 1], 0.5, n=math.inf)
    scales = PointScales(*_points(rows))
    for law in (random_matrix.covariance_law, random_matrix.correlation_law):
        pair = [law(TwoLevel(math.inf), 2.0, **given) for given in ({"row_dependence": rows}, {"row_scales": scales})]
        np.testing.assert_allclose(pair[0].edges, pair[1].edges, rtol=1e-12)
    ridges = [
        float(random_matrix.effective_ridge(AR1(30, 0.5), 2.0, 0.1, **given))
        for given in ({"row_dependence": rows}, {"row_scales": scales})
    ]
    assert ridges[0] == pytest.approx(ridges[1], rel=1e-12)
    directions = np.eye(30)[:1]
    found = [
        random_matrix.spike_outliers(Isotropic(30), directions, strengths=[9.0], alpha=2.0, method="pca", **given)
        for given in ({"row_dependence": rows}, {"row_scales": scales})
    ]
    np.testing.assert_allclose(found[0].eigenvalues, found[1].eigenvalues, rtol=1e-12)
    plain = random_matrix.covariance_law(AR1(math.inf, 0.5), 2.0).edges
    for none in (IndependentRows(), AR1Rows(math.inf, 0.0)):
        law = random_matrix.covariance_law(AR1(math.inf, 0.5), 2.0, row_dependence=none)
        np.testing.assert_array_equal(law.edges, plain)


@pytest.mark.parametrize("phi", [0.3, 0.7])
@pytest.mark.parametrize("alpha", [0.3, 2.0])
def test_more_nodes_move_no_edge(phi, alpha):
    """The nodes of an infinite autoregression against the eigenvalues of many rows, by a second family."""
    law = random_matrix.covariance_law(Isotropic(math.inf), alpha, row_dependence=AR1Rows(math.inf, phi))
    fine = Autocovariance(phi ** np.arange(math.ceil(-36 / math.log(phi))), n=math.inf)
    finer = random_matrix.covariance_law(Isotropic(math.inf), alpha, row_dependence=fine)
    np.testing.assert_allclose(law.edges, finer.edges, rtol=1e-9, atol=1e-12)


def test_nodes_that_would_show_are_more_or_refused():
    """A node would make a bulk of its own where rows are few and their correlation is large."""
    few = random_matrix.covariance_law(Isotropic(math.inf), 0.02, row_dependence=AR1Rows(math.inf, 0.5))
    assert few.edges.shape == (1, 2)
    assert len(few.ensemble.rows.nodes) > len(AR1Rows(math.inf, 0.5).law.nodes)
    finite = random_matrix.outlier(pca(math.inf, 0.02, AR1Rows(math.inf, 0.5), 300.0))
    assert finite.edge == pytest.approx(few.edges[0, 1], rel=1e-9)
    rows = AR1Rows(math.inf, 0.97)
    for call in (
        lambda: random_matrix.covariance_law(Isotropic(math.inf), 0.02, row_dependence=rows),
        lambda: random_matrix.correlation_law(Isotropic(math.inf), 0.02, row_dependence=rows),
        lambda: random_matrix.predictor_law(MaskedRidge(Isotropic(math.inf), 0.02, 0.1, row_dependence=rows)),
    ):
        with pytest.raises(ValueError, match=r"must be of a finite n at alpha = 0.02, got AR1Rows\(n=inf"):
            call()
    subjects_of_many = SubjectRows([4], 0.9, n=math.inf)  # no nodes: two bulks are right
    assert len(random_matrix.covariance_law(Isotropic(math.inf), 0.02, row_dependence=subjects_of_many).edges) == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda rows: random_matrix.covariance_law(Isotropic(20), 2.0, row_dependence=rows),
            "for a law of eigenvalues",
        ),
        (lambda rows: random_matrix.correlation_law(Isotropic(20), 2.0, row_dependence=rows), "for a law"),
        (
            lambda rows: random_matrix.predictor_law(MaskedRidge(Isotropic(20), 2.0, 0.1, row_dependence=rows)),
            "for a law of eigenvalues, got <.*up to inf",
        ),
        (lambda rows: random_matrix.outlier(pca(20, 2.0, rows, 3.0)), "for spikes"),
        (lambda rows: random_matrix.threshold(pca(20, 2.0, rows)), "for spikes"),
    ],
)
@pytest.mark.parametrize("n", [40, math.inf])
def test_long_memory_has_no_edge(call, message, n):
    with pytest.raises(ValueError, match=f"row_dependence must be bounded {message}"):
        call(LongMemoryRows(n, 0.2))
    call(LongMemoryRows(n, -0.2))


def test_refused():
    rows = AR1Rows(math.inf, 0.5)
    data = SpikedData(TwoLevel(math.inf), strength=4.0, alpha=3.0, lam=0.1, row_dependence=rows)
    with pytest.raises(ValueError, match=r"row_dependence must be IndependentRows\(\) for the symmetric part"):
        random_matrix.symmetric_outlier(data)
    for call in (random_matrix.covariance_law, random_matrix.correlation_law):
        with pytest.raises(ValueError, match="n = alpha d = 40 rows"):
            call(Isotropic(20), 2.0, row_dependence=GivenRows(np.eye(30)))
    with pytest.raises(ValueError, match="n = alpha d = 40 rows"):
        random_matrix.effective_ridge(Isotropic(20), 2.0, 0.1, row_dependence=AR1Rows(30, 0.1))
    with pytest.raises(ValueError, match="n = alpha d = 40 rows"):
        random_matrix.spike_outliers(
            Isotropic(20), np.eye(20)[:1], strengths=[3.0], alpha=2.0, method="pca", row_dependence=AR1Rows(30, 0.1)
        )
