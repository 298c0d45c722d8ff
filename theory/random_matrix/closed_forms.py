"""Closed forms of spiked data as sympy expressions, in the limit d -> infinity; print with sympy.latex.

The rows are Gaussian with covariance N + strength u u^T, the noise N and a unit direction u. Every function returns
expressions in the symbols of this module: alpha = n/d, lam the ridge of masked regression, strength (theta) of the
spike, kappa the effective ridge, and m, a negative number that parametrizes a threshold. Eigenvalues are those of the
sample covariance X^T X/n unless another matrix is named. An overlap is the square of the cosine between the leading
eigenvector and u. Sources: the transition of principal components is that of J. Baik, G. Ben Arous and S. Peche, Ann.
Probab. 33, 1643 (2005) and D. Paul, Stat. Sinica 17, 1617 (2007); that of masked regression is arXiv:2601.23208.
"""

from collections.abc import Sequence

import sympy as sp
from sympy import Expr

alpha, lam, kappa = sp.symbols("alpha lambda kappa", positive=True)
strength = sp.Symbol("theta", positive=True)
m = sp.Symbol("m", negative=True)


def isotropic_edges() -> tuple[Expr, Expr]:
    """Return the edges (1 -+ 1/sqrt(alpha))^2 of the eigenvalues of N = I without a spike (Marchenko and Pastur)."""
    return (1 - 1 / sp.sqrt(alpha)) ** 2, (1 + 1 / sp.sqrt(alpha)) ** 2


def isotropic_threshold() -> Expr:
    """Return the strength 1/sqrt(alpha) from which on a spike in N = I is seen.

    It is the same for principal components and for the joint predictor of masked regression at every ridge.
    """
    return 1 / sp.sqrt(alpha)


def isotropic_eigenvalue() -> Expr:
    """Return the outlier (1 + theta)(1 + 1/(alpha theta)) of the sample covariance, N = I, above the threshold."""
    return (1 + strength) * (1 + 1 / (alpha * strength))


def isotropic_overlap() -> Expr:
    """Return the overlap (1 - 1/(alpha theta^2))/(1 + 1/(alpha theta)) in N = I, above the threshold.

    It is the same for principal components and for the joint predictor of masked regression at every ridge, since the
    diagonal that the predictor divides by is constant.
    """
    return (1 - 1 / (alpha * strength**2)) / (1 + 1 / (alpha * strength))


def isotropic_effective_ridge() -> Expr:
    """Return kappa(alpha, lam) of N = I, the positive root of kappa^2 + kappa (1 - 1/alpha - lam) - lam = 0."""
    linear = 1 - 1 / alpha - lam
    return (sp.sqrt(linear**2 + 4 * lam) - linear) / 2


def isotropic_predictor_eigenvalue() -> Expr:
    """Return the outlier of the joint predictor of masked regression in N = I, above the threshold.

    With the outlier x of the sample covariance it is 1 - lam (1 + kappa)/(kappa (x + lam)): the predictor is
    I - Q/Q_kk with Q = (X^T X/n + lam)^-1, and all Q_kk = kappa/(lam (1 + kappa)) are alike.
    """
    ridge = isotropic_effective_ridge()
    return 1 - lam * (1 + ridge) / (ridge * (isotropic_eigenvalue() + lam))


def principal_component_threshold(variances: Sequence[object], shares: Sequence[object]) -> tuple[Expr, Expr]:
    """Return (alpha, strength) of the threshold of principal components for a spike spread over diagonal noise.

    The noise has these variances s_j with these shares w_j, and the spike is spread over all coordinates alike. Both
    returned expressions depend on m in (-1/max s, 0), which parametrizes the line of thresholds:
    alpha = m^2 sum w s^2/(1 + m s)^2 and theta = -1/(m sum w/(1 + m s)). Derived here: the edge of the eigenvalues is
    where the derivative of -1/m + sum w s/(1 + m s)/alpha vanishes, and an outlier at -1/m' obeys
    theta sum w m'/(1 + m' s) = -1. For a single variance 1 they give 1/sqrt(alpha); for two of them m is a root of a
    quartic. ValueError unless there is a share for each variance.

    >>> import sympy
    >>> [expression.subs(m, -sympy.Rational(1, 3)) for expression in principal_component_threshold([1], [1])]
    [1/4, 2]
    """
    if len(variances) != len(shares) or not len(variances):
        raise ValueError(f"shares must be as many as variances, {len(variances)} and at least 1, got {len(shares)}")
    levels = [(sp.sympify(s), sp.sympify(w)) for s, w in zip(variances, shares, strict=True)]
    ratio = m**2 * sum(w * s**2 / (1 + m * s) ** 2 for s, w in levels)
    return ratio, -1 / (m * sum(w / (1 + m * s) for s, w in levels))
