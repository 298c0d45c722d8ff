"""The limit of an infinite ridge: weights that are a sum of samples, as in Hebb's rule, and the bias that is left.

As lam -> infinity the fields vanish as 1/lam, and each sample pulls with the force -loss'(y, b) that it exerts at zero
field: w = sum_mu f_mu x_mu/(lam sqrt p). All overlaps are explicit in units of 1/lam. Where the labels do not balance
the bias tends to a constant, which hides the fields and decides alone; where they balance it vanishes as the fields do,
and both decide.
"""

from dataclasses import dataclass, replace

import numpy as np

from theory.core import Array, Result, checked
from theory.glm.channel import channel
from theory.glm.field import Field
from theory.glm.fresh_samples import fresh_error, mean_fresh_loss
from theory.glm.labels import label_law
from theory.glm.losses import Hinge, Loss, loss_of
from theory.glm.overlaps import Overlaps
from theory.glm.own_losses import OwnLoss, examined
from theory.glm.prior import prior
from theory.glm.systems import as_problem
from theory.models.glm import Cluster, GeneralizedLinearModel
from theory.models.glm.cluster import kind_of
from theory.models.glm.objective import Minimization

SMALL = 1e-12  # a response, and the size of a field, at which forces are those at zero field
BALANCED = 1e-9  # a bias below it is zero but for rounding: the labels balance
EQUAL = 1e-9  # relative difference of numbers that are the same but for rounding
DIFFERENCE = 1e-4  # of a central difference of a loss's force at zero
ZERO = np.zeros(1)


@dataclass(frozen=True, eq=False, repr=False)
class InfiniteRidge(Result):
    """Hold test error and test loss as lam -> infinity, and the overlaps there in units of 1/lam.

    `q` and `r` are the limits of lam^2 q and lam r. `constant_bias` holds for each learner the limit of the bias, and
    `bias` that of lam times the bias where this limit is 0, else it is infinite; 0 for a bias that is not trained. NaN
    stands for what has no known limit: the bias of a loss of one's own without curvature at zero, and the errors that
    depend on it.
    """

    test_error: float
    test_loss: float
    q: Array
    r: Array
    bias: Array
    constant_bias: Array


@checked
def infinite_ridge(model: Minimization) -> InfiniteRidge:
    """Compute the limit lam -> infinity of test error and test loss of any record with labels +-1 or others.

    With V_c = tr Omega_c/p, f the force of a sample at zero field and its constant bias b, q and r are those of weights
    of mean sum_a rhat_a s_a and covariance alpha E f^2 Omega, rhat_a = alpha p E f for a mean and alpha E[f] weighted
    with the derivative of the label's probability for a teacher (derived here). A trained bias has b at the least of
    E loss(y, b). For labels +-1 that balance, b = 0, and in units of 1/lam it is next order: -sum E kappa loss''(0)
    (m_c + V_c f)/sum E kappa loss''(0), m_c the mean field, where each label has its own share. Hinge loss has no
    curvature at zero, and only samples beyond its kink, all far out, tell its bias: for each label those of the widest
    field, of variance q_c, and among these of the largest y m_c + V_c kappa. If both labels have the same greatest q_c
    the bias is -(the largest for y = 1 minus that for y = -1)/2, otherwise it is a constant, at which both tails are
    equally many widths away. ValueError for K classes and for a hard margin, whose error does not depend on lam.

    >>> from theory import glm
    >>> limit = infinite_ridge(glm.gaussian_mixture(variances=0.5, alpha=1.0, lam=1.0))
    >>> round(limit.test_error, 6), round(limit.test_loss, 6)
    (0.124107, 0.693147)
    """
    problem = as_problem(model)
    if problem.loss == "hard_margin":
        raise ValueError("model must have a loss that is finite, got 'hard_margin', whose lam has no effect on errors")
    loss = examined(loss_of(problem.loss))
    problem = replace(problem, lam=1.0, coupling=0.0)  # a fixed coupling is negligible beside the ridge
    C, A = problem.modes.n_covariances, problem.modes.n_signals
    constant = _constant_bias(problem, loss)
    at_zero = Overlaps(np.full(C, SMALL), np.full(C, SMALL**2), np.zeros(A))
    found = channel(replace(problem, bias=False), loss, at_zero, constant)
    overlaps, _ = prior(problem, np.zeros(C), found.qhat, found.rhat)
    bias = np.zeros(problem.n_learners)
    for learner in range(problem.n_learners):
        if not problem.bias:
            continue
        own = [cluster for cluster in problem.clusters if cluster.learner == learner]
        if constant[learner]:
            bias[learner] = np.inf
        elif own and isinstance(loss, Hinge):
            constant[learner], bias[learner] = _balance_of_tails(own, overlaps)
        elif own:
            signs = all(kind_of(cluster.labels) == "signs" for cluster in own)
            bias[learner] = _next_order(own, loss, overlaps) if signs else np.nan
    return _result(problem, loss, overlaps, bias, constant)


def _constant_bias(problem: GeneralizedLinearModel, loss: Loss) -> Array:
    """Return the biases (learners,) at which the forces at zero field balance; zero where they are not trained."""
    C, A = problem.modes.n_covariances, problem.modes.n_signals
    at_zero = Overlaps(np.full(C, SMALL), np.full(C, SMALL**2), np.zeros(A))
    with np.errstate(all="ignore"):
        bias = channel(problem, loss, at_zero, np.zeros(problem.n_learners)).bias
    return np.where(abs(bias) < BALANCED, 0.0, bias)


def _next_order(clusters: list[Cluster], loss: Loss, at: Overlaps) -> float:
    """Return lam times the bias of labels +-1 that balance; NaN where the loss has no curvature at zero."""
    force, curvature = _at_zero_margin(loss)
    pull, resistance = 0.0, 0.0
    for cluster in clusters:
        field = Field.of(cluster, at, 0.0)
        law = label_law(cluster, 1.0, 0.0)
        for y, kappa in zip((1, -1), cluster.loss_weights, strict=True):
            if not law.occurs(y):
                continue
            chance, tilt = law(y, ZERO)
            mean = float(chance[0]) * (field.mean + field.V * y * kappa * force)
            mean += 0.0 if tilt is None else float(tilt[0]) * field.teacher
            pull += cluster.probability * kappa * mean
            resistance += cluster.probability * kappa * float(chance[0])
    return -pull / resistance if curvature > EQUAL * abs(force) else np.nan


def _at_zero_margin(loss: Loss) -> tuple[float, float]:
    """Return the force of a sample at the margin zero, -loss'(0), and loss''(0)."""

    def force(t: float) -> float:
        at = np.array([t])
        return float(loss.force(at, loss.prox(at, SMALL), SMALL)[0])

    slope = loss.slope(ZERO, loss.prox(ZERO, SMALL), SMALL)
    if slope is None or isinstance(loss, OwnLoss):
        return force(0.0), (force(-DIFFERENCE) - force(DIFFERENCE)) / (2 * DIFFERENCE)
    return force(0.0), -float(slope[0])


def _balance_of_tails(clusters: list[Cluster], at: Overlaps) -> tuple[float, float]:
    """Return the constant bias of hinge loss and, where that is zero, lam times the bias; NaN where it is not known.

    A sample of label y is beyond the kink where y h > 1 - kappa V - y b, which is 1/sqrt(q) widths far out.
    """
    widths, leads = {1: 0.0, -1: 0.0}, {1: -np.inf, -1: -np.inf}
    for y in (1, -1):
        found = []
        for cluster in clusters:
            field, kappa = Field.of(cluster, at, 0.0), cluster.loss_weights[0 if y == 1 else 1]
            if kappa == 0 or not label_law(cluster, 1.0, 0.0).occurs(y):
                continue
            if field.teacher < 0:  # the label itself is rare in this tail
                return np.nan, np.nan
            found.append((field.q, y * field.mean + kappa * field.V))
        widths[y] = max(q for q, _ in found)
        leads[y] = max(lead for q, lead in found if q > (1 - EQUAL) * widths[y])
    above, below = np.sqrt(widths[1]), np.sqrt(widths[-1])
    if abs(above - below) > EQUAL * max(above, below):
        return float((below - above) / (below + above)), np.inf
    return 0.0, (leads[-1] - leads[1]) / 2


def _result(problem: GeneralizedLinearModel, loss: Loss, at: Overlaps, bias: Array, constant: Array) -> InfiniteRidge:
    error, total = 0.0, 0.0
    for cluster in problem.clusters:
        level = float(constant[cluster.learner])
        still = Field(SMALL, SMALL**2, level, 0.0)
        total += cluster.probability * mean_fresh_loss(cluster, loss, still)
        seen = still
        if kind_of(cluster.labels) == "signs" and level == 0:
            seen = Field.of(cluster, at, float(bias[cluster.learner]))
        known = np.isfinite(seen.mean) and seen.q > 0
        error += cluster.probability * (fresh_error(cluster, loss, seen) if known else np.nan)
    return InfiniteRidge(error, total, at.q, at.r, bias, constant)
