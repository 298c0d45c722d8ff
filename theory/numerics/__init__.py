"""Solvers that know when they have failed, and quadrature."""

from theory.numerics.fixed_point import solve_fixed_point
from theory.numerics.quadrature import graded_edges, half_circle, panelled_legendre
from theory.numerics.solution import ConvergenceError, Solution, verified

__all__ = [
    "ConvergenceError",
    "Solution",
    "graded_edges",
    "half_circle",
    "panelled_legendre",
    "solve_fixed_point",
    "verified",
]
