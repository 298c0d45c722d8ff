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
from scipy.linalg.blas import dtrmm
from scipy.linalg.lapack import dpotrf, dtrtri

from theory.core.arrays import Array
from theory.numerics import ConvergenceError
from theory.random_matrix.spectral.ensemble import CommutingEnsemble, DenseEnsemble, Ensemble
from theory.random_matrix.spectral.real_branch import EDGE_TOLERANCE, BranchPoint, ExtremeEdge, RealBranch, Side
from theory.random_matrix.spectral.real_modes import simplified

START_OFFSETS = (-0.7, -1.4)  # places of the surrogate's two h beside that of the edge of an isotropic ensemble
MAX_STEPS = 12
STEP_TOLERANCE = 1e-11  # size of a step that is left out
ROUNDING_STEP = 1e-8  # size below which steps that no longer shrink have reached rounding
SURROGATE_STEP_TOLERANCE = 1e-3  # size of a step that is left out on the surrogate's branch, which differs by more
MAX_STEP = 1.0  # size of a step beyond which Newton's method is not trusted
TRIANGLE_SIZE = 64  # size of a triangle that LAPACK inverts at once
FAILURES = (ConvergenceError, FloatingPointError, np.linalg.LinAlgError)  # of a surrogate, or of a matrix beside P


@dataclass(frozen=True, eq=False)
class Resolvent:
    """The inverse R of P = C C^T, or of -P left of the support, at a place and nu on the branch or beside it.

    `root` is C^-1 and `whitened` W = C^-1 Sigma_D C^-T: traces of products of R and Sigma_D are traces of W, and of
    Y = W C^-1 where R occurs once more than Sigma_D does. They are taken over n = alpha d.
    """

    place: float
    h: float
    nu: float
    delta: float  # absolute
    fall: float  # -dh/ddelta
    bend: float  # half its slope in h
    sign: float  # that of P
    n: float
    root: Array = field(repr=False)
    whitened: Array = field(repr=False)

    @cached_property
    def traces(self) -> tuple[float, float]:
        """Return those of Sigma_D R and its square."""
        return float(np.trace(self.whitened)) / self.n, _inner(self.whitened, self.whitened) / self.n

    @property
    def m(self) -> float:
        """The m of the branch; below 1 beyond the edge."""
        return self.fall * self.traces[1]

    @property
    def defect(self) -> float:
        """The scalar equation's log of tr Sigma_D R/(n |delta|), which is 0 on the branch."""
        return math.log(self.traces[0] / self.delta)

    @cached_property
    def half(self) -> Array:
        """Y = W C^-1."""
        return np.asarray(dtrmm(1.0, self.root, self.whitened, side=1, lower=1))

    @cached_property
    def point(self) -> BranchPoint:
        """The point of the branch that it is, if it is one."""
        diagonal = np.einsum("ij,ij->j", self.root, self.half)
        slope = (self.m - 1) * self.n / (self.fall * float(diagonal.sum()))
        return BranchPoint(self.place, self.h, self.nu, self.m, self.fall, slope, diagonal=diagonal)

    def defect_slopes(self) -> tuple[float, float]:
        """Compute the derivatives of the defect in h and nu."""
        first, second = self.traces
        mixed = _inner(self.half, self.root) / self.n
        return self.sign * (second / first - 1 / (self.fall * self.delta)), -self.sign * mixed / first

    def m_slopes(self) -> tuple[float, float]:
        """Compute the derivatives of log m in h and nu."""
        second = self.traces[1] * self.n
        third = _inner(self.whitened @ self.whitened.T, self.whitened.T)
        by_h = 2 * self.bend / self.fall + 2 * self.sign * third / second
        return by_h, -2 * self.sign * _inner(self.half, self.half) / second


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
        return math.log(self.resolvent.m)

    def slopes(self) -> tuple[float, float]:
        return self.resolvent.m_slopes()


@dataclass(frozen=True)
class Solved(Generic[AnyCondition]):
    """Where the scalar equation and a condition meet."""

    place: float
    nu: float
    resolvent: Resolvent  # closer to it than `close`
    condition: AnyCondition  # at that resolvent
    count: int  # resolvents that were computed


class DenseBranch(RealBranch):
    """nu(h) of a dense ensemble; `at` costs an eigendecomposition, and `solved` few factorizations."""

    ensemble: DenseEnsemble

    @cached_property
    def surrogate(self) -> RealBranch:
        """The branch of a commuting ensemble that is near this one."""
        ensemble, center = self.ensemble, -0.5 * math.log(self.ensemble.alpha)
        h, k = (self._weights(math.exp(center + shift))[1] for shift in START_OFFSETS)
        one, two = (np.linalg.eigvalsh(x * ensemble.covariance + np.diag(ensemble.offset)) for x in (h, k))
        sigma: Array = np.maximum((two - one) / (k - h), 0.0)
        weights = np.full(len(sigma), 1 / len(sigma))
        return RealBranch(CommutingEnsemble(ensemble.alpha, sigma, one - h * sigma, weights, ensemble.rows), self.side)

    def edge(self) -> ExtremeEdge:
        """Find the end of the support as `RealBranch.edge` does, which is asked where Newton's method fails."""
        if (atom := self._atom()) is not None:
            return atom
        try:
            start, _ = self.surrogate.stationary(SURROGATE_STEP_TOLERANCE)
            found = self.solved(_AtTheEdge, start.place, start.nu, close=1e-9)
        except FAILURES:
            found = None
        if found is None:
            return super().edge()
        residual = max(abs(found.resolvent.m - 1), abs(found.resolvent.defect))
        if not residual <= EDGE_TOLERANCE:
            return super().edge()
        h = self._weights(math.exp(found.place))[1]
        return ExtremeEdge(found.nu, h, found.place, residual, found.count)

    def resolvent(self, place: float, nu: float) -> Resolvent | None:
        """Compute R at any (place, nu); None where P is not definite, or traces are no numbers."""
        sign = 1.0 if self.side == "right" else -1.0
        delta, h, fall, bend = self._weights(math.exp(place))
        covariance, d = self.ensemble.covariance, len(self.ensemble.offset)
        matrix = -sign * h * covariance
        matrix[np.diag_indices(d)] += sign * (nu - self.ensemble.offset)
        factor, failed = dpotrf(matrix.T, lower=1, clean=1, overwrite_a=1)
        if failed:
            return None
        root = _inverse(factor)
        whitened = dtrmm(1.0, root, dtrmm(1.0, root, covariance.T, lower=1), side=1, lower=1, trans_a=1, overwrite_b=1)
        found = Resolvent(place, h, nu, delta, fall, bend, sign, self.ensemble.alpha * d, root, whitened)
        return found if all(0 < trace < math.inf for trace in found.traces) else None

    def solved(
        self, condition: Callable[[Resolvent], AnyCondition], place: float, nu: float, close: float = STEP_TOLERANCE
    ) -> Solved[AnyCondition] | None:
        """Solve the scalar equation and the condition by Newton's method from (place, nu); None where it fails.

        The size of a step counts in place, and in nu relative to the gap to the poles. Where it and the values are
        below `close`, that of the step by the Jacobian before it, the search ends without another Jacobian.
        """
        jacobian, before = np.full((2, 2), np.nan), math.inf
        for count in range(1, MAX_STEPS + 1):
            at = self.resolvent(place, nu)
            if at is None:
                return None
            current = condition(at)
            values = np.array([at.defect, current.value])
            if count > 1:
                step = np.linalg.solve(jacobian, values)
                size = max(_size(step, jacobian), float(abs(values).max()))
                if size < close or before / 2 < size < ROUNDING_STEP:
                    return Solved(place - float(step[0]), nu - float(step[1]), at, current, count)
                before = size
            slopes = np.array([at.defect_slopes(), current.slopes()])
            jacobian = slopes * np.array([self.stretch(place), 1.0])
            if not (np.isfinite(jacobian).all() and np.linalg.det(jacobian) != 0):
                return None
            step = np.linalg.solve(jacobian, values)
            if not _size(step, jacobian) < MAX_STEP:
                return None
            place, nu = place - float(step[0]), nu - float(step[1])
        return None


def _inverse(factor: Array) -> Array:
    """Invert a lower triangle by halves, since LAPACK's own routine takes nearly twice the time above some size."""
    if len(factor) <= TRIANGLE_SIZE:
        return np.asarray(dtrtri(factor, lower=1)[0])
    half = len(factor) // 2
    upper, lower = _inverse(factor[:half, :half]), _inverse(factor[half:, half:])
    found = np.zeros_like(factor, order="F")
    found[:half, :half], found[half:, half:] = upper, lower
    below = dtrmm(1.0, upper, factor[half:, :half], side=1, lower=1)
    found[half:, :half] = dtrmm(-1.0, lower, below, lower=1, overwrite_b=1)
    return found


def _inner(one: Array, two: Array) -> float:
    return float(np.einsum("ij,ij", one, two))


def _size(step: Array, jacobian: Array) -> float:
    return float(max(abs(step[0]), abs(step[1] * jacobian[0, 1])))


def branch(ensemble: Ensemble, side: Side = "right") -> RealBranch:
    """Return the branch on one side of the support, by the cheapest route."""
    reduced = simplified(ensemble)
    return RealBranch(reduced, side) if isinstance(reduced, CommutingEnsemble) else DenseBranch(reduced, side)


def extreme_edge(ensemble: Ensemble, side: Side = "right") -> ExtremeEdge:
    """Compute the right or left end of the support of the eigenvalues nu."""
    return branch(ensemble, side).edge()
