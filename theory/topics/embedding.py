"""The optimal embedding with uniform attention and the value matrix at the identity."""

from typing import Literal

from theory.models import checks
from theory.models.topics import Masking, TopicModel
from theory.topics.blocks import BlockMatrix
from theory.topics.sectors import same_topic_gap, sectors


def optimal_embedding_gram(
    model: TopicModel, masking: Masking, *, bias: Literal["none", "free"] = "none"
) -> BlockMatrix:
    """E = W_E^T W_E of least trace among all minimizers of the squared loss: the limit of vanishing weight decay.

    bias "none": same-topic entries delta (1 - r/(T (1 - q))), different -delta r/(T (1 - q)), rank T; "free" (not
    decayed): delta (1 - 1/T) and -delta/T, word bias 1/(T v), rank T - 1. [MASK] is embedded as zero. For every
    minimizer, row by row, the mean same-topic entry exceeds the different-topic one by delta.
    """
    delta, T = same_topic_gap(model, masking), model.n_topics
    if bias == "none":
        different = -delta * masking.random_fraction / (T * (1 - masking.mask_fraction))
        word_bias = 0.0
    elif bias == "free":
        different, word_bias = -delta / T, 1 / model.n_words
    else:
        raise ValueError(f"bias must be 'none' or 'free', got {bias!r}")
    same = delta + different
    return BlockMatrix(model, same, same, different, word_bias=word_bias)


def embedding_excess(model: TopicModel, masking: Masking, dimension: int) -> float:
    """(T - 1 - d) zeta: excess squared loss of an embedding in d dimensions with a free bias; zero from d = T - 1 on."""
    d = checks.dimension(dimension, least=0, name="dimension")
    return max(model.n_topics - 1 - d, 0) * sectors(model, masking).topic_variance
