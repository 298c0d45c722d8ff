"""Every sampler against its covariance: the linear map exactly, the rows by a chi-square test with a known level."""

import copy
import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import digamma

from simulate.core import stream
from simulate.masked import fit, sample
from simulate.masked.draw import second_moment_rows
from simulate.masked.sampler import FACTORS, _gaussian, times_root
from theory import models

DIRECTION = np.ones(12) / np.sqrt(12)
COVARIANCES = {
    "isotropic": models.Isotropic(12, 2.0),
    "diagonal": models.Diagonal(np.linspace(0.5, 2, 12)),
    "two-level": models.TwoLevel(12),
    "AR(1)": models.AR1(12, 0.7),
    "AR(1), negative": models.AR1(12, -0.7),
    "one coordinate": models.AR1(1, 0.7),
    "Toeplitz": models.Toeplitz(12, lambda angle: 1 / (1.5 + np.cos(angle))),
    "tridiagonal": models.TridiagonalPrecision(12, 3.0, -1.0),
    "GOE": models.GOEPrecision(12),
    "equicorrelated": models.Equicorrelated(12, 0.4),
    "blocks": models.Blocks(12, 4, -0.2),
    "power law": models.PowerLaw(12, 0.7),
    "rotated power law": models.PowerLaw(12, 0.7, 1),
    "ring": models.GaussianFreeField(12, 0.5),
    "odd ring": models.GaussianFreeField(9, 0.5),
    "torus": models.GaussianFreeField(16, 0.5, 2),
    "Wishart": models.Wishart(12, 2.0),
    "singular Wishart": models.Wishart(12, 0.5),
    "spiked": models.Spiked(models.AR1(12, 0.5), DIRECTION, 3.0),
    "scaled": models.Scaled(models.AR1(12, 0.5), np.linspace(1, 3, 12)),
    "empirical, singular": models.Empirical(np.diag([1.0, 0.0, 2.0])),
}
ROWS, LEVEL = 4000, 1e-6  # one p-value for each family and law: a correct suite fails with probability below 1e-4


class Impulses:
    """In place of a generator: unit vectors in place of noise, so that a sampler returns its linear map."""

    def standard_normal(self, shape):
        return np.eye(*shape)


def with_other_eigenvectors(covariance):
    """The same record, as another LAPACK may leave it: signs of eigenvectors differ, and those of equal eigenvalues."""
    values, vectors = covariance.eigenvalues, covariance.eigenvectors
    rng, turned = np.random.default_rng(0), vectors.copy()
    for first in range(len(values)):
        equal = np.flatnonzero(abs(values - values[first]) < 1e-9 * values[-1])
        if equal[0] == first:
            rotation, _ = np.linalg.qr(rng.standard_normal((len(equal), len(equal))))
            turned[:, equal] = vectors[:, equal] @ rotation
    turned[:, -1] *= -np.sign(turned[:, -1] @ vectors[:, -1])
    other = copy.copy(covariance)
    other.__dict__["_eigen"] = values, turned
    return other


@pytest.mark.parametrize("name", COVARIANCES)
@pytest.mark.parametrize("inputs", ["gaussian", "uniform"])
def test_rows_do_not_depend_on_the_choice_of_eigenvectors(name, inputs):
    """Which differs between processors, and would make every number of a simulation another one there."""
    covariance = COVARIANCES[name]
    one, other = (
        sample(each, 30, stream(0, "eigenvectors"), inputs)
        for each in (covariance, with_other_eigenvectors(covariance))
    )
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-7)


def p_value(rows, covariance, diagonal):
    """Chi-square of n S_ij^2 of the whitened second moments S, i < j, and of n (S_ii - 1)^2/2 if `diagonal` (Gaussian).

    Directions that the covariance lacks must be absent: otherwise the p-value is 0.
    """
    present = covariance.eigenvalues > 1e-9 * covariance.eigenvalues[-1]
    vectors = covariance.eigenvectors
    if abs(rows @ vectors[:, ~present]).max(initial=0.0) > 1e-6:
        return 0.0
    whitened = rows @ vectors[:, present] / np.sqrt(covariance.eigenvalues[present])
    if not diagonal:  # back to the factors, whose squares alone have another variance than Gaussian ones
        whitened = whitened @ vectors[:, present].T
    deviation = whitened.T @ whitened / len(rows) - np.eye(whitened.shape[1])
    squares = len(rows) * deviation[np.triu_indices(len(deviation), 1)] ** 2
    if diagonal:
        squares = np.append(squares, len(rows) * np.diag(deviation) ** 2 / 2)
    return stats.chi2.sf(squares.sum(), max(len(squares), 1))


@pytest.mark.parametrize("name", COVARIANCES)
def test_the_linear_maps_are_exact(name):
    covariance = COVARIANCES[name]
    root = times_root(covariance, np.eye(covariance.d))
    np.testing.assert_allclose(root, root.T, atol=1e-13)
    assert np.linalg.eigvalsh(root)[0] > -1e-13
    np.testing.assert_allclose(root @ root, covariance.matrix, atol=1e-12)
    if name != "spiked":  # which draws twice
        gaussian = _gaussian(covariance, covariance.d, Impulses())
        np.testing.assert_allclose(gaussian.T @ gaussian, covariance.matrix, atol=1e-12)


@pytest.mark.parametrize("name", COVARIANCES)
def test_gaussian_rows_have_the_covariance(name):
    covariance = COVARIANCES[name]
    rows = sample(covariance, ROWS, np.random.default_rng(1))
    assert rows.shape == (ROWS, covariance.d)
    assert rows.flags.c_contiguous
    assert p_value(rows, covariance, diagonal=True) > LEVEL
    mean = rows.mean(axis=0) / np.sqrt(covariance.variances.clip(1e-300) / ROWS)
    assert abs(mean).max() < stats.norm.isf(LEVEL / 2 / len(mean))


@pytest.mark.parametrize("inputs", FACTORS)
@pytest.mark.parametrize("name", [name for name in COVARIANCES if "singular" not in name])
def test_other_factors_have_the_same_covariance(name, inputs):
    covariance = COVARIANCES[name]
    rows = sample(covariance, ROWS, np.random.default_rng(2), inputs)
    assert p_value(rows, covariance, diagonal=False) > LEVEL


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("AR(1)", models.AR1(12, 0.66)),
        ("blocks", models.Blocks(12, 4, -0.16)),
        ("ring", models.GaussianFreeField(12, 0.55)),
        ("torus", models.GaussianFreeField(16, 0.6, 2)),
        ("tridiagonal", models.TridiagonalPrecision(12, 3.0, -0.9)),
        ("two-level", models.TwoLevel(12, high=5.0)),
        ("spiked", models.Spiked(models.AR1(12, 0.5), DIRECTION, 1.8)),
        ("singular Wishart", models.Wishart(12, 0.5, seed=1)),
    ],
)
def test_a_slightly_wrong_covariance_is_noticed(name, wrong):
    rows = sample(COVARIANCES[name], ROWS, np.random.default_rng(3))
    assert p_value(rows, wrong, diagonal=True) < LEVEL


@pytest.mark.parametrize("inputs", FACTORS)
def test_a_wrong_covariance_is_noticed_with_other_factors(inputs):
    rows = sample(COVARIANCES["AR(1)"], ROWS, np.random.default_rng(3), inputs)
    assert p_value(rows, models.AR1(12, 0.64), diagonal=False) < LEVEL


def test_the_factors_have_their_laws():
    identity = models.Isotropic(5)
    signs = sample(identity, 2000, np.random.default_rng(4), "rademacher")
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert stats.binomtest(int((signs > 0).sum()), signs.size).pvalue > LEVEL
    uniform = sample(identity, 2000, np.random.default_rng(4), "uniform").ravel()
    assert stats.kstest(uniform, stats.uniform(-np.sqrt(3), 2 * np.sqrt(3)).cdf).pvalue > LEVEL
    student = sample(identity, 2000, np.random.default_rng(4), "student").ravel()
    assert stats.kstest(student, stats.t(5, scale=np.sqrt(3 / 5)).cdf).pvalue > LEVEL
    assert stats.kstest(student, stats.norm.cdf).pvalue < LEVEL  # power: variance one does not make it Gaussian


@pytest.mark.parametrize("inputs", ["gaussian", *FACTORS])
def test_rows_depend_on_the_generator_alone(inputs):
    covariance = models.AR1(12, 0.7)
    first = sample(covariance, 5, np.random.default_rng(5), inputs)
    assert covariance.eigenvectors.shape == (12, 12)  # now cached
    np.testing.assert_array_equal(first, sample(covariance, 5, np.random.default_rng(5), inputs))
    np.testing.assert_array_equal(first, sample(models.AR1(12, 0.7), 5, np.random.default_rng(5), inputs))
    assert np.any(first != sample(covariance, 5, np.random.default_rng(6), inputs))


def test_a_record_of_ones_own_is_sampled_by_its_eigenvectors():
    class Ramp(models.Covariance):
        d = 3

        def _matrix(self):
            return np.diag([1.0, 2.0, 3.0])

    rows = sample(Ramp(), ROWS, np.random.default_rng(7))
    assert p_value(rows, Ramp(), diagonal=True) > LEVEL
    assert fit(rows, 0.1).d == 3


def test_bad_arguments():
    rng, covariance = np.random.default_rng(0), models.AR1(12, 0.7)
    with pytest.raises(
        ValueError, match=r"covariance must have a finite d to be sampled, got d = inf: use resized\(d\)"
    ):
        sample(models.AR1(np.inf, 0.7), 5, rng)
    with pytest.raises(ValueError, match=r"inputs must be one of .*'rademacher'.* got 'cauchy'"):
        sample(covariance, 5, rng, "cauchy")
    for n in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match="n must be an integer"):
            sample(covariance, n, rng)


KURTOSIS = {"gaussian": 3.0, "rademacher": 1.0, "uniform": 1.8, "student": 9.0}


@pytest.mark.parametrize("inputs", KURTOSIS)
def test_the_factors_have_unit_variance(inputs):
    """A million factors: an error of 1 % of the scale, 2 % of the variance, would show."""
    z = sample(models.Isotropic(100), 10_000, np.random.default_rng(11), inputs)
    stderr = math.sqrt((KURTOSIS[inputs] - 1) / z.size)
    assert 5 * stderr < 0.02
    assert np.mean(z * z) == pytest.approx(1, abs=5 * stderr + 1e-15)
    assert np.mean(z) == pytest.approx(0, abs=5e-3)


@pytest.mark.parametrize("name", COVARIANCES)
def test_the_scale_of_all_rows_to_one_per_cent(name):
    """The sum of all whitened squares by chi-square: a factor of 1.01 is ten deviations away."""
    covariance = COVARIANCES[name]
    present = covariance.eigenvalues > 1e-9 * covariance.eigenvalues[-1]
    rows = sample(covariance, 60_000, stream(2, "scale", name))
    projected = rows @ covariance.eigenvectors[:, present] / np.sqrt(covariance.eigenvalues[present])
    assert stats.chi2.isf(1 - LEVEL, projected.size) < np.sum(projected**2) < stats.chi2.isf(LEVEL, projected.size)


def test_the_scale_along_a_spike_to_one_per_cent():
    """Second and fourth moments of 400,000 rows along each of two spikes and across both, within five deviations."""
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    covariance = models.Spiked(models.Isotropic(4, 0.2), basis[:2], [3.0, 0.7])
    rows = sample(covariance, 400_000, stream(3, "spike"))
    z = rows @ basis.T / np.sqrt([3.2, 0.9, 0.2, 0.2])
    np.testing.assert_allclose(z.T @ z / len(z), np.eye(4), atol=5 * math.sqrt(2 / len(z)))
    np.testing.assert_allclose(np.mean((z * z) ** 2, axis=0), 3, atol=5 * math.sqrt(96 / len(z)))


def test_few_rows_have_the_second_moments_of_many():
    """Mean and variances of all entries of the Wishart law, and the exact mean of the log-determinant."""
    n, d, draws = 11, 4, 20_000
    rng = stream(0, "second moments")
    rows = np.array([second_moment_rows(n, d, rng) for _ in range(draws)])
    moments = np.einsum("rij,rik->rjk", rows, rows) / d
    variances = (1 + np.eye(d)) / n
    assert np.all(abs(moments.mean(0) - np.eye(d)) < 6 * np.sqrt(variances / draws))
    spread = moments.var(0) / variances
    assert np.all(abs(spread - 1) < 0.1)
    logs = np.linalg.slogdet(moments)[1]
    exact = sum(digamma((n - k) / 2) for k in range(d)) + d * np.log(2 / n)
    assert abs(logs.mean() - exact) < 5 * logs.std() / np.sqrt(draws)


def test_each_of_few_rows_loses_a_degree_of_freedom():
    """Squared diagonal entries have the means n - k and twice these variances, others are normal: one large draw."""
    n, d = 1200, 1000
    triangle = second_moment_rows(n, d, stream(0, "degrees")) * math.sqrt(n / d)
    left, k = n - np.arange(d), np.arange(d) / d
    scores = (np.diag(triangle) ** 2 - left) / np.sqrt(2 * left)
    assert abs(scores.mean()) < 5 / math.sqrt(d)
    assert abs(scores @ k) < 5 * math.sqrt(k @ k)  # too many or too few for the last ones
    above = triangle[np.triu_indices(d, 1)]
    assert np.mean(above * above) == pytest.approx(1, abs=5 * math.sqrt(2 / above.size))
    assert not np.tril(triangle, -1).any()
