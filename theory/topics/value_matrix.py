"""Stage 1: the value matrix with one-hot embeddings and uniform attention."""

import math
from typing import Literal

from theory.models import checks
from theory.models.topics import Masking, TopicModel
from theory.topics.blocks import BlockMatrix
from theory.topics.sectors import same_topic_gap, sectors

Bias = Literal["free", "none", "decayed"]


def optimal_value_matrix(
    model: TopicModel, masking: Masking, *, bias: Bias = "free", ridge: float = 0.0
) -> BlockMatrix:
    """Minimizer of the squared loss + ridge |W|^2; at ridge = 0 that of least norm, the limit of gradient flow from 0.

    `bias`: "free" (not decayed), "decayed" (part of the norm) or "none". The gap is delta = 1/(v kappa) in all three.
    A finite ridge is solved for bias "none": gap delta L1/(L1 + ridge) with L1, L0 the eigenvalues of `sectors`.
    """
    ridge = checks.non_negative("ridge", ridge)
    if ridge > 0:
        return _with_ridge(model, masking, bias, ridge)
    delta = same_topic_gap(model, masking)
    T, v, r, q = model.n_topics, model.words_per_topic, masking.random_fraction, masking.mask_fraction
    if bias == "free":
        different, mask_column, word_bias = -delta / T, 0.0, 1 / (T * v)
    elif bias in ("none", "decayed"):
        e = q * q + (bias == "decayed")
        K = (1 - q) ** 2 + e * T * v
        different = -delta * (r * (1 - q) / T + e * v) / K
        mask_column, word_bias = q / K, (1 / K if bias == "decayed" else 0.0)
    else:
        raise ValueError(f"bias must be 'free', 'none' or 'decayed', got {bias!r}")
    same = delta + different
    return BlockMatrix(model, same, same, different, mask_column=mask_column, word_bias=word_bias)


def _with_ridge(model: TopicModel, masking: Masking, bias: str, ridge: float) -> BlockMatrix:
    if bias != "none":
        raise ValueError(f"bias must be 'none' at a finite ridge, got {bias!r}")
    at = sectors(model, masking)
    gap = same_topic_gap(model, masking) * at.topic / (at.topic + ridge)
    mean = (1 - masking.mask_fraction) / model.n_words**2 / (at.mean + ridge)
    different = mean - gap / model.n_topics
    mask_column = masking.mask_fraction / (model.n_words * (at.mean + ridge))
    return BlockMatrix(model, gap + different, gap + different, different, mask_column=mask_column)


def finite_length_value_matrix(model: TopicModel, masking: Masking, length: float) -> BlockMatrix:
    """Minimizer for documents of `length` N tokens, masked independently; squared loss, free bias; strictly convex.

    W = w P_within + t P_topic: unlike at N = infinity the diagonal stands out, by p_c/(1 - q) even as N grows.
    """
    N = math.inf if length == math.inf else float(checks.dimension(length, least=1, name="length"))
    if math.inf == N:
        return optimal_value_matrix(model, masking, bias="free")
    T, v = model.n_topics, model.words_per_topic
    within, topic, _ = _finite_length(model, masking, N)
    same, diagonal = -within / v + topic / v * (1 - 1 / T), within * (1 - 1 / v) + topic / v * (1 - 1 / T)
    return BlockMatrix(model, diagonal, same, -topic / (T * v), word_bias=1 / (T * v))


def finite_length_loss(model: TopicModel, masking: Masking, length: int) -> float:
    """The least squared loss at document length N."""
    return _finite_length(model, masking, float(checks.dimension(length, least=1, name="length")))[2]


def _finite_length(model: TopicModel, masking: Masking, N: float) -> tuple[float, float, float]:
    """Eigenvalues of W within topics and between them, from the second moments of the visible counts; and the loss."""
    T, v, zeta = model.n_topics, model.words_per_topic, sectors(model, masking).topic_variance
    kappa, shown, q = masking.true_fraction, masking.kept + masking.randomized, masking.mask_fraction
    within_target = masking.kept / (N * T * v)
    within_power = (shown + (N - 1) * (1 - q)) / (N**2 * T * v)
    topic_target = (masking.kept / (T * v) + (N - 1) * kappa * zeta) / N
    topic_power = (
        (shown + (N - 1) * (1 - q)) / (T * v) + (N - 1) * kappa * zeta * (2 * masking.kept + (N - 2) * kappa)
    ) / N**2
    within = within_target / within_power if within_power else 0.0
    topic = topic_target / topic_power
    loss = 1 - 1 / (T * v) - (T - 1) * topic_target * topic - T * (v - 1) * within_target * within
    return within, topic, loss
