"""Measurements on attention networks that learn Potts data, and on clones of data with interactions of few sites."""

from simulate.nets.clones import Clone, clone
from simulate.nets.marginals import MarginalMismatch, MarginalReport, marginal_mismatches
from simulate.nets.random_scan import clone_of_stack

__all__ = ["Clone", "MarginalMismatch", "MarginalReport", "clone", "clone_of_stack", "marginal_mismatches"]
