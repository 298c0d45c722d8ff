"""Closed forms of perceptrons as sympy expressions, in the limit of many weights; print with sympy.latex.

Every function returns an expression in the symbols of this module: margin (kappa), in units of |W|/sqrt(N), and levels
(L), the number of values of a weight. A capacity is a number of random patterns per weight.
"""

import sympy as sp
from sympy import Expr

margin = sp.Symbol("kappa", nonnegative=True)
levels = sp.Symbol("L", positive=True, integer=True)


def gardner_capacity() -> Expr:
    """Return the capacity of real weights, 1/((1 + kappa^2) Phi(kappa) + kappa phi(kappa)) (Gardner 1988).

    Phi and phi are the distribution and the density of the normal law.
    """
    density = sp.exp(-(margin**2) / 2) / sp.sqrt(2 * sp.pi)
    return 1 / ((1 + margin**2) * (1 + sp.erf(margin / sp.sqrt(2))) / 2 + margin * density)


def first_moment_bound() -> Expr:
    """Return the bound log2 L of the capacity of weights with L values at margin 0: no weight stores more bits."""
    return sp.log(levels) / sp.log(2)
