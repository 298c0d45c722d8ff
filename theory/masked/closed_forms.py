"""Closed forms of masked ridge regression as sympy expressions, in the limit d -> infinity; print with sympy.latex.

Every function returns an expression in the symbols of this module: alpha = n/d, lam the ridge of MaskedRidge, kappa
the effective ridge, r a correlation, nu and v the diagonal and the off-diagonal variance (times d) of a GOE precision,
b the block size, tau = tr Sigma^-1/d, variance = 1/(Sigma^-1)_kk the conditional variance. Variances are 1 except for
the GOE; errors are squared and without a factor 1/2. tau_2 = tr Sigma^-2/d belongs to the next order of the peak. Where
kappa is no elementary function of lam, a curve is parametrized by kappa and `ridge` gives its lam. Sources:
arXiv:2601.23208, and arXiv:2304.07235 for the overlaps.
"""

import sympy as sp
from sympy import Expr

from theory.random_matrix import closed_forms as spikes

alpha, lam, kappa = sp.symbols("alpha lambda kappa", positive=True)
r = sp.Symbol("r", real=True)
nu, v, b, tau = sp.symbols("nu v b tau", positive=True)
tau_2 = sp.Symbol("tau_2", positive=True)
variance = sp.Symbol("sigma^2", positive=True)


def ridge(df1: Expr) -> Expr:
    """Return the ridge lam = kappa (1 - df1/alpha) that belongs to the effective ridge kappa, from df1(kappa)."""
    return kappa * (1 - df1 / alpha)


def homogeneous_test_error(df1: Expr) -> Expr:
    """Return the test error of a problem whose coordinates are all alike.

    E = kappa (df1 - df2)/((1 - df1)^2 (1 - df2/alpha)) with df2 = df1 + kappa df1'.
    """
    df2 = df1 + kappa * sp.diff(df1, kappa)
    return kappa * (df1 - df2) / ((1 - df1) ** 2 * (1 - df2 / alpha))


def replica_test_error(df1: Expr, overlap: Expr, conditional_variance: Expr) -> Expr:
    """Return the test error of one regression as the replica method gives it.

    The masked coordinate is a.x plus noise of variance sigma^2, with the true predictor a. With the overlap
    g(kappa) = a^T Sigma (Sigma + kappa)^-1 a the error is E = (sigma^2 - kappa^2 g')/(1 - df2/alpha).
    """
    df2 = df1 + kappa * sp.diff(df1, kappa)
    return (conditional_variance - kappa**2 * sp.diff(overlap, kappa)) / (1 - df2 / alpha)


def isotropic_effective_ridge() -> Expr:
    """Return kappa(alpha, lam) of Sigma = I, the positive root of kappa^2 + kappa (1 - 1/alpha - lam) - lam = 0."""
    return spikes.isotropic_effective_ridge()  # in symbols of the same names, which sympy takes to be the same


def isotropic_test_error() -> Expr:
    """Return the test error E(alpha, lam) = 1/(1 - 1/(alpha (1 + kappa)^2)) of Sigma = I."""
    return 1 / (1 - 1 / (alpha * (1 + isotropic_effective_ridge()) ** 2))


def isotropic_train_error() -> Expr:
    """Return the train error (lam/kappa)^2 E(alpha, lam) of Sigma = I."""
    return (lam / isotropic_effective_ridge()) ** 2 * isotropic_test_error()


def ar1_degrees_of_freedom() -> tuple[Expr, Expr]:
    """Return (df1, df2)(kappa, r) of Sigma_ij = r^|i-j|, integrals of the spectral symbol over the circle.

    They are a/sqrt(P^2 - B^2) and a^2 P/(P^2 - B^2)^(3/2) with a = 1 - r^2, P = a + kappa (1 + r^2) and B = 2 kappa r.
    """
    a = 1 - r**2
    P, B = a + kappa * (1 + r**2), 2 * kappa * r
    return a / sp.sqrt(P**2 - B**2), a**2 * P / (P**2 - B**2) ** sp.Rational(3, 2)


def ar1_test_error() -> Expr:
    """Return the test error E(kappa, r, alpha) of Sigma_ij = r^|i-j|, which belongs to lam = ridge(df1)."""
    df1, df2 = ar1_degrees_of_freedom()
    return kappa * (df1 - df2) / ((1 - df1) ** 2 * (1 - df2 / alpha))


def ar1_conditional_variance() -> Expr:
    """Return the conditional variance 1/(Sigma^-1)_kk of a site away from the ends of the chain."""
    return (1 - r**2) / (1 + r**2)


def ar1_overlap() -> Expr:
    """Return the overlap g(kappa, r) of `replica_test_error` for the two neighbors that predict a site."""
    center, side = (1 + r**2) / (1 - r**2), r / (1 - r**2)
    root = sp.sqrt((1 + kappa * center) ** 2 - 4 * kappa**2 * side**2)
    return _overlap(4 * (r / (1 + r**2)) ** 2 / (1 + kappa * center + root), center)


def ar1_ridgeless_effective_ridge() -> Expr:
    """Return the effective ridge kappa_0(alpha, r) in the limit lam -> 0 at alpha < 1, where df1 = alpha."""
    precision = (1 + r**2) / (1 - r**2)
    return sp.sqrt(precision**2 - 1 + 1 / alpha**2) - precision


def goe_degrees_of_freedom() -> tuple[Expr, Expr]:
    """Return (df1, df2)(kappa, nu, v) of Sigma^-1 = nu I + W with W from the GOE and nu > 2 sqrt(v).

    By the semicircle's Stieltjes transform df1 = 2/(u + root) with u = 1 + kappa nu and root = sqrt(u^2 - 4 v kappa^2).
    """
    u = 1 + kappa * nu
    root = sp.sqrt(u**2 - 4 * v * kappa**2)
    df1 = 2 / (u + root)
    return df1, df1 - kappa * df1**2 / 2 * (nu + (u * nu - 4 * v * kappa) / root)


def goe_overlap() -> Expr:
    """Return the overlap g(kappa, nu, v) of `replica_test_error`, with |a|^2 = v/nu^2 spread over all modes alike."""
    return _overlap(v / nu**2 * goe_degrees_of_freedom()[0], nu)


def goe_test_error() -> Expr:
    """Return the test error E(kappa, nu, v, alpha) of a GOE precision, which belongs to lam = ridge(df1)."""
    return replica_test_error(goe_degrees_of_freedom()[0], goe_overlap(), 1 / nu)


def goe_ridgeless_effective_ridge() -> Expr:
    """Return the effective ridge kappa_0(alpha, nu, v) in the limit lam -> 0 at alpha < 1, where df1 = alpha."""
    return (nu - sp.sqrt(nu**2 - 4 * v * (1 - alpha))) / (2 * v * alpha)


def blocks_degrees_of_freedom() -> tuple[Expr, Expr]:
    """Return (df1, df2)(kappa, b, r) of blocks of b coordinates correlated by r.

    A block has the eigenvalue 1 - r, b - 1 times, and once 1 + (b - 1) r.
    """
    modes = (((b - 1) / b, 1 - r), (1 / b, 1 + (b - 1) * r))
    return (
        sum((share * s / (s + kappa) for share, s in modes), sp.Integer(0)),
        sum((share * s**2 / (s + kappa) ** 2 for share, s in modes), sp.Integer(0)),
    )


def blocks_conditional_variance() -> Expr:
    """Return the conditional variance 1/(Sigma^-1)_kk = 1 - (b - 1) r^2/(1 + (b - 2) r)."""
    return 1 - (b - 1) * r**2 / (1 + (b - 2) * r)


def blocks_overlap() -> Expr:
    """Return the overlap g(kappa, b, r) of `replica_test_error` for the b - 1 others, in their uniform mode."""
    mode = 1 + (b - 2) * r
    return (b - 1) * (r / mode) ** 2 * mode / (mode + kappa)


def blocks_test_error() -> Expr:
    """Return the test error E(kappa, b, r, alpha) of blocks, which belongs to lam = ridge(df1)."""
    return replica_test_error(blocks_degrees_of_freedom()[0], blocks_overlap(), blocks_conditional_variance())


def blocks_ridgeless_effective_ridge() -> Expr:
    """Return the effective ridge kappa_0(alpha, b, r) in the limit lam -> 0 at alpha < 1, where df1 = alpha."""
    low, high = 1 - r, 1 + (b - 1) * r
    linear = alpha * (low + high) - 1
    return (sp.sqrt(linear**2 + 4 * alpha * (1 - alpha) * low * high) - linear) / (2 * alpha)


def ridgeless_test_error_above() -> Expr:
    """Return the test error E = sigma^2 alpha/(alpha - 1) for alpha > 1 as lam -> 0, for every Sigma.

    sigma^2 is the conditional variance of the masked coordinate: the peak is set by the data's own noise.
    """
    return variance * alpha / (alpha - 1)


def ridgeless_test_error_below() -> Expr:
    """Return the test error E = kappa alpha/(1 - alpha)^2 for alpha < 1 as lam -> 0, with kappa where df1 = alpha.

    All coordinates must be alike.
    """
    return kappa * alpha / (1 - alpha) ** 2


def peak_effective_ridge() -> Expr:
    """Return the leading order kappa ~ sqrt(lam/tau) of the effective ridge at alpha = 1 as lam -> 0."""
    return sp.sqrt(lam / tau)


def peak_test_error() -> Expr:
    """Return the leading order E ~ sigma^2/(2 sqrt(lam tau)) of the test error at alpha = 1 as lam -> 0."""
    return variance / (2 * sp.sqrt(lam * tau))


def peak_test_error_to_next_order() -> Expr:
    """Return the test error at alpha = 1 as lam -> 0 with the constant that follows the leading order.

    It is sigma^2 (1/(2 sqrt(lam tau)) + tau_2/(2 tau^2)). Derived here for every Sigma: with
    df1 = 1 - kappa tau + kappa^2 tau_2, the equation lam = kappa (1 - df1) gives
    kappa = sqrt(lam/tau) (1 + tau_2 sqrt(lam/tau)/(2 tau)), and with 1 - df2 = 2 kappa tau - 3 kappa^2 tau_2 the error
    sigma^2/(1 - df2) follows. What is left out is of order sqrt(lam).
    """
    return peak_test_error() + variance * tau_2 / (2 * tau**2)


def isotropic_peak_test_error() -> Expr:
    """Return the test error of Sigma = I at alpha = 1 in powers of s = sqrt(lam): 1/(2 s) + 1/2 + 3 s/16 - 5 s^3/256.

    It is the series of `isotropic_test_error`; the next term is of order s^5.
    """
    s = sp.sqrt(lam)
    return 1 / (2 * s) + sp.Rational(1, 2) + 3 * s / 16 - 5 * s**3 / 256


def isotropic_peak_sample_ratio() -> Expr:
    """Return the sample ratio alpha* = 1/(1 + lam) at which the test error of Sigma = I is largest, for every lam.

    Derived here: the error is 1/(1 - 1/(alpha (1 + kappa)^2)), and with 1/alpha = (1 + kappa)(1 - lam/kappa) it is
    largest where kappa (1 + kappa)/(kappa - lam) is least, that is where kappa^2 - 2 lam kappa - lam = 0.
    """
    return 1 / (1 + lam)


def isotropic_peak_effective_ridge() -> Expr:
    """Return the effective ridge kappa* = lam + sqrt(lam (1 + lam)) of Sigma = I at the top of the peak over alpha."""
    return lam + sp.sqrt(lam * (1 + lam))


def isotropic_peak_height() -> Expr:
    """Return the largest test error E* = (1 + sqrt(1 + 1/lam))/2 of Sigma = I over all sample ratios at one ridge.

    The ridge of a loss that is summed over samples, alpha lam, has a peak of the same height, at alpha = 1 + alpha lam.
    """
    return (1 + sp.sqrt(1 + 1 / lam)) / 2


def _overlap(bare: Expr, precision: Expr) -> Expr:
    """Return g = g0/(1 - kappa c g0), g0 the overlap without the masked coordinate's own part in the resolvent."""
    return bare / (1 - kappa * precision * bare)
