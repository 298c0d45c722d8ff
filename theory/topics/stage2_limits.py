"""Limits and bounds of the optimal topic weight A*."""

import math
from dataclasses import dataclass

from scipy.optimize import brentq

from theory.models import checks
from theory.models.topics import Masking, TopicModel


@dataclass(frozen=True)
class Stage2Bounds:
    """1 <= A* <= min of two ceilings (mask weight 1, free bias): `random_words` T p_c/p_r, from queries that show a
    random word, and `overshoot` tau/(p_m (1 - p_c)), from attention that concentrates too much; each plus 1."""

    random_words: float
    overshoot: float

    @property
    def upper(self) -> float:
        """The smaller ceiling."""
        return min(self.random_words, self.overshoot)


def stage2_bounds(model: TopicModel, masking: Masking) -> Stage2Bounds:
    """Both ceilings; infinite where nothing is randomized, or nothing hidden."""
    hidden = masking.selected * (1 - masking.kept)
    words = 1 + model.n_topics * masking.kept / masking.randomized if masking.randomized else math.inf
    return Stage2Bounds(words, 1 + model.topics_per_document / hidden if hidden else math.inf)


def without_random_words(model: TopicModel, masking: Masking) -> float:
    """A* at randomized = 0: 1 + (tau - 1)/((1 - kappa)(1 - kappa/tau - (1 - kappa)/T))."""
    checks.between("randomized", masking.randomized, 0, 0, closed=(True, True))
    kappa, tau = masking.true_fraction, model.topics_per_document
    if kappa == 1:
        return math.inf
    return 1 + (tau - 1) / ((1 - kappa) * (1 - kappa / tau - (1 - kappa) / model.n_topics))


def many_topics(masking: Masking, topics_per_document: int, *, mask_weight: float = 1.0) -> float:
    """A* as T -> infinity at fixed tau: (n + kappa (tau - 1)/n)/(1 - kappa), n = kappa (tau - 1) + (r + g q) tau."""
    tau = int(checks.dimension(topics_per_document, name="topics_per_document"))
    weight = checks.non_negative("mask_weight", mask_weight)
    kappa = masking.true_fraction
    n = kappa * (tau - 1) + (masking.random_fraction + weight * masking.mask_fraction) * tau
    return (n + kappa * (tau - 1) / n) / (1 - kappa)


def unselected_keys(model: TopicModel, masking: Masking) -> float:
    """A* where attention sees unselected positions only: 1 + T p_c/p_r, infinite at p_r = 0."""
    return stage2_bounds(model, masking).random_words


def scaling_limit(masking: Masking, share: float) -> float:
    """a(x) = lim A*/tau as T, tau -> infinity with tau/T = x = `share` in (0, 1)."""
    x = checks.between("share", share, 0, 1, closed=(True, True))
    kappa, r, kept, randomized = masking.true_fraction, masking.random_fraction, masking.kept, masking.randomized
    if x == 0:
        return 1 / (masking.selected * (1 - kept))
    rho = r * x / (kappa + r * x)
    linear, pull, far = (kept + randomized * x) / kappa**2, kept / kappa, randomized * (1 - x) * rho**2 / kappa**2
    y = brentq(lambda y: (linear * y - pull) * (1 - (1 - rho) * y) ** 3 + far * y, 0, 1 - 1e-15, xtol=1e-16, rtol=1e-15)
    return float(y / ((kappa + r * x) * (1 - y)))
