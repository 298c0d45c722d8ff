"""Limits and bounds of the optimal topic weight A* (mask weight 1 and free bias unless said otherwise)."""

import math
from dataclasses import dataclass

from theory.models import checks
from theory.models.topics import Masking, TopicModel
from theory.topics.sectors import require
from theory.topics.stage2_roots import ConvexSlope


@dataclass(frozen=True)
class Stage2Bounds:
    """1 <= A* <= the smaller of two ceilings: `random_words` 1 + T p_c/p_r, from queries that show a random word, and
    `overshoot` 1 + tau/(p_m (1 - p_c)), from attention that concentrates too much."""

    random_words: float
    overshoot: float

    @property
    def upper(self) -> float:
        """The smaller ceiling."""
        return min(self.random_words, self.overshoot)


def stage2_bounds(model: TopicModel, masking: Masking) -> Stage2Bounds:
    """Both ceilings; infinite where nothing is randomized, or nothing hidden."""
    require(model, masking, TopicModel)
    hidden = masking.hidden_fraction
    words = 1 + model.n_topics * masking.kept / masking.randomized if masking.randomized else math.inf
    return Stage2Bounds(words, 1 + model.topics_per_document / hidden if hidden else math.inf)


def without_random_words(model: TopicModel, masking: Masking) -> float:
    """A* at randomized = 0: 1 + (tau - 1)/((1 - kappa)(1 - kappa/tau - (1 - kappa)/T)); 1 if nothing is kept either."""
    require(model, masking, TopicModel)
    if masking.randomized:
        raise ValueError(f"randomized must be 0, got {masking.randomized}")
    kappa, hidden, tau = masking.true_fraction, masking.hidden_fraction, model.topics_per_document
    if masking.kept == 0 or tau == 1:
        return 1.0
    return 1 + (tau - 1) / (hidden * (1 - kappa / tau - hidden / model.n_topics)) if hidden else math.inf


def unselected_keys(model: TopicModel, masking: Masking) -> float:
    """A* where attention sees unselected positions only: 1 + T p_c/p_r, infinite at p_r = 0. With tau = 1 or p_c = 0
    nothing favors the own topic: 1."""
    require(model, masking, TopicModel)
    if masking.kept == 0 or model.topics_per_document == 1:
        return 1.0
    return stage2_bounds(model, masking).random_words


def many_topics(masking: Masking, topics_per_document: int, *, mask_weight: float = 1.0) -> float:
    """A* as T -> infinity at fixed tau: (n + kappa (tau - 1)/n)/(1 - kappa), n = kappa (tau - 1) + (r + g q) tau, for a
    mask weight g. ValueError at kept = 0, where A* need not have this limit."""
    checks.record("masking", masking, Masking)
    tau = int(checks.dimension(topics_per_document, name="topics_per_document"))
    weight = checks.non_negative("mask_weight", mask_weight)
    kappa = masking.true_fraction
    if masking.kept == 0:
        raise ValueError("kept must be positive for the limit of many topics, got 0")
    if masking.hidden_fraction == 0:
        return math.inf if tau > 1 else 1.0
    n = kappa * (tau - 1) + (masking.random_fraction + weight * masking.mask_fraction) * tau
    return (n + (kappa * (tau - 1) / n if tau > 1 else 0.0)) / masking.hidden_fraction


def scaling_limit(masking: Masking, share: float) -> float:
    """a(x) = lim A*/tau as T, tau -> infinity with tau/T = x = `share` in [0, 1]; a(0) = 1/(p_m (1 - p_c))."""
    checks.record("masking", masking, Masking)
    x = checks.between("share", share, 0, 1, closed=(True, True))
    kappa, kept, randomized = masking.true_fraction, masking.kept, masking.randomized
    inside = kappa + masking.random_fraction * x  # R1 tau
    rho = masking.random_fraction * x / inside
    slope = ConvexSlope(
        excess=(kept * masking.hidden_fraction + randomized * x) / kappa**2,
        pull=kept / kappa,
        rho=rho,
        far=randomized * (1 - x) * rho**2 / kappa**2,
    )
    return slope.root() / inside
