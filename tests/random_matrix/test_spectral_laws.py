"""Laws of several eigenvalues: arbitrary precision, moments, all edges, dense against commuting, and refusals."""

import math

import numpy as np
import pytest

from tests.random_matrix import high_precision
from theory.models import (
    AR1,
    Diagonal,
    Equicorrelated,
    GaussianFreeField,
    Isotropic,
    MaskedRidge,
    PointScales,
    PowerLaw,
    Scaled,
    TwoLevel,
    Wishart,
)
from theory.random_matrix import correlation_law, covariance_law, predictor_law
from theory.random_matrix.spectral import build
from theory.random_matrix.spectral.ensemble import CommutingEnsemble, DenseEnsemble, masked_predictor
from theory.random_matrix.spectral.equation import resolvent


def atoms_law(sigma, alpha, weights=None):
    sigma = np.asarray(sigma, float)
    weights = np.full(len(sigma), 1 / len(sigma)) if weights is None else np.asarray(weights)
    return build.law_of(CommutingEnsemble(alpha, sigma, np.zeros(len(sigma)), weights))


def random_atoms(count):
    return np.sort(np.random.default_rng(count).uniform(0.1, 10, count))


def covariance_moments(sigma, alpha):
    """First three moments of X'X/n, by counting non-crossing pairings."""
    m = [np.mean(sigma**k) for k in (1, 2, 3)]
    return m[0], m[1] + m[0] ** 2 / alpha, m[2] + 3 * m[0] * m[1] / alpha + m[0] ** 3 / alpha**2


@pytest.mark.parametrize("alpha", [0.3, 1.0, 2.0, 30.0])
@pytest.mark.parametrize("count", [2, 5, 20, 100])
def test_mass_and_moments(count, alpha):
    sigma = random_atoms(count)
    law = atoms_law(sigma, alpha)
    assert law.total_mass == pytest.approx(1, abs=1e-10)
    for power, moment in enumerate(covariance_moments(sigma, alpha), 1):
        assert law.mean(power) == pytest.approx(moment, rel=1e-10)


def test_a_thousand_atoms():
    law = atoms_law(random_atoms(1000), 0.8)
    assert law.total_mass == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(("count", "alpha"), [(2, 0.5), (2, 8.0), (5, 3.0), (20, 40.0)])
def test_density_and_edges_to_thirty_digits(count, alpha):
    ensemble = CommutingEnsemble(alpha, random_atoms(count), np.zeros(count), np.full(count, 1 / count))
    law = build.law_of(ensemble)
    x = law.quantiles(max(0, 1 - alpha) + min(1, alpha) * np.array([0.037, 0.31, 0.62, 0.93]))
    exact = [float(high_precision.density(ensemble, point)) for point in x]
    np.testing.assert_allclose(law.density(x), exact, rtol=1e-10)
    for (low, high), bulk in zip(law.edges, law.bulks, strict=True):
        for edge, h in ((high, bulk.h[0].real), (low, bulk.h[-1].real)):
            assert edge == pytest.approx(float(high_precision.edge(ensemble, edge, h)), rel=1e-10)


def test_predictor_to_thirty_digits():
    """Offsets that differ: two-level variances, n < d."""
    ensemble = masked_predictor(MaskedRidge(TwoLevel(math.inf), 0.5, 0.1))
    law = build.law_of(ensemble)
    x = law.quantiles([0.05, 0.18, 0.6, 0.9])
    np.testing.assert_allclose(
        law.density(x), [float(high_precision.density(ensemble, point)) for point in x], rtol=1e-10
    )
    assert len(law.edges) == 2
    for (low, high), bulk in zip(law.edges, law.bulks, strict=True):
        for edge, h in ((high, bulk.h[0].real), (low, bulk.h[-1].real)):
            assert edge == pytest.approx(float(high_precision.edge(ensemble, edge, h)), rel=1e-10)


@pytest.mark.parametrize("distance", [1e-2, 1e-6, 0.0, -1e-6, -1e-2])
def test_nearly_touching_bulks(distance):
    """Two atoms 1 and 4 of equal weight part where alpha exceeds the minimum over s of <sigma^2/(sigma - s)^2>."""
    a, b = 0.5 ** (1 / 3), (0.5 * 16) ** (1 / 3)
    critical = (a + b) ** 3 / 9  # of the two inverse squares in a gap of width 3
    law = atoms_law([1.0, 4.0], critical * (1 + distance))
    if distance:
        assert len(law.edges) == (2 if distance > 0 else 1)
    assert law.total_mass == pytest.approx(1, abs=1e-6)
    if distance > 0:
        np.testing.assert_allclose(law.masses, 0.5, atol=1e-6)


def test_separate_bulks_hold_their_eigenvalues():
    sigma, weights = [0.1, 1.0, 10.0, 100.0], [0.4, 0.3, 0.2, 0.1]
    law = atoms_law(sigma, 200.0, weights)
    np.testing.assert_allclose(law.masses, weights, rtol=1e-10)
    np.testing.assert_allclose(law.quantiles([0.2, 0.55, 0.8, 0.95]), sigma, rtol=0.02)


def test_singular_population():
    """rank/d = 1/2: the atom at zero holds the larger of 1 - alpha and 1/2; hard edge at alpha = 1/2."""
    covariance = Wishart(40, 0.5)
    for alpha, mass in ((0.2, 0.8), (0.5, 0.5), (2.0, 0.5)):
        law = covariance_law(covariance, alpha)
        np.testing.assert_allclose(law.atoms, [[0, mass]], atol=1e-12)
        assert law.total_mass == pytest.approx(1, abs=1e-8)


@pytest.mark.parametrize(
    "covariance",
    [AR1(math.inf, 0.7), AR1(math.inf, -0.7), Equicorrelated(50, 0.4), GaussianFreeField(49, 0.5, 2)],
    ids=repr,
)
@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("lam", [1e-3, 0.1, 3.0])
def test_trace_of_homogeneous_predictors_vanishes(covariance, alpha, lam):
    law = predictor_law(MaskedRidge(covariance, alpha, lam))
    assert law.mean() == pytest.approx(0, abs=1e-10)
    assert law.total_mass == pytest.approx(1, abs=1e-10)
    assert law.edges.max() < 1
    if alpha < 1:
        assert law.atoms[0, 1] == pytest.approx(1 - alpha)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("lam", [1e-3, 0.1, 3.0])
def test_trace_of_heteroscedastic_predictors_vanishes(alpha, lam):
    for covariance in (TwoLevel(math.inf), Diagonal(np.linspace(0.5, 3, 40))):
        law = predictor_law(MaskedRidge(covariance, alpha, lam))
        assert law.mean() == pytest.approx(0, abs=1e-10)
        assert law.total_mass == pytest.approx(1, abs=1e-8)


def test_fewer_samples_than_dimensions_with_unequal_variances():
    """What would be an atom is a bulk of its own, of mass 1 - alpha."""
    law = predictor_law(MaskedRidge(Diagonal(np.linspace(0.5, 3, 40)), 0.5, 0.1))
    assert law.atoms.shape == (0, 2)
    np.testing.assert_allclose(law.masses, [0.5, 0.5], atol=1e-10)
    assert law.edges[0, 1] < law.edges[1, 0]


def test_two_levels_leave_an_atom():
    """80% of the coordinates are alike: 0.8 - alpha of the eigenvalues belong to vectors of them alone."""
    law = predictor_law(MaskedRidge(TwoLevel(math.inf), 0.5, 0.1))
    assert law.atoms[:, 1] == pytest.approx([0.3])


@pytest.mark.parametrize("alpha", [0.5, 2.0])
def test_dense_and_commuting_agree(alpha):
    """The same two-level model as atoms, and as a matrix turned inside its eigenspaces, which leaves D alone."""
    model = MaskedRidge(TwoLevel(20, high_fraction=0.4), alpha, 0.2)
    atoms = masked_predictor(model)
    dense = DenseEnsemble(alpha, np.diag(atoms.sigma), atoms.offset)
    first, second = build.law_of(atoms), build.law_of(dense)
    np.testing.assert_allclose(second.edges, first.edges, rtol=1e-9)
    np.testing.assert_allclose(second.atoms, first.atoms, rtol=1e-9, atol=1e-9)
    x = first.quantiles([0.1, 0.37, 0.62, 0.9])
    np.testing.assert_allclose(second.density(x), first.density(x), rtol=1e-8)
    z = np.array([0.3 + 0.1j, -1 + 1j, 2 - 0.5j])
    np.testing.assert_allclose(second.stieltjes(z), first.stieltjes(z), rtol=1e-9)


def test_dense_predictor():
    law = predictor_law(MaskedRidge(Scaled(AR1(40, 0.5), np.linspace(0.5, 2, 40)), 2.0, 0.2))
    assert law.mean() == pytest.approx(0, abs=1e-9)
    assert law.total_mass == pytest.approx(1, abs=1e-9)
    z = 0.4 + 0.3j
    x = np.linspace(*law.edges[0], 20001)[1:-1]
    assert law.stieltjes(z) == pytest.approx(np.sum(law.density(x) / (x - z)) * (x[1] - x[0]), rel=1e-4)


def test_permutation_of_coordinates():
    variances = np.random.default_rng(1).uniform(0.5, 3, 30)
    scales, matrix = np.linspace(0.5, 2, 30), AR1(30, 0.5)
    first = predictor_law(MaskedRidge(Diagonal(variances), 0.7, 0.1))
    second = predictor_law(MaskedRidge(Diagonal(variances[::-1]), 0.7, 0.1))
    np.testing.assert_allclose(second.edges, first.edges, rtol=1e-9)
    # AR(1) is the same read backwards
    first = predictor_law(MaskedRidge(Scaled(matrix, scales), 2.0, 0.1)).edges
    second = predictor_law(MaskedRidge(Scaled(matrix, scales[::-1]), 2.0, 0.1)).edges
    np.testing.assert_allclose(second, first, rtol=1e-8)


def test_correlation_of_scaled_noise_is_that_of_its_base():
    first = correlation_law(Scaled(AR1(60, 0.6), np.linspace(0.5, 2, 60)), 1.5)
    second = covariance_law(AR1(60, 0.6), 1.5)
    np.testing.assert_allclose(first.edges, second.edges, rtol=1e-9)


def test_every_returned_root_is_physical():
    ensemble = CommutingEnsemble(3.0, random_atoms(20), np.zeros(20), np.full(20, 0.05))
    found, _ = resolvent(ensemble, np.linspace(0.01, 40, 500))
    assert found.certified.all()
    assert not (found.inside & found.outside).any()


def test_public_names():
    model = MaskedRidge(AR1(math.inf, 0.7), 2.0, 0.1)
    law = predictor_law(model)
    assert np.all(np.diff(law.positions(50)) > 0)
    frame = law.to_frame()
    assert frame["mass"].sum() == pytest.approx(1)
    assert law.density([2.0, 1.0]).tolist() == [0, 0]
    assert law.cumulative([1.0, 2.0]).tolist() == pytest.approx([1, 1])


@pytest.mark.parametrize("alpha", [0, -1.0, math.inf, math.nan, "many"])
def test_alpha_is_checked(alpha):
    for law in (covariance_law, correlation_law):
        with pytest.raises(ValueError, match="alpha must"):
            law(Isotropic(10), alpha)


def test_arguments_are_checked():
    law = covariance_law(Isotropic(10), 0.5)
    for method in (law.density, law.cumulative):
        with pytest.raises(ValueError, match="x must be finite, got nan"):
            method([0.1, math.nan])
        with pytest.raises(ValueError, match="x must be an array of real numbers"):
            method("grid")
    with pytest.raises(ValueError, match=r"p must lie in \[0, 1\]"):
        law.quantiles([0.5, 1.2])
    with pytest.raises(ValueError, match="z must be finite"):
        law.stieltjes(math.inf)
    with pytest.raises(ValueError, match="position of an atom"):
        law.stieltjes(0.0)
    with pytest.raises(ValueError, match="d must be"):
        law.positions(0)


@pytest.mark.parametrize("rows", [{}, {"row_scales": PointScales([0.5, 2.0], [2 / 3, 1 / 3])}])
@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_unbounded_spectra_of_limits_are_refused_for_all_rows(alpha, rows):
    for law in (covariance_law, correlation_law):
        with pytest.raises(ValueError, match=r"covariance must have a largest variance .* got PowerLaw.* take a fini"):
            law(PowerLaw(math.inf, 0.6, rotation=0), alpha, **rows)
    with pytest.raises(ValueError, match="model must have a largest variance"):
        predictor_law(MaskedRidge(PowerLaw(math.inf, 0.6, rotation=0), alpha, 0.1, **rows))


@pytest.mark.parametrize(
    ("alpha", "bulks", "close"), [(2.0, 1, 1e-3), pytest.param(0.5, 2, 2e-2, marks=pytest.mark.slow)]
)
def test_predictors_of_unbounded_independent_variances_have_a_bounded_law(alpha, bulks, close):
    """Qbar divides what is unbounded out: 2000 coordinates have that law, and so have rows that are nearly alike."""
    law, finite, unlike = (
        predictor_law(MaskedRidge(PowerLaw(d, 0.6), alpha, 0.1, **rows))
        for d, rows in ((math.inf, {}), (2000, {}), (math.inf, {"row_scales": PointScales([1 - 1e-6, 1 + 1e-6])}))
    )
    assert len(law.edges) == bulks
    assert law.mean() == pytest.approx(0, abs=1e-10)
    np.testing.assert_allclose(unlike.edges, law.edges, rtol=1e-9)
    np.testing.assert_allclose(finite.edges, law.edges, rtol=close)
    np.testing.assert_allclose(finite.masses, law.masses, rtol=1e-9)


def test_limits_that_would_show_their_quadrature_are_refused():
    with pytest.raises(ValueError, match="take a finite d"):
        covariance_law(AR1(math.inf, 0.7), 1e7)


def test_variances_without_a_mean_have_no_verifiable_law():
    for law in (covariance_law, correlation_law):
        with pytest.raises(ValueError, match="covariance must have a mean variance"):
            law(PowerLaw(math.inf, 2.0, rotation=0), 1.0)
    with pytest.raises(ValueError, match="model must have a mean variance"):
        predictor_law(MaskedRidge(PowerLaw(math.inf, 2.0, rotation=0), 1.0, 0.1))
    # the correlations of independent coordinates have their variances divided out
    assert correlation_law(PowerLaw(math.inf, 2.0), 1.0).total_mass == pytest.approx(1)


def test_bulks_narrower_than_floating_point_numbers_resolve_keep_their_mass():
    law = predictor_law(MaskedRidge(TwoLevel(math.inf, 1e-12, 1e12, 0.3), 1e100, 1e-100))
    assert law.total_mass == pytest.approx(1, abs=1e-14)
    np.testing.assert_allclose(law.edges, 0, atol=1e-15)
