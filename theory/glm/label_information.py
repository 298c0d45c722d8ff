"""What one label tells of a teacher's field of which the data tell the mean, and the least errors of its prediction.

Given the training set the field of a fresh sample is normal: its mean omega, of which the variance over samples is
`known`, is what the data tell, and the variance `left` about it is what they do not. A label has the law
Z = E_xi P(y | omega + sqrt(left) xi), and g = d log Z/d omega is the score by which it moves what is known.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.polynomial import Chebyshev
from scipy.optimize import brentq
from scipy.special import xlogy

from theory.core.arrays import Array
from theory.glm.fresh_samples import moments
from theory.glm.label_tables import label_table, rows_of
from theory.glm.labels import label_law, noise_of, values_of
from theory.glm.quadrature import normal_nodes
from theory.glm.residuals import smoothed_noise
from theory.models.glm import Additive, Cluster, Flips, Probit
from theory.models.glm.cluster import kind_of
from theory.numerics.quadrature import panelled_legendre

Average = Callable[[Cluster, float, float], float]
LEAST_CHANCE = 1e-250
LEAST_WIDTH = 1e-24  # of the field that decides on a sign, over its power: panels do not resolve less
NARROWEST = 2e-5  # Gaussian that smooths the density of noise, over the width of all noise
UNRESOLVED = 1e-5  # relative change of the information, from the least variance to four times it
SMOOTH_SHARE = 1 / 3  # of the narrowest panel of a channel: a Gaussian of this size is a small change of P
DEGREE = 9  # of the polynomials in what is left, mostly within 1e-11 of what they stand for
FIRST_PLACE = 0.006  # of the values that make such a polynomial, over its range


def information(cluster: Cluster, known: float, left: float) -> float:
    """Return E g^2, the Fisher information that a label has of omega; 1/(left + noise) for linear labels."""
    if cluster.labels == "linear":
        return 1 / (left + cluster.noise)
    return _down_to_nothing(_information, cluster, known, left)


def _information(cluster: Cluster, known: float, left: float) -> float:
    weights, chance, slope, _ = _laws(cluster, known, left)
    return float((np.divide(slope**2, chance, out=np.zeros_like(chance), where=chance > LEAST_CHANCE) @ weights).sum())


def squared_slope(cluster: Cluster, known: float, left: float) -> float:
    """Return E (dg/d omega)^2, which is also the fall of the information with what is left, at a given sum of both.

    That is so since Z obeys the heat equation, d Z/d left = (1/2) d^2 Z/d omega^2.
    """
    if left < _smooth_end(cluster):
        return -float(_series(_information, cluster)[1](left))
    if cluster.labels == "linear":
        return 1 / (left + cluster.noise) ** 2
    weights, chance, slope, bend = _laws(cluster, known, left, curved=True)
    seen = chance > LEAST_CHANCE
    g, ratio = (np.divide(one, chance, out=np.zeros_like(chance), where=seen) for one in (slope, bend))
    return float((chance * (ratio - g**2) ** 2 @ weights).sum())


def least_error(cluster: Cluster, known: float, left: float) -> float:
    """Return the least error of any prediction, P(y != prediction) of labels +-1, else E (y - prediction)^2."""
    labels = cluster.labels
    if isinstance(labels, Additive):
        return left + labels.variance
    if labels == "linear":
        return left + cluster.noise
    if cluster.teacher_mean == 0 and (labels == "sign" or isinstance(labels, Probit)):
        # The angle between the label's field and what is known of it: integrals would lose its digits if it is small.
        return math.atan2(math.sqrt(left + noise_of(cluster)), math.sqrt(known)) / math.pi
    return _down_to_nothing(_least_error, cluster, known, left)


def _least_error(cluster: Cluster, known: float, left: float) -> float:
    if kind_of(cluster.labels) == "signs":
        weights, chance, _, _ = _laws(cluster, known, left, _turns(cluster, known, left))
        return float(weights @ chance.min(axis=0))
    weights, chance, _, _ = _laws(cluster, known, left)
    guess = values_of(cluster)[:, 0] @ chance
    return moments(cluster)[1] - float(weights @ guess**2)


def least_loss(cluster: Cluster, known: float, left: float) -> float:
    """Return the least mean of -log P(y) in nats: the entropy of a label of a fresh sample, given what is known."""
    if cluster.labels == "linear":
        rest = left + cluster.noise
        return 0.5 * math.log(2 * math.pi * math.e * rest) if rest > 0 else -math.inf
    return _down_to_nothing(_least_loss, cluster, known, left)


def _least_loss(cluster: Cluster, known: float, left: float) -> float:
    weights, chance, _, _ = _laws(cluster, known, left)
    return -float((xlogy(chance, np.maximum(chance, 1e-300)) @ weights).sum())


def least_left(cluster: Cluster) -> float:
    """Return the variance of what is left below which the information is not told from that at this variance."""
    labels = cluster.labels
    if isinstance(labels, Additive):
        return float(NARROWEST * np.ptp(labels.panels.edges)) ** 2
    if labels == "linear" or _smooth_end(cluster):
        return 0.0
    if isinstance(labels, str | Probit | Flips):
        return LEAST_WIDTH * cluster.teacher_variance
    return label_table(labels, cluster.teacher_mean, cluster.teacher_variance).least_variance


def resolved(cluster: Cluster, known: float, left: float) -> bool:
    """Tell whether the information at this variance is known: it is above the least, or nothing changes there."""
    least = least_left(cluster)
    if left >= least:
        return True
    at, above = (information(cluster, known + left - one, one) for one in (least, 4 * least))
    return abs(above - at) <= UNRESOLVED * at


@lru_cache(maxsize=64)
def _smooth_end(cluster: Cluster) -> float:
    """Return the variance of what is left below which a channel is smooth on its scale, 0 if it is for none."""
    labels = cluster.labels
    if isinstance(labels, str | Probit | Flips | Additive):
        return 0.0
    table = label_table(labels, cluster.teacher_mean, cluster.teacher_variance)
    narrowest = float(np.diff(table.edges).min()) ** 2
    end = max(SMOOTH_SHARE**2 * narrowest, table.least_variance / FIRST_PLACE)
    return 0.0 if len(table.sharp) or end > narrowest else min(end, 0.5 * cluster.teacher_variance)


def _down_to_nothing(function: Average, cluster: Cluster, known: float, left: float) -> float:
    return float(_series(function, cluster)[0](left) if left < _smooth_end(cluster) else function(cluster, known, left))


@lru_cache(maxsize=64)
def _series(function: Average, cluster: Cluster) -> tuple[Chebyshev, Chebyshev]:
    """Return a polynomial in what is left, down to nothing, and its derivative.

    Where little is left of the field a channel that is smooth changes in proportion, and tables would have to be fine.
    """

    def averages(left: Array) -> Array:
        return np.array([function(cluster, cluster.teacher_variance - one, one) for one in left.tolist()])

    found = Chebyshev.interpolate(averages, DEGREE, [0, _smooth_end(cluster)])
    return found, found.deriv()


def _laws(
    cluster: Cluster, known: float, left: float, turns: list[float] | None = None, *, curved: bool = False
) -> tuple[Array, Array, Array, Array]:
    """Return weights of nodes of omega, and Z with its first and, if `curved`, second derivative, (values, nodes).

    For real labels with a density the nodes are those of y - omega, on which alone the density depends. Where nothing
    is left omega is the field itself, and no derivatives are made.
    """
    labels = cluster.labels
    if isinstance(labels, Additive):
        if left > 0:
            return smoothed_noise(labels, math.sqrt(max(left, least_left(cluster))))
        e, weights = panelled_legendre(labels.panels.edges)
        density = labels.of_noise(e)
        return weights, density, 0 * e, 0 * e
    kinks = [(place, 0.0) for place in turns or ()]
    if left == 0 and not isinstance(labels, str | Probit | Flips):
        table, size = label_table(labels, cluster.teacher_mean, cluster.teacher_variance), math.sqrt(known)
        kinks += [((nu - cluster.teacher_mean) / size, 0.0) for nu in table.edges.tolist()]
        z, weights = normal_nodes(kinks)
        chance = rows_of(labels, table.values, cluster.teacher_mean + size * z)
        return weights, chance, 0 * chance, 0 * chance
    law = label_law(cluster, 1.0, math.sqrt(known), left)
    z, weights = normal_nodes([*law.bends(), *kinks])
    if kind_of(labels) == "values":
        chance, slope = law(None, z)
        bend = law.curvature(None, z) if curved else chance
    else:
        chance, slope = (np.array(rows) for rows in zip(*(law(y, z) for y in (1, -1)), strict=True))
        bend = np.array([law.curvature(y, z) for y in (1, -1)]) if curved else chance
    assert slope is not None  # labels of a teacher
    return weights, chance, slope, bend


def _turns(cluster: Cluster, known: float, left: float) -> list[float]:
    """Return the places of omega, in units of its standard deviation, at which both signs are equally probable."""
    law = label_law(cluster, 1.0, math.sqrt(known), left)

    def lead(z: float) -> float:
        return float(law(1, np.array([z]))[0][0]) - 0.5

    grid = np.linspace(-9, 9, 721) + 1e-4
    signs = np.sign(law(1, grid)[0] - 0.5)
    crossed = np.flatnonzero(signs[1:] * signs[:-1] < 0).tolist()
    return [float(brentq(lead, grid[k], grid[k + 1], xtol=1e-13)) for k in crossed]
