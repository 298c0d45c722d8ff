"""The arbitrary-precision twin: against algebra to 30 digits and more, and as reference for the fast solvers."""

import math

import mpmath
import numpy as np
import pytest
import sympy as sp
from mpmath import mp, mpf

from tests.families import FINITE
from tests.masked import high_precision
from theory import masked
from theory.masked import closed_forms
from theory.models import AR1, Blocks, GaussianFreeField, Isotropic, MaskedRidge

INF = math.inf
HARD = [
    ("1", "1e-20"),
    ("1", "1e-40"),
    ("1", "1e-4"),
    ("0.5", "1e-20"),
    ("0.999999", "1e-12"),
    ("3", "1e-20"),
    ("1", "10"),
]
# the two-mode reference: [(s, weight)] = [(1/2, 3/4), (5/2, 1/4)]
MODES = (["0.5", "2.5"], [3, 1])


def relative(a, b):
    return abs(a / b - 1)


@pytest.mark.parametrize(("alpha", "lam"), HARD)
def test_isotropic_root_is_that_of_its_quadratic(alpha, lam):
    with mp.workdps(80):
        b = 1 - 1 / mpf(alpha) - mpf(lam)
        kappa = (-b + mpmath.sqrt(b * b + 4 * mpf(lam))) / 2
        error = 1 / (1 - 1 / (mpf(alpha) * (1 + kappa) ** 2))
        found = high_precision.modes(["1"], [1], alpha, lam, digits=40)
        assert relative(found.effective_ridge, kappa) < mpf("1e-39")
        assert relative(found.test_error, error) < mpf("1e-38")
        assert relative(found.train_error, error * (mpf(lam) / kappa) ** 2) < mpf("1e-38")


@pytest.mark.parametrize(("alpha", "lam"), HARD)
def test_two_modes_by_a_polynomial(alpha, lam):
    """kappa is the positive root of a cubic."""
    k = sp.Symbol("k")
    s, w, a, L = (
        (sp.Rational(1, 2), sp.Rational(5, 2)),
        (sp.Rational(3, 4), sp.Rational(1, 4)),
        sp.Rational(alpha),
        sp.Rational(lam),
    )
    equation = k * (1 - sum(wi * si / (si + k) for si, wi in zip(s, w, strict=True)) / a) - L
    roots = sp.Poly(sp.numer(sp.together(equation)), k).nroots(n=60, maxsteps=500)
    kappa = max(root for root in roots if root.is_real)
    found = high_precision.effective_ridge(*MODES, alpha, lam, digits=40)
    with mp.workdps(60):
        assert relative(found, mpf(str(kappa))) < mpf("1e-38")


@pytest.mark.parametrize(("alpha", "lam"), [("1", "1e-20"), ("0.5", "0.01"), ("2", "0.3")])
@pytest.mark.parametrize("correlation", ["0.7", "-0.9"])
def test_autoregression_by_its_closed_form(correlation, alpha, lam):
    """The integral over the symbol against algebra, 30 digits."""
    found = high_precision.ar1(correlation, alpha, lam, digits=30)
    with mp.workdps(70):
        values = {closed_forms.kappa: found.effective_ridge, closed_forms.r: sp.Rational(correlation)}
        values[closed_forms.alpha] = sp.Rational(alpha)
        df1, df2 = (mpf(str(sp.N(df.subs(values), 60))) for df in closed_forms.ar1_degrees_of_freedom())
        assert relative(found.df1, df1) < mpf("1e-30")
        assert relative(found.df2, df2) < mpf("1e-30")
        assert abs(found.effective_ridge * (1 - df1 / mpf(alpha)) / mpf(lam) - 1) < mpf("1e-29")
        error = mpf(str(sp.N(closed_forms.ar1_test_error().subs(values), 60)))
        assert relative(found.test_error, error) < mpf("1e-29")


@pytest.mark.parametrize(("alpha", "lam"), [("1", "1e-20"), ("0.5", "0.01")])
def test_free_field_on_a_ring_is_an_autoregression(alpha, lam):
    """Sigma^-1 = mass^2 + 2 - 2 cos k is that of an AR(1) with r + 1/r = mass^2 + 2, in other units."""
    with mp.workdps(60):
        r = mpf("0.5")
        mass, unit = mpmath.sqrt(r + 1 / r - 2), r / (1 - r * r)  # variance of the field
        field = high_precision.free_field(mpmath.nstr(mass, 55), alpha, mpmath.nstr(mpf(lam) * unit, 55), digits=30)
        process = high_precision.ar1("0.5", alpha, lam, digits=30)
        assert relative(field.effective_ridge, unit * process.effective_ridge) < mpf("1e-29")
        assert relative(field.test_error, unit * process.test_error) < mpf("1e-29")


def test_reference_table_to_its_last_digit():
    """Made with these three lines; the table of test_solve.py is this, rounded."""
    points = [("0.7", "0.5", "0.01"), ("0.7", "1", "0.01"), ("0.7", "1", "1e-4"), ("0.9", "3", "0.1")]
    errors = [mpmath.nstr(high_precision.ar1(*point, digits=20).test_error, 12) for point in points]
    assert errors == ["0.913738840876", "1.26712509555", "10.261181687", "0.130183959197"]


@pytest.mark.parametrize(
    ("alpha", "lam"), [(1.0, 1e-20), (1.0, 1e-12), (1.0, 1e-4), (0.5, 1e-20), (0.5, 0.01), (3.0, 10.0)]
)
def test_fast_solvers_have_ten_digits(alpha, lam):
    found = masked.solve(MaskedRidge(AR1(INF, 0.7), alpha, lam))
    exact = high_precision.ar1(0.7, alpha, lam, digits=20)
    for name in ("effective_ridge", "df1", "df2"):
        assert getattr(found, name) == pytest.approx(float(getattr(exact, name)), rel=1e-12), name
    assert found.mean_test_error == pytest.approx(float(exact.test_error), rel=1e-10)
    assert found.mean_train_error == pytest.approx(float(exact.train_error), rel=1e-10)
    saddle = masked.replica(MaskedRidge(AR1(INF, 0.7), alpha, lam))
    assert saddle.test_error == pytest.approx(float(exact.test_error), rel=1e-10)
    assert saddle.iterations <= 15


@pytest.mark.parametrize("name", ["AR1", "scaled", "spiked", "rotated power law"])
@pytest.mark.parametrize(("alpha", "lam"), [(1.0, 1e-16), (0.5, 1e-8), (2.0, 0.1)])
def test_errors_of_each_coordinate_have_ten_digits(name, alpha, lam):
    """sum_j u_kj^2 f(s_j) in 40 digits from the same modes."""
    spectrum = FINITE[name].spectrum
    found = masked.solve(MaskedRidge(FINITE[name], alpha, lam))
    with mp.workdps(40):
        exact = high_precision.modes(spectrum.eigenvalues, spectrum.weights, alpha, lam, digits=30)
        kappa, s = exact.effective_ridge, [mpf(x) for x in spectrum.eigenvalues]
        for k in (0, 17):
            loadings = [mpf(x) for x in spectrum.loadings[k]]
            own = mpmath.fsum(w / (x + kappa) for w, x in zip(loadings, s, strict=True))
            numerator = mpmath.fsum(w * x / (x + kappa) ** 2 for w, x in zip(loadings, s, strict=True))
            expected = numerator / own**2 / (1 - exact.df2 / mpf(alpha))
            assert found.test_error[k] == pytest.approx(float(expected), rel=1e-10)


def test_homogeneous_families_at_finite_size():
    for covariance in (Blocks(20, 4, 0.5), Isotropic(7, 2.0), GaussianFreeField(25, 0.4, 2)):
        spectrum = covariance.spectrum
        error = high_precision.test_error(spectrum.eigenvalues, spectrum.weights, 1.0, 1e-8, digits=20)
        found = masked.solve(MaskedRidge(covariance, 1.0, 1e-8))
        np.testing.assert_allclose(found.test_error, float(error), rtol=1e-10)


@pytest.mark.slow
def test_free_field_on_a_torus_by_a_double_integral():
    exact = high_precision.free_field(0.8, 1.0, 0.01, dimension=2, digits=12)
    found = masked.solve(MaskedRidge(GaussianFreeField(INF, 0.8, 2), 1.0, 0.01))
    assert found.effective_ridge == pytest.approx(float(exact.effective_ridge), rel=1e-11)
    assert found.mean_test_error == pytest.approx(float(exact.test_error), rel=1e-11)


def test_decimal_strings_and_binary_floats_are_told_apart():
    decimal, binary = (high_precision.effective_ridge(["1"], [1], x, "0.1", digits=30) for x in ("1.1", 1.1))
    assert 1e-18 < relative(decimal, binary) < 1e-15


def test_the_precision_of_the_caller_is_left_alone():
    before = mp.dps
    high_precision.modes(["1"], [1], "1", "1e-10", digits=60)
    assert mp.dps == before


def test_refused():
    with pytest.raises(ValueError, match="lam must be positive, got '0'"):
        high_precision.modes(["1"], [1], "1", "0")
    with pytest.raises(ValueError, match="dimension must be 1 or 2, got 3"):
        high_precision.free_field("1", "1", "1", dimension=3)
    with pytest.raises(ValueError, match="zip"):
        high_precision.modes(["1", "2"], [1], "1", "1")
