"""Closed forms: against the numeric solvers, and identities between them."""

import math
import subprocess
import sys

import numpy as np
import pytest
import sympy as sp

from theory import masked
from theory.masked import closed_forms as cf
from theory.models import AR1, Blocks, GOEPrecision, Isotropic, MaskedRidge
from theory.random_matrix import degrees_of_freedom

INF = math.inf
POINTS = [(alpha, lam) for alpha in (0.2, 0.9, 1.0, 1.3, 6.0) for lam in (1e-4, 0.05, 2.0)]
FAMILIES = {
    "ar1": (AR1(INF, 0.7), {cf.r: 0.7}),
    "goe": (GOEPrecision(INF, 3.0, 1.5), {cf.nu: 3.0, cf.v: 1.5}),
    "blocks": (Blocks(INF, 5, 0.4), {cf.b: 5, cf.r: 0.4}),
}
CONDITIONAL = {
    "ar1": cf.ar1_conditional_variance(),
    "goe": 1 / cf.nu,
    "blocks": cf.blocks_conditional_variance(),
}


def of(name, kind):
    return getattr(cf, f"{name}_{kind}")()


def number(expression, values):
    return float(sp.N(expression.subs(values)))


@pytest.mark.parametrize(("alpha", "lam"), POINTS)
def test_isotropic(alpha, lam):
    values = {cf.alpha: alpha, cf.lam: lam}
    point = masked.solve(MaskedRidge(Isotropic(INF), alpha, lam))
    assert number(cf.isotropic_effective_ridge(), values) == pytest.approx(point.effective_ridge, rel=1e-10)
    assert number(cf.isotropic_test_error(), values) == pytest.approx(point.mean_test_error, rel=1e-10)
    assert number(cf.isotropic_train_error(), values) == pytest.approx(point.mean_train_error, rel=1e-10)


def test_isotropic_identities():
    kappa = cf.isotropic_effective_ridge()
    assert sp.simplify(kappa**2 + kappa * (1 - 1 / cf.alpha - cf.lam) - cf.lam) == 0
    df1 = 1 / (1 + cf.kappa)
    general = cf.homogeneous_test_error(df1).subs(cf.kappa, kappa)
    assert sp.simplify(cf.isotropic_test_error() - general) == 0
    assert sp.simplify(cf.isotropic_test_error().subs(cf.alpha, 2).subs(cf.lam, 0)) == 2
    assert set(cf.isotropic_test_error().free_symbols) == {cf.alpha, cf.lam}


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize(("alpha", "lam"), POINTS)
def test_correlated_families(name, alpha, lam):
    covariance, parameters = FAMILIES[name]
    point = masked.solve(MaskedRidge(covariance, alpha, lam))
    values = parameters | {cf.kappa: point.effective_ridge, cf.alpha: alpha}
    df1, df2 = of(name, "degrees_of_freedom")
    assert number(df1, values) == pytest.approx(point.df1, rel=1e-9)
    assert number(df2, values) == pytest.approx(point.df2, rel=1e-9)
    assert number(of(name, "test_error"), values) == pytest.approx(point.mean_test_error, rel=1e-8)
    if alpha >= 0.9:  # below, lam is a small difference
        assert number(cf.ridge(df1), values) == pytest.approx(lam, rel=1e-7)


@pytest.mark.parametrize("name", FAMILIES)
def test_second_degrees_of_freedom_by_differentiation(name):
    """df2 = df1 + kappa df1'."""
    df1, df2 = of(name, "degrees_of_freedom")
    assert sp.simplify(df2 - df1 - cf.kappa * sp.diff(df1, cf.kappa)) == 0


@pytest.mark.parametrize("name", FAMILIES)
def test_all_coordinates_and_one_coordinate_give_the_same_error(name):
    """The random-matrix form and the replica form, with its overlap with the true predictor, are one function."""
    df1, _ = of(name, "degrees_of_freedom")
    replica = cf.replica_test_error(df1, of(name, "overlap"), CONDITIONAL[name])
    difference = cf.homogeneous_test_error(df1) - replica
    rng = np.random.default_rng(0)
    for _ in range(8):
        values = {cf.kappa: sp.Rational(int(rng.integers(1, 400)), 100), cf.alpha: sp.Rational(13, 10)}
        values |= {cf.r: sp.Rational(int(rng.integers(1, 95)), 100), cf.b: int(rng.integers(2, 9))}
        values |= {cf.nu: 3, cf.v: sp.Rational(int(rng.integers(1, 200)), 100)}
        assert abs(sp.N(difference.subs(values), 50)) < 1e-40


@pytest.mark.parametrize("name", FAMILIES)
def test_overlap_at_no_ridge_is_the_squared_norm_of_the_true_predictor(name):
    norm = {"ar1": 2 * (cf.r / (1 + cf.r**2)) ** 2, "goe": cf.v / cf.nu**2}
    norm["blocks"] = (cf.b - 1) * (cf.r / (1 + (cf.b - 2) * cf.r)) ** 2
    assert sp.simplify(of(name, "overlap").subs(cf.kappa, 0) - norm[name]) == 0
    explained = {"ar1": 1, "blocks": 1}.get(name)
    if explained:  # unit variances: large ridges see kappa g -> a^T Sigma a = 1 - sigma^2
        values = FAMILIES[name][1] | {cf.kappa: 1e9}
        expected = 1 - number(CONDITIONAL[name], values)
        assert number(cf.kappa * of(name, "overlap"), values) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_ridgeless_below_interpolation(name, alpha):
    covariance, parameters = FAMILIES[name]
    point = masked.ridgeless(covariance, alpha)
    kappa = number(of(name, "ridgeless_effective_ridge"), parameters | {cf.alpha: alpha})
    assert kappa == pytest.approx(point.effective_ridge, rel=1e-9)
    assert degrees_of_freedom(covariance, kappa)[0] == pytest.approx(alpha, rel=1e-9)
    error = number(cf.ridgeless_test_error_below(), {cf.alpha: alpha, cf.kappa: kappa})
    assert error == pytest.approx(point.mean_test_error, rel=1e-9)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("alpha", [1.1, 2.0, 10.0])
def test_ridgeless_above_interpolation(name, alpha):
    covariance, parameters = FAMILIES[name]
    values = {cf.alpha: alpha, cf.variance: number(CONDITIONAL[name], parameters)}
    expected = masked.ridgeless(covariance, alpha).mean_test_error
    assert number(cf.ridgeless_test_error_above(), values) == pytest.approx(expected, rel=1e-9)


def test_ridgeless_forms_follow_from_the_general_one():
    """df1 = alpha below; kappa -> 0 above."""
    df1, df2 = sp.symbols("df1 df2")
    general = cf.kappa * (df1 - df2) / ((1 - df1) ** 2 * (1 - df2 / cf.alpha))
    assert sp.simplify(general.subs(df1, cf.alpha) - cf.ridgeless_test_error_below()) == 0
    above = sp.limit(of("blocks", "test_error").subs({cf.b: 3, cf.r: sp.Rational(1, 2)}), cf.kappa, 0)
    variance = CONDITIONAL["blocks"].subs({cf.b: 3, cf.r: sp.Rational(1, 2)})
    assert sp.simplify(above - cf.ridgeless_test_error_above().subs(cf.variance, variance)) == 0


@pytest.mark.parametrize("name", FAMILIES)
def test_peak(name):
    covariance, parameters = FAMILIES[name]
    spectrum = covariance.spectrum
    values = {cf.lam: 1e-10, cf.tau: float(spectrum.mean(1 / spectrum.eigenvalues))}
    values[cf.variance] = number(CONDITIONAL[name], parameters)
    law = masked.peak_height(covariance, 1e-10)
    assert number(cf.peak_effective_ridge(), values) == pytest.approx(law.effective_ridge, rel=1e-12)
    assert number(cf.peak_test_error(), values) == pytest.approx(law.mean_test_error, rel=1e-10)


def test_peak_of_the_isotropic_case_by_expansion():
    exact = cf.isotropic_test_error().subs(cf.alpha, 1)
    law = cf.peak_test_error().subs({cf.tau: 1, cf.variance: 1})
    assert sp.limit(exact / law, cf.lam, 0, "+") == 1


ENDINGS = ("_error", "_ridge", "_variance", "_overlap", "_above", "_below")
EXPRESSIONS = [name for name in vars(cf) if name.endswith(ENDINGS) and not name.startswith("_")]
EXPRESSIONS = [name for name in EXPRESSIONS if name not in ("homogeneous_test_error", "replica_test_error")]


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_every_expression_prints_as_latex_and_becomes_a_function(name):
    expression = getattr(cf, name)()
    symbols = {cf.alpha, cf.lam, cf.kappa, cf.r, cf.nu, cf.v, cf.b, cf.tau, cf.variance}
    assert expression.free_symbols <= symbols
    text = sp.latex(expression)
    assert "frac" in text or "sqrt" in text
    assert "lambda" not in text.replace(r"\lambda", "")
    values = {symbol: {cf.nu: 3.0, cf.b: 4.0}.get(symbol, 0.4) for symbol in expression.free_symbols}
    vectorized = sp.lambdify(list(values), expression, "numpy")
    np.testing.assert_allclose(vectorized(*(np.full(3, x) for x in values.values())), number(expression, values))


def test_sympy_is_loaded_only_when_asked_for():
    program = """
import sys, theory
from theory import masked
assert not {"sympy", "mpmath"} & set(sys.modules)
masked.closed_forms.isotropic_test_error()
assert "sympy" in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    with pytest.raises(AttributeError, match=r"module 'theory.masked' has no attribute 'closed_form'"):
        masked.closed_form  # noqa: B018
