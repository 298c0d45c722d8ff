"""Probabilities that each of K jointly normal outputs is the largest, with an estimate of their error.

Only differences of the outputs count, so that K outputs need a normal law of K - 1 dimensions. Two of them are one
error function and three a bivariate normal law (Owen's T). From four on, outputs whose differences have the covariance
of independent variables (equicorrelated outputs, for one) need one integral over the value of the largest; four outputs
of any covariance need one integral of the bivariate law; what remains is quasi-Monte Carlo of scipy.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import ndtr

from theory.core.arrays import Array
from theory.glm.normal_law import bivariate
from theory.glm.quadrature import ORDER, normal_nodes

INDEPENDENT = 1e-9  # relative misfit up to which outputs count as independent but for a common part
SCRAMBLES = 8  # of the quasi-Monte Carlo rule: its spread over them is the error estimate
FEWEST_POINTS, MOST_POINTS = 2_000, 100_000  # of one scramble; they are doubled until the accuracy is reached
ACCURACY = 1e-5  # of a probability, one standard error, relative to the chance that another output is the largest
ROUNDING = 1e-15


def decision_probabilities(mean: Array, covariance: Array) -> tuple[Array, float]:
    """Return P(output k is the largest), (K,), for outputs of this `mean` (K,) and `covariance` (K, K), and its error.

    The error is an estimate of the largest error of an entry: rounding for exact forms, the change with twice the nodes
    for integrals, three standard errors for quasi-Monte Carlo. Its points are doubled until a standard error is within
    1e-5 of the chance that the likeliest output is not the largest, or their limit is reached.
    """
    K = len(mean)
    own = _independent_variances(covariance) if K > 3 else None
    if own is not None:
        return _by_order(lambda order: np.array([_largest_of_independent(mean, own, k, order) for k in range(K)]))
    if K <= 4:
        return _by_order(lambda order: np.array([_largest_of_four(mean, covariance, k, order) for k in range(K)]))
    chances, errors = _by_scrambles([_differences(mean, covariance, k) for k in range(K)])
    return chances, max(3 * float(errors.max()), ROUNDING)


def _by_order(chances: Callable[[int], Array]) -> tuple[Array, float]:
    """Return the probabilities at twice the nodes, and the largest change that doubling the nodes made."""
    coarse, fine = chances(ORDER), chances(2 * ORDER)
    return fine, max(float(abs(fine - coarse).max()), ROUNDING)


def _differences(mean: Array, covariance: Array, k: int) -> tuple[Array, Array]:
    """Return mean and covariance of h_k - h_j over the other j: output k is the largest where all are positive."""
    K = len(mean)
    D = np.delete(np.eye(K)[k] - np.eye(K), k, axis=0)
    spread = D @ covariance @ D.T
    return D @ mean, (spread + spread.T) / 2


def _independent_variances(covariance: Array) -> Array | None:
    """Return the variances of independent outputs whose differences have the same law, or None if there are none.

    A part u_i that is added to the covariances with all others, C_ij + u_i + u_j, changes no difference. The u that
    cancels all covariances is sought by least squares; it must leave no misfit and no negative variance.
    """
    K = len(covariance)
    i, j = np.triu_indices(K, 1)
    rows = np.eye(K)[i] + np.eye(K)[j]
    u = np.linalg.lstsq(rows, -covariance[i, j], rcond=None)[0]
    variances = np.diag(covariance) + 2 * u
    size = float(abs(covariance - covariance.mean()).max())
    misfit = float(abs(rows @ u + covariance[i, j]).max())
    if misfit > INDEPENDENT * size or variances.min() < 0:
        return None
    return np.asarray(variances)


def _largest_of_independent(mean: Array, variances: Array, k: int, order: int) -> float:
    """Return int phi(z) prod_j Phi((m_k + s_k z - m_j)/s_j) dz, P(output k is the largest) of independent outputs."""
    gap, others = np.delete(mean[k] - mean, k), np.sqrt(np.delete(variances, k))
    own = math.sqrt(float(variances[k]))
    if own == 0:
        return float(np.prod(_below(gap, others)))
    z, weights = normal_nodes(zip(-gap / own, others / own, strict=True), order)
    return float(weights @ np.prod(_below(gap + own * z[:, None], others), axis=1))


def _below(gap: Array, spread: Array) -> Array:
    """Return Phi(gap/spread), which is a step where the spread is zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(spread > 0, ndtr(gap / spread), np.heaviside(gap, 0.5))


def _largest_of_four(mean: Array, covariance: Array, k: int, order: int) -> float:
    """Return P(output k is the largest) of two to four outputs, which have one to three differences.

    Exact forms serve for one and two, and for three the bivariate law, averaged over the difference that varies least.
    """
    gap, spread = _differences(mean, covariance, k)
    size = np.sqrt(np.diag(spread))
    if size.min() <= 1e-150:  # a difference that does not vary is decided by its mean
        certain = size <= 1e-150
        if np.any(gap[certain] < 0):
            return 0.0
        gap, spread, size = gap[~certain], spread[np.ix_(~certain, ~certain)], size[~certain]
    if len(gap) == 0:
        return 1.0
    bound, R = gap / size, np.clip(spread / np.outer(size, size), -1, 1)
    if len(gap) == 1:
        return float(ndtr(bound[0]))
    if len(gap) == 2:
        return float(bivariate(bound[0], bound[1], float(R[0, 1])))
    first = int(np.argmin(np.max(abs(R - np.eye(3)), axis=1)))
    a, b = (j for j in range(3) if j != first)
    ra, rb = float(R[first, a]), float(R[first, b])
    wa, wb = (math.sqrt(max((1 - r) * (1 + r), 1e-30)) for r in (ra, rb))
    rest = float(np.clip((R[a, b] - ra * rb) / (wa * wb), -1, 1))
    # The integrand ends at the bound of the first difference and bends where a bound of another is crossed, or where
    # the two bounds are equal, on the scale of what correlation leaves of them.
    bends = [(float(bound[first]), 0.0)]
    narrow = math.sqrt(max((1 - rest) * (1 + rest), 1e-30))
    slopes = ((bound[a], ra, wa, 1.0), (bound[b], rb, wb, 1.0))
    bends += [(level / r, width * scale / abs(r)) for level, r, width, scale in slopes if r]
    for sign in (1, -1):
        slope = ra / wa - sign * rb / wb
        if slope:
            bends.append((float((bound[a] / wa - sign * bound[b] / wb) / slope), narrow / abs(slope)))
    z, weights = normal_nodes(bends, order)
    inside = z < bound[first]
    z = z[inside]
    return float(weights[inside] @ bivariate((bound[a] - ra * z) / wa, (bound[b] - rb * z) / wb, rest))


def _by_scrambles(laws: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return P(all differences are positive) of each law, their mean and covariance, and its standard error."""
    points = FEWEST_POINTS
    found = np.array([_scrambled(*law, points) for law in laws])
    while points < MOST_POINTS:
        aim = max(ACCURACY * (1 - float(found[:, 0].max())), ROUNDING)
        rough = np.flatnonzero(found[:, 1] > aim)
        if not len(rough):
            break
        points = min(2 * points, MOST_POINTS)
        found[rough] = [_scrambled(*laws[int(k)], points) for k in rough]
    return found[:, 0], found[:, 1]


def _scrambled(gap: Array, spread: Array, points: int) -> tuple[float, float]:
    """Return the mean over all scrambles, and its standard error."""
    from scipy.stats import multivariate_normal

    chances = []
    for seed in range(SCRAMBLES):
        law = multivariate_normal(np.zeros(len(gap)), spread, allow_singular=True, seed=seed)
        law.maxpts, law.abseps, law.releps = points, 1e-12, 1e-12  # older versions of scipy take them no other way
        chances.append(law.cdf(gap))
    return float(np.mean(chances)), float(np.std(chances, ddof=1)) / math.sqrt(SCRAMBLES)
