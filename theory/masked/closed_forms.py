"""Closed forms of masked ridge regression as sympy expressions, in the limit d -> infinity; print with sympy.latex.

Every function returns an expression in the symbols of this module: alpha = n/d, lam the ridge of MaskedRidge, kappa
the effective ridge, r a correlation, nu and v the diagonal and the off-diagonal variance (times d) of a GOE precision,
b the block size, tau = tr Sigma^-1/d, variance = 1/(Sigma^-1)_kk the conditional variance. Variances are 1 except for
the GOE; errors are squared and without a factor 1/2. Where kappa is no elementary function of lam, a curve is
parametrized by kappa and `ridge` gives its lam. Sources: arXiv:2601.23208, and arXiv:2304.07235 for the overlaps.
"""

import sympy as sp
from sympy import Expr

alpha, lam, kappa = sp.symbols("alpha lambda kappa", positive=True)
r = sp.Symbol("r", real=True)
nu, v, b, tau = sp.symbols("nu v b tau", positive=True)
variance = sp.Symbol("sigma^2", positive=True)


def ridge(df1: Expr) -> Expr:
    """lam = kappa (1 - df1/alpha), the effective-ridge equation, for df1(kappa)."""
    return kappa * (1 - df1 / alpha)


def homogeneous_test_error(df1: Expr) -> Expr:
    """E = kappa (df1 - df2)/((1 - df1)^2 (1 - df2/alpha)), df2 = df1 + kappa df1', where all coordinates are alike."""
    df2 = df1 + kappa * sp.diff(df1, kappa)
    return kappa * (df1 - df2) / ((1 - df1) ** 2 * (1 - df2 / alpha))


def replica_test_error(df1: Expr, overlap: Expr, conditional_variance: Expr) -> Expr:
    """E = (sigma^2 - kappa^2 g')/(1 - df2/alpha), g(kappa) = a^T Sigma (Sigma + kappa)^-1 a with the true predictor a.

    The masked coordinate is a.x plus noise of variance sigma^2: the replica result for one regression.
    """
    df2 = df1 + kappa * sp.diff(df1, kappa)
    return (conditional_variance - kappa**2 * sp.diff(overlap, kappa)) / (1 - df2 / alpha)


def isotropic_effective_ridge() -> Expr:
    """kappa(alpha, lam) of Sigma = I: the positive root of kappa^2 + kappa (1 - 1/alpha - lam) - lam = 0."""
    linear = 1 - 1 / alpha - lam
    return (sp.sqrt(linear**2 + 4 * lam) - linear) / 2


def isotropic_test_error() -> Expr:
    """E(alpha, lam) = 1/(1 - 1/(alpha (1 + kappa)^2)) of Sigma = I."""
    return 1 / (1 - 1 / (alpha * (1 + isotropic_effective_ridge()) ** 2))


def isotropic_train_error() -> Expr:
    """(lam/kappa)^2 E(alpha, lam) of Sigma = I."""
    return (lam / isotropic_effective_ridge()) ** 2 * isotropic_test_error()


def ar1_degrees_of_freedom() -> tuple[Expr, Expr]:
    """(df1, df2)(kappa, r) of Sigma_ij = r^|i-j|: a/sqrt(P^2 - B^2) and a^2 P/(P^2 - B^2)^(3/2).

    a = 1 - r^2, P = a + kappa (1 + r^2), B = 2 kappa r: integrals of the spectral symbol over the circle.
    """
    a = 1 - r**2
    P, B = a + kappa * (1 + r**2), 2 * kappa * r
    return a / sp.sqrt(P**2 - B**2), a**2 * P / (P**2 - B**2) ** sp.Rational(3, 2)


def ar1_test_error() -> Expr:
    """E(kappa, r, alpha) of Sigma_ij = r^|i-j|; lam = ridge(df1)."""
    df1, df2 = ar1_degrees_of_freedom()
    return kappa * (df1 - df2) / ((1 - df1) ** 2 * (1 - df2 / alpha))


def ar1_conditional_variance() -> Expr:
    """1/(Sigma^-1)_kk away from the ends."""
    return (1 - r**2) / (1 + r**2)


def ar1_overlap() -> Expr:
    """g(kappa, r), see `replica_test_error`: of the two neighbors that predict a site."""
    center, side = (1 + r**2) / (1 - r**2), r / (1 - r**2)
    root = sp.sqrt((1 + kappa * center) ** 2 - 4 * kappa**2 * side**2)
    return _overlap(4 * (r / (1 + r**2)) ** 2 / (1 + kappa * center + root), center)


def ar1_ridgeless_effective_ridge() -> Expr:
    """kappa_0(alpha, r) where df1 = alpha, for alpha < 1."""
    precision = (1 + r**2) / (1 - r**2)
    return sp.sqrt(precision**2 - 1 + 1 / alpha**2) - precision


def goe_degrees_of_freedom() -> tuple[Expr, Expr]:
    """(df1, df2)(kappa, nu, v) of Sigma^-1 = nu I + W with W from the GOE, nu > 2 sqrt(v): df1 = 2/(u + root).

    u = 1 + kappa nu, root = sqrt(u^2 - 4 v kappa^2): the semicircle's Stieltjes transform.
    """
    u = 1 + kappa * nu
    root = sp.sqrt(u**2 - 4 * v * kappa**2)
    df1 = 2 / (u + root)
    return df1, df1 - kappa * df1**2 / 2 * (nu + (u * nu - 4 * v * kappa) / root)


def goe_overlap() -> Expr:
    """g(kappa, nu, v), see `replica_test_error`: |a|^2 = v/nu^2 spread over all modes alike."""
    return _overlap(v / nu**2 * goe_degrees_of_freedom()[0], nu)


def goe_test_error() -> Expr:
    """E(kappa, nu, v, alpha) of a GOE precision; lam = ridge(df1)."""
    return replica_test_error(goe_degrees_of_freedom()[0], goe_overlap(), 1 / nu)


def goe_ridgeless_effective_ridge() -> Expr:
    """kappa_0(alpha, nu, v) where df1 = alpha, for alpha < 1."""
    return (nu - sp.sqrt(nu**2 - 4 * v * (1 - alpha))) / (2 * v * alpha)


def blocks_degrees_of_freedom() -> tuple[Expr, Expr]:
    """(df1, df2)(kappa, b, r) of blocks of b coordinates correlated by r: eigenvalues 1 - r and 1 + (b - 1) r."""
    modes = (((b - 1) / b, 1 - r), (1 / b, 1 + (b - 1) * r))
    return (
        sum((share * s / (s + kappa) for share, s in modes), sp.Integer(0)),
        sum((share * s**2 / (s + kappa) ** 2 for share, s in modes), sp.Integer(0)),
    )


def blocks_conditional_variance() -> Expr:
    """1/(Sigma^-1)_kk = 1 - (b - 1) r^2/(1 + (b - 2) r)."""
    return 1 - (b - 1) * r**2 / (1 + (b - 2) * r)


def blocks_overlap() -> Expr:
    """g(kappa, b, r), see `replica_test_error`: the b - 1 others of the block, along their uniform mode."""
    mode = 1 + (b - 2) * r
    return (b - 1) * (r / mode) ** 2 * mode / (mode + kappa)


def blocks_test_error() -> Expr:
    """E(kappa, b, r, alpha) of blocks; lam = ridge(df1)."""
    return replica_test_error(blocks_degrees_of_freedom()[0], blocks_overlap(), blocks_conditional_variance())


def blocks_ridgeless_effective_ridge() -> Expr:
    """kappa_0(alpha, b, r) where df1 = alpha, for alpha < 1."""
    low, high = 1 - r, 1 + (b - 1) * r
    linear = alpha * (low + high) - 1
    return (sp.sqrt(linear**2 + 4 * alpha * (1 - alpha) * low * high) - linear) / (2 * alpha)


def ridgeless_test_error_above() -> Expr:
    """E = sigma^2 alpha/(alpha - 1) for alpha > 1 as lam -> 0, for every Sigma: a peak set by the data's own noise."""
    return variance * alpha / (alpha - 1)


def ridgeless_test_error_below() -> Expr:
    """E = kappa alpha/(1 - alpha)^2 for alpha < 1 as lam -> 0, all coordinates alike, kappa where df1 = alpha."""
    return kappa * alpha / (1 - alpha) ** 2


def peak_effective_ridge() -> Expr:
    """kappa ~ sqrt(lam/tau) at alpha = 1 as lam -> 0."""
    return sp.sqrt(lam / tau)


def peak_test_error() -> Expr:
    """E ~ sigma^2/(2 sqrt(lam tau)) at alpha = 1 as lam -> 0."""
    return variance / (2 * sp.sqrt(lam * tau))


def _overlap(bare: Expr, precision: Expr) -> Expr:
    """g = g0/(1 - kappa c g0): g0 is the overlap without the masked coordinate's own part in the resolvent."""
    return bare / (1 - kappa * precision * bare)
