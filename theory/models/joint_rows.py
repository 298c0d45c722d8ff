"""Rows that depend on each other and have different scales too, and the one law that equations need of them."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from theory.core import checks
from theory.core.arrays import Array
from theory.models.row_dependence import RowDependence
from theory.models.row_scales import RowScales

SEED_OF_ORDER = 0  # of the order in which unlike scales stand beside rows that depend on each other


@dataclass(frozen=True, eq=False)
class UnlikeDependentRows(RowDependence):
    """Rows that depend on each other by `dependence` and have scales of the law `scales` too: T is D^(1/2) T_0 D^(1/2).

    The diagonal D holds the scales of n rows. They are the means of the law over n equal shares of its probability, in
    an order drawn once and for all: which scale stands beside which other one changes the eigenvalues by
    O(n^(-1/2)), and errors by a few parts in a thousand at some hundred rows.
    """

    dependence: RowDependence
    scales: RowScales

    @property
    def n(self) -> int:  # type: ignore[override]
        """The number of rows."""
        return self.dependence.size

    def _matrix(self) -> Array:
        order = np.random.default_rng(SEED_OF_ORDER).permutation(self.n)
        roots = np.sqrt(_means_of_shares(self.scales, self.n)[order])
        matrix = roots[:, None] * self.dependence.matrix * roots
        return np.asarray(matrix / np.mean(np.diagonal(matrix)))

    def _ahead(self, steps: int) -> Array:  # of a row of scale 1
        order = np.random.default_rng(SEED_OF_ORDER).permutation(self.n)
        return np.asarray(np.sqrt(_means_of_shares(self.scales, self.n)[order]) * self.dependence._ahead(steps))


def _means_of_shares(law: RowScales, n: int) -> Array:
    """Return the means of a law over n equal shares of its probability, (n,), ascending."""
    order = np.argsort(law.nodes, kind="stable")
    nodes, masses = law.nodes[order], law.probabilities[order]
    below = np.concatenate([[0.0], np.cumsum(masses)])
    totals = np.concatenate([[0.0], np.cumsum(masses * nodes)])
    return np.asarray(np.diff(np.interp(np.arange(n + 1) * below[-1] / n, below, totals)) * n)


class DependentRows:
    """What records with fields `row_scales` and `row_dependence` know of their rows."""

    row_scales: RowScales
    row_dependence: RowDependence

    @cached_property
    def row_law(self) -> RowScales:
        """The law of scales of independent rows with the same X'X: all that the equations for X'X know of the rows."""
        return law_of_rows(self.row_scales, self.row_dependence)


def law_of_sample(scales: RowScales, dependence: RowDependence, alpha: float, d: float) -> RowScales:
    """Return `law_of_rows` for n = alpha d rows; ValueError where the dependence is not one of so many rows."""
    require_rows(scales, dependence, alpha, d)
    return law_of_rows(scales, dependence)


def law_of_rows(scales: RowScales, dependence: RowDependence) -> RowScales:
    """Return the law of scales of independent rows that have the same X'X as rows of these scales and this dependence.

    ValueError for scales that differ beside a dependence of infinitely many rows.
    """
    return scales if dependence.is_identity else joint_rows(scales, dependence).law


def joint_rows(scales: RowScales, dependence: RowDependence) -> RowDependence:
    """Return the dependence of rows that have these scales too; ValueError for scales that differ at n = infinity."""
    if scales.alike:
        return dependence
    if not math.isfinite(dependence.n):
        raise ValueError(
            f"row_dependence must be of a finite n beside row_scales other than EqualScales(), got {dependence!r}: "
            "eigenvalues of the product are known at finite n only"
        )
    return UnlikeDependentRows(dependence, scales)


def laws_of_samples(scales: RowScales, dependence: RowDependence, alphas: Array, d: float) -> list[RowScales]:
    """Return the law of the rows of each sample; ValueError that names `alphas` where a dependence is of other rows."""
    if math.isfinite(d) and not all(_is_of(dependence, alpha, d) for alpha in alphas.tolist()):
        raise ValueError(
            f"alphas must be n/d = {dependence.n / d:g} alone where row_dependence is of n = {dependence.n} rows, and "
            f"any ratios where it is of n = inf, got {checks.shown(alphas)}"
        )
    return [law_of_sample(scales, dependence, float(alpha), d) for alpha in alphas]


def require_rows(scales: RowScales, dependence: RowDependence, alpha: float, d: float) -> None:
    """Raise ValueError where a dependence is not one of n = alpha d rows, or goes with no such scales."""
    if not _is_of(dependence, alpha, d):
        n = alpha * d
        instead = "take n = inf" if math.isinf(n) else f"take n = {round(n)}, or n = inf"
        raise ValueError(f"row_dependence must be of n = alpha d = {n:g} rows, got {dependence!r}; {instead}")
    if not dependence.is_identity:
        joint_rows(scales, dependence)


def _is_of(dependence: RowDependence, alpha: float, d: float) -> bool:
    """Say whether a dependence is one of n = alpha d rows, which one of infinitely many rows is for every d."""
    return math.isinf(dependence.n) or (math.isfinite(alpha * d) and round(alpha * d) == dependence.n)
