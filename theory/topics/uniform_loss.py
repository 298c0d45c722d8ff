"""Population losses of masked language modeling with uniform attention, as finite sums over topic sets."""

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from theory.core import Array, checked, checks
from theory.models.topics import Masking, TopicModel
from theory.topics.blocks import BlockMatrix

Loss = Literal["squared", "cross_entropy"]
MAX_SETS = 200_000


@dataclass(frozen=True, eq=False)
class Documents:
    """Holds what is seen and what is true of all topic sets S: `visible` xbar_S and `words` mu_S, both (D, sets)."""

    visible: Array
    words: Array


@checked
def documents(model: TopicModel, masking: Masking) -> Documents:
    """Return all topic sets of the model; ValueError where there are more than 200 000, with their number."""
    T, tau, v = model.n_topics, model.topics_per_document, model.words_per_topic
    # The binomial coefficient may have millions of digits, so that a bound on the number of topics comes first.
    if min(tau, T - tau) > 20 or comb(T, tau) > MAX_SETS:
        count = f"{comb(T, tau)}" if min(tau, T - tau) <= 20 else "many more"
        raise ValueError(f"model must have at most {MAX_SETS} sets, n_topics over topics_per_document, got {count}")
    checks.fits_in_memory("the population of all topic sets", 3 * comb(T, tau) * model.n_tokens)
    sets = np.array(list(combinations(range(T), tau)))
    topics = np.zeros((len(sets), T))
    np.put_along_axis(topics, sets, 1 / (tau * v), axis=1)
    words = np.vstack([np.zeros(len(sets)), np.repeat(topics, v, axis=1).T])
    visible = masking.true_fraction * words
    visible[1:] += masking.random_fraction / model.n_words
    visible[0] += masking.mask_fraction
    return Documents(visible, words)


@checked
def population_loss_uniform(
    model: TopicModel,
    masking: Masking,
    matrix: BlockMatrix | ArrayLike,
    bias: ArrayLike | None = None,
    *,
    loss: Loss = "squared",
) -> float:
    """Return the loss of f = W xbar_S + b, averaged over all topic sets S of infinitely long documents.

    `matrix` is W (D, D) or a BlockMatrix, and `bias` is b (D,), by default that of the BlockMatrix or zero. The loss
    "squared" is E |f - e_word|^2, summed over the D outputs; "cross_entropy" is -log softmax(f)[word], in nats.
    Derived here: long documents of the topics S all show the same frequencies xbar_S, and their words have the
    frequencies mu_S, from which single words differ by 1 - 1/(tau v) in squared distance. Raises ValueError above 200
    000 topic sets.
    """
    seen = documents(model, masking)
    W, b = weights_of(model, matrix, bias)
    with np.errstate(over="ignore", invalid="ignore"):
        f = W @ seen.visible + b[:, None]
        if loss == "squared":
            spread = 1 - 1 / (model.topics_per_document * model.words_per_topic)
            value = float(np.mean(((f - seen.words) ** 2).sum(axis=0)) + spread)
        else:
            value = float(np.mean(logsumexp(f, axis=0) - (seen.words * f).sum(axis=0)))
    if not np.isfinite(value):
        raise ValueError("matrix and bias are too large: the loss is no finite number")
    return value


def weights_of(model: TopicModel, matrix: Any, bias: Any) -> tuple[Array, Array]:
    """Return W (D, D) and b (D,), checked; without a bias, that of a BlockMatrix, else zero."""
    if isinstance(matrix, BlockMatrix) and matrix.model != model:
        raise ValueError(f"matrix must be of the model {model}, got one of {matrix.model}")
    W = checks.finite_array("matrix", matrix.matrix if isinstance(matrix, BlockMatrix) else matrix, 2)
    D = model.n_tokens
    checks.shaped("matrix", W, (D, D), " (tokens)")
    if bias is None:
        bias = matrix.bias if isinstance(matrix, BlockMatrix) else np.zeros(D)
    return W, checks.shaped("bias", checks.finite_array("bias", bias, 1), (D,), " (tokens)")


@checked
def block_loss_uniform(masking: Masking, W: BlockMatrix, *, loss: Loss = "squared") -> float:
    """Return the loss of a block matrix with uniform attention, for any number of topics.

    It equals `population_loss_uniform`, by symmetry: an output has one of three values, that of words of the topics S
    in the document, of words outside, and of [MASK]. Derived here: these values are the sums of W xbar_S + b over the
    classes of entries, and count tau v times, (T - tau) v times and once. Raises ValueError unless W is of a
    TopicModel.
    """
    model = W.model
    if not isinstance(model, TopicModel):
        raise ValueError(f"W must be a block matrix of a TopicModel, got one of a {type(model).__name__}")
    T, v, tau = model.n_topics, model.words_per_topic, model.topics_per_document
    kappa, r, q = masking.true_fraction, masking.random_fraction, masking.mask_fraction
    s, d = W.different + W.gap, W.different
    common = r * (s + (T - 1) * d) / T + q * W.mask_column + W.word_bias
    inside = kappa * (s + (tau - 1) * d) / tau + common
    outside = kappa * d + common
    mask = (1 - q) * W.mask_row + q * W.mask_mask + W.mask_bias
    if loss == "squared":
        h = 1 / (tau * v)
        return tau * v * (inside - h) ** 2 + (T - tau) * v * outside**2 + mask**2 + 1 - h
    counts = np.array([tau * v, (T - tau) * v, 1.0])
    return float(logsumexp(np.array([inside, outside, mask]), b=counts) - inside)
