"""The saddle-point equations of one problem as a map of its overlaps, and how near to a solution a point is."""

import numpy as np

from theory.core.arrays import Array
from theory.glm.channel import channel
from theory.glm.coordinates import Coordinates
from theory.glm.losses import loss_of
from theory.glm.overlaps import Conjugates, Overlaps
from theory.glm.own_losses import OwnLoss, examined
from theory.glm.prior import prior
from theory.glm.separable import Support
from theory.models.glm import GeneralizedLinearModel
from theory.numerics import Counted, Solution, newton

RANGE = 100.0  # of the logarithms of V and q
NOTHING = 1e-40  # within that range


class Equations(Counted):
    """The map from x, in `Coordinates`, to its image. It remembers the bias, where the next search for it starts."""

    def __init__(self, problem: GeneralizedLinearModel) -> None:
        super().__init__(self._packed, self._in_range)
        self.problem, self.loss, self.coordinates = problem, examined(loss_of(problem.loss)), Coordinates(problem)
        self.bias = np.zeros(problem.n_learners)

    def seek_kinks(self) -> bool:
        """Seek kinks that an own loss does not declare from now on, and ignore its slope; tell whether this is new."""
        if not isinstance(self.loss, OwnLoss) or self.loss.kinks_sought:
            return False
        self.loss = self.loss.with_kinks()
        return True

    def conjugates(self, at: Overlaps) -> Conjugates:
        """Return the conjugates at these overlaps; their bias is where the next search for one starts."""
        found = channel(self.problem, self.loss, at, self.bias)
        if np.isfinite(found.bias).all():
            self.bias = found.bias
        return found

    def image(self, at: Overlaps) -> Overlaps:
        """Return the overlaps to which one round of the equations leads."""
        with np.errstate(all="ignore"):
            found = self.conjugates(at)
            return prior(self.problem, found.Vhat, found.qhat, found.rhat)[0]

    def _packed(self, x: Array) -> Array:
        with np.errstate(all="ignore"):
            return self.coordinates.pack(self.image(self.coordinates.unpack(x)))

    def _in_range(self, x: Array) -> bool:
        """Tell whether x lies in a finite range; positivity and the bounds on r hold by construction."""
        return bool(np.isfinite(x).all() and np.max(abs(x)) < RANGE)


def require_weights(update: Equations) -> None:
    """Refuse a lasso that leaves no weights: from none on, their share is too small for the logarithms of V and q."""
    problem = update.problem
    if problem.penalty is None or problem.penalty.strengths[0] == 0:
        return
    modes = problem.modes
    nothing = np.full(modes.n_covariances, NOTHING)
    found = channel(problem, update.loss, Overlaps(nothing, nothing, np.zeros(modes.n_signals)), update.bias)
    share = Support.of(problem, found.Vhat, found.qhat, found.rhat).weights
    if share < NOTHING:
        raise ValueError(
            f"penalty must leave weights that are not zero, got {problem.penalty!r}, with which a share of {share:.1g} "
            "of them is left: take a smaller strength of |w|"
        )


def judged(update: Equations, x: Array, tol: float) -> Solution[Overlaps]:
    """Judge a point by its residual in log V, log q and r, whatever the coordinates of the search."""
    at = update.coordinates.unpack(x)
    image = update.image(at)
    update.evaluations += 1
    with np.errstate(all="ignore"):
        gaps = (np.log(image.V / at.V), np.log(image.q / at.q), image.r - at.r)
        sizes = (1 + abs(np.log(at.V)), 1 + abs(np.log(at.q)), 1 + abs(at.r))
    residual = float(np.max(abs(np.concatenate(gaps)) / np.concatenate(sizes)))
    return Solution.judged(at, residual, tol, update.evaluations)


def polished(update: Equations, x: Array, residual: float, tol: float) -> Solution[Overlaps]:
    """Judge the point that a search ended at, after more of Newton's steps where these may lead to a solution."""
    solution = judged(update, x, tol)
    if not solution.converged and residual < 1e3 * tol:
        # The residual is small in the coordinates of the search, but not yet in the overlaps.
        solution = judged(update, newton(update, x, 1e-4 * tol)[0], tol)
    return solution
