"""Every covariance family: its entries by definition, and its modes against dense linear algebra."""

import pickle
from dataclasses import dataclass
from inspect import isabstract

import numpy as np
import pytest

from tests.families import FINITE, LIMITS, SINGULAR, D, symbol
from theory import models
from theory.models import (
    AR1,
    Blocks,
    Covariance,
    Diagonal,
    Empirical,
    Equicorrelated,
    GaussianFreeField,
    PowerLaw,
    Scaled,
    TwoLevel,
    Wishart,
)

LAG = abs(np.subtract.outer(np.arange(D), np.arange(D)))
EYE = np.eye(D)


def laplacian(side, dimension):
    """Of a periodic lattice, one neighbor at a time."""
    ring = 2 * np.eye(side) - np.roll(np.eye(side), 1, axis=0) - np.roll(np.eye(side), -1, axis=0)
    return ring if dimension == 1 else np.kron(ring, np.eye(side)) + np.kron(np.eye(side), ring)


DEFINITIONS = {
    "isotropic": lambda c: 2 * EYE,
    "diagonal": lambda c: np.diag(c.variances),
    "two level": lambda c: np.diag([0.3] * 29 + [4.0] * 7),
    "AR1": lambda c: 0.7**LAG,
    "AR1 alternating": lambda c: (-0.7) ** LAG,
    "Toeplitz": lambda c: 1.5 * EYE + 0.5 * (LAG == 1),
    "tridiagonal precision": lambda c: np.linalg.inv(2 * EYE + 0.7 * (LAG == 1)),
    "GOE precision": lambda c: np.linalg.inv(c.precision()),
    "equicorrelated": lambda c: 0.6 * EYE + 0.4,
    "blocks": lambda c: 0.5 * EYE + 0.5 * np.equal.outer(np.arange(D) // 4, np.arange(D) // 4),
    "power law": lambda c: np.diag([(D / j) ** 1.2 for j in range(1, D + 1)]),
    "free field": lambda c: np.linalg.inv(0.25 * EYE + laplacian(D, 1)),
    "free field 2D": lambda c: np.linalg.inv(0.25 * EYE + laplacian(6, 2)),
    "sparse precision": lambda c: np.linalg.inv(2 * EYE - 0.6 * (LAG == 1) + 0.3 * (LAG == 2)),
    "diagonal plus low rank": lambda c: np.diag(c.diagonal) + sum(np.outer(f, f) for f in c.factors.T),
    "spiked": lambda c: 0.3**LAG + 2 * np.outer(c.directions[0], c.directions[0]),
    "scaled": lambda c: np.outer(c.scales, c.scales) * 0.3**LAG,
}


def test_every_family_is_among_those_that_are_tested():
    """A family that is added to theory.models and not to tests/families.py would go through none of the tests below."""
    public = [getattr(models, name) for name in models.__all__]
    families = {one for one in public if isinstance(one, type) and issubclass(one, Covariance) and not isabstract(one)}
    of_products_alone = {models.CovarianceOperator}  # has no entries to compare; tests/models/test_large.py is about it
    assert families - of_products_alone == {type(one) for one in FINITE.values()}


@pytest.fixture(params=FINITE)
def covariance(request):
    return FINITE[request.param]


@pytest.mark.parametrize("name", DEFINITIONS)
def test_entries_are_those_of_the_definition(name):
    np.testing.assert_allclose(FINITE[name].matrix, DEFINITIONS[name](FINITE[name]), rtol=1e-10, atol=1e-12)


def test_matrix_is_a_covariance(covariance):
    assert covariance.d == covariance.size == D
    assert covariance.is_finite
    np.testing.assert_allclose(covariance.matrix, covariance.matrix.T, rtol=0, atol=1e-14)
    assert covariance.eigenvalues.min() >= 0
    np.testing.assert_allclose(covariance.variances, np.diagonal(covariance.matrix), rtol=1e-12)


def test_eigenvectors_rebuild_the_matrix(covariance):
    s, u = covariance.eigenvalues, covariance.eigenvectors
    assert np.all(np.diff(s) >= 0)
    np.testing.assert_allclose(u.T @ u, EYE, atol=1e-12)
    np.testing.assert_allclose((u * s) @ u.T, covariance.matrix, atol=1e-12 * s[-1])


def test_eigenvalues_without_vectors_are_the_same_to_rounding_of_the_largest(covariance):
    fresh = pickle.loads(pickle.dumps(covariance))  # caches nothing
    rough = fresh._rough_eigenvalues()
    np.testing.assert_allclose(rough, covariance.eigenvalues, rtol=0, atol=1e-13 * covariance.eigenvalues[-1])


def test_a_scaled_covariance_decomposes_its_base_only_where_that_tells_more():
    near = Scaled(AR1(D, 0.7), np.linspace(0.5, 2, D))
    assert near.eigenvalues[0] > 0
    assert "_eigen" not in vars(near.base)
    far = Scaled(AR1(D, 1 - 1e-13), np.linspace(0.5, 2, D))
    assert far.eigenvalues[0] > 0
    assert "_eigen" in vars(far.base)


@pytest.mark.parametrize(("least", "expected"), [
    (GaussianFreeField(3, 0.5), [1 / 3.25, 1 / 3.25, 4]),
    (GaussianFreeField(9, 0.5, 2), [*[1 / 6.25] * 4, *[1 / 3.25] * 4, 4]),
    (Equicorrelated(2, 0.3), [0.7, 1.3]),
    (Blocks(4, 2, 0.3), [0.7, 0.7, 1.3, 1.3]),
    (AR1(2, 0.3), [0.7, 1.3]),
    (TwoLevel(2, 0.3, 4.0, 0.5), [0.3, 4.0]),
    (PowerLaw(1, 0.9), [1.0]),
    (Diagonal([0.7]), [0.7]),
])  # fmt: skip
def test_the_smallest_size_of_a_family_is_allowed_and_right(least, expected):
    np.testing.assert_allclose(least.eigenvalues, expected, rtol=1e-13)
    np.testing.assert_allclose(np.linalg.eigvalsh(least.matrix), expected, rtol=1e-13)


@pytest.mark.parametrize("kappa", [1e-2, 1.0, 30.0])
def test_spectrum_gives_traces_and_diagonals_of_the_resolvent(covariance, kappa):
    resolvent = np.linalg.inv(covariance.matrix + kappa * EYE)
    spectrum = covariance.spectrum
    values = 1 / (spectrum.eigenvalues + kappa)
    assert spectrum.weights.sum() == pytest.approx(1, abs=1e-12)
    assert spectrum.mean(values) == pytest.approx(np.trace(resolvent) / D, rel=1e-11)
    diagonal = np.broadcast_to(spectrum.diagonal(values), D)
    np.testing.assert_allclose(diagonal, np.diagonal(resolvent), rtol=1e-10)
    np.testing.assert_allclose(spectrum.diagonal(np.stack([values, 2 * values]))[1], 2 * spectrum.diagonal(values))
    assert spectrum.coordinate_weights @ spectrum.diagonal(values) == pytest.approx(spectrum.mean(values), rel=1e-12)


def test_results_are_cached_and_read_only(covariance):
    assert covariance.matrix is covariance.matrix
    for array in (covariance.matrix, covariance.eigenvalues, covariance.eigenvectors, covariance.variances):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


@pytest.mark.parametrize("name", [name for name in FINITE if name != "Toeplitz"])  # its symbol is a local function
def test_a_pickle_carries_parameters_only(name):
    covariance = FINITE[name]
    assert covariance.matrix.size == D * D  # cached by now
    copy = pickle.loads(pickle.dumps(covariance))
    np.testing.assert_array_equal(copy.matrix, covariance.matrix)
    if name in ("AR1", "blocks", "Wishart", "GOE precision"):
        assert len(pickle.dumps(covariance)) < 500


@pytest.mark.parametrize("name", SINGULAR)
def test_rounding_does_not_count_as_rank(name):
    rank = {"singular Wishart": 18, "fewer samples than features": 19}[name]  # the mean takes one
    assert np.count_nonzero(SINGULAR[name].eigenvalues) == rank


def test_empirical_is_the_covariance_of_the_data():
    X = np.random.default_rng(1).standard_normal((30, 4))
    np.testing.assert_allclose(Empirical.from_data(X).matrix, np.cov(X.T, bias=True), rtol=1e-12)
    np.testing.assert_allclose(Empirical.from_data(X, center=False).matrix, X.T @ X / 30, rtol=1e-12)


@pytest.mark.parametrize(
    ("covariance", "larger"),
    [
        (AR1(10, 0.7), AR1(20, 0.7)),
        (Blocks(8, 4, 0.5), Blocks(20, 4, 0.5)),
        (TwoLevel(10), TwoLevel(20)),
        (GaussianFreeField(9, 0.5, 2), GaussianFreeField(16, 0.5, 2)),
        (Wishart(10, 2.0, seed=3), Wishart(20, 2.0, seed=3)),
        (PowerLaw(10, 1.2, rotation=3), PowerLaw(20, 1.2, rotation=3)),
        (AR1(np.inf, 0.7), AR1(20, 0.7)),
    ],
)
def test_resized_is_the_same_family(covariance, larger):
    assert covariance.resized(larger.d) == larger


def test_resized_repeats_given_profiles():
    np.testing.assert_array_equal(Diagonal([1.0, 2.0]).resized(4).variances, [1, 2, 1, 2])
    scaled = Scaled(AR1(2, 0.5), [1.0, 2.0]).resized(4)
    np.testing.assert_allclose(scaled.matrix, np.outer([1, 2, 1, 2], [1, 2, 1, 2]) * 0.5 ** LAG[:4, :4])
    with pytest.raises(ValueError, match="d must be a multiple of 2"):
        Diagonal([1.0, 2.0]).resized(5)
    with pytest.raises(ValueError, match="fixed d = 36, got 72"):
        FINITE["spiked"].resized(72)


def test_equal_parameters_are_equal_records():
    assert AR1(10, 0.5) == AR1(10.0, 0.5)
    assert AR1(10, 0.5) != AR1(10, 0.6)
    assert hash(AR1(10, 0.5)) == hash(AR1(10, 0.5))


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_has_no_matrix(name):
    for attribute in ("matrix", "eigenvalues", "eigenvectors", "size"):
        with pytest.raises(ValueError, match="is the limit d -> infinity: a matrix needs a finite d"):
            getattr(LIMITS[name], attribute)


def test_symbol_of_the_toeplitz_example_is_positive():
    assert symbol(np.linspace(0, np.pi, 9)).min() == 0.5


@pytest.mark.parametrize("d", [0, -1, 2.5])
def test_a_class_of_ones_own_has_a_whole_number_of_coordinates(d):
    @dataclass(frozen=True)
    class Own(Covariance):
        d: float

        def _matrix(self):
            return np.eye(self.size)

    assert Own(3).matrix.shape == (3, 3)
    with pytest.raises(ValueError, match=f"d must be an integer of at least 1 or infinity, got {d}"):
        Own(d).matrix  # noqa: B018
