"""A problem made ready: the pencils of its method, the operator of its noise, the branch and the edge of the bulk."""

from functools import cached_property

from theory.models.arrays import Array
from theory.random_matrix.bbp.operators import operator
from theory.random_matrix.bbp.pencil import Pencils
from theory.random_matrix.bbp.problem import SpikeProblem
from theory.random_matrix.spectral.real_branch import ExtremeEdge, RealBranch


class SpikeSystem:
    """The bulk of the noise alone, which spikes do not move, and the forms that decide what leaves it."""

    def __init__(self, problem: SpikeProblem) -> None:
        self.problem = problem
        self.operator = operator(problem)
        self.pencils = Pencils(problem)
        self.noise_pencil = self.pencils.at()

    @cached_property
    def branch(self) -> RealBranch:
        """x(h) right of the bulk."""
        return RealBranch(self.operator.ensemble(self.problem.alpha, self.noise_pencil))

    @cached_property
    def left_branch(self) -> RealBranch:
        """x(h) left of the bulk."""
        return RealBranch(self.operator.ensemble(self.problem.alpha, self.noise_pencil), "left")

    @cached_property
    def edge(self) -> ExtremeEdge:
        """The right edge of the bulk."""
        return self.branch.edge()

    def needed_strength(self, strength: Array) -> float:
        """1/(h u^T R u) at the edge, with the scales of a spike of the given strength: T(strength).

        A spike leaves the bulk iff its strength exceeds this. Scales and shifts are concave in the strength, and
        1/(u^T M^-1 u) is concave and increasing in the matrix M: so T is concave and increasing, with T(0) > 0.
        """
        h, x = self.edge.h, self.edge.nu
        form = self.operator.forms(h, x, self.pencils.at(strength)).left
        return float(1 / (h * form[0, 0]))

    def slope_at_infinity(self) -> float:
        """lim T(strength)/strength: with 1 or more there is no threshold."""
        growth = self.pencils.growth(self.edge.nu)
        directions = self.problem.directions
        if directions is None:
            return 0.0
        squares = directions[0] ** 2
        seen = squares > 0
        grown = (growth + 0 * squares)[seen]
        return 0.0 if (grown <= 0).any() else float(1 / (self.edge.h * (squares[seen] / grown).sum()))
