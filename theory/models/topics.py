"""Documents of disjoint topics, and how their tokens are masked."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from theory.models import checks
from theory.models.covariance import set_checked


@dataclass(frozen=True, kw_only=True)
class Topics(ABC):
    """T topics of v words each, treated alike. Token 0 is [MASK]; topic k = 0..T-1 owns the words 1 + k v .. (k + 1) v.

    A document draws proportions of the topics; each word comes from a topic drawn by these, and is uniform in it.
    """

    n_topics: int
    words_per_topic: int

    def __post_init__(self) -> None:
        n_topics = checks.dimension(self.n_topics, name="n_topics")
        words = checks.dimension(self.words_per_topic, name="words_per_topic")
        set_checked(self, n_topics=n_topics, words_per_topic=words)

    @property
    def n_words(self) -> int:
        """T v."""
        return self.n_topics * self.words_per_topic

    @property
    def n_tokens(self) -> int:
        """D = T v + 1, [MASK] included."""
        return self.n_words + 1

    @property
    @abstractmethod
    def topic_variance(self) -> float:
        """zeta: eigenvalue of the covariance of a document's word frequencies on vectors that are constant within
        topics and sum to zero; the covariance vanishes on all others."""


@dataclass(frozen=True, kw_only=True)
class TopicModel(Topics):
    """A document mixes a random set of tau = `topics_per_document` topics, in equal shares (arXiv:2303.04245)."""

    topics_per_document: int

    def __post_init__(self) -> None:
        super().__post_init__()
        tau = checks.dimension(self.topics_per_document, name="topics_per_document")
        if tau > self.n_topics:
            raise ValueError(f"topics_per_document must lie in 1..n_topics = {self.n_topics}, got {tau}")
        set_checked(self, topics_per_document=tau)

    @property
    def topic_variance(self) -> float:
        """(T - tau)/(tau T (T - 1) v), 0 for a single topic."""
        T, tau = self.n_topics, self.topics_per_document
        return (T - tau) / (tau * T * max(T - 1, 1) * self.words_per_topic)


@dataclass(frozen=True, kw_only=True)
class TopicMixture(Topics):
    """Topic proportions theta of any law that treats the topics alike, known by its second moments.

    `proportion_variance` is Var(theta_k), at most (T - 1)/T^2: every document then has one topic.
    """

    proportion_variance: float

    def __post_init__(self) -> None:
        super().__post_init__()
        most = (self.n_topics - 1) / self.n_topics**2
        variance = checks.non_negative("proportion_variance", self.proportion_variance)
        if variance > most * (1 + 1e-12):
            raise ValueError(
                f"proportion_variance must be at most (n_topics - 1)/n_topics^2 = {most:g}, got {variance}"
            )
        set_checked(self, proportion_variance=min(variance, most))

    @classmethod
    def dirichlet(cls, *, n_topics: int, words_per_topic: int, concentration: float) -> "TopicMixture":
        """theta ~ Dirichlet(a, ..., a), a = `concentration`: Var(theta_k) = (T - 1)/(T^2 (T a + 1))."""
        T, a = checks.dimension(n_topics, name="n_topics"), checks.positive("concentration", concentration)
        variance = (T - 1) / (T**2 * (T * a + 1))
        return cls(n_topics=n_topics, words_per_topic=words_per_topic, proportion_variance=variance)

    @property
    def topic_variance(self) -> float:
        """Var(theta_k) T/((T - 1) v), 0 for a single topic."""
        return self.proportion_variance * self.n_topics / (max(self.n_topics - 1, 1) * self.words_per_topic)


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
            raise ValueError(f"selected and kept leave no true word visible: selected = {selected}, kept = {kept}")

    @property
    def true_fraction(self) -> float:
        """kappa: share of visible tokens that are the true word, 1 - (1 - kept) selected."""
        return 1 - self.hidden_fraction

    @property
    def hidden_fraction(self) -> float:
        """1 - kappa = (1 - kept) selected."""
        return (1 - self.kept) * self.selected

    @property
    def random_fraction(self) -> float:
        """r: share of visible tokens that are a random word."""
        return self.selected * self.randomized

    @property
    def mask_fraction(self) -> float:
        """q: share of visible tokens that are [MASK]."""
        return self.selected * max(1 - self.kept - self.randomized, 0.0)
