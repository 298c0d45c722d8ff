"""Covariances of so many coordinates that no dense matrix of them is ever built."""

from theory.models.large.base import LargeCovariance, ResolventDiagonals
from theory.models.large.low_rank import DiagonalPlusLowRank
from theory.models.large.operator import CovarianceOperator
from theory.models.large.sparse_precision import SparsePrecision

__all__ = ["CovarianceOperator", "DiagonalPlusLowRank", "LargeCovariance", "ResolventDiagonals", "SparsePrecision"]
