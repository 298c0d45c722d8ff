"""Replica saddle points and random-matrix expressions for masked self-supervised learning."""

from theory import masked, models, random_matrix
from theory.numerics import ConvergenceError

__all__ = ["ConvergenceError", "masked", "models", "random_matrix"]
