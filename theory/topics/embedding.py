"""The optimal embedding with uniform attention and the value matrix at the identity: f = W_E^T W_E xbar + b."""

from typing import Literal

from theory.models import checks
from theory.models.topics import Masking, Topics
from theory.topics.blocks import BlockMatrix
from theory.topics.sectors import same_topic_gap, sectors


def optimal_embedding_gram(model: Topics, masking: Masking, *, bias: Literal["none", "free"] = "none") -> BlockMatrix:
    """E = W_E^T W_E of least trace among all minimizers of the squared loss: the limit of vanishing weight decay.

    bias "none": same-topic entries delta (1 - r/(T (1 - q))), different -delta r/(T (1 - q)), rank T; "free" (not
    decayed): delta (1 - 1/T) and -delta/T, word bias 1/(T v), rank T - 1. [MASK] is embedded as zero. For every
    minimizer, row by row, the mean same-topic entry exceeds the different-topic one by delta.
    """
    delta, T = same_topic_gap(model, masking), model.n_topics
    if bias == "none":
        return embedding_family(model, masking)
    if bias == "free":
        same = delta * (1 - 1 / T)
        return BlockMatrix(model, same, same, -delta / T, word_bias=1 / model.n_words)
    raise ValueError(f"bias must be 'none' or 'free', got {bias!r}")


def embedding_family(
    model: Topics, masking: Masking, *, mask_entry: float = 0.0, diagonal_excess: float = 0.0
) -> BlockMatrix:
    """All symmetric minimizers without bias that treat words alike: E_0w = `mask_entry` m <= 0 and the diagonal above
    the rest of its topic by `diagonal_excess` >= 0. Each is positive semidefinite, outside these signs none is.

    Different topics -(r delta/T + q m)/(1 - q), mean of a topic's block delta more, E_00 = -(1 - q) m/q. Without
    masked tokens (q = 0) m must vanish.
    """
    delta, v = same_topic_gap(model, masking), model.words_per_topic
    q, r = masking.mask_fraction, masking.random_fraction
    m = checks.between("mask_entry", mask_entry, high=0.0, closed=(False, True))
    excess = checks.non_negative("diagonal_excess", diagonal_excess)
    if (q == 0 and m != 0) or (v == 1 and excess != 0):
        raise ValueError(
            f"mask_entry needs masked tokens, diagonal_excess words_per_topic > 1: got mask_entry = {m}, "
            f"diagonal_excess = {excess} at mask_fraction = {q:g}, words_per_topic = {v}"
        )
    different = -(r * delta / model.n_topics + q * m) / (1 - q)
    same = different + delta - excess / v
    mask_mask = -(1 - q) * m / q if m else 0.0
    return BlockMatrix(model, same + excess, same, different, m, m, mask_mask)


def embedding_excess(model: Topics, masking: Masking, dimension: int) -> float:
    """(T - 1 - d) zeta: excess squared loss of an embedding in d dimensions with a free bias; 0 from d = T - 1 on."""
    d = checks.dimension(dimension, least=0, name="dimension")
    return max(model.n_topics - 1 - d, 0) * sectors(model, masking).topic_variance
