"""Closed forms of Potts models as sympy expressions; print with sympy.latex.

Every function returns an expression in the symbols of this module: beta the inverse temperature of a ferromagnet whose
neighbors gain 1 where they have the same color, q the number of colors, and distance (r) of two sites along a ring.
"""

import sympy as sp
from sympy import Expr

beta, q = sp.symbols("beta q", positive=True)
distance = sp.Symbol("r", positive=True, integer=True)


def ring_correlation() -> Expr:
    """Return the correlation of neighbors on the infinite ring, the ratio of two eigenvalues of the transfer matrix."""
    return (sp.exp(beta) - 1) / (sp.exp(beta) + q - 1)


def ring_agreement() -> Expr:
    """Return the probability that two sites of the infinite ring, a distance r apart, have the same color."""
    return 1 / q + (1 - 1 / q) * ring_correlation() ** distance


def curie_weiss_critical_beta() -> Expr:
    """Return the inverse temperature of the transition of q > 2 colors that all interact alike; 2 as q -> 2."""
    return 2 * (q - 1) * sp.log(q - 1) / (q - 2)


def curie_weiss_jump() -> Expr:
    """Return the order parameter of the ordered phase at the transition of `curie_weiss_critical_beta`."""
    return (q - 2) / (q - 1)


def curie_weiss_latent_heat() -> Expr:
    """Return the difference of the energies per site of the two phases at that transition, in units of the coupling."""
    return (q - 2) ** 2 / (2 * q * (q - 1))


def square_lattice_critical_beta() -> Expr:
    """Return the critical inverse temperature of the square lattice, by self-duality."""
    return sp.log(1 + sp.sqrt(q))


def square_lattice_critical_energy() -> Expr:
    """Return the energy per site of the square lattice at its critical inverse temperature, by self-duality."""
    return -(1 + 1 / sp.sqrt(q))
