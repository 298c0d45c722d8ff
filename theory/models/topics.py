"""Documents of disjoint topics, and how their tokens are masked."""

from dataclasses import dataclass

from theory.models import checks
from theory.models.covariance import set_checked


@dataclass(frozen=True, kw_only=True)
class TopicModel:
    """T topics of v words each; a document mixes tau of them (arXiv:2303.04245).

    Token 0 is [MASK]; topic k = 0..T-1 owns the words 1 + k v .. (k + 1) v; D = T v + 1 tokens. A document is a random
    set of tau = `topics_per_document` topics; each of its words comes from one of them, uniformly, and is uniform in it.
    """

    n_topics: int
    words_per_topic: int
    topics_per_document: int

    def __post_init__(self) -> None:
        n_topics = checks.dimension(self.n_topics, name="n_topics")
        tau = checks.dimension(self.topics_per_document, name="topics_per_document")
        if tau > n_topics:
            raise ValueError(f"topics_per_document must lie in 1..n_topics = {n_topics}, got {tau}")
        words = checks.dimension(self.words_per_topic, name="words_per_topic")
        set_checked(self, n_topics=n_topics, topics_per_document=tau, words_per_topic=words)

    @property
    def n_words(self) -> int:
        """T v."""
        return self.n_topics * self.words_per_topic

    @property
    def n_tokens(self) -> int:
        """D = T v + 1, [MASK] included."""
        return self.n_words + 1


@dataclass(frozen=True, kw_only=True)
class Masking:
    """Each position is selected with probability `selected`; the loss is averaged over selected positions.

    A selected position shows its true word with probability `kept`, a uniformly random word with probability
    `randomized`, and [MASK] otherwise.
    """

    selected: float = 0.15
    kept: float = 0.1
    randomized: float = 0.1

    def __post_init__(self) -> None:
        selected = checks.between("selected", self.selected, 0, 1, closed=(False, True))
        kept = checks.between("kept", self.kept, 0, 1, closed=(True, True))
        randomized = checks.between("randomized", self.randomized, 0, 1, closed=(True, True))
        if kept + randomized > 1 + 1e-15:
            raise ValueError(f"kept + randomized must be at most 1, got {kept} + {randomized}")
        set_checked(self, selected=selected, kept=kept, randomized=randomized)
        if self.true_fraction <= 0:
            raise ValueError("selected and kept leave no true word visible: selected = 1 needs kept > 0, got kept = 0")

    @property
    def true_fraction(self) -> float:
        """Share of visible tokens that are the true word, 1 - (1 - kept) selected."""
        return 1 - (1 - self.kept) * self.selected

    @property
    def random_fraction(self) -> float:
        """Share of visible tokens that are a random word."""
        return self.selected * self.randomized

    @property
    def mask_fraction(self) -> float:
        """Share of visible tokens that are [MASK]."""
        return self.selected * max(1 - self.kept - self.randomized, 0.0)
