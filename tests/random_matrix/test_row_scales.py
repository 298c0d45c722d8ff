"""Laws of eigenvalues and spikes for rows of different scale: a duality, the traces, and drawn samples."""

import numpy as np
import pytest
from scipy.optimize import brentq

from simulate.core import Estimate, extrapolate, stream
from simulate.masked import top_outlier
from simulate.masked.spectra import covariance_eigenvalues, predictor_eigenvalues
from theory import random_matrix
from theory.models import (
    AR1,
    Diagonal,
    EqualScales,
    Isotropic,
    MaskedRegression,
    MaskedRidge,
    PointScales,
    SpikedData,
    StudentTScales,
    TwoLevel,
)
from theory.random_matrix.spectral.ensemble import sample_covariance
from theory.random_matrix.spectral.real_branch import RealBranch

TWO = PointScales([0.4, 2.2], [2 / 3, 1 / 3])
NOISE = TwoLevel(np.inf, low=0.3, high=4.0, high_fraction=0.2)


@pytest.mark.parametrize("alpha", [0.4, 2.5])
def test_rows_and_columns_change_places(alpha):
    """X'X and XX' have the same eigenvalues: scales of rows become variances, variances of columns become scales."""
    s = np.array([0.5, 0.5, 1.0, 2.0])
    tau = np.array([0.25, 1.0, 1.75])
    law = random_matrix.covariance_law(Diagonal(s), alpha, row_scales=PointScales(tau))
    dual = random_matrix.covariance_law(Diagonal(tau), 1 / alpha, row_scales=PointScales(s / s.mean()))
    np.testing.assert_allclose(law.edges, dual.edges * s.mean() / alpha, rtol=1e-10)
    np.testing.assert_allclose(law.masses, alpha * dual.masses, rtol=1e-9)
    x = law.edges[:, :1] + np.diff(law.edges, axis=1) * np.linspace(0.1, 0.9, 5)
    of_dual = alpha * dual.density(x * alpha / s.mean()) * alpha / s.mean()
    np.testing.assert_allclose(law.density(x), of_dual, rtol=1e-8)


def test_one_scale_is_the_law_of_gaussian_rows_by_another_route():
    """With scales that differ by nothing that shows, edges are scanned instead of found by convex problems."""
    nearly = PointScales([1 - 1e-6, 1 + 1e-6])
    assert not nearly.alike
    for covariance, alpha in ((NOISE, 0.5), (NOISE, 3.0), (Isotropic(np.inf), 0.3)):
        one, two = (random_matrix.covariance_law(covariance, alpha, row_scales=law) for law in (EqualScales(), nearly))
        np.testing.assert_allclose(two.edges, one.edges, rtol=1e-9)
        np.testing.assert_allclose(two.masses, one.masses, rtol=1e-9)
    model = MaskedRidge(AR1(8, 0.5), 2.0, 0.1)
    np.testing.assert_allclose(
        random_matrix.predictor_law(MaskedRidge(AR1(8, 0.5), 2.0, 0.1, nearly)).edges,
        random_matrix.predictor_law(model).edges,
        rtol=1e-9,
    )
    for method, lam in (("ssr", 0.05), ("ssr", 0.0), ("pca", None), ("correlation_pca", None)):
        data = {"strength": 8.0, "alpha": 1.5, "method": method, "lam": lam}
        one, two = (random_matrix.outlier(SpikedData(NOISE, row_scales=law, **data)) for law in (EqualScales(), nearly))
        for name in ("eigenvalue", "overlap", "left_overlap", "threshold", "edge"):
            assert getattr(two, name) == pytest.approx(getattr(one, name), rel=1e-8)


@pytest.mark.parametrize("alpha", [0.5, 2.0])
def test_the_predictor_has_no_trace(alpha):
    for covariance in (NOISE, AR1(np.inf, 0.6)):
        law = random_matrix.predictor_law(MaskedRidge(covariance, alpha, 0.05, TWO))
        assert abs(law.mean()) < 1e-8
        assert law.total_mass == pytest.approx(1, abs=1e-9)


def test_the_place_and_the_overlaps_of_an_outlier_against_samples(agrees):
    """PCA and masked regression at two sizes; the eigenvectors' overlaps by the derivative of the same function."""
    for method, lam, alpha, strength in (("pca", None, 2.0, 8.0), ("ssr", 0.05, 2.0, 3.0)):
        data = SpikedData(NOISE, strength=strength, alpha=alpha, method=method, lam=lam, row_scales=TWO)
        found = random_matrix.outlier(data)
        sizes = (80, 160)
        draws = [
            np.array([top_outlier(data, d, stream(0, "elliptical spikes", method, d, i)) for i in range(150)])
            for d in sizes
        ]
        expected = (found.eigenvalue, found.overlap, found.left_overlap)
        for column, (value, resolves) in enumerate(zip(expected, (0.2, 0.25, 0.2), strict=True)):
            near, far = (Estimate.of(values[:, column]) for values in draws)
            agrees(extrapolate(near, far), value, resolves=resolves)


def test_moments_of_the_laws_against_samples(agrees):
    model = MaskedRegression(NOISE, 1.0, TWO)
    law = random_matrix.covariance_law(NOISE, 1.0, row_scales=TWO)
    drawn = [
        Estimate.of([np.mean(covariance_eigenvalues(model, d, stream(0, "two scales", d, i)) ** 2) for i in range(200)])
        for d in (100, 200)
    ]
    agrees(extrapolate(*drawn), law.mean(2), resolves=0.2)
    predicted = MaskedRidge(NOISE, 2.0, 0.5, TWO)
    law = random_matrix.predictor_law(predicted)
    drawn = [
        Estimate.of([np.mean(predictor_eigenvalues(predicted, d, stream(0, "spread", d, i)) ** 2) for i in range(100)])
        for d in (100, 200)
    ]
    agrees(extrapolate(*drawn), law.mean(2), resolves=0.2)


def test_heavier_rows_hide_spikes():
    """At a fixed covariance every method needs a stronger spike the more the rows differ."""
    for method, lam in (("ssr", 0.05), ("pca", None), ("correlation_pca", None), ("diagonal_deleted_pca", None)):
        found = [
            random_matrix.threshold(SpikedData(NOISE, alpha=2.0, method=method, lam=lam, row_scales=law)).value
            for law in (EqualScales(), PointScales([0.8, 1.2]), TWO, PointScales([0.1, 2.8], [2 / 3, 1 / 3]))
        ]
        assert found == sorted(found)


@pytest.mark.parametrize(
    "call",
    [
        lambda law: random_matrix.covariance_law(NOISE, 1.0, row_scales=law),
        lambda law: random_matrix.correlation_law(NOISE, 1.0, row_scales=law),
        lambda law: random_matrix.predictor_law(MaskedRidge(NOISE, 1.0, 0.1, law)),
        lambda law: random_matrix.threshold(SpikedData(NOISE, alpha=1.0, method="pca", row_scales=law)),
        lambda law: random_matrix.spike_outliers(
            Isotropic(4), np.eye(4)[:1], strengths=[3.0], alpha=2.0, method="pca", row_scales=law
        ),
    ],
)
def test_unbounded_scales_are_refused(call):
    with pytest.raises(ValueError, match="row_scales must be bounded"):
        call(StudentTScales(5.0))


def test_the_symmetric_part_is_for_gaussian_rows():
    data = SpikedData(NOISE, strength=3.0, alpha=1.0, lam=0.1, row_scales=TWO)
    with pytest.raises(ValueError, match="row_scales must be EqualScales"):
        random_matrix.symmetric_outlier(data)


@pytest.mark.parametrize("alpha", [0.5, 2.0])
@pytest.mark.parametrize("strength", [8.0, 30.0])
def test_a_spike_on_white_noise_in_closed_form(alpha, strength):
    """The resolvent's form u'(X'X/n - z)^-1 u tends to 1/(g (1 + strength) - z), whose residue is the overlap.

    On white noise delta = 1/(alpha (g - z)), so that z and g are functions of delta, negative right of the bulk.
    """
    tau, p = TWO.nodes, TWO.probabilities
    delta = brentq(
        lambda at: -alpha * strength * at * (p @ (tau / (1 + tau * at))) - 1, -(1 - 1e-9) / tau.max(), -1e-9, xtol=1e-15
    )
    g, slope = p @ (tau / (1 + tau * delta)), -(p @ (tau / (1 + tau * delta)) ** 2)
    overlap = 1 / (1 - (1 + strength) * slope / (slope + 1 / (alpha * delta**2)))
    found = random_matrix.outlier(
        SpikedData(Isotropic(np.inf), strength=strength, alpha=alpha, method="pca", row_scales=TWO)
    )
    assert found.eigenvalue == pytest.approx(g * (1 + strength), rel=1e-9)
    assert found.overlap == pytest.approx(overlap, rel=1e-8)
    assert found.left_overlap == pytest.approx(overlap, rel=1e-8)


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("law", [EqualScales(), TWO], ids=repr)
def test_the_slope_that_newtons_method_takes_to_an_edge(side, law):
    branch = RealBranch(sample_covariance(Diagonal([0.5, 1.0, 3.0, 4.0]), 2.0, law), side)
    for place in (-1.0, 0.3):
        point, (low, high) = branch.at(place), (branch.at(place - 1e-5), branch.at(place + 1e-5))
        assert point.m_slope * branch.stretch(place) == pytest.approx((high.m - low.m) / 2e-5, rel=1e-6)
        assert branch.stretch(place) == pytest.approx((high.h - low.h) / 2e-5, rel=1e-6)
        assert point.slope * branch.stretch(place) == pytest.approx((high.nu - low.nu) / 2e-5, rel=1e-6)
