"""The real branches of an ensemble in which nothing commutes, without eigenvectors.

Outside the support P = nu - Lam D - h Sigma_D is definite, and the traces of products of its inverse give both the
scalar equation and m with their derivatives in (h, nu): Newton's method in these two takes few factorizations of P. It
starts from a surrogate, the ensemble of commuting modes whose poles h sigma + offset are the eigenvalues of
h Sigma_D + Lam D at two h near the edge. What it finds is certified: with P definite a solution of the scalar equation
lies on the branch, and m tells on which side of the edge.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, Protocol, TypeVar

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from theory.models.arrays import Array
from theory.numerics import ConvergenceError
from theory.random_matrix.spectral.ensemble import CommutingEnsemble, DenseEnsemble, Ensemble
from theory.random_matrix.spectral.real_branch import TOLERANCE, BranchPoint, ExtremeEdge, RealBranch, Side
from theory.random_matrix.spectral.real_modes import simplified

NEAR = (-0.7, -1.4)  # places of the surrogate's two h beside that of the edge of an isotropic ensemble
MOST_STEPS = 12
CLOSE = 1e-11  # size of a step that is left out
STALLED = 1e-8  # size below which steps that no longer shrink have reached rounding
LONGEST = 1.0  # size of a step beyond which Newton's method is not trusted


@dataclass(frozen=True, eq=False)
class Resolvent:
    """Holds the inverse R of the positive one of P and -P at (h, nu), with traces of it over n = alpha d."""

    point: BranchPoint  # on the branch where `defect` vanishes
    inverse: Array = field(repr=False)  # R
    product: Array = field(repr=False)  # R Sigma_D
    defect: float  # log of tr Sigma_D R/(n |delta|)
    defect_by_h: float
    defect_by_nu: float
    bend: float  # half the slope of -dh/ddelta in h
    sign: float  # that of P


class Condition(Protocol):
    """A condition on the point of a resolvent beside the scalar equation: that its value be 0."""

    @property
    def value(self) -> float:
        """The value at the point."""
        ...

    def slopes(self) -> tuple[float, float]:
        """Compute its derivatives in h and nu."""
        ...


AnyCondition = TypeVar("AnyCondition", bound=Condition)


@dataclass(frozen=True)
class _AtTheEdge:
    """The condition log m = 0."""

    resolvent: Resolvent

    @property
    def value(self) -> float:
        return math.log(self.resolvent.point.m)

    def slopes(self) -> tuple[float, float]:
        at, product = self.resolvent, self.resolvent.product
        cube = product @ product
        second, third = np.vdot(product, product.T), np.vdot(cube, product.T)
        by_h = 2 * at.bend / at.point.fall + 2 * at.sign * third / second
        return float(by_h), float(-2 * at.sign * np.vdot(cube, at.inverse) / second)


@dataclass(frozen=True)
class Solved(Generic[AnyCondition]):
    """Where the scalar equation and a condition meet, on the branch if P is definite there."""

    resolvent: Resolvent
    condition: AnyCondition
    count: int  # resolvents


class DenseBranch(RealBranch):
    """nu(h) of a dense ensemble; `at` costs an eigendecomposition, and `solved` few factorizations."""

    ensemble: DenseEnsemble

    @cached_property
    def surrogate(self) -> RealBranch:
        """The branch of the commuting ensemble that is near this one."""
        ensemble, center = self.ensemble, -0.5 * math.log(self.ensemble.alpha)
        h, k = (self._weights(math.exp(center + shift))[1] for shift in NEAR)
        one, two = (np.linalg.eigvalsh(x * ensemble.covariance + np.diag(ensemble.offset)) for x in (h, k))
        sigma: Array = np.maximum((two - one) / (k - h), 0.0)
        weights = np.full(len(sigma), 1 / len(sigma))
        return RealBranch(CommutingEnsemble(ensemble.alpha, sigma, one - h * sigma, weights, ensemble.rows), self.side)

    def edge(self) -> ExtremeEdge:
        """Find the end of the support as `RealBranch.edge` does, which is asked where Newton's method fails."""
        if (atom := self._atom()) is not None:
            return atom
        try:
            start = self.surrogate.edge()
            found = self.solved(_AtTheEdge, start.place, start.nu)
        except ConvergenceError:  # the surrogate has no edge
            found = None
        if found is None:
            return super().edge()
        point = found.resolvent.point
        residual = max(abs(point.m - 1), abs(found.resolvent.defect))
        if not residual <= TOLERANCE:
            return super().edge()
        return ExtremeEdge(point.nu, point.h, point.place, residual, found.count)

    def guess(self, place: float) -> BranchPoint:
        """Guess the point at `place` from that of the surrogate."""
        return self.surrogate.at(place)

    def resolvent(self, place: float, nu: float) -> Resolvent | None:
        """Compute R and its traces at any (place, nu); None where P is not definite."""
        sign = 1.0 if self.side == "right" else -1.0
        delta, h, fall, bend = self._weights(math.exp(place))
        matrix = -sign * h * self.ensemble.covariance
        matrix[np.diag_indices(len(matrix))] += sign * (nu - self.ensemble.offset)
        if (inverse := _positive_inverse(matrix)) is None:
            return None
        product, n = inverse @ self.ensemble.covariance, self.ensemble.alpha * len(matrix)
        first, second = float(np.trace(product)) / n, float(np.vdot(product, product.T)) / n
        if not (first > 0 and second > 0):  # they underflow
            return None
        mixed, m = float(np.vdot(product, inverse)) / n, fall * second
        point = BranchPoint(place, h, nu, m, fall, (m - 1) / (fall * mixed), diagonal=np.einsum("ij,ij->i", product, inverse))
        by_h = sign * (second / first - 1 / (fall * delta))
        return Resolvent(point, inverse, product, math.log(first / delta), by_h, -sign * mixed / first, bend, sign)

    def solved(
        self, condition: Callable[[Resolvent], AnyCondition], place: float, nu: float
    ) -> Solved[AnyCondition] | None:
        """Solve the scalar equation and the condition by Newton's method from (place, nu); None where it fails.

        The size of a step counts in place, and in nu relative to the gap to the poles. Where the last Jacobian tells
        that the next step is small enough, the solution is reached: that saves the slopes of the condition.
        """
        jacobian, before = np.full((2, 2), np.nan), math.inf
        for count in range(1, MOST_STEPS + 1):
            at = self.resolvent(place, nu)
            if at is None:
                return None
            current = condition(at)
            values = np.array([at.defect, current.value])
            if count > 1:
                size = _size(np.linalg.solve(jacobian, values), at)
                if size < CLOSE or before / 2 < size < STALLED:
                    return Solved(at, current, count)
                before = size
            by_h, by_nu = current.slopes()
            stretch = self.stretch(place)
            jacobian = np.array([[at.defect_by_h * stretch, at.defect_by_nu], [by_h * stretch, by_nu]])
            if not (np.isfinite(jacobian).all() and np.linalg.matrix_rank(jacobian) == 2):
                return None
            step = np.linalg.solve(jacobian, values)
            if not _size(step, at) < LONGEST:
                return None
            place, nu = place - float(step[0]), nu - float(step[1])
        return None


def _size(step: Array, resolvent: Resolvent) -> float:
    return float(max(abs(step[0]), abs(step[1] * resolvent.defect_by_nu)))


def _positive_inverse(matrix: Array) -> Array | None:
    """Invert a symmetric matrix, which is overwritten; None where it is not positive definite."""
    factor, failed = dpotrf(matrix.T, lower=1, clean=1, overwrite_a=1)
    if failed:
        return None
    half, failed = dpotri(factor, lower=1, overwrite_c=1)
    if failed:
        return None
    half[np.diag_indices(len(half))] /= 2
    return np.asarray(half + half.T)


def branch(ensemble: Ensemble, side: Side = "right") -> RealBranch:
    """Return the branch on one side of the support, by the cheapest route."""
    reduced = simplified(ensemble)
    return RealBranch(reduced, side) if isinstance(reduced, CommutingEnsemble) else DenseBranch(reduced, side)


def extreme_edge(ensemble: Ensemble, side: Side = "right") -> ExtremeEdge:
    """Compute the right or left end of the support of the eigenvalues nu."""
    return branch(ensemble, side).edge()
