"""The bulk of the noise alone, and the quadratic forms that decide which spikes leave it."""

from functools import cached_property

import numpy as np

from theory.random_matrix.bbp.normalization import MethodNormalization
from theory.random_matrix.bbp.operators import operator
from theory.random_matrix.bbp.spiked_noise import SpikedNoise
from theory.random_matrix.spectral.dense_branch import branch
from theory.random_matrix.spectral.ensemble import Ensemble
from theory.random_matrix.spectral.real_branch import ExtremeEdge, RealBranch


class SpikedBulk:
    """The branch, the edge and the normalizations of a noise with spikes; finitely many spikes do not move the bulk.

    Everything is computed when it is first asked for. Nothing of it may be asked for where the bulk has no edge.
    """

    def __init__(self, spiked: SpikedNoise) -> None:
        self.spiked = spiked
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
