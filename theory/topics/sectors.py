"""The second moments of what uniform attention sees of a document, and the gap that they determine.

With attention uniform and documents long, a document of topics S shows xbar = kappa mu_S + (r/(T v)) 1_words + q e_0:
kappa, r and q are the shares of true, random and masked tokens, mu_S the word frequencies of the topics S.
"""

from dataclasses import dataclass

from theory.models import checks
from theory.models.topics import Masking, TopicModel, Topics


@dataclass(frozen=True)
class Sectors:
    """Eigenvalues of E[xbar xbar^T]: `topic` (T - 1 times), `mean` (once, along E xbar); all others vanish.

    `topic_variance` zeta is the eigenvalue of Cov(mu_S) on vectors that are constant within topics and sum to zero.
    """

    topic: float
    mean: float
    topic_variance: float


def sectors(model: Topics, masking: Masking) -> Sectors:
    """topic kappa^2 zeta, mean (1 - q)^2/(T v) + q^2."""
    require(model, masking, Topics)
    zeta, q = model.topic_variance, masking.mask_fraction
    return Sectors(masking.true_fraction**2 * zeta, (1 - q) ** 2 / model.n_words + q * q, zeta)


def same_topic_gap(model: Topics, masking: Masking) -> float:
    """delta = 1/(v kappa): how much more, on average, every optimal matrix gives to words of the same topic.

    ValueError where all documents have the same proportions, as at tau = T: nothing determines the gap.
    """
    require(model, masking, Topics)
    if isinstance(model, TopicModel) and model.topics_per_document == model.n_topics:
        raise ValueError(
            f"topics_per_document must be below n_topics = {model.n_topics} for a gap: all documents look alike, "
            f"got {model.topics_per_document}"
        )
    if model.topic_variance == 0:
        raise ValueError(f"topic proportions must vary for a gap: all documents look alike, got {model}")
    return 1 / (model.words_per_topic * masking.true_fraction)


def require(model: Topics, masking: Masking, kind: type) -> None:
    """ValueError unless both are records of these kinds."""
    checks.record("model", model, kind)
    checks.record("masking", masking, Masking)
