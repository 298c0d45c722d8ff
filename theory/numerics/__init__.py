"""Solvers that verify what they return, and quadrature rules."""

from theory.numerics.continuation import first_solved, follow
from theory.numerics.fixed_point import solve_fixed_point
from theory.numerics.quadrature import graded_edges, half_circle, panelled_legendre
from theory.numerics.search import Counted, newton, search
from theory.numerics.solution import ConvergenceError, Solution, verified
from theory.numerics.stability import ReplicaSymmetryError, WithReplicon, refuse_unstable, require_stable

__all__ = [
    "ConvergenceError",
    "Counted",
    "ReplicaSymmetryError",
    "Solution",
    "WithReplicon",
    "first_solved",
    "follow",
    "graded_edges",
    "half_circle",
    "newton",
    "panelled_legendre",
    "refuse_unstable",
    "require_stable",
    "search",
    "solve_fixed_point",
    "verified",
]
