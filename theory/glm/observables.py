"""What follows from a solution of the saddle-point equations: errors, losses, stability, and who decides on a bias."""

from dataclasses import replace

import numpy as np

from theory.core.arrays import Array
from theory.glm.bias_balance import balanced_bias
from theory.glm.channel import all_shapes, channel, losses_and_errors, squared_slopes
from theory.glm.equations import Equations
from theory.glm.overlaps import Conjugates, Overlaps
from theory.glm.own_losses import Jump
from theory.glm.prior import prior, weight_responses
from theory.glm.saddle_point import SaddlePoint
from theory.glm.separable import absolute_penalty
from theory.numerics import Solution


def _jumps(update: Equations, at: Overlaps, bias: Array) -> tuple[Jump, ...]:
    """Return the jumps of the proximal operator, each once: clusters of one response share them."""
    shapes = all_shapes(update.problem, update.loss, at, bias)
    found = {(round(jump.t, 6), round(jump.response, 9)): jump for shape in shapes for jump in shape.jumps}
    return tuple(sorted(found.values()))


def with_rare_forces(update: Equations, at: Overlaps, found: Conjugates) -> tuple[Conjugates, Array]:
    """Return the conjugates at the biases that rare forces decide, and the share of these forces for each learner."""
    problem = update.problem
    shares = np.full(problem.n_learners, np.nan)
    if not problem.bias or not np.isfinite(found.bias).all():
        return found, shares
    bias = found.bias.copy()
    for learner in range(problem.n_learners):
        if own := [cluster for cluster in problem.clusters if cluster.learner == learner]:
            bias[learner], shares[learner] = balanced_bias(own, update.loss, at, float(bias[learner]))
    if np.array_equal(bias, found.bias):
        return found, shares
    return channel(replace(problem, bias=False), update.loss, at, bias), shares


def observables(update: Equations, solution: Solution[Overlaps]) -> SaddlePoint:
    """Return the saddle point with all that follows from its overlaps, and the evidence of the solution."""
    problem, at = update.problem, solution.value
    found, bias_share = with_rare_forces(update, at, update.conjugates(at))
    _, norms = prior(problem, found.Vhat, found.qhat, found.rhat)
    losses, errors = losses_and_errors(problem, update.loss, at, found.bias)
    shares = np.array([cluster.probability for cluster in problem.clusters])
    train = float(shares @ losses)
    growth = weight_responses(problem, found) * squared_slopes(problem, update.loss, at, found.bias)
    jumps = _jumps(update, at, found.bias)
    replicon = 1 - float(np.linalg.eigvals(growth).real.max()) if np.isfinite(growth).all() else np.nan
    return SaddlePoint(
        problem=problem,
        V=at.V,
        q=at.q,
        r=at.r,
        bias=found.bias,
        Vhat=found.Vhat,
        qhat=found.qhat,
        rhat=found.rhat,
        train_loss=train,
        test_error=float(shares @ errors),
        cluster_losses=losses,
        cluster_errors=errors,
        squared_norm=np.diag(norms),
        energy=problem.alpha * train
        + 0.5 * float(np.sum(problem.ridge * norms))
        + absolute_penalty(problem, found.Vhat, found.qhat, found.rhat),
        replicon=-np.inf if jumps else replicon,
        jumps=jumps,
        bias_share=bias_share,
        residual=solution.residual,
        iterations=solution.iterations,
        converged=solution.converged,
    )
