"""How a difference between two replicas grows in one round of the equations, and what is left of it in the end.

Two runs of message passing on the same data from different starts are such replicas. Where replica symmetry is stable
every difference shrinks, and both end at the same weights; where it is not, small ones grow, and the runs never agree.
"""

import numpy as np
from scipy.optimize import brentq

from theory.core import Array, Real, checked, checks
from theory.glm.losses import Loss, loss_of
from theory.glm.overlaps import Conjugates
from theory.glm.own_losses import examined, shape_between
from theory.glm.prior import weight_responses
from theory.glm.quadrature import RANGE, normal_nodes
from theory.glm.saddle_point import SaddlePoint
from theory.numerics import ConvergenceError, panelled_legendre

HALF_LINE = (0.0, 2.0, 4.5, RANGE)  # edges of panels for the size of a difference, in its standard deviations
ORDERS = (8, 12)  # nodes on each of them
RESOLUTION = 1e-4  # relative difference of a growth with these two numbers of nodes: that with more is far better
SMALLEST = 1e-10  # difference, relative to q, from which a lasting one is sought


@checked
def replica_growth(point: SaddlePoint, differences: Array) -> Array:
    """Compute the factors by which `differences` between two replicas grow in one round, for labels that are random.

    A difference is delta = 1 - q_12/q, with q the overlap of a replica with itself and q_12 that with the other one,
    both at the order parameters V and q of the symmetric saddle `point`, which need not be stable; 0 < delta <= 1. With
    margins t_1, t_2 of variance q and covariance (1 - delta) q, one round of the equations makes of it delta times

        alpha tr(Omega G Omega G)/p E (f(t_1) - f(t_2))^2/(2 delta q),

    f = (prox(t) - t)/V the force of a sample (derived here: the overlap of two replicas of weights G xi is that of
    their forces, E f_1 f_2). For delta -> 0 the factor tends to 1 minus the replicon. Where the proximal operator jumps
    it grows as delta^(-1/2): samples whose margins lie on both sides of a jump at t_j, from x- to x+, are a share
    p(t_j) E |t_1 - t_2| of all, so that with J_j = (x+ - x-)/V the factor is alpha tr(Omega G Omega G)/p sum_j J_j^2
    p(t_j)/sqrt(pi delta q) and a constant. ValueError for differences outside of (0, 1] and for the point of
    other labels or of several covariances, ConvergenceError where the average is not resolved.

    >>> from theory import glm
    >>> from theory.models import Isotropic, RandomLabels
    >>> point = glm.solve(RandomLabels(covariance=Isotropic(float("inf")), alpha=3.0, lam=0.1, loss="logistic"))
    >>> replica_growth(point, [1e-4, 1.0]).round(4).tolist()
    [0.229, 0.2215]
    """
    values = checks.real_array("differences", differences)
    if values.ndim != 1 or not values.size or not ((values > 0) & (values <= 1)).all():
        raise ValueError(f"differences must be a list of numbers in (0, 1], got {checks.shown(differences)}")
    _require_random_labels(point)
    return np.array([_growth(point, float(delta)) for delta in values])


@checked
def replica_difference(point: SaddlePoint) -> Real:
    """Compute the difference that two runs of message passing keep for ever: the delta that does not grow or shrink.

    It is the root of `replica_growth` = 1, and 0 where the symmetric saddle `point` is stable. The runs have its order
    parameters, but never settle. Derived here: the overlap of two runs follows the map of which `replica_growth` is the
    factor. ValueError for the point of other labels or of several covariances.

    >>> from theory import glm
    >>> from theory.models import Isotropic, RandomLabels
    >>> replica_difference(glm.solve(RandomLabels(covariance=Isotropic(float("inf")), alpha=3.0, lam=0.1)))
    0.0
    """
    _require_random_labels(point)
    if point.replicon > 0:
        return 0.0

    def excess(log_delta: float) -> float:
        return float(np.log(_factor(point, float(np.exp(log_delta)), ORDERS[0])))

    low = np.log(SMALLEST)
    if excess(low) < 0:  # so close to the threshold that nothing is left
        return 0.0
    return float(np.exp(brentq(excess, low, 0.0, xtol=RESOLUTION)))


def _require_random_labels(point: SaddlePoint) -> None:
    problem = point.problem
    if len(point.V) > 1 or problem.n_learners > 1 or any(c.labels != "random" for c in problem.clusters):
        raise ValueError("point must be that of random labels on inputs of one covariance")


def _growth(point: SaddlePoint, delta: float) -> float:
    """Return the factor of one difference; ConvergenceError where fewer nodes give another."""
    coarse, fine = (_factor(point, delta, order) for order in ORDERS)
    gap = abs(fine - coarse) / max(fine, 1e-300)
    if not gap <= RESOLUTION:
        raise ConvergenceError.of(f"growth of a difference {delta:g} of replicas", fine, gap, RESOLUTION)
    return fine


def _factor(point: SaddlePoint, delta: float, order: int) -> float:
    found = Conjugates(point.Vhat, point.qhat, point.rhat, point.bias)
    response = float(weight_responses(point.problem, found)[0, 0])
    return point.problem.alpha * response * _mean_square(point, delta, order) / (2 * delta * float(point.q[0]))


def _mean_square(point: SaddlePoint, delta: float, order: int) -> float:
    """Return E (f(c + g) - f(c - g))^2 over the center c and half the difference 2 g of two margins.

    The center varies with (1 - delta/2) q, and g with delta q/2; panels of c begin where either margin meets a jump.
    """
    V, q, loss = float(point.V[0]), float(point.q[0]), examined(loss_of(point.problem.loss))
    size, half = float(np.sqrt((1 - delta / 2) * q)), float(np.sqrt(delta * q / 2))
    reach = RANGE * float(np.sqrt(q))
    shape = shape_between(loss, V, -reach, reach)
    bends = [*loss.breakpoints(V), *((jump.t, 0.0) for jump in shape.jumps), *shape.bends]
    u, weights = panelled_legendre(HALF_LINE, order)
    total = 0.0
    for g, weight in zip(half * u, weights * np.exp(-(u**2) / 2) * np.sqrt(2 / np.pi), strict=True):
        places = [((t + sign * g) / size, width / size) for t, width in bends for sign in (1, -1)]
        z, masses = normal_nodes(places)
        change = _force(loss, size * z + g, V) - _force(loss, size * z - g, V)
        total += float(weight) * float(masses @ change**2)
    return total


def _force(loss: Loss, t: Array, V: float) -> Array:
    return np.asarray(loss.force(t, loss.prox(t, V), V))
