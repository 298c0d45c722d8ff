"""Stage 2: attention tied by topics, on top of the value matrix of stage 1.

A query that shows a word has softmax weights that are, before normalization, `same_word_weight` beta on its own word,
`same_topic_weight` alpha on the other words of its topic, 1 on words of other topics, and `mask_weight` on [MASK]. Of
beta and alpha only A = ((v - 1) alpha + beta)/v matters. [MASK] queries attend uniformly, which is best.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.optimize import brentq

from theory.core import Array, NonNegative, SolverResult, checked, checks
from theory.models.topics import Masking, TopicModel
from theory.numerics import Solution
from theory.topics.attention import Keys
from theory.topics.stage2_roots import ConvexSlope, stationary_weights
from theory.topics.stage2_terms import Setting, Terms, stage2_terms
from theory.topics.value_matrix import Bias

TOLERANCE = 1e-9  # largest size of the slope, relative to what cancels in it
MAX_STEPS = 40
LARGEST_TIED = 1e50  # of the mask weight of an optimum, whose stationary points are roots of its fifth power
MAX_WEIGHT = 1e100  # largest value of a weight: its cube is still a number, and attention is concentrated long before
FLAT_SLOPE = 1e-12  # a slope of pieces below this is rounding


@dataclass(frozen=True, repr=False)
class Stage2Optimum(SolverResult):
    """Holds the best `topic_weight` A* (1 = uniform attention, may be inf), its `mask_weight` and the `loss` there.

    `residual` is the slope of the loss relative to what cancels in it or to its own slope in log A, whichever is
    larger. `iterations` are the Newton steps in both weights; None where A* is the root of a quartic.
    """

    topic_weight: float
    mask_weight: float
    loss: float


@checked
def stage2_loss(
    model: TopicModel,
    masking: Masking,
    same_topic_weight: NonNegative,
    same_word_weight: NonNegative | None = None,
    *,
    mask_weight: NonNegative = 1.0,
    mask_query_weight: NonNegative = 1.0,
    bias: Bias = "free",
    keys: Keys = "all",
) -> float:
    """Return the population squared loss of attention tied by topics on long documents, summed over outputs.

    The value matrix is that of stage 1 (`optimal_value_matrix` with this `bias`). Weights are given before
    normalization: a query that shows a word puts beta = `same_word_weight` on its own word (by default as much as on
    the rest of its topic), alpha = `same_topic_weight` on other words of its topic, `mask_weight` on [MASK] and 1 on
    all others. A [MASK] query puts `mask_query_weight` on [MASK] keys and 1 on words; this weight equals
    `same_word_weight` if [MASK] is tied like a word. With `keys` "unselected" attention sees unselected positions only.
    Derived here: the attention on a topic is its weight over the sum of all, so that the outputs are fractions linear
    in the weights above and below, whose squares are added over the classes of queries and of words. Raises ValueError
    for weights below 0, where a query is left without keys, and for weights too large to add.
    """
    alpha = same_topic_weight
    beta = alpha if same_word_weight is None else same_word_weight
    gamma, tied = mask_weight, mask_query_weight
    setting = Setting(model, masking, bias, keys)
    v = setting.model.words_per_topic
    if max(alpha, beta, gamma, tied) > MAX_WEIGHT:
        raise ValueError(
            f"weights must be at most {MAX_WEIGHT:g}, got same_topic_weight = {alpha:g}, same_word_weight = {beta:g}, "
            f"mask_weight = {gamma:g}, mask_query_weight = {tied:g}"
        )
    loss = stage2_terms(setting, mask_query_weight=tied).loss(((v - 1) * alpha + beta) / v, gamma)
    if math.isinf(loss):
        raise ValueError("same_topic_weight must leave a key to every query: where it is 0 there is none")
    return loss


@checked
def stage2_optimum(
    model: TopicModel,
    masking: Masking,
    *,
    mask_weight: float | Literal["free"] = 1.0,
    bias: Bias = "free",
    keys: Keys = "all",
) -> Stage2Optimum:
    """Return the weight A* >= 0 of the own topic at which the loss of stage 2 is least, verified by its slope.

    A* is 1 where the loss does not depend on it. With mask weight 1 the loss is convex in y = x/(1 + x), where x = R1
    (A - 1) and R1 is the share of a topic of the document in uniform attention; A* >= 1 is then the root of a quartic
    in x. At other mask weights it is the best of the roots of a quartic in A. The mask weight "free" minimizes over the
    weight of [MASK] too, which gives the optimum without any tying; that weight may be 0, and without random words both
    weights are infinite. `bias` and `keys` are as in `stage2_loss`. Derived here: the slope of the loss is a sum of two
    linear functions of A over cubes of the two normalizations, of which the quartic is the numerator. Raises
    ConvergenceError where the optimum is not verified.

    >>> model = TopicModel(n_topics=10, words_per_topic=10, topics_per_document=2)
    >>> optimum = stage2_optimum(model, Masking(selected=0.15, kept=0.1, randomized=0.1))
    >>> round(optimum.topic_weight, 3), optimum.converged
    (6.637, True)
    """
    setting = Setting(model, masking, bias, keys)
    terms = stage2_terms(setting)
    if mask_weight == "free":
        return _free(setting, terms)
    weight = checks.between("mask_weight", mask_weight, 0.0, LARGEST_TIED, closed=(True, True))
    return _convex(setting, terms) if weight == 1 else _checked(setting, _tied(terms, weight))


def _convex(setting: Setting, terms: Terms) -> Stage2Optimum:
    """Return the optimum at mask weight 1, where the loss is convex in y.

    Attention is then a share 1 - y uniform, where the output is exactly mu_S, and a share y on the query's own topic.
    """
    slope = ConvexSlope.of(setting)
    x = slope.root()
    A = 1 + x / setting.masses[0]
    return _checked(setting, _found(A, 1.0, terms.loss(A, 1.0), slope.residual(x)))


def _found(A: float, mask_weight: float, loss: float, residual: float, iterations: int | None = None) -> Stage2Optimum:
    converged = residual < TOLERANCE
    return Stage2Optimum(A, mask_weight, loss, residual=residual, iterations=iterations, converged=converged)


def _tied(terms: Terms, mask_weight: float) -> Stage2Optimum:
    """Return the best of all stationary points and of both ends; its residual is not judged here."""
    candidates = [*stationary_weights(terms, mask_weight), 0.0, math.inf]
    if terms.log_slopes(1.0, mask_weight)[1][0] < FLAT_SLOPE:
        candidates = [1.0, *candidates]
    losses = np.array([terms.loss(A, mask_weight) for A in candidates])
    best = int(np.flatnonzero(losses <= losses.min() + 1e-16)[0])
    A, residual = candidates[best], 0.0
    if 0 < A < math.inf:
        slope, size = (float(each[0]) for each in terms.log_slopes(A, mask_weight))
        curvature = float(terms.log_curvature(A, mask_weight)[0, 0])
        residual = abs(slope) / max(size, curvature) if size > FLAT_SLOPE else 0.0
    return _found(A, mask_weight, float(losses[best]), residual)


def _free(setting: Setting, terms: Terms) -> Stage2Optimum:
    """Return the optimum in both weights: where both slopes vanish, or [MASK] is excluded with mask weight 0."""
    start = _convex(setting, terms)
    if start.topic_weight in (1.0, math.inf) or setting.seen.mask_fraction == 0:
        return start
    if setting.masking.randomized == 0:
        return _copied(setting)
    A, mask_weight, steps = _newton(terms, np.array([math.log(start.topic_weight), 0.0]))
    slopes, sizes = terms.log_slopes(A, mask_weight)
    loss, residual = terms.loss(A, mask_weight), float(np.max(abs(slopes) / sizes))
    if residual < TOLERANCE and loss <= start.loss:
        return _found(A, mask_weight, loss, residual, steps)
    return _profiled(setting, terms)


def _newton(terms: Terms, logs: Array) -> tuple[float, float, int]:
    """Return both weights where their slopes vanish, near the given logarithms, and the steps that were taken.

    The steps end early where the loss is not convex.
    """
    for taken in range(1, MAX_STEPS + 1):  # noqa: B007  the count is returned
        slopes, curvature = terms.log_slopes(*np.exp(logs))[0], terms.log_curvature(*np.exp(logs))
        if not curvature[0, 0] > 0 < np.linalg.det(curvature):
            break
        step = np.linalg.solve(curvature, slopes)
        logs = logs - step * min(1.0, 1 / float(np.max(abs(step))))
        if np.max(abs(step)) < 1e-12:
            break
    return float(np.exp(logs[0])), float(np.exp(logs[1])), taken


def _copied(setting: Setting) -> Stage2Optimum:
    """Return the optimum without random words, where a query that shows a word shows the true one.

    As A and the mask weight grow together, at shares kappa on the own topic and 1 - kappa on [MASK], the output becomes
    the true word's topic exactly.
    """
    kept, v, tau = setting.masking.kept, setting.model.words_per_topic, setting.model.topics_per_document
    return _found(math.inf, math.inf, 1 - kept / v - (1 - kept) / (tau * v), 0.0)


def _profiled(setting: Setting, terms: Terms) -> Stage2Optimum:
    """Return the best mask weight of a grid, refined as a root of its slope, with the best topic weight at each."""
    grid = [0.0, *map(float, np.geomspace(1e-4, 1e8, 49))]
    best = int(np.argmin([_tied(terms, weight).loss for weight in grid]))
    if best == 0:
        return _checked(setting, _tied(terms, 0.0))

    def slope(log_weight: float) -> float:
        weight = math.exp(log_weight)
        return float(terms.log_slopes(_tied(terms, weight).topic_weight, weight)[0][1])

    low, high = (math.log(grid[min(max(k, 1), len(grid) - 1)]) for k in (best - 1, best + 1))
    if slope(low) * slope(high) > 0:
        return _checked(setting, replace(_tied(terms, grid[best]), residual=math.inf, converged=False))
    at = _tied(terms, math.exp(float(brentq(slope, low, high, xtol=1e-14))))
    slopes, sizes = terms.log_slopes(at.topic_weight, at.mask_weight)
    return _checked(setting, replace(at, residual=float(np.max(abs(slopes) / sizes)), converged=True))


def _checked(setting: Setting, found: Stage2Optimum) -> Stage2Optimum:
    """Return the optimum itself; ConvergenceError where its slope does not vanish."""
    what = f"stage 2 of {setting.model} with {setting.masking}"
    advice = "take a mask_weight or rates of masking that are less extreme"
    return Solution.verified(found, found.residual, TOLERANCE, what=what, advice=advice).value
