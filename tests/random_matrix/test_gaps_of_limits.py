"""Limits d -> infinity whose nodes could show: gaps of the spectrum itself are kept, those between nodes are not."""

import math
from dataclasses import dataclass

import mpmath
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from simulate.core import stream
from theory.models import (
    AR1,
    Covariance,
    GaussianFreeField,
    GOEPrecision,
    MaskedRidge,
    PointScales,
    PowerLaw,
    Spectrum,
    Toeplitz,
    TridiagonalPrecision,
    Wishart,
)
from theory.numerics.quadrature import half_circle
from theory.random_matrix import covariance_law, predictor_law
from theory.random_matrix.spectral.build import law_of
from theory.random_matrix.spectral.ensemble import CommutingEnsemble, predictor_scale
from theory.random_matrix.spectral.quadrature import atoms_among_nodes, gaps_of_spectrum

SIZE = 800
FARTHEST = 6.5  # SIZE times a Kolmogorov distance, see test_laws_beside_draws.py
UNIFORM = ((0.1, 0.2, 0.5), (5.0, 6.0, 0.5))
THREE = ((0.1, 0.2, 0.5), (2.0, 2.5, 0.2), (30.0, 36.0, 0.3))


@dataclass(frozen=True, eq=False)
class Pieces(Covariance):
    """A limit whose eigenvalues are uniform on pieces (from, to, mass), or (at, at, mass), with n nodes on each."""

    pieces: tuple
    n: int
    d: float = math.inf

    def _matrix(self):
        raise NotImplementedError

    def _limit(self):
        x, w = np.polynomial.legendre.leggauss(self.n)
        parts = [([low], [mass]) if low == high else (low + (high - low) * (1 + x) / 2, mass * w / 2)
                 for low, high, mass in self.pieces]  # fmt: skip
        return Spectrum(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def step(angle):
    """A symbol that crosses from 0.15 to 5.55 within a fortieth of its range."""
    return 0.15 + 5.4 / (1 + np.exp(-40 * np.cos(angle)))


def quantiles(pieces):
    """SIZE eigenvalues of a matrix whose spectrum is on the pieces."""
    parts = [np.linspace(low, high, round(mass * SIZE) + 1)[:-1] for low, high, mass in pieces]
    return np.concatenate(parts)


def draw(sigma, model, rng):
    """Eigenvalues of X'X/n, and of the joint predictor of coordinates in a random basis, where diag Q is a number."""
    X = rng.standard_normal((round(model.alpha * len(sigma)), len(sigma))) * np.sqrt(sigma)
    values = np.linalg.eigvalsh(X.T @ X / len(X))
    return values, 1 - 1 / ((values + model.lam) * predictor_scale(model))


def distance(law, found):
    above, shift = np.arange(1, len(found) + 1), 1e-4 * (1 + abs(found))
    too_few = len(found) * law.cumulative(found - shift) - (above - 1)
    return max(too_few.max(), (above - len(found) * law.cumulative(found + shift)).max())


@pytest.mark.parametrize("n", [12, 16, 64, 300])
def test_edges_of_two_uniform_pieces(n):
    """At every number of nodes, by the exact transform of the uniform law: x(s) is stationary at the edges."""
    law = covariance_law(Pieces(UNIFORM, n), 2.0)
    np.testing.assert_allclose(law.edges.ravel(), [0.01860032, 0.29252183, 1.40717463, 12.48047667], rtol=5e-7)
    np.testing.assert_allclose(law.masses, 0.5, rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.5, 2.0])
@pytest.mark.parametrize("pieces", [UNIFORM, THREE, ((0.1, 0.1, 0.5), (5.0, 6.0, 0.5))], ids=["two", "three", "atom"])
def test_laws_with_gaps_beside_one_large_matrix(pieces, alpha):
    covariance = Pieces(pieces, 32)
    model = MaskedRidge(covariance, alpha, 0.1)
    values, a = draw(quantiles(pieces), model, stream(0, "gaps", len(pieces), alpha))
    assert distance(covariance_law(covariance, alpha), values) < FARTHEST
    assert distance(predictor_law(model), a) < FARTHEST
    assert distance(covariance_law(covariance, 1.1 * alpha), values) > FARTHEST


def test_a_steep_symbol_has_one_bulk_which_its_first_nodes_do_not_show():
    """Few nodes lie where the symbol is steep: 512 of them gave several bulks, where the law has a low bridge."""
    law = covariance_law(Toeplitz(math.inf, step), 2.0)
    np.testing.assert_allclose(law.edges, [[0.02069485, 12.45392403]], rtol=1e-7)
    assert law.residual < 1e-7
    model = MaskedRidge(Toeplitz(math.inf, step), 2.0, 0.1)
    values, a = draw(step(half_circle(SIZE)), model, stream(0, "gaps", "steep"))
    assert distance(law, values) < FARTHEST
    assert 0 < law.density(1.0) < 0.02 < law.density(0.2)
    predictor = predictor_law(model)
    assert len(predictor.edges) == 1
    assert distance(predictor, a) < FARTHEST


def edges_of_autoregression(r, alpha):
    """The stationary points of z(k) = -k (1 - df1(k)/alpha) for alpha > 1; df1, the mean of s/(s + k), is closed."""

    def z(k):
        level = 1 - r * r + k * (1 + r * r)
        return -k * (1 - (1 - r * r) / (level * np.sqrt(1 - (2 * r * k / level) ** 2)) / alpha)

    least = (1 - r) / (1 + r)
    options = {"method": "bounded", "options": {"xatol": 1e-12}}
    low = -minimize_scalar(lambda k: -z(k), bounds=(-(1 - 1e-9) * least, -1e-6 * least), **options).fun
    return low, minimize_scalar(z, bounds=(-1e3 / least, -(1 + 1e-9) / least), **options).fun


def test_a_steep_spectrum_is_answered_as_long_as_its_nodes_do_not_show():
    """More than an eighth of the first 1000 nodes have bulks of their own, and yet 2^14 nodes do not show."""
    law = covariance_law(AR1(math.inf, 0.99), 5.0)
    np.testing.assert_allclose(law.edges, [edges_of_autoregression(0.99, 5.0)], rtol=1e-9)
    assert law.residual < 1e-7
    assert law.mean() == pytest.approx(1, abs=1e-7)


def test_rows_of_different_scale_keep_the_gap():
    rows = PointScales([0.5, 1.5], [0.5, 0.5])
    law = covariance_law(Pieces(UNIFORM, 16), 4.0, row_scales=rows)
    assert len(law.edges) == 2
    np.testing.assert_allclose(law.masses, 0.5, rtol=1e-9)
    with pytest.raises(ValueError, match="the law resolves the quadrature"):
        covariance_law(Pieces(((1.0, 2.0, 1.0),), 20), 3000.0, row_scales=rows)


@pytest.mark.parametrize("pieces", [UNIFORM, THREE, ((1.0, 2.0, 1.0),)])
def test_nodes_that_show_are_refused_beside_a_gap_and_without_one(pieces):
    with pytest.raises(ValueError, match=r"at alpha = 1000\.0 the law resolves the quadrature"):
        covariance_law(Pieces(pieces, 20), 1000.0)


def test_gaps_of_a_spectrum_and_its_atoms_are_told_from_nodes():
    x, w = np.polynomial.legendre.leggauss(20)
    sigma, weights = np.r_[0.1, 5 + x, 9 + 0.1 * x], np.r_[0.5, w / 8, w / 8]
    assert np.flatnonzero(atoms_among_nodes(weights)).tolist() == [0]
    assert np.flatnonzero(gaps_of_spectrum(sigma, weights, np.arange(40))).tolist() == [0, 20]
    assert not atoms_among_nodes(np.tile(w, 3)).any()
    graded = np.cumsum(np.r_[np.full(16, 1.0), np.full(16, 3.0)])  # panels that are three times as long
    assert not gaps_of_spectrum(graded, np.ones(32), np.arange(31)).any()


@pytest.mark.parametrize(("r", "alpha"), [(0.3, 64.0), (0.6, 16.0), (0.6, 30.0), (0.9, 2.0), (0.99, 0.2)])
def test_densities_of_chains_do_not_show_their_first_nodes(r, alpha):
    """The first nodes gave densities up to 2 % off, and at r = 0.6, alpha = 30 many bulks."""
    law = covariance_law(AR1(math.inf, r), alpha)
    symbol = (1 - r * r) / (1 + r * r - 2 * r * np.cos(half_circle(8192)))
    exact = law_of(CommutingEnsemble(alpha, symbol, np.zeros(8192), np.full(8192, 1 / 8192)))
    np.testing.assert_allclose(law.edges, exact.edges, rtol=1e-7)
    places = exact.quantiles(np.linspace(0.02, 0.98, 25))
    np.testing.assert_allclose(law.density(places), exact.density(places), rtol=1e-5)


def test_the_edge_of_a_light_field_on_the_torus():
    """The first nodes miss the upper end of the spectrum, 100, which put the edge at 105.8028."""
    law = covariance_law(GaussianFreeField(math.inf, mass=0.1, dimension=2), 0.2)
    assert law.edges[0, 1] == pytest.approx(105.80978, rel=1e-7)


@pytest.mark.parametrize(
    "covariance",
    [
        AR1(math.inf, 0.6),
        AR1(math.inf, 0.99),
        Toeplitz(math.inf, step),
        TridiagonalPrecision(math.inf, 2.0, -0.8),
        GOEPrecision(math.inf),
        Wishart(math.inf, 0.5),
        GaussianFreeField(math.inf, 0.3, 2),
        PowerLaw(math.inf, 0.5),
    ],
)
def test_finer_nodes_have_the_same_means(covariance):
    first = covariance.spectrum
    for times in (2, 3):
        finer = covariance._finer_limit(times)
        assert len(finer.eigenvalues) == pytest.approx(times * len(first.eigenvalues), abs=times)
        for kappa in (0.1, 1.0, 10.0):
            means = [modes.mean(modes.eigenvalues / (modes.eigenvalues + kappa)) for modes in (first, finer)]
            assert means[0] == pytest.approx(means[1], rel=1e-11)


@pytest.mark.parametrize(
    ("symbol", "reason"),
    [
        (lambda t: np.where(t < 1, 2.0, 0.5), "not smooth enough"),  # a jump
        (lambda t: 1 / (1 - np.cos(t)), "not smooth enough"),  # a pole on the circle
        (lambda t: 1 / abs(t - 1), "not smooth enough"),
        (lambda t: 1 - np.cos(t) - 0.1, "finite and positive"),
    ],
)
def test_symbols_with_a_jump_or_a_pole_are_refused(symbol, reason):
    with pytest.raises(ValueError, match=reason):
        Toeplitz(math.inf, symbol)


@pytest.mark.slow
@pytest.mark.parametrize(
    "symbol",
    [
        lambda t: 0.5 + abs(np.cos(t) - 0.3),
        lambda t: 0.5 + np.hypot(np.cos(t) - 0.3, 0.03),
        lambda t: 1 / (1.0001 - np.cos(t)) ** 0.5,
    ],
    ids=["kink", "rounded", "pole"],
)
def test_symbols_with_a_kink_or_close_to_a_pole_are_right(symbol):
    """A kink, a rounded one, and a branch point at a distance of 0.014 from the circle, beside many equal steps."""
    law, s = covariance_law(Toeplitz(math.inf, symbol), 1.5), symbol(half_circle(16384))
    exact = law_of(CommutingEnsemble(1.5, s, np.zeros(len(s)), np.full(len(s), 1 / len(s))))
    np.testing.assert_allclose(law.edges, exact.edges, rtol=1e-6)


@pytest.mark.parametrize(("r", "alpha"), [(0.6, 2.0), (0.95, 8.5), (-0.97, 4.0), (0.5, 100.0)])
def test_the_predictor_of_an_infinite_chain_against_its_closed_form(r, alpha):
    """E s/(x - s) = u/((1 + r^2 - u)^2 - 4 r^2)^(1/2), u = (1 - r^2)/x; at r = 0.95 it was refused from 8.5 on."""
    lam = 0.1
    law = predictor_law(MaskedRidge(AR1(math.inf, r), alpha=alpha, lam=lam))
    r = mpmath.mpf(abs(r))
    low, high = (1 - r) / (1 + r), (1 + r) / (1 - r)

    def resolved(x):
        u = (1 - r * r) / x
        found = u / (mpmath.sqrt((1 + r) ** 2 - u) * mpmath.sqrt((1 - r) ** 2 - u))
        return found if isinstance(x, mpmath.mpc) else mpmath.re(found)

    with mpmath.workdps(40):
        kappa = mpmath.findroot(lambda k: k * (1 + resolved(-k) / alpha) - lam, lam)  # E s/(s + k) is minus it at -k
        scale = kappa / lam * (1 + resolved(-kappa)) / kappa

        def eigenvalue(x):  # nu = scale (lam + x (1 + E s/(x - s)/alpha)) along the branch
            return scale * (lam + x * (1 + resolved(x) / alpha))

        def excess(x):  # log of E s^2/(x - s)^2/alpha
            return mpmath.log((-x * mpmath.diff(resolved, x) - resolved(x)) / alpha)

        def edge(place):  # by bisection in the logarithm of the distance from the spectrum
            near, far = mpmath.mpf(-40), mpmath.mpf(40)
            for _ in range(100):
                middle = (near + far) / 2
                near, far = (middle, far) if excess(place(mpmath.exp(middle))) > 0 else (near, middle)
            return eigenvalue(place(mpmath.exp(near)))

        ends = [edge(lambda gap: low / (1 + gap)), edge(lambda gap: high * (1 + gap))]
        assert law.edges[0] == pytest.approx([float(1 - 1 / nu) for nu in ends], rel=1e-10)
        for share in (0.2, 0.5, 0.9):
            place = float(law.quantiles(share))
            nu = 1 / (1 - mpmath.mpf(place))
            h = law.bulks[0].guess(law.bulks[0].interval.angle(np.array([float(nu)])))[0]
            x = mpmath.findroot(lambda x: eigenvalue(x) - nu, (nu / scale - lam) / mpmath.mpmathify(h))  # noqa: B023
            h = 1 + resolved(x) / alpha
            density = abs(mpmath.im((1 + resolved(x)) / (scale * h * x))) / mpmath.pi * nu**2
            assert float(law.density(place)) == pytest.approx(float(density), rel=1e-6)
