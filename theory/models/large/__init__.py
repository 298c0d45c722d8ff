"""Covariances of so many coordinates that no dense matrix of them is ever built."""

from typing import TYPE_CHECKING

from theory.core.lazy import names_on_use

if TYPE_CHECKING:
    from theory.models.large.base import LargeCovariance, ResolventDiagonals
    from theory.models.large.low_rank import DiagonalPlusLowRank
    from theory.models.large.operator import CovarianceOperator
    from theory.models.large.sparse_precision import SparsePrecision

__all__ = ["CovarianceOperator", "DiagonalPlusLowRank", "LargeCovariance", "ResolventDiagonals", "SparsePrecision"]

# A type checker takes a module with these functions to have every name, and would let misspelled ones pass.
if not TYPE_CHECKING:
    __getattr__, __dir__ = names_on_use(__name__)
