"""Stage 2: attention tied by topics, on top of the value matrix of stage 1.

Softmax weights of a word query, before normalization: `same_word_weight` beta on its own word, `same_topic_weight`
alpha on the other words of its topic, 1 on words of other topics, `mask_weight` on [MASK]. Only
A = ((v - 1) alpha + beta)/v matters. [MASK] queries attend uniformly.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import brentq, minimize

from theory.models import checks
from theory.models.topics import Masking, TopicModel
from theory.numerics import ConvergenceError, Solution
from theory.topics.sectors import same_topic_gap
from theory.topics.value_matrix import Bias, optimal_value_matrix


@dataclass(frozen=True)
class Stage2Optimum:
    """`topic_weight` A* (1 = uniform attention) with its `mask_weight` and the loss; `residual` of dL/dy, relative."""

    topic_weight: float
    mask_weight: float
    loss: float
    residual: float
    converged: bool


def stage2_loss(
    model: TopicModel,
    masking: Masking,
    same_topic_weight: float,
    same_word_weight: float | None = None,
    *,
    mask_weight: float = 1.0,
    bias: Bias = "free",
) -> float:
    """Population squared loss, summed over outputs; `same_word_weight` None: as the rest of the topic."""
    alpha = checks.non_negative("same_topic_weight", same_topic_weight)
    beta = alpha if same_word_weight is None else checks.non_negative("same_word_weight", same_word_weight)
    v = model.words_per_topic
    A = ((v - 1) * alpha + beta) / v
    return _loss(model, masking, A, checks.non_negative("mask_weight", mask_weight), bias)


def _loss(model: TopicModel, masking: Masking, A: float, mask_weight: float, bias: Bias) -> float:
    """Three kinds of queries: the true word, a random word (of a topic in the document or not), and [MASK]."""
    T, v, tau, q = model.n_topics, model.words_per_topic, model.topics_per_document, masking.mask_fraction
    W, delta = optimal_value_matrix(model, masking, bias=bias), same_topic_gap(model, masking)
    outside = masking.random_fraction / T  # mass of a topic that is not in the document, at uniform attention
    inside = masking.true_fraction / tau + outside
    h = 1 / (tau * v)

    def outputs(own: float, in_document: int, elsewhere: int) -> tuple[float, float, float]:
        total = own * A + inside * in_document + outside * elsewhere + q * mask_weight
        base = W.different + W.word_bias + (W.mask_column - W.different) * q * mask_weight / total
        return (delta * own * A / total + base, delta * inside / total + base, delta * outside / total + base)

    own, near, far = outputs(inside, tau - 1, T - tau)
    true_query = v * (own - 1 / v) ** 2 + 1 - 1 / v + (tau - 1) * v * near**2 + (T - tau) * v * far**2
    random_near = v * (own - h) ** 2 + (tau - 1) * v * (near - h) ** 2 + (T - tau) * v * far**2
    own, near, far = outputs(outside, tau, T - tau - 1)
    random_far = v * own**2 + tau * v * (near - h) ** 2 + (T - tau - 1) * v * far**2
    random_query = tau / T * random_near + (1 - tau / T) * random_far + 1 - h
    rest = 1 - masking.kept - masking.randomized
    return masking.kept * true_query + masking.randomized * random_query + rest * (1 - h)


def stage2_optimum(
    model: TopicModel, masking: Masking, *, mask_weight: float | Literal["free"] = 1.0, bias: Bias = "free"
) -> Stage2Optimum:
    """The A* >= 0 of least loss. ConvergenceError where the optimum is not verified.

    With mask_weight 1 the loss is convex in y = R1 (A - 1)/(1 + R1 (A - 1)) and dL/dy is a quartic with one root;
    "free" minimizes over the weight of [MASK] too, which is the optimum without any tying.
    """
    if mask_weight == "free":
        return _free(model, masking, bias)
    weight = checks.non_negative("mask_weight", mask_weight)
    if weight == 1:
        return _convex(model, masking, bias)
    return _scalar(model, masking, weight, bias)


@dataclass(frozen=True)
class _Quartic:
    """dL/dy/2 times (1 - (1 - rho) y)^3."""

    linear: float  # (p_c + p_r tau/T) N1
    pull: float  # p_c c1
    rho: float
    far: float  # p_r (1 - tau/T) N2 rho^2
    R1: float

    def __call__(self, y: float) -> float:
        return (self.linear * y - self.pull) * (1 - (1 - self.rho) * y) ** 3 + self.far * y


def _quartic(model: TopicModel, masking: Masking, bias: Bias) -> _Quartic:
    T, v, tau = model.n_topics, model.words_per_topic, model.topics_per_document
    W, delta = optimal_value_matrix(model, masking, bias=bias), same_topic_gap(model, masking)
    R0 = masking.random_fraction / T
    R1 = masking.true_fraction / tau + R0
    eta = -(W.different + W.word_bias)
    N1 = delta**2 * v - 2 * delta * eta * v + T * v * eta**2 - 2 * (delta / tau - eta) + 1 / (tau * v)
    N2 = N1 + 2 * delta / tau
    kept, randomized, rho = masking.kept, masking.randomized, R0 / R1
    return _Quartic(
        linear=(kept + randomized * tau / T) * N1,
        pull=kept * delta * (tau - 1) / tau,
        rho=rho,
        far=randomized * (1 - tau / T) * N2 * rho**2,
        R1=R1,
    )


def _convex(model: TopicModel, masking: Masking, bias: Bias) -> Stage2Optimum:
    """Attention is a share 1 - y uniform, where the output is exactly mu_S, and a share y on the query's own topic."""
    slope = _quartic(model, masking, bias)
    y = brentq(slope, 0, 1 - 1e-15, xtol=1e-16, rtol=1e-15) if slope.pull > 0 else 0.0
    size = slope.linear * y + slope.pull + slope.far
    residual = abs(slope(y)) / size if size else 0.0
    A = 1 + y / (slope.R1 * (1 - y))
    return Stage2Optimum(A, 1.0, _loss(model, masking, A, 1.0, bias), residual, residual < 1e-10)


def _scalar(model: TopicModel, masking: Masking, mask_weight: float, bias: Bias) -> Stage2Optimum:
    """Root of the slope in log A, bracketed around the least loss on a grid."""
    grid = np.concatenate(([0.0], np.geomspace(1e-3, 1e3 * (1 + model.n_topics), 400)))
    losses = [_loss(model, masking, float(A), mask_weight, bias) for A in grid]
    k = int(np.argmin(losses))

    def slope(log_A: float) -> float:
        return _slope(model, masking, float(np.exp(log_A)), mask_weight, bias)

    if k in (0, len(grid) - 1):
        raise ConvergenceError(
            f"stage 2 of {model}",
            Solution(float(grid[k]), "inadmissible", np.inf, 1e-10, len(grid)),
            "no interior minimum",
        )
    low, high = np.log(grid[max(k - 1, 1)]), np.log(grid[k + 1])
    log_A = brentq(slope, low, high, xtol=1e-15, rtol=1e-15) if slope(low) * slope(high) < 0 else float(np.log(grid[k]))
    A = float(np.exp(log_A))
    residual = abs(slope(log_A)) / max(abs(slope(low)), abs(slope(high)))
    return Stage2Optimum(A, mask_weight, _loss(model, masking, A, mask_weight, bias), residual, residual < 1e-8)


def _slope(model: TopicModel, masking: Masking, A: float, mask_weight: float, bias: Bias) -> float:
    """dL/dA by a complex step: the loss is a rational function of A."""
    return float(np.imag(_loss(model, masking, A + 1e-30j, mask_weight, bias)) / 1e-30)  # type: ignore[arg-type]


def _free(model: TopicModel, masking: Masking, bias: Bias) -> Stage2Optimum:
    def objective(x: np.ndarray) -> float:
        return _loss(model, masking, float(np.exp(x[0])), float(np.exp(x[1])), bias)

    start = np.array([np.log(_convex(model, masking, bias).topic_weight), 0.0])
    found = minimize(objective, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-16, "maxiter": 4000})
    A, mask_weight = (float(value) for value in np.exp(found.x))
    residual = float(np.linalg.norm(_gradient(model, masking, A, mask_weight, bias)))
    if not residual < 1e-6:
        raise ConvergenceError(f"stage 2 of {model}", Solution(found.x, "max_iter", residual, 1e-6, found.nit))
    return Stage2Optimum(A, mask_weight, float(found.fun), residual, True)


def _gradient(model: TopicModel, masking: Masking, A: float, mask_weight: float, bias: Bias) -> list[float]:
    by_A = A * _slope(model, masking, A, mask_weight, bias)
    by_mask = np.imag(_loss(model, masking, A, mask_weight * (1 + 1e-30j), bias)) / 1e-30
    return [by_A, float(by_mask)]
