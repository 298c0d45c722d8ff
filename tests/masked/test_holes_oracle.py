"""The oracle of tables with holes: closed forms, enumeration, and the rows of each kind."""

import math
from itertools import product

import mpmath as mp
import numpy as np
import pytest

from tests.masked.holes_draws import ring
from theory import masked
from theory.models import (
    AR1,
    Dropout,
    Empirical,
    GaussianFreeField,
    GivenSpectrum,
    Isotropic,
    MissingEntries,
    PowerLaw,
    TridiagonalPrecision,
    TwoLevel,
)

INF = math.inf

ORACLES = [  # AR(1), d = infinity; two routes in mpmath
    (0.7, 0.05, 0.35237353367575),
    (0.7, 0.2, 0.38822271337018),
    (0.7, 0.5, 0.4985170411089),
    (0.9, 0.2, 0.12210958376405),
    (0.9, 0.5, 0.17195769270819),
]


@pytest.mark.parametrize(("r", "p", "value"), ORACLES)
def test_the_oracle_of_a_chain(r, p, value):
    assert masked.oracle_error(AR1(INF, r), p).mean == pytest.approx(value, rel=1e-12)
    assert masked.oracle_error(AR1(INF, -r), p).mean == pytest.approx(value, rel=1e-12)
    plain = sum(
        (1 - p) ** 2 * p ** (i + j - 2) * (1 - r ** (2 * i)) * (1 - r ** (2 * j)) / (1 - r ** (2 * (i + j)))
        for i, j in product(range(1, 80), repeat=2)
    )
    assert plain == pytest.approx(value, rel=1e-12)
    same = masked.oracle_error(TridiagonalPrecision(INF, 1 + r * r, -r), p)  # of variance 1/(1 - r^2)
    assert same.mean * (1 - r * r) == pytest.approx(value, rel=1e-12)
    mass = (1 - r) / math.sqrt(r)  # m^2 + 2 = (1 + r^2)/r
    field = GaussianFreeField(INF, mass)
    assert masked.oracle_error(field, p).mean == pytest.approx(value * float(field.variances[0]), rel=1e-10)


@pytest.mark.parametrize(("r", "p"), [(0.999, 0.2), (0.999999, 0.9), (1e-9, 0.5), (0.5, 1e-9), (0.5, 0.99)])
def test_the_oracle_of_a_chain_at_its_ends(r, p):
    """Between the conditional variance, which few holes leave, and the variance; beside the sum in 40 digits."""
    value = masked.oracle_error(AR1(INF, r), p).mean
    with mp.workdps(40):
        rho, P = mp.mpf(r) ** 2, mp.mpf(p)

        def term(N):
            N = int(N)
            inner = (N - 1) * (1 + rho**N) - 2 * (rho - rho**N) / (1 - rho)
            return (1 - P) ** 2 * P ** (N - 2) * inner / (1 - rho**N)

        count = 20 + int(60 / (1 - p))
        expected = mp.fsum(term(N) for N in range(2, count + 2))
    assert value == pytest.approx(float(expected), rel=1e-11)
    assert (1 - r * r) / (1 + r * r) * (1 - 1e-12) <= value <= 1


HAAR = [(0.05, 0.3722996110880), (0.2, 0.4209372712299), (0.5, 0.6), (0.8, 0.8552343178075)]


@pytest.mark.parametrize(("p", "value"), HAAR)
def test_the_oracle_of_a_random_basis(p, value):
    assert masked.oracle_error(GivenSpectrum([0.2, 1.8]), p).mean == pytest.approx(value, rel=1e-12)


def test_the_oracle_of_a_random_basis_between_its_ends():
    law = GivenSpectrum([0.2, 1.8])
    assert masked.oracle_error(law, 1e-7).mean == pytest.approx(0.36, rel=1e-6)  # 1/mean(1/s)
    assert masked.oracle_error(law, 0).mean == pytest.approx(0.36, rel=1e-14)
    assert masked.oracle_error(law, 1 - 1e-9).mean == pytest.approx(1.0, rel=1e-8)
    assert masked.oracle_error(PowerLaw(INF, 0.5, rotation=0), 0.3).mean < 2.0
    assert masked.oracle_error(Isotropic(INF, 3.0), 0.3).mean == 3.0
    np.testing.assert_allclose(masked.oracle_error(TwoLevel(INF), 0.3).value, [0.3, 4.0])


@pytest.mark.parametrize(
    ("d", "value"), [(10, 0.471243633413), pytest.param(14, 0.491802173864, marks=pytest.mark.slow)]
)
def test_the_oracle_of_rings_by_enumeration(d, value):
    found = masked.oracle_error(ring(d, 0.7), 0.5, patterns=2**d)
    np.testing.assert_allclose(found.value, value, rtol=2e-12)
    assert found.mean_stderr == 0
    drawn = masked.oracle_error(ring(d, 0.7), 0.5, patterns=1000)
    assert abs(drawn.mean - value) < 4 * drawn.mean_stderr < 0.02


@pytest.mark.parametrize(("p", "value"), HAAR[:3])
def test_patterns_of_a_large_random_basis_have_the_oracle_of_the_limit(p, value):
    """The fluctuations of one matrix are of order 1/d."""
    found = masked.oracle_error(GivenSpectrum([0.2, 1.8]).resized(150), p, patterns=60)
    assert found.mean_stderr < 0.005
    assert found.mean == pytest.approx(value, abs=4 * found.mean_stderr + 1.0 / 150)


def test_singular_covariances_have_an_oracle():
    """Two copies of one column: the other copy tells everything, unless it is missing too."""
    copies = Empirical(np.kron(AR1(3, 0.5).matrix, np.ones((2, 2))))
    found = masked.oracle_error(copies, 0.3, patterns=64)
    single = masked.oracle_error(AR1(3, 0.5), 0.3**2, patterns=8)
    np.testing.assert_allclose(found.value, 0.3 * np.repeat(single.value, 2), atol=1e-12)


def test_the_oracle_of_each_kind_of_row():
    Sigma, seen = AR1(4, 0.6), [1.0, 0.8, 0.8, 0.5]
    given_all = np.linalg.inv(Sigma.matrix).diagonal() ** -1

    def of(rows):
        return masked.solve(MissingEntries(Sigma, 10.0, 0.1, Dropout(seen), rows=rows)).oracle_error

    np.testing.assert_allclose(of("complete"), given_all)
    ended = 1 - 0.6 ** (2 * np.array([1, 2, 3]))  # given the last column that is seen
    np.testing.assert_allclose(of("table"), [np.nan, ended[0], ended[1], (0.3 * ended[0] + 0.2 * ended[2]) / 0.5])
    assert of("holes")[3] == pytest.approx(ended[0])
    holes = masked.solve(MissingEntries(Sigma, 10.0, 0.1, 0.3)).oracle_error
    np.testing.assert_allclose(holes, masked.oracle_error(Sigma, 0.3).value)
    np.testing.assert_allclose(masked.solve(MissingEntries(Sigma, 10.0, 0.1, 0.0)).oracle_error, given_all)


def test_the_standard_error_of_the_mean_bounds_the_fluctuations():
    """Fixed counts of holes make the draws steadier than independent patterns, of which the standard error is."""
    drawn = [masked.oracle_error(ring(10, 0.7), 0.5, patterns=60, seed=seed) for seed in range(80)]
    means = np.array([one.mean for one in drawn])
    assert 0.2 < np.std(means) / np.mean([one.mean_stderr for one in drawn]) < 0.8


def test_columns_that_others_determine_count_as_such_where_they_are_seen():
    """Drawn patterns use the columns that are seen, too: two copies of each of three columns."""
    copies = Empirical(np.kron(AR1(3, 0.5).matrix, np.ones((2, 2))))
    exact, drawn = (masked.oracle_error(copies, 0.3, patterns=count) for count in (64, 63))
    assert abs(drawn.mean - exact.mean) < 4 * drawn.mean_stderr < 0.2
