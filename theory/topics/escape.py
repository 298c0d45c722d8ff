"""How fast attention leaves uniformity once the value matrix has converged."""

from dataclasses import dataclass
from math import inf, log, sqrt

from theory.models import checks
from theory.models.topics import Masking, TopicModel
from theory.topics.sectors import require, same_topic_gap, sectors


@dataclass(frozen=True)
class EscapeRate:
    """Near W_K = W_Q = 0 both grow like exp(rate t), rate = sigma/sqrt(d_a); W_V relaxes at `value_rate` = 2 L1.

    Training has two stages where `separation` = value_rate/rate is large.
    """

    sigma: float
    rate: float
    value_rate: float

    @property
    def separation(self) -> float:
        """value_rate/rate, infinite where attention does not move."""
        return self.value_rate / self.rate if self.rate else inf

    def onset(self, initial_scale: float) -> float:
        """Time log(1/scale)/rate at which weights of that initial scale become of order one."""
        scale = checks.between("initial_scale", initial_scale, 0, 1)
        return log(1 / scale) / self.rate if self.rate else inf


def escape_rate(model: TopicModel, masking: Masking, attention_dimension: int | None = None) -> EscapeRate:
    """sigma = 2 p_c (tau - 1)(1/tau + r/(kappa T))/(tau v^2 (T - 1)), the T - 1 equal singular values of -dL/dG.

    Squared loss summed over outputs, any bias convention; G = W_K^T W_Q/sqrt(d_a) the attention logits, d_a the number
    of tokens by default. p_c is `masking.kept`.
    """
    require(model, masking, TopicModel)
    same_topic_gap(model, masking)  # an error at tau = T, where there is no stage 1
    T, v, tau = model.n_topics, model.words_per_topic, model.topics_per_document
    d_a = model.n_tokens
    if attention_dimension is not None:
        d_a = int(checks.dimension(attention_dimension, name="attention_dimension"))
    spread = 1 / tau + masking.random_fraction / (masking.true_fraction * T)
    sigma = 2 * masking.kept * (tau - 1) * spread / (tau * v**2 * (T - 1))
    return EscapeRate(sigma, sigma / sqrt(d_a), 2 * sectors(model, masking).topic)
