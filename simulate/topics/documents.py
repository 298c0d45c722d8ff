"""Documents of disjoint topics, drawn."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulate.core.streams import require_generator
from simulate.topics.counts import Counts
from theory.models import checks
from theory.models.topics import TopicModel


@dataclass(frozen=True)
class TopicDocuments:
    """`counts` (documents, words) says how often each word occurs: there are no positions, so this is everything.

    Word w of topic k = w // v is token 1 + w. `proportions` (documents, topics) are those each document was drawn with.
    """

    model: TopicModel
    counts: Counts
    proportions: NDArray[np.float64]

    @property
    def lengths(self) -> Counts:
        """Tokens of each document."""
        return np.asarray(self.counts.sum(axis=1))


def sample_topic_documents(
    model: TopicModel,
    n_documents: int,
    rng: np.random.Generator,
    *,
    length: int | tuple[int, int] = 100,
    concentration: float | None = None,
) -> TopicDocuments:
    """Independent documents of exactly tau topics in equal shares, or of symmetric Dirichlet(`concentration`) shares.

    `length`: tokens of each document, or (shortest, longest) for a uniform one. With a `concentration` every topic may
    occur, and the model's tau is not used.
    """
    require_generator(rng)
    n = int(checks.dimension(n_documents, name="n_documents"))
    lengths = rng.integers(*length_range(length), size=n, endpoint=True)
    proportions = _proportions(model, n, rng, concentration)
    of_topic = rng.multinomial(lengths, proportions)
    v = model.words_per_topic
    counts = rng.multinomial(of_topic, np.full(v, 1 / v)).reshape(n, model.n_words)
    return TopicDocuments(model, counts, proportions)


def length_range(length: int | tuple[int, int]) -> tuple[int, int]:
    """Shortest and longest, or ValueError."""
    if isinstance(length, tuple) and len(length) != 2:
        raise ValueError(f"length must be an integer or (shortest, longest), got {length!r}")
    shortest, longest = length if isinstance(length, tuple) else (length, length)
    shortest = int(checks.dimension(shortest, name="length"))
    longest = int(checks.dimension(longest, least=shortest, name="length"))
    return shortest, longest


def _proportions(
    model: TopicModel, n: int, rng: np.random.Generator, concentration: float | None
) -> NDArray[np.float64]:
    if concentration is not None:
        return rng.dirichlet(np.full(model.n_topics, checks.positive("concentration", concentration)), size=n)
    tau = model.topics_per_document
    chosen = rng.random((n, model.n_topics)).argsort(axis=1)[:, :tau]
    proportions = np.zeros((n, model.n_topics))
    np.put_along_axis(proportions, chosen, 1 / tau, axis=1)
    return proportions
