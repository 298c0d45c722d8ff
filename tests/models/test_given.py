"""Covariances of which only the spectrum is given, and classes of a user's own: moments, laws, and what is refused."""

import math
import pickle
from dataclasses import dataclass
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad

from simulate.core import Estimate, extrapolate, stream
from simulate.glm import train_loss
from simulate.masked import mean_test_error, sample
from theory import glm, masked, random_matrix
from theory.models import (
    Covariance,
    Diagonal,
    Empirical,
    GivenSpectrum,
    GOEPrecision,
    Isotropic,
    MaskedRegression,
    MaskedRidge,
    PowerLaw,
    RandomLabels,
    RandomMasks,
    SpectralDensity,
    Spectrum,
    SpikedData,
    Wishart,
)

ATOMS = GivenSpectrum([4.0, 0.5], [0.25, 0.75])


def semicircle(s):
    return 2 / np.pi * np.sqrt((s - 1) * (3 - s))


def arcsine(s):
    return 1 / (np.pi * np.sqrt(s * (2 - s)))


def two_bands(s):
    return np.where(s < 1, 0.8, np.where(s > 3, 0.3, 0.0))


DENSITIES = {
    "semicircle": SpectralDensity(semicircle, 1.0, 3.0),
    "arcsine": SpectralDensity(arcsine, 0.0, 2.0),
    "uniform": SpectralDensity(lambda s: np.full(s.shape, 0.5), 0.0, 2.0),
    "two bands": SpectralDensity(two_bands, 0.5, 5.0, breaks=(1.0, 3.0)),
    "a corner": SpectralDensity(lambda s: np.minimum(s, 2 - s), 0.0, 2.0, breaks=[1.0]),
}


@pytest.mark.parametrize("kappa", [1e-5, 0.3, 30.0])
@pytest.mark.parametrize("name", DENSITIES)
def test_means_over_a_density(name, kappa):
    """The same integrals by adaptive quadrature in s, with its weight for algebraic ends."""
    law = DENSITIES[name]
    ends = [law.low, *law.breaks, law.high]
    exponents = {"semicircle": (0.5, 0.5), "arcsine": (-0.5, -0.5)}.get(name, (0.0, 0.0))
    expected = 0.0
    for low, high in pairwise(ends):
        for a, b in zip([low, *cuts(low, high)], [*cuts(low, high), high], strict=True):
            expected += piece(law, exponents, a, b, kappa)
    s = law.spectrum.eigenvalues
    assert law.spectrum.mean(s / (s + kappa)) == pytest.approx(expected, rel=1e-8)
    assert law.spectrum.weights.sum() == pytest.approx(1, abs=1e-12)


def cuts(low, high):
    return [cut for cut in (1e-6, 1e-4, 1e-2, 0.1) if low < cut < high]


def piece(law, exponents, a, b, kappa):
    """The integral over [a, b], in the angle at which inverse roots at the ends of the law are smooth."""
    if exponents == (0.0, 0.0):
        return quad(lambda s: float(law.density(np.array([s]))[0]) * s / (s + kappa), a, b, epsabs=1e-13)[0]
    ends = [math.acos(1 - 2 * (x - law.low) / (law.high - law.low)) for x in (a, b)]
    half = (law.high - law.low) / 2

    def integrand(angle):
        s = law.low + half * (1 - math.cos(angle))
        density = 2 / np.pi * math.sin(angle) ** 2 if exponents[0] > 0 else 1 / np.pi  # both with the Jacobian
        return density * s / (s + kappa)

    return quad(integrand, *ends, epsabs=1e-13)[0]


def test_known_laws_of_other_families():
    """The semicircle of a precision, and Marchenko and Pastur's law, given by their densities."""
    precision = SpectralDensity(lambda s: np.sqrt(4 - (1 / s - 3) ** 2) / (2 * np.pi * s**2), 0.2, 1.0)
    c = 0.5
    ends = (1 - np.sqrt(c)) ** 2, (1 + np.sqrt(c)) ** 2
    wishart = SpectralDensity(lambda s: np.sqrt((s - ends[0]) * (ends[1] - s)) / (2 * np.pi * c * s), *ends)
    for given, family in ((precision, GOEPrecision(math.inf)), (wishart, Wishart(math.inf, 2.0))):
        for alpha in (0.5, 3.0):
            found, expected = (masked.solve(MaskedRidge(one, alpha, 0.05)) for one in (given, family))
            assert found.mean_test_error == pytest.approx(expected.mean_test_error, rel=1e-9)
            laws = [random_matrix.covariance_law(one, alpha).edges for one in (given, family)]
            assert laws[0] == pytest.approx(laws[1], rel=1e-5)


def test_one_eigenvalue_is_isotropic():
    for make in (
        lambda c: masked.solve(MaskedRidge(c, 2.0, 0.1)).mean_test_error,
        lambda c: float(random_matrix.effective_ridge(c, 0.5, 0.1)),
        lambda c: masked.solve(RandomMasks(c, 2.0, 0.1, mask_rate=0.3)).mean_test_error,
        lambda c: random_matrix.predictor_law(MaskedRidge(c, 2.0, 0.1)).edges,
        lambda c: random_matrix.threshold(SpikedData(c, alpha=2.0, lam=0.1)).value,
    ):
        assert make(GivenSpectrum([1.5])) == pytest.approx(make(Isotropic(math.inf, 1.5)), rel=1e-10)


def test_errors_of_a_spectrum_by_hand():
    """kappa of two atoms, and E = kappa^2 mean(s/(s+kappa)^2) / mean(kappa/(s+kappa))^2 / (1 - df2/alpha)."""
    s, w, alpha, lam = np.array([0.5, 4.0]), np.array([0.75, 0.25]), 2.0, 0.1
    kappa = lam
    for _ in range(500):
        kappa = lam / (1 - w @ (s / (s + kappa)) / alpha)
    error = (w @ (s / (s + kappa) ** 2)) / (w @ (1 / (s + kappa))) ** 2 / (1 - w @ (s / (s + kappa)) ** 2 / alpha)
    assert masked.solve(MaskedRidge(ATOMS, alpha, lam)).mean_test_error == pytest.approx(error, rel=1e-12)
    assert masked.conditional_variances(ATOMS) == pytest.approx([1 / (w @ (1 / s))])


def test_more_atoms_than_a_quadrature_has_nodes_are_atoms():
    """A law of 20 far eigenvalues and many samples has 20 bulks, which are no nodes that show."""
    many = GivenSpectrum(2.0 ** np.arange(20))
    law = random_matrix.covariance_law(many, 1e4)
    assert len(law.edges) == 20
    assert law.masses == pytest.approx(np.full(20, 0.05), rel=1e-5)


def test_a_density_has_no_nodes_that_show():
    law = random_matrix.covariance_law(DENSITIES["two bands"], 100.0)
    assert law.edges == pytest.approx(np.array([[0.5, 1.0], [3.0, 5.0]]), rel=0.2)
    assert law.masses == pytest.approx([0.4, 0.6], rel=1e-6)


def test_quantiles_at_a_finite_size():
    assert ATOMS.resized(8).eigenvalues == pytest.approx([0.5] * 6 + [4.0] * 2)
    assert SpectralDensity(lambda s: 0 * s + 0.5, 0.0, 2.0).resized(100).eigenvalues == pytest.approx(
        (np.arange(100) + 0.5) / 50, abs=2e-3
    )
    odd = DENSITIES["two bands"].resized(7).eigenvalues
    assert not ((odd > 1) & (odd < 3)).any()  # no eigenvalue lies between the bands
    assert ATOMS.resized(6).matrix != pytest.approx(
        GivenSpectrum(ATOMS.values, ATOMS.weights, seed=1).resized(6).matrix
    )
    rotated = PowerLaw(6, 1.0, rotation=3)
    assert rotated.eigenvectors[:, ::-1] == pytest.approx(GivenSpectrum([1.0], d=6, seed=3).eigenvectors)


@pytest.mark.parametrize("d", [8, 100])
@pytest.mark.parametrize("name", DENSITIES)
def test_quantiles_of_a_density_have_their_shares_below_them(name, d):
    """Its integral in 30 digits; nodes in the place of quantiles had shares that were off by 1e-3."""
    law = DENSITIES[name]
    found = law.resized(d).eigenvalues[:: d // 4]
    points = [mpmath.mpf(one) for one in (law.low, *law.breaks, law.high)]
    with mpmath.workdps(30):
        exact = {
            "semicircle": lambda s: 2 / mpmath.pi * mpmath.sqrt((s - 1) * (3 - s)),
            "arcsine": lambda s: 1 / (mpmath.pi * mpmath.sqrt(s * (2 - s))),
            "uniform": lambda s: mpmath.mpf(1) / 2,
            "two bands": lambda s: mpmath.mpf(8) / 10 if s < 1 else mpmath.mpf(3) / 10 if s > 3 else mpmath.mpf(0),
            "a corner": lambda s: min(s, 2 - s),
        }[name]
        below = [float(mpmath.quad(exact, [*(p for p in points if p < one), mpmath.mpf(one)])) for one in found]
    assert below == pytest.approx(((np.arange(d) + 0.5) / d)[:: d // 4], abs=2e-13)


def test_a_pickle_of_a_given_spectrum():
    for one in (ATOMS, SpectralDensity(semicircle, 1.0, 3.0, d=8)):
        copy = pickle.loads(pickle.dumps(one))
        assert copy.spectrum.eigenvalues == pytest.approx(one.spectrum.eigenvalues)
        assert repr(copy) == repr(one)


@pytest.mark.parametrize(
    "model",
    [
        MaskedRidge(ATOMS, 2.0, 0.1),
        MaskedRidge(SpectralDensity(semicircle, 1.0, 3.0), 0.5, 0.1),
        MaskedRegression(ATOMS, 3.0),
    ],
    ids=["atoms", "density", "ridgeless"],
)
def test_masked_errors_on_a_random_basis(model, agrees):
    """The closed law of the limit against matrices with Haar eigenvectors, extrapolated in 1/d."""
    sizes = [
        Estimate.of([mean_test_error(model, d, stream(0, "given", repr(model)[:20], d, r)) for r in range(12)])
        for d in (80, 160)
    ]
    agrees(extrapolate(*sizes), masked.solve(model).mean_test_error, resolves=0.12)


def test_each_coordinate_tends_to_the_mean():
    """Deviations of diag Sigma^-1 from its mean fall like 1/sqrt(d): they are those of squared Haar entries."""
    limit = masked.conditional_variances(ATOMS)[0]
    spread = [np.std(masked.conditional_variances(ATOMS.resized(d)) / limit) for d in (50, 200, 800)]
    # var(u.P.u) = 2 (tr P^2/d - (tr P/d)^2)/(d + 2) for a uniform unit vector u and P = Sigma^-1
    p, w = np.array([2.0, 0.25]), np.array([0.75, 0.25])
    relative = np.sqrt(2 * (w @ p**2 - (w @ p) ** 2)) / (w @ p)
    assert np.array(spread) * np.sqrt([52, 202, 802]) == pytest.approx(relative, rel=0.35)


def test_random_labels_on_a_spectrum(agrees):
    model = RandomLabels(covariance=ATOMS, alpha=2.0, lam=0.1, loss="logistic")
    measured = Estimate.of([train_loss(model, 100, stream(0, "labels on atoms", r)) for r in range(16)])
    agrees(measured, glm.solve(model).train_loss, resolves=0.3, bias=2 / 100 * glm.solve(model).train_loss)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GivenSpectrum([]), "values must"),
        (lambda: GivenSpectrum([-1.0, 1.0]), "values must be eigenvalues, not negative nor all zero"),
        (lambda: GivenSpectrum([0.0, 0.0]), "values must be eigenvalues, not negative nor all zero"),
        (lambda: GivenSpectrum([1.0, math.inf]), "values must be finite"),
        (lambda: GivenSpectrum([1.0, 2.0], [0.5]), r"weights must have one entry for each of 2 values, got \(1,\)"),
        (lambda: GivenSpectrum([1.0, 2.0], [0.5, 0.6]), "weights must sum to 1, got a sum of 1.1"),
        (lambda: GivenSpectrum([1.0, 2.0], [1.0, 0.0]), "weights must be positive, got 0 at index 1"),
        (lambda: GivenSpectrum([1.0], d=0), "d must be"),
        (lambda: GivenSpectrum([1.0], seed=-1), "seed must be"),
        (lambda: SpectralDensity(3.0, 0.0, 1.0), "density must be a function"),
        (lambda: SpectralDensity(semicircle, 3.0, 1.0), "high must be finite and exceed low = 3"),
        (lambda: SpectralDensity(semicircle, -1.0, 1.0), r"low must lie in \[0, inf\)"),
        (lambda: SpectralDensity(semicircle, 1.0, math.inf), "high must be"),
        (lambda: SpectralDensity(semicircle, 1.0, 3.0, breaks=(4.0,)), "breaks must lie between low = 1 and high = 3"),
        (lambda: SpectralDensity(lambda s: 2 * semicircle(s), 1.0, 3.0), "density must have the integral 1 .* got 2"),
        (lambda: SpectralDensity(lambda s: 0 * s, 1.0, 3.0), "density must have the integral 1 .* got 0"),
        (lambda: SpectralDensity(lambda s: s - 2, 1.0, 3.0), "density must be finite and not negative, got -"),
        (lambda: SpectralDensity(lambda s: 1.0, 1.0, 2.0), r"as many numbers, got shape \(\)"),
        (lambda: SpectralDensity(lambda s: {}["no"], 1.0, 2.0), "density must map .* it raised KeyError"),
        (lambda: SpectralDensity(lambda s: 2.0 * (s > 1.4142), 0.9142, 1.9142), "density must be smooth between"),
        (lambda: masked.predictor(MaskedRidge(ATOMS, 2.0, 0.1)), "a matrix needs a finite d, see resized"),
        (lambda: sample(ATOMS, 3, np.random.default_rng(0)), "covariance must have a finite d to be sampled"),
    ],
)
def test_what_is_no_spectrum_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@dataclass(frozen=True)
class Ring(Covariance):
    """Neighbors on a ring are correlated by c; its modes are waves, and in the limit a cosine."""

    d: float
    c: float

    def _matrix(self):
        neighbor = np.roll(np.eye(self.size), 1, axis=0)
        return np.eye(self.size) + self.c * (neighbor + neighbor.T)

    def _limit(self):
        angles = (np.arange(64) + 0.5) * np.pi / 64
        return Spectrum(1 + 2 * self.c * np.cos(angles), np.full(64, 1 / 64))


def test_a_limit_of_ones_own():
    """A ring of 40 has the errors of the limit, as the sums over its waves converge geometrically."""
    finite, limit = Ring(40, 0.3), Ring(math.inf, 0.3)
    for alpha in (0.5, 2.0):
        errors = [masked.solve(MaskedRidge(one, alpha, 0.1)).mean_test_error for one in (finite, limit)]
        assert errors[0] == pytest.approx(errors[1], rel=1e-9)
    assert limit.resized(40) == finite


@dataclass(frozen=True)
class Wrong(Covariance):
    """A family that returns what it is given."""

    d: float
    matrix_: object = None
    modes: object = None

    def _matrix(self):
        return self.matrix_

    def _limit(self):
        return self.modes


class NoRecord(Covariance):
    """A family that is no dataclass."""

    d = 3

    def _matrix(self):
        return np.eye(3)


@pytest.mark.parametrize(
    ("covariance", "message"),
    [
        (Wrong(2, [[1.0, 0.5], [0.2, 1.0]]), "the matrix of Wrong must be symmetric, got 0.5 and 0.2"),
        (
            Wrong(2, [[1.0, 2.0], [2.0, 1.0]]),
            "the matrix of Wrong must be positive semi-definite, got an eigenvalue -1",
        ),
        (Wrong(2, [[1.0, math.nan], [math.nan, 1.0]]), "the matrix of Wrong must be finite"),
        (Wrong(2, np.ones((2, 3))), "the matrix of Wrong must be square"),
        (Wrong(3, np.eye(2)), "the matrix of Wrong must have d = 3 rows, got 2"),
        (Wrong(math.inf, modes="none"), "the modes of Wrong must be a Spectrum"),
        (Wrong(math.inf, modes=Spectrum([-1.0, 1.0], [0.5, 0.5])), "must have eigenvalues that are not negative"),
        (Wrong(math.inf, modes=Spectrum([1.0, 1.0], [0.5, 0.6])), "shares that are not negative and sum to 1"),
    ],
)
def test_a_family_of_ones_own_that_is_no_covariance_is_refused(covariance, message):
    with pytest.raises(ValueError, match=message):
        masked.solve(MaskedRidge(covariance, 2.0, 0.1))


def test_a_family_that_cannot_be_resized_says_what_it_lacks():
    assert masked.solve(MaskedRidge(NoRecord(), 2.0, 0.1)).test_error == pytest.approx(
        masked.solve(MaskedRidge(Empirical(np.eye(3)), 2.0, 0.1)).test_error
    )
    with pytest.raises(ValueError, match="NoRecord must be a dataclass with a field d, or define resized"):
        NoRecord().resized(4)
    with pytest.raises(ValueError, match="d must be a multiple of 3"):
        Diagonal([1.0, 2.0, 3.0]).resized(4)


def test_a_limit_that_is_not_defined_says_so():
    @dataclass(frozen=True)
    class NoLimit(Ring):
        def _limit(self):
            return Covariance._limit(self)

    with pytest.raises(ValueError, match=r"NoLimit has no limit d -> infinity \(a class of one's own defines it by"):
        masked.solve(MaskedRidge(NoLimit(math.inf, 0.3), 2.0, 0.1))


@pytest.mark.parametrize("d", [2.5, 0, -1, True, "five", None, math.nan])
def test_the_size_of_a_family_of_ones_own_is_checked(d):
    """A size of 2.5 was taken for 2, and others ended in errors of Python."""
    with pytest.raises(ValueError, match="d must be an integer"):
        masked.solve(MaskedRidge(Ring(d, 0.3), alpha=2.0, lam=0.1))


def test_a_family_of_ones_own_that_divides_by_zero_says_so():
    """It was taken for variances too far apart for double precision."""

    @dataclass(frozen=True)
    class Fails(Covariance):
        d: int

        def _matrix(self):
            return np.eye(self.size) * (1 / 0)

    with pytest.raises(ValueError, match="the matrix of Fails must be computable, got ZeroDivisionError"):
        masked.solve(MaskedRidge(Fails(4), alpha=2.0, lam=0.1))
