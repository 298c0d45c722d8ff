"""Class averages of tied attention, as they are measured on unmasked documents."""

from dataclasses import dataclass

from theory.models import checks
from theory.models.topics import TopicModel


@dataclass(frozen=True)
class AttentionAverages:
    """Attention times the document's length (1 = uniform), averaged over ordered pairs of positions: of the same word,
    of different words of a topic, of different topics."""

    same_word: float
    same_topic: float
    different_topic: float


def attention_averages(
    model: TopicModel, same_topic_weight: float, same_word_weight: float | None = None
) -> AttentionAverages:
    """(beta, alpha, 1)/Z, Z = (A + tau - 1)/tau: long documents of tau topics without masks, weights as in stage 2."""
    checks.record("model", model, TopicModel)
    alpha = checks.non_negative("same_topic_weight", same_topic_weight)
    beta = alpha if same_word_weight is None else checks.non_negative("same_word_weight", same_word_weight)
    v, tau = model.words_per_topic, model.topics_per_document
    Z = (((v - 1) * alpha + beta) / v + tau - 1) / tau
    if Z == 0:
        raise ValueError("same_topic_weight must be positive where a document has a single topic, got 0")
    return AttentionAverages(beta / Z, alpha / Z, 1 / Z)
