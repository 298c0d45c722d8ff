"""Documents that mix disjoint topics, and how their tokens are masked."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from theory.core import Count, NonNegative, Positive, PositiveShare, Share, checked, checked_fields, checks
from theory.models.covariance import set_checked


@dataclass(frozen=True, kw_only=True)
class Topics(ABC):
    """Describes T disjoint topics of v words each that the law of the documents treats alike.

    Token 0 is [MASK]; topic k = 0..T-1 owns the words 1 + k v .. (k + 1) v. A document draws the proportions of its
    topics; each of its words comes from a topic drawn by these proportions, and is uniform among the words of that
    topic. Raises ValueError unless `n_topics` (T) and `words_per_topic` (v) are integers of at least 1.
    """

    n_topics: Count
    words_per_topic: Count

    def __post_init__(self) -> None:
        checked_fields(self)
        words = self.words_per_topic
        if self.n_tokens > checks.MAX_INDEX:
            raise ValueError(f"words_per_topic times n_topics must be below 2^63, got {self.n_topics} times {words}")

    @property
    def n_words(self) -> int:
        """The number of words T v."""
        return self.n_topics * self.words_per_topic

    @property
    def n_tokens(self) -> int:
        """The number of tokens D = T v + 1, [MASK] included."""
        return self.n_words + 1

    @property
    @abstractmethod
    def topic_variance(self) -> float:
        """The eigenvalue zeta of the covariance of a document's word frequencies in the topic sector.

        The topic sector holds the vectors that are constant within topics and sum to zero; on all other vectors the
        covariance vanishes.
        """


@dataclass(frozen=True, kw_only=True)
class TopicModel(Topics):
    """Describes documents that mix a random set of `topics_per_document` (tau) topics in equal shares.

    This is the model of arXiv:2303.04245. Raises ValueError unless 1 <= tau <= T.

    >>> model = TopicModel(n_topics=10, words_per_topic=10, topics_per_document=2)
    >>> model.n_tokens
    101
    """

    topics_per_document: Count

    def __post_init__(self) -> None:
        super().__post_init__()
        tau = self.topics_per_document
        if tau > self.n_topics:
            raise ValueError(f"topics_per_document must lie in 1..n_topics = {self.n_topics}, got {tau}")

    @property
    def topic_variance(self) -> float:
        """zeta = (T - tau)/(tau T (T - 1) v), which is 0 for a single topic."""
        T, tau = self.n_topics, self.topics_per_document
        return (T - tau) / (tau * T * max(T - 1, 1) * self.words_per_topic)


@dataclass(frozen=True, kw_only=True)
class TopicMixture(Topics):
    """Describes documents whose topic proportions theta have any law that treats the topics alike.

    What uniform attention learns depends on that law only through its second moment, `proportion_variance` =
    Var(theta_k). It is at most (T - 1)/T^2, where every document has one topic; ValueError otherwise.
    """

    proportion_variance: NonNegative

    def __post_init__(self) -> None:
        super().__post_init__()
        most = (self.n_topics - 1) / self.n_topics**2
        variance = self.proportion_variance
        if variance > most * (1 + 1e-12):
            raise ValueError(
                f"proportion_variance must be at most (n_topics - 1)/n_topics^2 = {most:g}, got {variance}"
            )
        set_checked(self, proportion_variance=min(variance, most))

    @classmethod
    @checked
    def dirichlet(cls, *, n_topics: Count, words_per_topic: Count, concentration: Positive) -> "TopicMixture":
        """Make the record for theta ~ Dirichlet(a, ..., a) with a = `concentration` > 0.

        Its variance is Var(theta_k) = (T - 1)/(T^2 (T a + 1)).
        """
        T, a = n_topics, concentration
        variance = (T - 1) / (T**2 * (T * a + 1))
        return cls(n_topics=n_topics, words_per_topic=words_per_topic, proportion_variance=variance)

    @property
    def topic_variance(self) -> float:
        """zeta = Var(theta_k) T/((T - 1) v), which is 0 for a single topic."""
        return self.proportion_variance * self.n_topics / (max(self.n_topics - 1, 1) * self.words_per_topic)


@dataclass(frozen=True, kw_only=True)
class Masking:
    """Describes how the tokens of a document are masked, each position by itself.

    A position is selected with probability `selected` (p_m); the loss is averaged over the selected positions. There
    the true word is shown with probability `kept` (p_c), a uniformly random word with probability `randomized` (p_r),
    and [MASK] otherwise. Raises ValueError for numbers that are no probabilities, for kept + randomized above 1, and
    where no true word stays visible.

    >>> masking = Masking(selected=0.15, kept=0.1, randomized=0.1)
    >>> round(masking.true_fraction, 6), round(masking.random_fraction, 6), round(masking.mask_fraction, 6)
    (0.865, 0.015, 0.12)
    """

    selected: PositiveShare = 0.15
    kept: Share = 0.1
    randomized: Share = 0.1

    def __post_init__(self) -> None:
        checked_fields(self)
        kept = self.kept
        if kept + self.randomized > 1 + 1e-15:
            raise ValueError(f"kept + randomized must be at most 1, got {kept} + {self.randomized}")
        if self.true_fraction <= 0:
            raise ValueError(f"selected and kept leave no true word visible: selected = {self.selected}, kept = {kept}")

    @property
    def true_fraction(self) -> float:
        """The share kappa of visible tokens that are the true word, 1 - (1 - kept) selected."""
        return 1 - self.hidden_fraction

    @property
    def hidden_fraction(self) -> float:
        """The share 1 - kappa = (1 - kept) selected of positions that do not show their word on purpose."""
        return (1 - self.kept) * self.selected

    @property
    def random_fraction(self) -> float:
        """The share r of visible tokens that are a random word."""
        return self.selected * self.randomized

    @property
    def mask_fraction(self) -> float:
        """The share q of visible tokens that are [MASK]."""
        return self.selected * max(1 - self.kept - self.randomized, 0.0)
