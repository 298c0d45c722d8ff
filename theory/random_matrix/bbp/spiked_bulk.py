"""The bulk of the noise alone, and the quadratic forms that decide which spikes leave it."""

from dataclasses import replace
from functools import cached_property

import numpy as np

from theory.core.arrays import Array
from theory.numerics import ConvergenceError
from theory.random_matrix.bbp.normalization import MethodNormalization
from theory.random_matrix.bbp.operators import operator
from theory.random_matrix.bbp.spiked_noise import SpikedNoise
from theory.random_matrix.spectral.dense_branch import branch
from theory.random_matrix.spectral.ensemble import Ensemble
from theory.random_matrix.spectral.real_branch import ExtremeEdge, RealBranch

# Relative change at the edge, when the nodes of a limit are doubled, with which they are enough: their error falls
# geometrically with their number, so that that of the finer ones is about the square.
STEADY_EDGE = 1e-9
MAX_LIMIT_NODES = 2**18
ADVICE = "the nodes of the limit d -> infinity are too few for so many samples: take a finite d"


class SpikedBulk:
    """The branch, the edge and the normalizations of a noise with spikes; finitely many spikes do not move the bulk.

    Everything is computed when it is first asked for. Nothing of it may be asked for where the bulk has no edge.
    """

    def __init__(self, spiked: SpikedNoise) -> None:
        self.spiked = spiked = resolved(spiked)
        self.operator = operator(spiked)
        self.normalizations = MethodNormalization(spiked)
        self.noise_normalization = self.normalizations.at()

    @cached_property
    def _ensemble(self) -> Ensemble:
        return self.operator.ensemble(self.spiked.alpha, self.noise_normalization, self.spiked.rows)

    @cached_property
    def branch(self) -> RealBranch:
        """The branch x(h) right of the bulk."""
        return branch(self._ensemble)

    @cached_property
    def left_branch(self) -> RealBranch:
        """The branch x(h) left of the bulk."""
        return branch(self._ensemble, "left")

    @cached_property
    def edge(self) -> ExtremeEdge:
        """The right edge of the bulk."""
        return self.branch.edge()

    def needed_strength(self, strength: float) -> tuple[float, float]:
        """Compute T = 1/(h u^T R u) at the edge (h, x), with the scales that a spike of the given strength leaves.

        R = (x scale - shift - h Sigma_0)^-1. A spike leaves the bulk iff its strength exceeds T(strength). Scales and
        shifts are concave in the strength, and 1/(u^T M^-1 u) is concave and increasing in the matrix M: so T is
        concave and increasing, with T(0) > 0, and T(strength) = strength has at most one root. The slope of T comes
        with it.
        """
        h, x, directions = self.edge.h, self.edge.nu, self.operator.directions
        normalization = self.normalizations.at(np.array([strength]))
        if directions is None:
            return float(1 / (h * self.operator.forms(h, x, normalization).left[0, 0])), 0.0
        solved = self.operator.solved(h, x, normalization)[0]
        needed = float(1 / (h * (directions[0] @ solved)))
        moved = float(np.sum(self.normalizations.slope(x, strength) * solved * solved))
        return needed, h * needed * needed * moved

    def slope_at_infinity(self) -> float:
        """Compute lim T(strength)/strength as the strength goes to infinity: with 1 or more there is no threshold."""
        growth = self.normalizations.growth(self.edge.nu)
        directions = self.spiked.directions
        if directions is None:
            return 0.0
        squares = directions[0] ** 2
        seen = squares > 0
        grown = (growth + 0 * squares)[seen]
        return 0.0 if (grown <= 0).any() else float(1 / (self.edge.h * (squares[seen] / grown).sum()))


def resolved(spiked: SpikedNoise) -> SpikedNoise:
    """Return the same noise; a limit d -> infinity on so many nodes that the edge does not show them.

    The more samples there are the nearer the edge is to the largest variance, and the nodes of the limit, which resolve
    functions s/(s + kappa) of the eigenvalues s, need not resolve their resolvent there: at alpha = 10 the threshold of
    a chain of correlation 0.88 was off by 1.4e-4. ConvergenceError where even MAX_LIMIT_NODES nodes are too few.
    """
    if spiked.noise.is_finite or not (spiked.spectrum.homogeneous and spiked.has_edge):
        return spiked
    at, times, change = _at_edge(spiked), 2, np.inf
    while (finer := spiked.noise._finer_limit(times)) is not None and len(finer.weights) > len(spiked.spectrum.weights):
        if len(finer.weights) > MAX_LIMIT_NODES:
            what = f"edge of {spiked.noise!r} at alpha = {spiked.alpha:g}"
            raise ConvergenceError.of(what, at, change, STEADY_EDGE, advice=ADVICE)
        spiked = replace(spiked, nodes=finer)
        before, at, times = at, _at_edge(spiked), 2 * times
        if (change := _change(before, at)) <= STEADY_EDGE:
            break
    return spiked


def _at_edge(spiked: SpikedNoise) -> Array:
    """Return h and x at the edge, and the mean resolvent that decides which spikes leave the bulk."""
    noise, normalization = operator(spiked), MethodNormalization(spiked).at()
    edge = branch(noise.ensemble(spiked.alpha, normalization, spiked.rows)).edge()
    return np.array([edge.h, edge.nu, noise.forms(edge.h, edge.nu, normalization).left[0, 0]])


def _change(before: Array, at: Array) -> float:
    """Return the relative change of what `_at_edge` returns; x, which may be zero, counts beside the resolvent."""
    units = abs(at) + np.array([0.0, 1 / at[2], 0.0])
    return float(np.max(abs(at - before) / units))
