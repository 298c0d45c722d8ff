"""The second moments of what uniform attention sees of a document, and the gap that they determine.

With attention uniform and documents long, a document of topics S shows xbar = kappa mu_S + (r/(T v)) 1_words + q e_0:
kappa, r and q are the shares of true, random and masked tokens, mu_S the uniform law on the words of S.
"""

from dataclasses import dataclass

from theory.models import checks
from theory.models.topics import Masking, TopicModel


@dataclass(frozen=True)
class Sectors:
    """Eigenvalues of E[xbar xbar^T]: `topic` (T - 1 times), `mean` (once, along E xbar); all others vanish.

    `topic_variance` zeta is the eigenvalue of Cov(mu_S) on vectors that are constant within topics and sum to zero.
    """

    topic: float
    mean: float
    topic_variance: float


def sectors(model: TopicModel, masking: Masking) -> Sectors:
    """zeta = (T - tau)/(tau T (T - 1) v), topic kappa^2 zeta, mean (1 - q)^2/(T v) + q^2."""
    _require(model, masking)
    T, v, tau, q = model.n_topics, model.words_per_topic, model.topics_per_document, masking.mask_fraction
    zeta = (T - tau) / (tau * T * (T - 1) * v) if T > 1 else 0.0
    return Sectors(masking.true_fraction**2 * zeta, (1 - q) ** 2 / (T * v) + q * q, zeta)


def same_topic_gap(model: TopicModel, masking: Masking) -> float:
    """delta = 1/(v kappa): how much more, on average, every optimal matrix gives to words of the same topic.

    ValueError at tau = T: all documents look alike and nothing determines the gap.
    """
    _require(model, masking)
    if model.topics_per_document == model.n_topics:
        raise ValueError(
            f"topics_per_document must be below n_topics = {model.n_topics} for a gap: all documents look alike, "
            f"got {model.topics_per_document}"
        )
    return 1 / (model.words_per_topic * masking.true_fraction)


def _require(model: TopicModel, masking: Masking) -> None:
    checks.record("model", model, TopicModel)
    checks.record("masking", masking, Masking)
