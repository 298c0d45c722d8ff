"""Losses of predictors that count words: plug-in losses, and held-out ones, which show the price of rare contexts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from simulate.trees.contexts import Contexts
from simulate.trees.sieve import TreeText
from simulate.trees.tables import Integers, KeyCounts, KeyTable
from theory.core import Array, AtLeast, Result, checked

BLOCK = 1000  # consecutive numbers that are held out, or not, together
HELD_OUT_PERIOD = 5  # one block of so many is held out
WordsAway = Annotated[int, AtLeast(0, most=64)]  # from the hidden word


@dataclass(frozen=True, eq=False, repr=False)
class PredictionLoss(Result):
    """The loss of one predictor of hidden words, in bits per word, and the share of words that it guesses.

    `bits` and `accuracy` are plug-in numbers: frequencies that were counted on the whole text predict the same text.
    Contexts that occur only a few times then predict themselves, so that the bits are too low, and the more so, the
    rarer contexts are. `held_out_bits` and `held_out_accuracy` are those of the words in blocks that were not counted.
    `unseen` is the share of these words whose full context was never counted. The truth lies between the two kinds of
    numbers. `n_contexts` counts the different contexts, `n_targets` the words that were predicted, and `n_held_out`
    those of them that were held out.
    """

    bits: float
    accuracy: float
    held_out_bits: float
    held_out_accuracy: float
    unseen: float
    n_contexts: int
    n_targets: int
    n_held_out: int


@checked
def prediction_loss(
    text: TreeText,
    offsets: Sequence[int] = (),
    modulus: int = 1,
    *,
    held_out: Literal["blocks", "end"] = "blocks",
) -> PredictionLoss:
    """Measure how well the words at `offsets` from a hidden word, and n modulo `modulus`, predict it by counting.

    The offset -1 is the previous word, 1 the next one; they are listed in the order in which they are worth knowing.
    With `modulus` M > 1 the predictor is told the remainder of the number n itself, as an oracle.

    Held out are the words of one block of a thousand numbers in five, or, with `held_out` "end", the last fifth of the
    text, whose words are somewhat harder since frequencies drift with log log n. Their predictions are smoothed by the
    rule of Witten and Bell: p(w|c) = [n(c,w) + T(c) p(w|c')]/[n(c) + T(c)], where n counts the other words, T(c) is the
    number of different words after c, and c' is the context c without its last part. The empty context falls back to
    equal shares for all words of the vocabulary, which is taken as known. The guess is the most frequent word of the
    longest context that was counted.

    ValueError for offsets that repeat, are zero or beyond 1000, for a modulus beyond 10^6, and where the contexts need
    more than 62 bits (six words of a vocabulary of 1000).
    """
    contexts = Contexts(text, tuple(offsets), modulus)
    trained, untrained = KeyCounts(), KeyCounts()
    for low, stop in contexts.pieces():
        keys, out = contexts.keys(low, stop), _is_held_out(text, low, stop, held_out)
        trained.add(keys[~out])
        untrained.add(keys[out])
    known, asked, bits = trained.sorted(), untrained.sorted(), contexts.word_bits
    n = int(asked[1].sum())
    if not n or not known[1].sum():
        raise ValueError(
            f"text must be long enough to hold out a block of {BLOCK} numbers, one of {HELD_OUT_PERIOD}, "
            f"got {text.numbers}"
        )
    share, guess = np.full(len(asked[0]), 1 / text.vocabulary.n_words), np.full(len(asked[0]), -1)
    for own, keys in zip(contexts.shortened(known[0]), contexts.shortened(asked[0]), strict=True):
        share, guess, seen = _Table.of(*_added_up(own, known[1]), bits).predict(keys, share, guess)
    words = asked[0] & ((1 << bits) - 1)
    full = _Table.of(*_added_up(np.concatenate([known[0], asked[0]]), np.concatenate([known[1], asked[1]])), bits)
    return PredictionLoss(
        bits=full.bits,
        accuracy=full.accuracy,
        held_out_bits=-float(asked[1] @ np.log2(share)) / n,
        held_out_accuracy=int(asked[1][guess == words].sum()) / n,
        unseen=int(asked[1][~seen].sum()) / n,
        n_contexts=len(full.totals),
        n_targets=len(contexts.places),
        n_held_out=n,
    )


@checked
def markov_loss(text: TreeText, order: WordsAway, *, held_out: Literal["blocks", "end"] = "blocks") -> PredictionLoss:
    """Measure the loss of next-word prediction from the `order` words before (see `prediction_loss`).

    Order 0 is the unigram predictor, which knows nothing. ValueError for an order below 0, and for one whose contexts
    do not fit into 62 bits.

    >>> from simulate.trees import read_text
    >>> from theory.models import NumberText
    >>> round(markov_loss(read_text(NumberText(10_000)), 1).bits, 4)
    3.1895
    """
    return prediction_loss(text, [-k for k in range(1, order + 1)], held_out=held_out)


@checked
def neighbor_loss(
    text: TreeText, radius: WordsAway = 1, *, held_out: Literal["blocks", "end"] = "blocks"
) -> PredictionLoss:
    """Measure the loss of masked-word prediction from the `radius` words on each side (see `prediction_loss`)."""
    offsets = [side * k for k in range(1, radius + 1) for side in (-1, 1)]
    return prediction_loss(text, offsets, held_out=held_out)


@checked
def remainder_loss(text: TreeText, modulus: int, *, held_out: Literal["blocks", "end"] = "blocks") -> PredictionLoss:
    """Measure the loss of an oracle that is told n modulo `modulus`, and no word (see `prediction_loss`).

    What it saves against the words is what position modulo small squares tells: whether 4 or 9 divides n.
    """
    return prediction_loss(text, (), modulus, held_out=held_out)


@dataclass(frozen=True)
class _Table:
    """Counts of words after contexts: each context with its total, its number of different words and its best one."""

    pairs: KeyTable
    places: KeyTable  # from the key of a context to its place in the arrays
    totals: Integers
    kinds: Integers
    best: Integers
    bits: float
    accuracy: float
    word_bits: int

    @classmethod
    def of(cls, keys: Integers, counts: Integers, word_bits: int) -> "_Table":
        """Make the table of different keys of words after contexts, in increasing order, and their counts."""
        contexts = keys >> word_bits
        starts = np.flatnonzero(np.r_[True, contexts[1:] != contexts[:-1]])
        totals, most = np.add.reduceat(counts, starts), np.maximum.reduceat(counts, starts)
        kinds = np.diff(np.r_[starts, len(keys)])
        # Of the words that share the largest count the first is taken: that of the smallest id.
        hits = np.flatnonzero(counts == np.repeat(most, kinds))
        first = hits[np.r_[True, contexts[hits[1:]] != contexts[hits[:-1]]]]
        best = keys[first] & ((1 << word_bits) - 1)
        n = int(counts.sum())
        bits = float(_information(totals).sum() - _information(counts).sum()) / n
        places = KeyTable(contexts[starts], np.arange(len(starts)))
        return cls(KeyTable(keys, counts), places, totals, kinds, best, bits, float(most.sum()) / n, word_bits)

    def predict(self, keys: Integers, share: Array, guess: Integers) -> tuple[Array, Integers, NDArray[np.bool_]]:
        """Return the smoothed shares of the words, the guesses, and which contexts were counted."""
        place = self.places(keys >> self.word_bits)
        seen = place >= 0
        total, kinds, count = self.totals[place], self.kinds[place], np.maximum(self.pairs(keys), 0)
        return (
            np.where(seen, (count + kinds * share) / (total + kinds), share),
            np.where(seen, self.best[place], guess),
            seen,
        )


def _added_up(keys: Integers, counts: Integers) -> tuple[Integers, Integers]:
    """Return the different keys in increasing order, each with the sum of its counts."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    return ordered[starts], np.add.reduceat(counts[order], starts)


def _information(counts: Integers) -> Array:
    return np.asarray(counts * np.log2(counts))


def _is_held_out(text: TreeText, low: int, stop: int, held_out: str) -> NDArray[np.bool_]:
    if held_out == "end":
        return np.asarray(np.arange(low, stop) * HELD_OUT_PERIOD >= text.numbers.n_words * (HELD_OUT_PERIOD - 1))
    numbers = text.numbers.first + np.arange(low, stop)
    return np.asarray(numbers // BLOCK % HELD_OUT_PERIOD == HELD_OUT_PERIOD - 1)
