"""Every constructor refuses what makes no sense, and says which argument, which value and what is allowed."""

import math

import numpy as np
import pytest

from theory.models import (
    AR1,
    Blocks,
    Diagonal,
    Empirical,
    Equicorrelated,
    GaussianFreeField,
    GOEPrecision,
    Isotropic,
    MaskedRidge,
    PowerLaw,
    Scaled,
    Spiked,
    TeacherStudent,
    Toeplitz,
    TridiagonalPrecision,
    TwoLevel,
    Wishart,
)

INF, NAN = math.inf, math.nan
UNIT = np.eye(4)[0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Isotropic(0), "d must be an integer of at least 1 or infinity, got 0"),
        (lambda: Isotropic(2.5), "d must be an integer of at least 1 or infinity, got 2.5"),
        (lambda: Isotropic(NAN), "d must be an integer, got nan"),
        (lambda: Isotropic("3"), "d must be an integer, got '3'"),
        (lambda: Isotropic(True), "d must be an integer, got True"),
        (lambda: Isotropic(-INF), "got -inf"),
        (lambda: Isotropic(4, 0.0), r"variance must lie in \(0, inf\), got 0.0"),
        (lambda: Isotropic(4, NAN), "variance must be finite, got nan"),
        (lambda: Isotropic(4, "x"), "variance must be a real number, got 'x'"),
        (lambda: Diagonal([1.0, -2.0]), "variances must be positive, got -2.0 at index 1"),
        (lambda: Diagonal([]), "variances must be a non-empty array with 1 axes"),
        (lambda: Diagonal([[1.0]]), r"got shape \(1, 1\)"),
        (lambda: Diagonal([1.0, INF]), r"variances must be finite, got inf at index \(1,\)"),
        (lambda: Diagonal("ab"), "variances must be an array of real numbers, got str"),
        (lambda: TwoLevel(10, low=-1.0), "low must lie in"),
        (lambda: TwoLevel(10, high=0.0), "high must lie in"),
        (lambda: TwoLevel(10, high_fraction=1.5), r"high_fraction must lie in \(0, 1\), got 1.5"),
        (lambda: AR1(10, 1.0), r"correlation must lie in \(-1, 1\), got 1.0"),
        (lambda: AR1(10, NAN), "correlation must be finite"),
        (lambda: Toeplitz(10, 3.0), "symbol must be a function, got 3.0"),
        (lambda: Toeplitz(10, np.cos), "symbol must be finite and positive at every angle"),
        (lambda: Toeplitz(10, lambda t: 1.5 + (t > 1)), "symbol is not smooth enough"),
        (lambda: TridiagonalPrecision(10, 1.0, -0.5), r"diagonal must exceed 2 \|off_diagonal\| = 1.0, got 1.0"),
        (lambda: GOEPrecision(10, nu=2.0), r"nu must exceed 2 sqrt\(variance\) = 2, got 2.0"),
        (lambda: GOEPrecision(10, variance=0.0), "variance must lie in"),
        (lambda: GOEPrecision(10, seed=-1), "seed must be an integer of at least 0, got -1"),
        (lambda: Equicorrelated(5, -0.25), r"correlation must lie in \(-0.25, 1\), got -0.25"),
        (lambda: Equicorrelated(1, 0.5), "d must be an integer of at least 2"),
        (lambda: Equicorrelated(INF, -0.1), r"correlation must lie in \[-0, 1\), got -0.1"),
        (lambda: Blocks(10, 4, 0.5), "d must be a multiple of block_size = 4, got 10"),
        (lambda: Blocks(10, 1, 0.5), "block_size must be an integer of at least 2, got 1"),
        (lambda: Blocks(8, 4, -0.4), "correlation must lie in"),
        (lambda: PowerLaw(10, -1.0), r"exponent must lie in \[0, inf\), got -1.0"),
        (lambda: PowerLaw(10, 1.0, rotation=0.5), "rotation must be an integer of at least 0, got 0.5"),
        (lambda: GaussianFreeField(2, 1.0), "d must be an integer of at least 3"),
        (lambda: GaussianFreeField(10, 1.0, 2), "d must be the square of a side of at least 3 in dimension 2, got 10"),
        (lambda: GaussianFreeField(10, 1.0, 3), "dimension must be 1 or 2, got 3"),
        (lambda: GaussianFreeField(10, 0.0), "mass must lie in"),
        (lambda: Wishart(10, 0.0), "aspect must lie in"),
        (lambda: Wishart(10, 0.01), r"aspect \* d must round to an integer from 1 to 1e15, got aspect=0.01, d=10"),
        (lambda: Spiked(AR1(4, 0.5), 2 * UNIT, 1.0), r"directions must be unit vectors, got norms \[2.\]"),
        (lambda: Spiked(AR1(4, 0.5), UNIT, -1.0), "strengths must be positive, got -1.0"),
        (lambda: Spiked(AR1(5, 0.5), UNIT, 1.0), r"directions must have shape \(1, 5\) \(strengths, d\), got \(1, 4\)"),
        (lambda: Spiked(AR1(INF, 0.5), UNIT, 1.0), "is the limit d -> infinity"),
        (lambda: Scaled(AR1(4, 0.5), [1.0, 2.0]), r"scales must have shape \(4,\), got \(2,\)"),
        (lambda: Scaled(AR1(2, 0.5), [1.0, 0.0]), "scales must be positive, got 0.0 at index 1"),
        (lambda: Empirical([[1.0, 0.5]]), r"matrix must be square, got shape \(1, 2\)"),
        (lambda: Empirical([[1.0, 0.5], [0.4, 1.0]]), r"matrix must be symmetric, got 0.5 and 0.4 at \(0, 1\)"),
        (lambda: Empirical([[1.0, 2.0], [2.0, 1.0]]), "matrix must be positive semi-definite, got an eigenvalue -1"),
        (lambda: Empirical([[1.0, NAN], [NAN, 1.0]]), r"matrix must be finite, got nan at index \(0, 1\)"),
        (lambda: Empirical.from_data([1.0, 2.0]), "X must be a non-empty array with 2 axes"),
        (
            lambda: MaskedRidge(np.eye(3), 1.0, 0.1),
            r"covariance must be a record of theory.models \(Covariance\), got ndarray",
        ),
        (lambda: MaskedRidge(AR1(4, 0.5), 0.0, 0.1), r"alpha must lie in \[1e-300, 1e\+300\], got 0.0"),
        (lambda: MaskedRidge(AR1(4, 0.5), INF, 0.1), "alpha must be finite"),
        (lambda: MaskedRidge(AR1(4, 0.5), 1.0, 0.0), "lam must be positive, got 0.0; .*theory.masked.ridgeless"),
        (lambda: MaskedRidge(AR1(4, 0.5), 1.0, -1.0), "lam must be positive"),
        (lambda: MaskedRidge(AR1(4, 0.5), 1.0, NAN), "lam must be finite"),
        (lambda: TeacherStudent(np.eye(3), 1.0, 0.1), "covariance must be a record"),
        (lambda: TeacherStudent(AR1(4, 0.5), 1.0, 0.1, noise=-1.0), r"noise must lie in \[0, inf\), got -1.0"),
        (lambda: TeacherStudent(AR1(4, 0.5), 1.0, 0.1, signal_power=0.0), "signal_power must lie in"),
        (lambda: Scaled(np.eye(3), np.ones(9)), r"base must be a record of theory.models \(Covariance\), got ndarray"),
        (lambda: Spiked(np.eye(3), np.eye(3)[0], 1.0), "base must be a record of theory.models"),
        (lambda: PowerLaw(5, 1e300), r"exponent must be at most 428.7 for d = 5 .*, got 1e\+300"),
        (lambda: GaussianFreeField(9, 1e-200, 2), r"mass must lie in \[1e-150, 1e\+150\], got 1e-200"),
        (lambda: GaussianFreeField(9, 1.0, True), "dimension must be an integer, got True"),
    ],
)
def test_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("family", [Spiked, Scaled, Diagonal])
def test_families_made_of_arrays_have_no_limit(family):
    covariance = {
        Spiked: Spiked(AR1(4, 0.5), UNIT, 1.0),
        Scaled: Scaled(AR1(4, 0.5), np.ones(4)),
        Diagonal: Diagonal(np.ones(4)),
    }[family]
    with pytest.raises(ValueError, match=r"d must be a multiple|has fixed d"):
        covariance.resized(INF)


def test_an_indefinite_draw_is_refused_when_its_modes_are_wanted():
    with pytest.raises(ValueError, match="is indefinite: take a larger nu or d, or another seed"):
        assert [GOEPrecision(3, 2.01, seed=seed).eigenvalues for seed in range(50)]


def test_number_of_samples():
    assert MaskedRidge(AR1(10, 0.5), 1.55, 0.1).n == pytest.approx(15.5)
    assert MaskedRidge(AR1(INF, 0.5), 1.55, 0.1).n == INF
    assert TeacherStudent(AR1(10, 0.5), 1.55, 0.1).n == pytest.approx(15.5)


def test_a_matrix_too_large_for_the_machine_is_refused_with_its_size():
    with pytest.raises(MemoryError, match=r"AR1\(d=10000000, correlation=0.5\) needs .* GB, this machine has"):
        _ = AR1(10**7, 0.5).spectrum
    with pytest.raises(MemoryError, match="the matrix of AR1"):
        _ = AR1(10**7, 0.5).matrix


def test_records_of_arrays_print_their_size():
    assert repr(Diagonal([1.0, 4.0])) == "Diagonal(d=2, variances in [1, 4])"
    assert repr(Empirical(np.eye(3))) == "Empirical(d=3)"
