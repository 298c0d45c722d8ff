"""Closed forms of generalized linear models as sympy expressions; print with sympy.latex.

Every function returns expressions in the symbols of this module, in the conventions of GeneralizedLinearModel: alpha is
the number of samples over that of weights, lam the ridge of a loss that is summed over samples, rho the variance of the
teacher's field, noise (Delta) the variance of the label noise. Test errors are squared, without a factor 1/2, and
contain the noise. z is a number that parametrizes a line.
"""

import sympy as sp
from sympy import Expr

from theory.random_matrix import closed_forms as spikes

alpha, lam, rho = sp.symbols("alpha lambda rho", positive=True)
noise = sp.Symbol("Delta", nonnegative=True)
inverse, inverse_square = sp.symbols("t_1 t_2", positive=True)
unexplained = sp.Symbol("sigma^2", positive=True)
z = sp.Symbol("z", positive=True)


def isotropic_effective_ridge() -> Expr:
    """Return the effective ridge kappa of isotropic inputs, where lam = kappa (alpha - 1/(1 + kappa))."""
    return spikes.isotropic_effective_ridge().subs(lam, lam / alpha)  # that of a loss averaged over samples


def isotropic_ridge_test_error() -> Expr:
    """Return the test error of ridge regression on isotropic inputs with a linear teacher.

    With kappa of `isotropic_effective_ridge` it is (rho kappa^2/(1 + kappa)^2 + Delta)/(1 - 1/(alpha (1 + kappa)^2)).
    """
    kappa = isotropic_effective_ridge()
    return (rho * kappa**2 / (1 + kappa) ** 2 + noise) / (1 - 1 / (alpha * (1 + kappa) ** 2))


def isotropic_best_ridge() -> Expr:
    """Return the ridge Delta/rho that is best on isotropic inputs, at every alpha: the prior's own."""
    return noise / rho


def isotropic_ridgeless_test_error_above() -> Expr:
    """Return the test error Delta alpha/(alpha - 1) of isotropic inputs for alpha > 1 as lam -> 0."""
    return noise * alpha / (alpha - 1)


def isotropic_ridgeless_test_error_below() -> Expr:
    """Return the test error rho (1 - alpha) + Delta/(1 - alpha) of isotropic inputs for alpha < 1 as lam -> 0.

    The prediction is the interpolation of least norm.
    """
    return rho * (1 - alpha) + noise / (1 - alpha)


def peak_test_error() -> Expr:
    """Return the test error of ridge regression at alpha = 1 as lam -> 0, to the next order.

    It is sigma^2 (1/(2 sqrt(lam t_1)) + t_2/(2 t_1^2)) + O(sqrt(lam)), where t_j = sum w/om^j is the mean of the
    inverse powers of the variances of the inputs. What the best linear prediction leaves is sigma^2: the noise, and
    for random features the part of the teacher that they cannot express too. Derived here by the expansion of the
    effective ridge, as for masked regression; a teacher adds only O(lam) to the bias.
    """
    return unexplained * (1 / (2 * sp.sqrt(lam * inverse)) + inverse_square / (2 * inverse**2))


def isotropic_noise_peak_sample_ratio() -> Expr:
    """Return the ratio alpha* = 1 + lam at which the test error of isotropic inputs and pure noise is largest.

    Derived here: the error Delta/(1 - 1/(alpha (1 + kappa)^2)), with alpha = 1/(1 + kappa) + lam/kappa, is largest
    where kappa^2 = lam/(1 + lam). Masked regression on Sigma = I is this problem for each coordinate; its own ridge,
    of a loss averaged over samples, is lam/alpha.
    """
    return 1 + lam


def isotropic_noise_peak_effective_ridge() -> Expr:
    """Return the effective ridge kappa* = sqrt(lam/(1 + lam)) at the top of the peak of pure noise."""
    return sp.sqrt(lam / (1 + lam))


def isotropic_noise_peak_height() -> Expr:
    """Return the largest test error Delta (1 + sqrt(1 + 1/lam))/2 of isotropic inputs and pure noise over all alpha."""
    return noise * (1 + sp.sqrt(1 + 1 / lam)) / 2


def lasso_phase_boundary() -> tuple[Expr, Expr]:
    """Return (alpha, non-zeros per sample) of the line up to which l1 recovers a sparse vector without noise.

    With the density phi and the tail Phi(-z) of the normal law, alpha = 2 phi/(z + 2 (phi - z Phi(-z))) and the number
    of non-zeros over that of samples is 1 - z Phi(-z)/phi (D. L. Donoho, A. Maleki, A. Montanari, Proc. Natl. Acad.
    Sci. 106, 18914 (2009), a known result that was not looked up for this project; its numbers were reproduced).
    """
    density, tail = sp.exp(-(z**2) / 2) / sp.sqrt(2 * sp.pi), sp.erfc(z / sp.sqrt(2)) / 2
    return 2 * density / (z + 2 * (density - z * tail)), 1 - z * tail / density


def random_labels_separability() -> Expr:
    """Return the number 2 of samples per weight up to which random labels can be separated (T. Cover, 1965)."""
    return sp.Integer(2)
