"""Draws masks of documents, on counts: what is shown, and what is asked at which shown token."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from simulate.topics.counts import AnyCounts, Counts, occurrences, word_counts
from theory.core import checked, checks
from theory.models.topics import Masking

MAX_RANDOM_POSITIONS = 2**31  # positions that show a random word, each listed by itself


@dataclass(frozen=True)
class MaskedDocuments:
    """Holds masked documents as counts of tokens, which are 0 for [MASK] and 1 + w for word w; D = words + 1.

    `visible` (documents, D) counts the tokens that are shown, and `unselected` (documents, D) those at positions that
    were not selected. In document `document[i]`, `times[i]` selected positions show the token `shown[i]` where the true
    token is `target[i]`.
    """

    visible: Counts
    unselected: Counts
    document: Counts
    shown: Counts
    target: Counts
    times: Counts

    def __post_init__(self) -> None:
        visible = _indices("visible", self.visible, 2)
        if _indices("unselected", self.unselected, 2).shape != visible.shape:
            raise ValueError(f"unselected must have the shape {visible.shape} of visible, got {self.unselected.shape}")
        n_documents, n_tokens = visible.shape
        limits = {"document": n_documents, "shown": n_tokens, "target": n_tokens, "times": None}
        for name, below in limits.items():
            entries = _indices(name, getattr(self, name), 1, below)
            if len(entries) != len(self.document):
                raise ValueError(f"{name} must have one entry for each of {len(self.document)}, got {len(entries)}")

    @classmethod
    def unchecked(cls, visible: Counts, unselected: Counts, asked: tuple[Counts, Counts, Counts, Counts]) -> Self:
        """Make the record of arrays that need no checks; `asked` are document, shown, target and times."""
        made = object.__new__(cls)
        names = ("document", "shown", "target", "times")
        made.__dict__.update(visible=visible, unselected=unselected, **dict(zip(names, asked, strict=True)))
        return made

    @property
    def n_selected(self) -> int:
        """The number of selected positions, over which the loss is averaged."""
        return int(self.times.sum())


def _indices(name: str, values: Any, ndim: int, below: int | None = None) -> Counts:
    """Return the values themselves if they are integers from 0 to below `below`, along `ndim` axes; else ValueError."""
    array = checks.integer_array(name, values)
    if array.ndim != ndim or not isinstance(values, np.ndarray):
        raise ValueError(f"{name} must be an array of integers with {ndim} axes, got {checks.shown(values)}")
    if array.size and (array.min() < 0 or (below is not None and array.max() >= below)):
        allowed = "not be negative" if below is None else f"lie in [0, {below})"
        raise ValueError(f"{name} must {allowed}, got values from {array.min()} to {array.max()}")
    return array


@checked
def mask_documents(documents: Any, masking: Masking, rng: np.random.Generator) -> MaskedDocuments:
    """Draw masks once, for every position of every document by itself.

    `documents` are sampled ones, or counts (documents, words), dense or sparse. Raises ValueError for what are no
    counts.

    >>> masked = mask_documents([[6, 2, 4]], Masking(selected=0.5), np.random.default_rng(0))
    >>> int(masked.visible.sum()), int(masked.unselected.sum()) + masked.n_selected
    (12, 12)
    """
    return mask_counts(word_counts(documents), masking, rng)


def mask_counts(counts: AnyCounts, masking: Masking, rng: np.random.Generator) -> MaskedDocuments:
    """Draw masks as `mask_documents`, for counts that were checked before."""
    n_documents, n_words = counts.shape
    document, word, n = occurrences(counts)
    # Positions of the same word are alike here, so that binomial numbers stand for draws of each of them.
    selected = rng.binomial(n, masking.selected)
    kept = rng.binomial(selected, masking.kept)
    hidden = selected - kept
    random = rng.binomial(hidden, _share(masking.randomized, 1 - masking.kept))
    masked = hidden - random
    if random.sum() > MAX_RANDOM_POSITIONS:
        raise ValueError(
            f"documents must have at most {MAX_RANDOM_POSITIONS} positions with a random word, got {random.sum()}"
        )
    shown_at_random = 1 + rng.integers(n_words, size=random.sum())

    visible = np.zeros((n_documents, n_words + 1), dtype=np.int64)
    unselected = np.zeros_like(visible)
    unselected[document, word + 1] = n - selected
    visible[document, word + 1] = n - hidden
    visible[:, 0] = np.bincount(document, masked, n_documents)
    np.add.at(visible, (np.repeat(document, random), shown_at_random), 1)

    lists = (
        (document, word + 1, word + 1, kept),
        (document, np.zeros_like(word), word + 1, masked),
        (np.repeat(document, random), shown_at_random, np.repeat(word + 1, random), np.ones_like(shown_at_random)),
    )
    asked = (np.concatenate(part) for part in zip(*lists, strict=True))
    return MaskedDocuments.unchecked(visible, unselected, _occurring(*asked))


def _share(part: float, whole: float) -> float:
    """Return part/whole as a probability, which rounding in 1 - kept must not lift above 1."""
    return min(part / whole, 1.0) if whole > 0 else 0.0


def _occurring(
    document: Counts, shown: Counts, target: Counts, times: Counts
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    there = times > 0
    return document[there], shown[there], target[there], times[there]
