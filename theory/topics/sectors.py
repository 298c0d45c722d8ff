"""The second moments of what uniform attention sees of a document, and the gap that they determine.

With uniform attention and long documents, a document of topics S shows xbar = kappa mu_S + (r/(T v)) 1_words + q e_0.
Here kappa, r and q are the shares of true, random and masked tokens, and mu_S holds the word frequencies of the topics
S.
"""

from dataclasses import dataclass

from theory.core import Result, checked
from theory.models.topics import Masking, TopicModel, Topics


@dataclass(frozen=True, repr=False)
class Sectors(Result):
    """Holds the eigenvalues of E[xbar xbar^T], where xbar are the shares of the visible tokens of a long document.

    The eigenvalue `topic` (T - 1 times) belongs to the topic sector, the vectors that are constant within topics and
    sum to zero; the eigenvalue `mean` (once) belongs to E xbar; all others vanish. `topic_variance` zeta is the
    eigenvalue of Cov(mu_S) in the topic sector.
    """

    topic: float
    mean: float
    topic_variance: float


@checked
def sectors(model: Topics, masking: Masking) -> Sectors:
    """Return the eigenvalues kappa^2 zeta (topics) and (1 - q)^2/(T v) + q^2 (mean) of E[xbar xbar^T].

    They set the speed at which each sector is learned, and how much a ridge shrinks it. The masking noise of long
    documents averages out, so that xbar depends on the topics alone. Derived here: xbar is kappa mu_S and a constant,
    so that its covariance is kappa^2 times that of mu_S, and what remains of its second moments is the square of E
    xbar.
    """
    zeta, q = model.topic_variance, masking.mask_fraction
    return Sectors(masking.true_fraction**2 * zeta, (1 - q) ** 2 / model.n_words + q * q, zeta)


@checked
def same_topic_gap(model: Topics, masking: Masking) -> float:
    """Return delta = 1/(v kappa), by which every optimal matrix prefers words of the same topic, on average.

    It is the mean entry of a word's row over its own topic (itself included) minus that over any other topic
    (arXiv:2303.04245: 1/(v (1 - (1 - p_c) p_m))). Raises ValueError where all documents have the same proportions, as
    at tau = T: nothing determines the gap then.

    >>> model = TopicModel(n_topics=10, words_per_topic=10, topics_per_document=2)
    >>> round(same_topic_gap(model, Masking(selected=0.15, kept=0.1, randomized=0.1)), 6)
    0.115607
    """
    if isinstance(model, TopicModel) and model.topics_per_document == model.n_topics:
        raise ValueError(
            f"model must have topics_per_document below n_topics = {model.n_topics} for a gap: all documents look "
            f"alike, got topics_per_document = {model.topics_per_document}"
        )
    if model.topic_variance == 0:
        raise ValueError(f"model must have topic proportions that vary for a gap: documents look alike, got {model}")
    return 1 / (model.words_per_topic * masking.true_fraction)
