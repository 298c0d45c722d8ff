"""The outlier of the symmetric part (A + A^T)/2 of the joint predictor, for independent noise or homogeneous one.

(A + A^T)/2 = 1 - (E Q + Q E)/2 with E = diag(Q)^-1, and (mu - E Q - Q E)^-1 is the last block of the inverse of

    [[0, C + lam, 1], [C + lam, 0, E], [1, E, mu]],

which is linear in C: its equivalent has Sigma times a symmetric 2 x 2 matrix H in the first two blocks, with
H^-1 = sigma_x + (1/n) tr Sigma G, G the first two blocks of the inverse. On the real line H is followed from mu = -inf,
where H = sigma_x lam/kappa, to the edge, where its equations become singular; a spike leaves the bulk where
H^-1/theta + u^T G u is singular, and its overlap is the residue there.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import brentq

from theory.core import Array, SolverResult, checked, checks
from theory.models import SpikedData
from theory.numerics import Solution
from theory.numerics.extremes import within_range
from theory.random_matrix.bbp.operators import Diagonal
from theory.random_matrix.bbp.spiked_bulk import SpikedBulk
from theory.random_matrix.bbp.spiked_noise import noise_of, spike_strength
from theory.random_matrix.spectral.real_branch import ADVICE

MAX_RESIDUAL = 1e-10  # residual below which the equations for H count as solved
UNKNOWN = np.array(np.nan)  # in the place of what a point that could not be solved does not have
SWAP = np.array([[0.0, 1.0], [1.0, 0.0]])
BASIS = np.array([[[1.0, 0], [0, 0]], SWAP, [[0, 0], [0, 1.0]]])  # of the symmetric matrices
ENTRIES = ((0, 0, 1), (0, 1, 1))


@dataclass(frozen=True, eq=False, repr=False)
class SymmetricOutlier(SolverResult):
    """The top of the spectrum of (A + A^T)/2: an outlier, or the edge of the bulk and no overlap below the threshold.

    `overlap` is (u . v)^2 of the normalized eigenvector v; `residual` is that of the equations for H. `edge` is
    infinite where the noise has no largest variance.
    """

    detected: bool
    eigenvalue: float
    overlap: float
    edge: float


@dataclass(frozen=True, eq=False)
class _Point:
    mu: float
    H: Array = field(repr=False)
    inverse: Array = field(repr=False)  # (r, 3, 3) of the noise alone
    jacobian: Array = field(repr=False)
    residual: float


@checked
@within_range
def symmetric_outlier(data: SpikedData) -> SymmetricOutlier:
    """Compute the outlier of the symmetric part (A + A^T)/2 of the joint predictor A, and its eigenvector's overlap.

    Coordinates of large variance have rows of large entries, which the symmetric part keeps: without a largest variance
    its bulk has no edge, and nothing is detected. Derived here: the resolvent of the symmetric part is a block of the
    inverse of a matrix that is linear in the sample covariance, whose deterministic equivalent has a symmetric 2 x 2
    matrix in the place of the factor h of `threshold`; a spike leaves the bulk where this 2 x 2 problem is singular.
    Raises ValueError for a record without a strength, for another method than "ssr", for lam = 0, for rows that differ
    or depend on each other, and for a noise that does not commute with the coordinates (correlated, and with a
    direction or of unequal coordinates); ConvergenceError where the equations are not met.
    """
    theta = float(spike_strength(data)[0])
    if data.training is not None:
        raise ValueError(
            f"training must be None for the symmetric part, got {data.training}: along training (A + A^T)/2 mixes the "
            "ridges on both sides, and its matrix equation, with twice the blocks, is not derived"
        )
    if data.method != "ssr":
        raise ValueError(f"method must be 'ssr' for the symmetric part of the predictor, got {data.method!r}")
    if not data.row_law.alike:
        given, usual = data.row_law, "IndependentRows()" if data.row_scales.alike else "EqualScales()"
        raise ValueError(f"{given.field_name} must be {usual} for the symmetric part, got {given}")
    noise, spikes = data.noise, SpikedBulk(noise_of(data))
    checks.positive("lam", data.lam)
    if not isinstance(spikes.operator, Diagonal):
        raise ValueError("noise must be independent (or homogeneous, for direction None) for the symmetric part")
    if noise.spectrum.unbounded:
        return _top(False, math.inf, 0.0, math.inf, None)
    bulk = _SymmetricBulk(spikes, spikes.operator)
    e = bulk.contraction * spikes.normalizations.at(np.array([theta])).scale
    share = bulk.weights if spikes.operator.directions is None else spikes.operator.directions[0] ** 2

    def singular(point: _Point) -> float:
        return float(np.linalg.det(_reduced(bulk, point, e, share, theta)[0]))

    before, found = bulk.start(), None
    Solution.verified(before, before.residual, MAX_RESIDUAL, what="symmetric part", advice=ADVICE)
    for point in bulk.to_the_edge(before):
        if singular(point) > 0:
            found = before, point
            break
        before = point
    else:
        edge = 1 - before.mu / 2
        return _top(False, edge, 0.0, edge, before)
    low, high = found
    mu = float(brentq(lambda mu: singular(bulk.solved(mu, low.H)), low.mu, high.mu, xtol=1e-15, rtol=1e-14))
    point = bulk.solved(mu, low.H)
    *_, last = bulk.to_the_edge(high)
    return _top(True, 1 - mu / 2, _residue(bulk, point, e, share, theta), 1 - last.mu / 2, point)


def _top(detected: bool, eigenvalue: float, overlap: float, edge: float, point: _Point | None) -> SymmetricOutlier:
    """Make the record of a point, None where the bulk has no edge; ConvergenceError for one that is not solved."""
    residual = point.residual if point else 0.0
    converged = residual < MAX_RESIDUAL
    found = SymmetricOutlier(
        detected=detected,
        eigenvalue=eigenvalue,
        overlap=overlap,
        edge=edge,
        residual=residual,
        iterations=None,
        converged=converged,
    )
    return Solution.verified(found, residual, MAX_RESIDUAL, what="symmetric part", advice=ADVICE).value


class _SymmetricBulk:
    """The equations for H with the noise alone."""

    def __init__(self, spikes: SpikedBulk, modes: Diagonal) -> None:
        self.sigma, self.weights = modes.sigma, modes.weights
        self.lam, self.alpha = float(spikes.spiked.lam or 0.0), spikes.spiked.alpha
        self.contraction = spikes.normalizations.contraction
        self.e = np.broadcast_to(self.contraction * spikes.noise_normalization.scale, self.sigma.shape)

    def start(self) -> _Point:
        """Return a point so far left of the spectrum of -E Q - Q E that H is nearly that at mu = -infinity."""
        return self.solved(-1e4 * float(self.e.max()) / self.lam, self.contraction * SWAP)

    def inverse(self, mu: float, H: Array, e: Array) -> Array:
        """Compute the equivalent of the inverse on every coordinate, (r, 3, 3)."""
        matrix = np.empty((len(self.sigma), 3, 3))
        matrix[:, :2, :2] = self.sigma[:, None, None] * H + self.lam * SWAP
        matrix[:, 0, 2] = matrix[:, 2, 0] = 1
        matrix[:, 1, 2] = matrix[:, 2, 1] = e
        matrix[:, 2, 2] = mu
        return np.asarray(np.linalg.inv(matrix), float)

    def solved(self, mu: float, H: Array) -> _Point:
        """Solve at mu by Newton's method from a neighboring H; the residual is infinite where that fails."""
        for _ in range(12):
            # The determinant of H is negative at mu = -infinity. It cannot change its sign along the branch, on which
            # H^-1 stays finite.
            if not (abs(H).max() < 1e100 and H[0, 0] * H[1, 1] < H[0, 1] ** 2):
                return _Point(mu, H, UNKNOWN, UNKNOWN, np.inf)
            inverse = self.inverse(mu, H, self.e)
            G, HH = inverse[:, :2, :2], np.linalg.inv(H)
            defect = HH - SWAP - np.einsum("j,jab->ab", self.sigma * self.weights, G) / self.alpha
            moved = np.einsum("j,jab,kbc,jcd->kad", self.sigma**2 * self.weights, G, BASIS, G) / self.alpha
            jacobian = (moved - HH @ BASIS @ HH)[:, *ENTRIES].T
            residual = float(abs(defect).max() / abs(HH).max())
            if residual < 1e-13:
                break
            if not np.isfinite(jacobian).all():
                return _Point(mu, H, inverse, jacobian, np.inf)
            step = np.linalg.lstsq(jacobian, defect[ENTRIES], rcond=None)[0]
            H = H - np.einsum("k,kab->ab", step, BASIS)
        return _Point(mu, H, inverse, jacobian, residual)

    def slope(self, point: _Point) -> Array:
        """Compute dH/dmu along the branch."""
        last = point.inverse[:, :2, 2]
        moved = np.einsum("j,ja,jb->ab", self.sigma * self.weights, last, last) / self.alpha
        return np.asarray(np.einsum("k,kab->ab", np.linalg.solve(point.jacobian, -moved[ENTRIES]), BASIS))

    def _signs(self, point: _Point) -> Array:
        return np.append(np.sign(np.linalg.det(point.inverse)), np.sign(np.linalg.det(point.jacobian)))

    def to_the_edge(self, point: _Point) -> Iterator[_Point]:
        """Follow the branch to the edge, in steps that shrink where the next point is not on the same branch.

        There Newton's method fails; or the Jacobian has changed its sign, beyond the edge; or the block of a coordinate
        has: then the step has jumped over a bulk, that of a few large variances, into the gap behind it.
        """
        signs, step = self._signs(point), abs(point.mu) / 2
        scale = float(self.e.max())
        while step > 1e-13 * (scale + abs(point.mu)):
            trial = self.solved(point.mu + step, point.H + step * self.slope(point))
            if not trial.residual < MAX_RESIDUAL or np.any(self._signs(trial) != signs):
                step /= 2
                continue
            point = trial
            yield point
            step = min(1.5 * step, max(abs(point.mu) / 2, scale / 50))


def _reduced(bulk: _SymmetricBulk, point: _Point, e: Array, share: Array, theta: float) -> tuple[Array, Array]:
    """Compute H^-1/theta + u^T G u, and u^T of the last block beside it, with the scales that the spike leaves."""
    inverse = bulk.inverse(point.mu, point.H, e)
    forms = np.einsum("j,jab->ab", share, inverse)
    return np.linalg.inv(point.H) / theta + forms[:2, :2], forms[:2, 2]


def _residue(bulk: _SymmetricBulk, point: _Point, e: Array, share: Array, theta: float) -> float:
    """Compute (u . v)^2, the residue of u^T (mu - E Q - Q E)^-1 u where the reduced matrix is singular."""
    matrix, last = _reduced(bulk, point, e, share, theta)
    values, vectors = np.linalg.eigh(matrix)
    null = vectors[:, np.argmin(abs(values))]
    inverse, slope, HH = bulk.inverse(point.mu, point.H, e), bulk.slope(point), np.linalg.inv(point.H)
    moving = np.zeros((len(bulk.sigma), 3, 3))
    moving[:, :2, :2] = bulk.sigma[:, None, None] * slope
    moving[:, 2, 2] = 1
    change = -HH @ slope @ HH / theta - np.einsum("j,jab->ab", share, inverse @ moving @ inverse)[:2, :2]
    return float(-((null @ last) ** 2) / (null @ change @ null))
