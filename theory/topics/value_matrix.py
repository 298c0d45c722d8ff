"""Stage 1: the value matrix with one-hot embeddings and uniform attention."""

import math
from collections.abc import Sequence
from typing import Literal

from theory.core import NonNegative, checked, checks
from theory.models.topics import Masking, Topics
from theory.topics.blocks import BlockMatrix
from theory.topics.sectors import same_topic_gap, sectors

Bias = Literal["free", "none", "decayed"]
MOST_LENGTHS = 1_000_000  # of documents whose lengths differ


@checked
def optimal_value_matrix(
    model: Topics, masking: Masking, *, bias: Bias = "free", ridge: NonNegative = 0.0
) -> BlockMatrix:
    """Return the value matrix W of least squared loss + ridge |W|^2 with uniform attention, for long documents.

    At ridge = 0 it is the minimizer of least norm, the limit of gradient flow from zero. `bias` is "free" (trained, not
    decayed), "decayed" (part of the norm) or "none". The gap is delta L1/(L1 + ridge) in all three cases, where delta =
    `same_topic_gap`, and L1 and L0 are the eigenvalues topic and mean of `sectors`. The mean is fitted by a free bias
    alone; otherwise it is shrunk by L0/(L0 + ridge), with L0 + 1 for L0 if a decayed bias takes part. Derived here: it
    is ridge regression of the word frequencies mu_S on xbar_S, whose second moments are diagonal in the sectors; the
    model is that of arXiv:2303.04245. Raises ValueError where the topic proportions do not vary.
    """
    at = sectors(model, masking)
    gap = same_topic_gap(model, masking) * (at.topic / (at.topic + ridge))
    if bias == "free":
        return mean_and_gap(model, masking, 0.0, gap, word_bias=1 / model.n_words)
    mean = 1 / (model.n_words * (at.mean + (bias == "decayed") + ridge))
    return mean_and_gap(model, masking, mean, gap, word_bias=mean if bias == "decayed" else 0.0)


def mean_and_gap(
    model: Topics, masking: Masking, mean: float, gap: float, *, mask_row: float = 0.0, word_bias: float = 0.0
) -> BlockMatrix:
    """Return `mean` (word rows) and `mask_row` (row of [MASK]) times E[xbar]^T, plus `gap` ([same topic] - 1/T)."""
    q, words = masking.mask_fraction, model.n_words
    different = mean * (1 - q) / words - gap / model.n_topics
    same = different + gap
    row = mask_row * (1 - q) / words
    return BlockMatrix(model, same, same, different, mean * q, row, mask_row * q, word_bias)


@checked
def finite_length_value_matrix(model: Topics, masking: Masking, length: float | tuple[int, int]) -> BlockMatrix:
    """Return the value matrix that minimizes the squared loss on documents of `length` N tokens, with a free bias.

    `length` may be a pair (shortest, longest), between which N is drawn uniformly for each document; a document then
    counts in proportion to its length, since the loss is a mean over selected positions.

    Positions are masked independently; the problem is strictly convex. W = w P_within + t P_topic, where P_within is
    the projector on vectors that sum to zero within every topic, and P_topic that on the topic sector. Unlike at N =
    infinity the diagonal stands out, by p_c/(1 - q) even as N grows. `length` may be inf, which stands for the infinite
    document without a ridge, `optimal_value_matrix`; the two limits do not commute. The eigenvalues w and t are moments
    of the targets over moments of the inputs, the visible counts, in each sector. Derived here: by symmetry the normal
    equations of least squares are diagonal in these sectors.

    >>> from theory.models.topics import TopicModel
    >>> model = TopicModel(n_topics=4, words_per_topic=3, topics_per_document=2)
    >>> W = finite_length_value_matrix(model, Masking(selected=0.3, kept=0.2, randomized=0.2), length=10)
    >>> round(W.diagonal - W.different, 4), round(W.same - W.different, 4)
    (0.5379, 0.2808)
    """
    lengths = _lengths(length)
    if math.isinf(lengths[0]):
        return optimal_value_matrix(model, masking, bias="free")
    T, v = model.n_topics, model.words_per_topic
    within, topic, _ = _finite_length(model, masking, lengths)
    same = -within / v + topic / v * (1 - 1 / T)
    return BlockMatrix(model, same + within, same, -topic / (T * v), word_bias=1 / (T * v))


@checked
def finite_length_loss(model: Topics, masking: Masking, length: float | tuple[int, int]) -> float:
    """Return the least squared loss, summed over outputs, at document length N = `length`, which may be inf or a pair.

    It is the loss of `finite_length_value_matrix` per selected position; 1 - 1/(T v) is the loss of a constant output.
    Derived here: in each sector least squares lowers the loss by the squared moment of targets with inputs over that of
    the inputs.
    """
    lengths = _lengths(length)
    if math.isinf(lengths[0]):
        return 1 - 1 / model.n_words - (model.n_topics - 1) * sectors(model, masking).topic_variance
    return _finite_length(model, masking, lengths)[2]


def _lengths(length: float | tuple[int, int]) -> Sequence[float]:
    """Return the lengths that documents may have; ValueError where there are none."""
    if not isinstance(length, tuple):
        return (checks.dimension(length, infinite=True, name="length"),)
    shortest = checks.count("length", length[0])
    longest = checks.count("length", length[1], least=shortest)
    if longest - shortest > MOST_LENGTHS:
        raise ValueError(f"length must have ends that differ by at most {MOST_LENGTHS}, got {checks.shown(length)}")
    return range(shortest, longest + 1)


def _finite_length(model: Topics, masking: Masking, lengths: Sequence[float]) -> tuple[float, float, float]:
    """Eigenvalues of W within topics and between them, from the second moments of the visible counts; and the loss."""
    T, v = model.n_topics, model.words_per_topic
    total = math.fsum(lengths)
    moments = [[N / total * moment for moment in _moments(model, masking, N)] for N in lengths]
    within_target, within_power, topic_target, topic_power = (
        math.fsum(column) for column in zip(*moments, strict=True)
    )
    within = within_target / within_power if within_power else 0.0
    topic = topic_target / topic_power if topic_power else 0.0
    loss = 1 - 1 / (T * v) - (T - 1) * topic_target * topic - T * (v - 1) * within_target * within
    return within, topic, loss


def _moments(model: Topics, masking: Masking, N: float) -> tuple[float, float, float, float]:
    """Return the moments of targets with inputs and of inputs, within topics and between them, at one length."""
    T, v, zeta = model.n_topics, model.words_per_topic, sectors(model, masking).topic_variance
    kappa, shown, q = masking.true_fraction, masking.kept + masking.randomized, masking.mask_fraction
    within_target = masking.kept / (N * T * v)
    within_power = (shown + (N - 1) * (1 - q)) / (float(N) ** 2 * T * v)
    topic_target = (masking.kept / (T * v) + (N - 1) * kappa * zeta) / N
    topic_power = (
        (shown + (N - 1) * (1 - q)) / (T * v) + (N - 1) * kappa * zeta * (2 * masking.kept + (N - 2) * kappa)
    ) / float(N) ** 2
    return within_target, within_power, topic_target, topic_power
