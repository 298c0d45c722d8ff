"""Limits and bounds of the optimal topic weight A* (mask weight 1 and free bias unless said otherwise)."""

import math
from dataclasses import dataclass
from typing import Annotated

from theory.core import Count, Result, Share, Within, checked
from theory.models.topics import Masking, TopicModel
from theory.topics.stage2 import MAX_WEIGHT
from theory.topics.stage2_roots import ConvexSlope

Weight = Annotated[float, Within(0.0, MAX_WEIGHT, closed=(True, True))]


@dataclass(frozen=True, repr=False)
class Stage2Bounds(Result):
    """Holds two ceilings of the optimal topic weight: 1 <= A* <= the smaller one.

    `random_words` 1 + T p_c/p_r comes from queries that show a random word, `overshoot` 1 + tau/(p_m (1 - p_c)) from
    attention that concentrates too much.
    """

    random_words: float
    overshoot: float

    @property
    def upper(self) -> float:
        """The smaller of both ceilings."""
        return min(self.random_words, self.overshoot)


@checked
def stage2_bounds(model: TopicModel, masking: Masking) -> Stage2Bounds:
    """Return both ceilings of A*; one is infinite where nothing is randomized, the other where nothing is hidden.

    Derived here: but for positive factors the slope of the loss in the x of `stage2_optimum` is c x - b and a term that
    is never negative, so that x <= b/c; queries with random words of the document's topics and those with true words
    both add to c, and either part alone gives one ceiling.
    """
    hidden = masking.hidden_fraction
    words = 1 + model.n_topics * masking.kept / masking.randomized if masking.randomized else math.inf
    return Stage2Bounds(words, 1 + model.topics_per_document / hidden if hidden else math.inf)


@checked
def without_random_words(model: TopicModel, masking: Masking) -> float:
    """Return the optimal topic weight A* of a masking without random words, in closed form.

    A* = 1 + (tau - 1)/((1 - kappa)(1 - kappa/tau - (1 - kappa)/T)), where kappa is the share of true tokens. It is 1 if
    nothing is kept either, since then no query shows its word. Derived here: without random words the slope of the loss
    is linear in the x of `stage2_optimum`, but for a positive factor. Raises ValueError unless `masking.randomized` is
    0.
    """
    if masking.randomized:
        raise ValueError(f"masking must have randomized = 0, got {masking.randomized}")
    kappa, hidden, tau = masking.true_fraction, masking.hidden_fraction, model.topics_per_document
    if masking.kept == 0 or tau == 1:
        return 1.0
    return 1 + (tau - 1) / (hidden * (1 - kappa / tau - hidden / model.n_topics)) if hidden else math.inf


@checked
def unselected_keys(model: TopicModel, masking: Masking) -> float:
    """Return the optimal topic weight A* where attention sees unselected positions only.

    A* = 1 + T p_c/p_r, infinite at p_r = 0. With tau = 1 or p_c = 0 nothing favors the own topic, and A* = 1.
    Derived here: all keys show true words, so that attention to the own topic outputs just this topic; only random
    words of the document's topics limit it, and the slope of `stage2_optimum` is linear in x but for a positive factor.
    """
    if masking.kept == 0 or model.topics_per_document == 1:
        return 1.0
    return stage2_bounds(model, masking).random_words


@checked
def many_topics(masking: Masking, topics_per_document: Count, *, mask_weight: Weight = 1.0) -> float:
    """Return the limit of the optimal topic weight A* as T -> infinity at fixed tau = `topics_per_document`.

    A* = (n + kappa (tau - 1)/n)/(1 - kappa) with n = kappa (tau - 1) + (r + g q) tau for a mask weight g; kappa, r and
    q are the shares of true, random and masked tokens. Derived here: a query with a random word finds nothing of its
    topic if T is large, so that A* minimizes the loss of queries that show the true word, a sum of squared fractions
    that are linear in A above and below. Raises ValueError at kept = 0, where A* need not have this limit.
    """
    tau = topics_per_document
    kappa = masking.true_fraction
    if masking.kept == 0:
        raise ValueError("masking must have kept above 0 for the limit of many topics, got 0")
    if masking.hidden_fraction == 0:
        return math.inf if tau > 1 else 1.0
    n = kappa * (tau - 1) + (masking.random_fraction + mask_weight * masking.mask_fraction) * tau
    return (n + (kappa * (tau - 1) / n if tau > 1 else 0.0)) / masking.hidden_fraction


@checked
def scaling_limit(masking: Masking, share: Share) -> float:
    """Return a(x) = lim A*/tau as T and tau grow with tau/T = x = `share` in [0, 1].

    It is the root of the same quartic as at finite T, with its limiting coefficients; a(0) = 1/(p_m (1 - p_c)).
    Derived here: the limit is taken of every coefficient of that quartic.
    """
    x = share
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
