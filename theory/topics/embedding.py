"""The optimal embedding with uniform attention and the value matrix at the identity: f = W_E^T W_E xbar + b."""

from typing import Annotated, Literal

from theory.core import NonNegative, NonNegativeCount, Within, checked
from theory.models.topics import Masking, Topics
from theory.topics.blocks import BlockMatrix
from theory.topics.sectors import same_topic_gap, sectors


@checked
def optimal_embedding_gram(model: Topics, masking: Masking, *, bias: Literal["none", "free"] = "none") -> BlockMatrix:
    """Return E = W_E^T W_E of least trace among all minimizers of the squared loss.

    It is the limit of vanishing weight decay on W_E. Without a bias ("none") same-topic entries are
    delta (1 - r/(T (1 - q))), different ones -delta r/(T (1 - q)), rank T; with a "free" (not decayed) bias
    delta (1 - 1/T) and -delta/T, word bias 1/(T v), rank T - 1. [MASK] is embedded as zero. For every minimizer, row
    by row, the mean same-topic entry exceeds the different-topic one by delta = `same_topic_gap` (arXiv:2303.04245).
    """
    if bias == "none":
        return embedding_family(model, masking)
    delta, T = same_topic_gap(model, masking), model.n_topics
    same = delta * (1 - 1 / T)
    return BlockMatrix(model, same, same, -delta / T, word_bias=1 / model.n_words)


@checked
def embedding_family(
    model: Topics,
    masking: Masking,
    *,
    mask_entry: Annotated[float, Within(high=0.0, closed=(False, True))] = 0.0,
    diagonal_excess: NonNegative = 0.0,
) -> BlockMatrix:
    """Return one of the symmetric minimizers without bias that treat words alike, which two numbers distinguish.

    `mask_entry` m <= 0 is E_0w, and the diagonal lies above the rest of its topic by `diagonal_excess` >= 0. Each such
    matrix is positive semidefinite, and outside these signs none is. Different-topic entries are -(r delta/T + q m)/(1
    - q), the mean of a topic's block lies delta higher, and E_00 = -(1 - q) m/q. Derived here: the minimizers are the E
    with E xbar_S = mu_S for every topic set S, and among symmetric block matrices these equations leave two numbers
    free. Raises ValueError outside these signs, for m other than 0 without masked tokens (q = 0), and for an excess at
    v = 1.
    """
    delta, v = same_topic_gap(model, masking), model.words_per_topic
    q, r = masking.mask_fraction, masking.random_fraction
    m, excess = mask_entry, diagonal_excess
    if (q == 0 and m != 0) or (v == 1 and excess != 0):
        raise ValueError(
            f"mask_entry needs masked tokens, diagonal_excess words_per_topic > 1: got mask_entry = {m}, "
            f"diagonal_excess = {excess} at mask_fraction = {q:g}, words_per_topic = {v}"
        )
    different = -(r * delta / model.n_topics + q * m) / (1 - q)
    same = different + delta - excess / v
    mask_mask = -(1 - q) * m / q if m else 0.0
    return BlockMatrix(model, same + excess, same, different, m, m, mask_mask)


@checked
def embedding_excess(model: Topics, masking: Masking, dimension: NonNegativeCount) -> float:
    """Return (T - 1 - d) zeta, the excess squared loss of the best embedding in d = `dimension` dimensions.

    The bias is free; zeta is the topic variance. Any d-dimensional subspace of the topic sector is optimal, and from
    d = T - 1 on the excess is 0. Derived here: every direction of the topic sector that the embedding leaves out costs
    the variance zeta that mu_S has along it.
    """
    return max(model.n_topics - 1 - dimension, 0) * sectors(model, masking).topic_variance
