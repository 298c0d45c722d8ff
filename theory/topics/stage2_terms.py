"""The loss of attention tied by topics, as a sum of weighted squares of fractions.

Numerators and denominators are linear in A and in the weight of [MASK]: with x = (A, mask_weight, 1) the loss is
constant + sum_i weights_i (numerators_i . x / totals_i . x)^2. The first six squares are of queries whose topic is in
the document, the last three of random words from elsewhere.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from theory.core import Array, CheckedRecord
from theory.models.topics import Masking, TopicModel
from theory.topics.attention import Keys, seen_by_keys
from theory.topics.sectors import same_topic_gap
from theory.topics.value_matrix import Bias, optimal_value_matrix

N_TOPIC_QUERIES = 6  # how many squares belong to queries from the document's topics


@dataclass(frozen=True, eq=False)
class Setting(CheckedRecord):
    """Holds what stage 2 keeps fixed: the model, the masking, the bias of stage 1 and which positions are keys."""

    model: TopicModel
    masking: Masking
    bias: Bias = "free"
    keys: Keys = "all"

    @cached_property
    def seen(self) -> Masking:
        """The masking that the keys see."""
        return seen_by_keys(self.masking, self.keys)

    @cached_property
    def outputs(self) -> tuple[float, float, float]:
        """Three numbers of the value matrix of stage 1.

        They are its gap delta, its output for an unrelated word (bias included), and how much more [MASK] gives.
        """
        W = optimal_value_matrix(self.model, self.seen, bias=self.bias)
        return same_topic_gap(self.model, self.seen), W.different + W.word_bias, W.mask_column - W.different

    @cached_property
    def masses(self) -> tuple[float, float, float]:
        """The shares of uniform attention on a topic of the document, on one that is not in it, and on [MASK]."""
        outside = self.seen.random_fraction / self.model.n_topics
        inside = self.seen.true_fraction / self.model.topics_per_document + outside
        return inside, outside, self.seen.mask_fraction


@dataclass(frozen=True, eq=False)
class Terms:
    """Holds the nine squares: weights (9,), numerators and totals (9, 3)."""

    constant: float
    weights: Array
    numerators: Array
    totals: Array

    def loss(self, A: float, mask_weight: float) -> float:
        """Return the loss at A (at inf its limit) and mask_weight; infinite where a query is left without keys."""
        x = np.array([1.0, 0.0, 0.0]) if math.isinf(A) else np.array([A, mask_weight, 1.0])
        above, below = self.numerators @ x, self.totals @ x
        if math.isinf(A) and not below.all():  # keys of a topic that nothing visible has: A does not matter
            other, rest = np.array([0.0, mask_weight, 1.0]), below == 0
            above[rest], below[rest] = self.numerators[rest] @ other, self.totals[rest] @ other
        some = self.weights > 0
        if not below[some].all():
            return math.inf
        return self.constant + float(self.weights[some] @ (above[some] / below[some]) ** 2)

    def log_slopes(self, A: float, mask_weight: float) -> tuple[Array, Array]:
        """Return dL/dlog A and dL/dlog mask_weight, and the sizes of the terms that cancel in them."""
        ratio, change, _ = self._ratios(A, mask_weight)
        parts = (2 * self.weights * ratio)[:, None] * change
        return parts.sum(axis=0), abs(parts).sum(axis=0)

    def log_curvature(self, A: float, mask_weight: float) -> Array:
        """Return the second derivatives in (log A, log mask_weight), (2, 2)."""
        ratio, change, share = self._ratios(A, mask_weight)
        pull = 2 * self.weights * ratio
        mixed = change.T @ (pull[:, None] * share)
        squares = change.T @ (2 * self.weights[:, None] * change)
        return np.asarray(squares - mixed - mixed.T + np.diag(pull @ change))

    def _ratios(self, A: float, mask_weight: float) -> tuple[Array, Array, Array]:
        """Return fractions (9,), their logarithmic slopes (9, 2), and shares of both weights in the totals (9, 2)."""
        x = np.array([A, mask_weight, 1.0])
        below = self.totals @ x
        ratio, share = self.numerators @ x / below, self.totals[:, :2] * x[:2] / below[:, None]
        return ratio, self.numerators[:, :2] * x[:2] / below[:, None] - ratio[:, None] * share, share


def stage2_terms(setting: Setting, *, mask_query_weight: float = 1.0) -> Terms:
    """Return the terms of the loss; [MASK] queries put `mask_query_weight` on [MASK] keys and 1 on words.

    A `mask_query_weight` of 1 is best and has no excess loss.
    """
    T, v, tau = setting.model.n_topics, setting.model.words_per_topic, setting.model.topics_per_document
    (delta, base, extra), (inside, outside, mask) = setting.outputs, setting.masses
    kept, randomized, h = setting.masking.kept, setting.masking.randomized, 1 / (tau * v)
    hidden = 1 - kept - randomized
    close = randomized * tau / T
    afar = randomized - close
    weights = [kept, kept * (tau - 1), kept * (T - tau), close, close * (tau - 1), close * (T - tau)]
    weights += [afar, afar * tau, afar * (T - tau - 1)]
    targets = np.array([1 / v, 0, 0, h, h, 0, 0, h, 0])  # what the output of a word should be
    own, other = np.array([delta * inside, 0, 0]), np.array([[0, 0, delta * inside], [0, 0, delta * outside]])
    masses = np.array([own, *other, own, *other, own * outside / inside, *other])
    masses[:, 1] = extra * mask
    near = np.array([inside, mask, inside * (tau - 1) + outside * (T - tau)])
    far = np.array([outside, mask, outside * (T - tau - 1) + inside * tau])
    totals = np.array([near] * N_TOPIC_QUERIES + [far] * (9 - N_TOPIC_QUERIES))
    numerators = masses + (base - targets)[:, None] * totals
    constant = kept * (1 - 1 / v) + (randomized + hidden) * (1 - h)
    if mask_query_weight != 1:
        total = 1 - mask + mask * mask_query_weight
        common = base + extra * mask * mask_query_weight / total
        constant += hidden * tau * v * (delta * inside / total + common - h) ** 2
        constant += hidden * (T - tau) * v * (delta * outside / total + common) ** 2
    return Terms(constant, v * np.array(weights), numerators, totals)
