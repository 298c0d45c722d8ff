"""Biases that only rare samples decide, from the balance of tails in the logarithm.

A loss with a straight piece, as hinge loss has below its kink, exerts the same force on all samples that lie on it.
With a large ridge all samples do but for a tail of the normal law; where the labels balance, the total force on the
bias is what this tail lacks or has too much, which may be far below the rounding of the forces themselves. Here the
forces are split into that in the middle of each cluster, whose sum is exact, and the rest, whose positive and negative
parts are summed as logarithms: the bias is where both sides are equal. As it rises one of them falls and the other
rises, so that there is one root.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp

from theory.core.arrays import Array
from theory.glm.averages import cluster_averages
from theory.glm.field import Field
from theory.glm.labels import LabelLaw, label_law
from theory.glm.losses import Loss, residual_form
from theory.glm.overlaps import Overlaps
from theory.glm.quadrature import DENSITY_PANELS, ORDER
from theory.glm.residuals import residual_law
from theory.models.glm import Cluster
from theory.models.glm.cluster import kind_of
from theory.numerics import panelled_legendre

# Response of the total force to the bias, over the size of forces, below which it is that of tails.
TAIL_RESPONSE = 1e-4
EQUAL_FORCES = 1e-8  # relative difference of a force to that in the middle, up to which both are the same
BALANCED = 1e-13  # of the sum of all forces: what rounding leaves where the labels balance
LOG_NEGLIGIBLE = 80.0  # of the logarithm of an integrand, below its maximum
LOG_LARGEST_REST = 50.0  # bound for the logarithm of a force, which grows no faster than its argument
KINKS_AT_ONCE = 8
MAX_BIAS = 1e8
GROWTH = np.append(0.0, 2.0 ** np.arange(9))  # of the panels beside a kink, in half lengths of the normal law's fall
LOG_DENSITY = -0.5 * math.log(2 * math.pi)


class Balance(NamedTuple):
    """A bias, and the decimal logarithm of the share of all forces that decides on it."""

    bias: float
    log_share: float


def balanced_bias(clusters: list[Cluster], loss: Loss, x: Overlaps, bias: float) -> Balance:
    """Return the bias of one learner by the balance of rare forces, where `bias` is the root of their rounded sum.

    The share is that of the differences of all forces to those in the middle of their clusters, or 1 where half of all
    samples or more have another force than in the middle. The given bias is returned where the total force responds to
    it by more than 1e-4 of the size of forces, since its rounding errors are then small. Where no
    balance is found the share is zero, of logarithm -infinity. Tails of labels that are neither +-1 nor a linear
    teacher's are not balanced: where the total force hardly responds to the bias nothing is taken to decide on it.
    """
    fields = [(cluster, Field.of(cluster, x, bias)) for cluster in clusters]
    if any(cluster.labels != "linear" and kind_of(cluster.labels) != "signs" for cluster in clusters):
        return Balance(bias, -np.inf if _is_rare(fields, loss) else 0.0)
    parts = [part for cluster, field in fields for part in _parts(cluster, loss, field)]
    size = sum(part.weight * abs(part.middle) for part in parts)
    lead = sum(part.weight * part.sign * part.middle for part in parts)
    lead = 0.0 if abs(lead) <= BALANCED * size else lead
    with np.errstate(divide="ignore"):
        log_size, leads = float(np.log(size)), np.log([max(lead, 0.0), max(-lead, 0.0)])
    log_total = math.log(sum(part.weight for part in parts))

    def sums(b: float) -> Array:
        """Return the logarithms of what pulls up and down, and that of the share of samples that do so."""
        return np.asarray(logsumexp([part.log_sums(b - bias) for part in parts], axis=0))

    def share(b: float) -> float:
        up, down, unlike = sums(b)
        rest = float(np.logaddexp(up, down))
        if unlike - log_total > -math.log(2):
            return 0.0
        return (rest - float(np.logaddexp(log_size, rest))) / math.log(10) if rest > -np.inf else -np.inf

    def excess(b: float) -> float:
        up, down = np.logaddexp(sums(b)[:2], leads)
        return float(np.clip(up - down, -1e300, 1e300)) if max(up, down) > -np.inf else np.nan

    if not _is_rare(fields, loss):
        return Balance(bias, found if (found := share(bias)) > -np.inf else 0.0)
    reach = 0.25
    while not excess(bias - reach) > 0 > excess(bias + reach):
        reach *= 2
        if reach > MAX_BIAS:
            return Balance(bias, -np.inf)
    found = float(brentq(excess, bias - reach, bias + reach, xtol=1e-14, rtol=1e-14))
    return Balance(found, share(found))


def _is_rare(fields: list[tuple[Cluster, Field]], loss: Loss) -> bool:
    """Tell whether the total force hardly responds to the bias, so that its root would be one of rounding errors."""
    averages = [(cluster.probability, cluster_averages(cluster, loss, field)) for cluster, field in fields]
    response = sum(share * mean.response for share, mean in averages)
    return response < TAIL_RESPONSE * math.sqrt(sum(share * mean.square for share, mean in averages))


def _parts(cluster: Cluster, loss: Loss, field: Field) -> list["_Part"]:
    """Return the parts of a cluster, one for each label that has a weight."""
    if cluster.labels == "linear":  # the force of a residual e = -(h - teacher's mean) acts on h with the sign -1
        _, spread = residual_law(cluster, field)
        shifted = replace(field, mean=field.mean - cluster.teacher_mean)
        options = (residual_form(loss), None, shifted, math.sqrt(spread))
        return [_Part.of(cluster, *options, -1, cluster.loss_weights[0], 1.0)]
    law = label_law(cluster, field.q, field.teacher)
    return [
        _Part.of(cluster, loss, law, field, math.sqrt(field.q), y, kappa, law.share(y))
        for y, kappa in zip((1, -1), cluster.loss_weights, strict=True)
        if kappa and law.occurs(y)
    ]


@dataclass(frozen=True)
class _Part:
    """The samples of a cluster with one label: the force of each on the bias is sign kappa f(sign h)."""

    loss: Loss
    law: LabelLaw | None  # of the label given z; None for linear labels
    field: Field
    size: float  # standard deviation of h
    sign: int
    kappa: float
    probability: float  # of the cluster
    weight: float  # the share of these samples
    middle: float  # kappa f in the middle of the cluster

    @classmethod
    def of(
        cls,
        cluster: Cluster,
        loss: Loss,
        law: LabelLaw | None,
        field: Field,
        size: float,
        sign: int,
        kappa: float,
        share: float,
    ) -> "_Part":
        p = cluster.probability
        part = cls(loss, law, field, size, sign, kappa, p, p * share, 0.0)
        return replace(part, middle=float(part._forces(np.array([sign * field.mean]))[0]))

    def log_sums(self, shift: float) -> tuple[float, float, float]:
        """Return the logarithms of the positive and the negative part of all that differs from `middle`.

        The third is that of the share of these samples, and `shift` that of the bias. Empty parts have the logarithm
        -infinity.
        """
        mean = self.field.mean + shift
        z, log_weights = self._nodes(mean)
        rest, log_density = self._rest(z, mean)
        terms, signs = log_weights + log_density, self.sign * np.sign(rest)
        unlike = _log_sum(terms[signs != 0])
        with np.errstate(divide="ignore"):
            terms = terms + np.log(abs(rest))
        return _log_sum(terms[signs > 0]), _log_sum(terms[signs < 0]), unlike

    def _forces(self, t: Array) -> Array:
        V = self.kappa * self.field.V
        return np.asarray(self.kappa * self.loss.force(t, self.loss.prox(t, V), V))

    def _rest(self, z: Array, mean: float) -> tuple[Array, Array]:
        """Return what the forces at z differ by, and the logarithm of the density of these samples there."""
        rest = self._forces(self.sign * (mean + self.size * z)) - self.middle
        rest[abs(rest) <= EQUAL_FORCES * abs(self.middle)] = 0.0
        log_density = math.log(self.probability) + LOG_DENSITY - 0.5 * z**2
        if self.law is not None:
            log_density = log_density + self.law.log_probability(self.sign, z)
        return rest, log_density

    def _nodes(self, mean: float) -> tuple[Array, Array]:
        """Return nodes z and the logarithms of their weights, on panels that begin at the kinks of the force.

        Kinks where the integrand is negligible are left out, as a user's loss may declare many of them.
        """
        kinks = self.loss.breakpoints(self.kappa * self.field.V)
        places = np.unique([(self.sign * t - mean) / self.size for t, _ in kinks])
        places = places[np.argsort(abs(places))]
        edges, highest = [DENSITY_PANELS], -np.inf
        # From the nearest on: a loss may declare kinks so far out that its prox overflows there.
        for some in np.array_split(places, range(1, len(places), KINKS_AT_ONCE)):
            some = some[LOG_LARGEST_REST - 0.5 * some**2 >= highest - LOG_NEGLIGIBLE]
            if not len(some):
                break
            steps = 0.5 / (1 + abs(some))
            rest, log_density = self._rest(np.append(some - steps, some + steps), mean)
            with np.errstate(divide="ignore"):
                height = (log_density + np.log(abs(rest))).reshape(2, -1).max(axis=0)
            highest = max(highest, float(height.max()))
            kept = height >= highest - LOG_NEGLIGIBLE
            beside = steps[kept, None] * GROWTH
            edges += [(some[kept, None] + beside).ravel(), (some[kept, None] - beside).ravel()]
        if self.law is not None:
            edges += [place + width * np.array([-6.0, -2.0, 0.0, 2.0, 6.0]) for place, width in self.law.bends()]
        joined = np.unique(np.concatenate(edges))
        if np.isfinite(highest):
            joined = joined[LOG_LARGEST_REST - 0.5 * joined**2 >= highest - LOG_NEGLIGIBLE]
        z, weights = panelled_legendre(joined[np.append(True, np.diff(joined) > 1e-12)], ORDER)
        return z, np.log(weights)


def _log_sum(terms: Array) -> float:
    return float(logsumexp(terms)) if terms.size else -np.inf
