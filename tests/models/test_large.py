"""Large covariances: their diagonals against dense and 30-digit arithmetic, their order, and what they refuse."""

import pickle

import mpmath
import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, diags_array, eye_array, kron

from theory.models import AR1, CovarianceOperator, DiagonalPlusLowRank, LargeCovariance, SparsePrecision

KAPPAS = (1e-6, 1e-2, 1.0, 50.0, 1e6)
NAMES = ("p", "t", "pp", "pt")


def random_band(d, b, seed):
    """A positive definite matrix L L^T + 0.1 with a lower band L of b diagonals and random entries."""
    rng = np.random.default_rng(seed)
    L = np.tril(np.triu(rng.standard_normal((d, d)), -b))
    return L @ L.T + 0.1 * np.eye(d)


def random_factors(d, r, seed):
    rng = np.random.default_rng(seed)
    return DiagonalPlusLowRank(rng.uniform(0.1, 3, d), 2 * rng.standard_normal((d, r)))


def lattice(side):
    ring = diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(side, side))
    return kron(ring, eye_array(side)) + kron(eye_array(side), ring) + 0.3 * eye_array(side * side)


def shuffled(matrix, seed=0):
    order = np.random.default_rng(seed).permutation(len(matrix))
    return matrix[np.ix_(order, order)]


CASES = {
    "chain": lambda: SparsePrecision(random_band(40, 1, 0)),
    "independent": lambda: SparsePrecision(np.diag([1.0, 2.0, 5.0])),
    "one coordinate": lambda: SparsePrecision([[2.0]]),
    "band": lambda: SparsePrecision(random_band(60, 7, 1)),
    "band as wide as the matrix": lambda: SparsePrecision(random_band(9, 8, 2)),
    "shuffled band": lambda: SparsePrecision(csr_array(shuffled(random_band(50, 2, 3)))),
    "lattice": lambda: SparsePrecision(lattice(7)),
    "one factor": lambda: DiagonalPlusLowRank([1.0, 0.5, 2.0, 1.0], [1.0, -2.0, 0.0, 0.3]),
    "three factors": lambda: random_factors(60, 3, 4),
    "more factors than coordinates": lambda: random_factors(5, 9, 5),
    "no noise to speak of": lambda: DiagonalPlusLowRank(np.full(30, 1e-8), random_factors(30, 3, 6).factors),
}


def to_30_digits(covariance, kappa):
    """The four diagonals from the fields of the record by mpmath, (4, d)."""
    with mpmath.workdps(30 + 20):
        if isinstance(covariance, SparsePrecision):
            sigma = mpmath.matrix(covariance.precision.toarray().tolist()) ** -1
        else:
            factors = mpmath.matrix(covariance.factors.tolist())
            sigma = mpmath.diag(list(map(mpmath.mpf, covariance.diagonal))) + factors * factors.T
        ridge = mpmath.mpf(kappa) * mpmath.eye(sigma.rows)
        R = (sigma + ridge) ** -1
        p, t = sigma * R, ridge * R
        return np.array([[float(m[k, k]) for k in range(m.rows)] for m in (p, t, p * p, p * t)])


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kappa", KAPPAS)
def test_diagonals_are_those_of_dense_matrices(name, kappa):
    covariance = CASES[name]()
    sigma = covariance.matrix
    s, U = np.linalg.eigh(sigma)
    p, t = s / (s + kappa), kappa / (s + kappa)
    found = covariance.resolvent_diagonals(kappa)
    for one, values in zip(NAMES, (p, t, p * p, p * t), strict=True):
        # A dense decomposition is accurate to rounding of the largest eigenvalue.
        noise = 1e-15 * len(s) * s[-1] / (s[0] + kappa)
        np.testing.assert_allclose(getattr(found, one), (U * U) @ values, rtol=1e-10, atol=noise, err_msg=one)


SMALL = {
    "chain": lambda: SparsePrecision(random_band(12, 1, 7)),
    "shuffled band": lambda: SparsePrecision(shuffled(random_band(12, 2, 8))),
    "almost a unit root": lambda: SparsePrecision(
        diags_array([-0.5, 1 + 1e-7, -0.5], offsets=[-1, 0, 1], shape=(9, 9))
    ),
    "three factors": lambda: random_factors(10, 3, 9),
    "no noise to speak of": lambda: DiagonalPlusLowRank(np.full(8, 1e-8), random_factors(8, 2, 6).factors),
}


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("kappa", KAPPAS)
def test_diagonals_to_30_digits(name, kappa):
    covariance = SMALL[name]()
    exact = to_30_digits(covariance, kappa)
    for one, values in zip(NAMES, exact, strict=True):
        np.testing.assert_allclose(getattr(covariance.resolvent_diagonals(kappa), one), values, rtol=2e-11, err_msg=one)


@pytest.mark.parametrize("name", sorted(CASES.keys() - {"no noise to speak of"}))
def test_variances_and_determinant(name):
    covariance = CASES[name]()
    matrix = covariance.matrix
    np.testing.assert_allclose(covariance.variances, np.diagonal(matrix), rtol=1e-10)
    expected = 1 / np.diagonal(np.linalg.inv(matrix))
    np.testing.assert_allclose(covariance.conditional_variances, expected, rtol=1e-9)
    logdet = np.linalg.slogdet(matrix)[1]
    assert np.log(covariance.geometric_mean) == pytest.approx(logdet / covariance.d, rel=1e-9, abs=1e-12)


def test_the_chain_of_an_autoregression():
    r, d = 0.7, 40
    diagonal = np.full(d, (1 + r * r) / (1 - r * r))
    diagonal[[0, -1]] = 1 / (1 - r * r)
    chain = SparsePrecision(
        diags_array([np.full(d - 1, -r / (1 - r * r)), diagonal, np.full(d - 1, -r / (1 - r * r))], offsets=[-1, 0, 1])
    )
    np.testing.assert_allclose(chain.matrix, AR1(d, r).matrix, atol=1e-13)
    np.testing.assert_allclose(chain.variances, 1.0, rtol=1e-13)


def test_coordinates_are_reordered_to_a_narrow_band():
    band = random_band(200, 2, 0)
    hidden = SparsePrecision(shuffled(band))
    assert SparsePrecision(band).bandwidth == 2
    assert hidden.bandwidth <= 4  # the given order has almost 200
    order = np.random.default_rng(0).permutation(200)
    np.testing.assert_allclose(hidden.variances, SparsePrecision(band).variances[order], rtol=1e-10)


def test_numbers_of_the_record_are_read_only_copies():
    given = csr_array(random_band(6, 1, 0))
    covariance = SparsePrecision(given)
    given.data[:] = 0
    assert covariance.precision.data.any()
    for array in (covariance.precision.data, covariance.variances, covariance.conditional_variances):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    factors = np.ones((4, 2))
    low_rank = DiagonalPlusLowRank(np.ones(4), factors)
    factors[:] = 0
    assert low_rank.factors.all()


@pytest.mark.parametrize("name", ["shuffled band", "three factors"])
def test_a_pickle_carries_the_parameters(name):
    covariance = CASES[name]()
    size = len(pickle.dumps(covariance))
    _ = covariance.matrix, covariance.variances
    assert len(pickle.dumps(covariance)) == size
    copy = pickle.loads(pickle.dumps(covariance))
    assert isinstance(copy, LargeCovariance)
    np.testing.assert_array_equal(copy.resolvent_diagonals(0.3).pt, covariance.resolvent_diagonals(0.3).pt)


def test_a_large_record_is_small_and_says_what_it_cannot():
    chain = SparsePrecision(diags_array([-0.4, 1.0, -0.4], offsets=[-1, 0, 1], shape=(10**6, 10**6)))
    assert repr(chain) == "SparsePrecision(d=1000000, bandwidth=1)"
    with pytest.raises(MemoryError, match=r"bandwidth=1.* needs 8e\+03 GB"):
        _ = chain.matrix
    with pytest.raises(ValueError, match="a SparsePrecision covariance has fixed d = 1000000, got 7"):
        chain.resized(7)
    assert chain.resized(10**6) is chain
    assert repr(random_factors(7, 2, 0)) == "DiagonalPlusLowRank(d=7, rank=2)"


FAR = coo_array(([1e-3], ([0], [1])), shape=(2, 2))
REFUSED_PRECISIONS = [
    (np.ones((2, 3)), r"precision must be a square matrix, got shape \(2, 3\)"),
    (csr_array((0, 0)), r"precision must be a square matrix, got shape \(0, 0\)"),
    (np.ones(3), r"precision must be a non-empty array with 2 axes, got shape \(3,\)"),
    ("text", "precision must be an array of real numbers, got str"),
    (None, "precision must be an array of real numbers, got NoneType"),
    (1j * eye_array(3), "precision must be a matrix of real numbers, got dtype complex128"),
    (eye_array(3, dtype=bool), "precision must be a matrix of real numbers, got dtype bool"),
    ([[1.0, np.nan], [np.nan, 1.0]], r"precision must be finite, got nan at index \(0, 1\)"),
    (np.inf * eye_array(3), "precision must be finite, got inf"),
    (np.diag([1.0, 0.0]), "precision must have a positive diagonal, got 0.0 at index 1"),
    (-eye_array(3), "precision must have a positive diagonal, got -1.0 at index 0"),
    (eye_array(2) + FAR, r"precision must be symmetric, got 0.001 and 0.0 at \(0, 1\)"),
    ([[1.0, 1.5], [1.5, 1.0]], "precision must be positive definite, got an eigenvalue that is not positive"),
    ([[1.0, 1.0], [1.0, 1.0]], "precision must be positive definite, got an eigenvalue that is not positive"),
]


@pytest.mark.parametrize(("precision", "message"), REFUSED_PRECISIONS)
def test_precisions_that_are_none_are_refused(precision, message):
    with pytest.raises(ValueError, match=message):
        SparsePrecision(precision)


def test_the_symmetry_is_judged_in_the_units_of_the_coordinates():
    scales = np.array([1.0, 1e6])
    precision = np.outer(scales, scales) * [[1.0, 0.5], [0.5, 1.0]]
    precision[0, 1] *= 1 + 1e-14
    matrix = SparsePrecision(precision).precision.toarray()
    np.testing.assert_array_equal(matrix, matrix.T)
    precision[0, 1] *= 1 + 1e-8
    with pytest.raises(ValueError, match="precision must be symmetric"):
        SparsePrecision(precision)


def test_a_band_too_wide_for_an_exact_answer_is_refused_in_words():
    with pytest.raises(
        ValueError, match=r"d b\^2, which may be 1e\+08 at most, got 2.\de\+08 for d = 14400, b = 1\d\d"
    ):
        SparsePrecision(lattice(120))


REFUSED_FACTORS = [
    ({"diagonal": [1.0, 0.0]}, "diagonal must be positive, got 0.0 at index 1"),
    ({"diagonal": [1.0, -2.0]}, "diagonal must be positive, got -2.0 at index 1"),
    ({"diagonal": [1.0, np.inf]}, r"diagonal must be finite, got inf at index \(1,\)"),
    ({"diagonal": []}, "diagonal must be a non-empty array with 1 axes"),
    ({"diagonal": 1.0}, "diagonal must be a non-empty array with 1 axes"),
    ({"diagonal": "ab"}, "diagonal must be an array of real numbers, got str"),
    ({"factors": np.ones((3, 1))}, r"factors must have a row for each entry of diagonal, 2, got shape \(3, 1\)"),
    ({"factors": np.ones((2, 0))}, r"factors must be a non-empty array with 2 axes, got shape \(2, 0\)"),
    ({"factors": np.ones((2, 1, 1))}, "factors must be a non-empty array with 2 axes"),
    ({"factors": [[1.0], [np.nan]]}, r"factors must be finite, got nan at index \(1, 0\)"),
    ({"factors": [["a"], ["b"]]}, "factors must be an array of real numbers"),
]


@pytest.mark.parametrize(("changed", "message"), REFUSED_FACTORS)
def test_factors_that_are_none_are_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        DiagonalPlusLowRank(**({"diagonal": [1.0, 2.0], "factors": [[1.0], [2.0]]} | changed))


def test_numbers_beyond_double_precision_are_no_answer():
    with pytest.raises(FloatingPointError, match="leave the range of numbers"):
        SparsePrecision(np.array([[1e300, -9e299], [-9e299, 1e300]])).resolvent_diagonals(1e200)


@pytest.mark.parametrize(
    ("covariance", "way_out"),
    [
        (CovarianceOperator(10**6, lambda V: 2 * V), "theory.masked.estimate takes products with it alone"),
        (DiagonalPlusLowRank(np.ones(10**6), np.ones(10**6)), "solve, learning_curve, ridgeless and peak_height of"),
    ],
    ids=["products", "factors"],
)
def test_what_does_not_fit_names_what_does(covariance, way_out):
    for ask in (lambda: covariance.matrix, lambda: covariance.eigenvalues):
        with pytest.raises(MemoryError, match=way_out):
            ask()
