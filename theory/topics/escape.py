"""How fast attention leaves uniformity once the value matrix has converged."""

from dataclasses import dataclass
from math import inf, log, sqrt

from theory.core import Count, OpenShare, Result, checked
from theory.models.topics import Masking, TopicModel
from theory.topics.sectors import same_topic_gap, sectors


@dataclass(frozen=True, repr=False)
class EscapeRate(Result):
    """Holds the rates of both stages near W_K = W_Q = 0, per unit of time of the gradient flow.

    Keys and queries both grow like exp(rate t), rate = sigma/sqrt(d_a), sigma being the largest singular value of
    -dL/dG; the value matrix relaxes at `value_rate` = 2 L1, L1 the topic eigenvalue of `sectors`. Training has two
    stages where `separation` = value_rate/rate is large.
    """

    sigma: float
    rate: float
    value_rate: float

    @property
    def separation(self) -> float:
        """The ratio value_rate/rate of the two rates, infinite where attention does not move."""
        return self.value_rate / self.rate if self.rate else inf

    @checked
    def onset(self, initial_scale: OpenShare) -> float:
        """Return the time log(1/scale)/rate at which weights of an initial scale in (0, 1) become of order one."""
        return log(1 / initial_scale) / self.rate if self.rate else inf


@checked
def escape_rate(model: TopicModel, masking: Masking, attention_dimension: Count | None = None) -> EscapeRate:
    """Return the rate at which keys and queries leave zero, on top of the value matrix of stage 1.

    sigma = 2 p_c (tau - 1)(1/tau + r/(kappa T))/(tau v^2 (T - 1)) are the T - 1 equal singular values of -dL/dG. Here L
    is the squared loss summed over outputs (with any convention for the bias), G = W_K^T W_Q/sqrt(d_a) are the
    attention logits, and d_a = `attention_dimension` is by default the number of tokens. p_c is `masking.kept`, and
    kappa and r are the shares of true and random words. Raises ValueError at tau = T, where there is no first stage.
    Derived here by linearizing the flow.
    """
    same_topic_gap(model, masking)  # an error at tau = T, where there is no stage 1
    T, v, tau = model.n_topics, model.words_per_topic, model.topics_per_document
    d_a = model.n_tokens if attention_dimension is None else attention_dimension
    spread = 1 / tau + masking.random_fraction / (masking.true_fraction * T)
    sigma = 2 * masking.kept * (tau - 1) * spread / (tau * v**2 * (T - 1))
    return EscapeRate(sigma, sigma / sqrt(d_a), 2 * sectors(model, masking).topic)
