"""The gain S of a network with small logits over its first plateau, and the gradient that drives it away from there."""

from abc import ABC, abstractmethod
from itertools import pairwise

import numpy as np

from theory.core import Array, checked
from theory.models import FactoredStack
from theory.models.potts.batches import blocks
from theory.nets.law import Contexts, Data, Law, contexts_of, law_of, require_same_sizes
from theory.nets.moments import second_moments_of, third_moments_of

MOST_THIRD = 2**24  # third moments of more numbers are not taken
# A multiplication among contexts takes so many times as long as one among third moments, as measured.
CONTEXT_COST_RATIO = 15
BLOCK = 2**16  # numbers of the inputs of one block of contexts

Weights = tuple[Array, Array]
"""The attentions (N, L, L) and the values (N, C, C) of a stack."""


class LeadingGain(ABC):
    """Computes S = (1/L) sum_i E[(x_i - q_i).z_i] and its gradient, from arrays of weights."""

    @abstractmethod
    def gradient(self, attentions: Array, values: Array) -> tuple[float, Array, Array]:
        """Return S, and its derivatives by the attentions (N, L, L) and by the values (N, C, C)."""


class OfSecondMoments(LeadingGain):
    """One layer: S = (1/L) sum A_ij V_ab K_ia,jb."""

    def __init__(self, law: Law, baseline: Array) -> None:
        self.moments = rearranged(second_moments_of(law, baseline)) / law.n_sites

    def gradient(self, attentions: Array, values: Array) -> tuple[float, Array, Array]:
        """Return S at these weights and its derivatives by them, in the shapes of the weights."""
        by_A, by_V = self.moments @ values.ravel(), attentions.ravel() @ self.moments
        return float(attentions.ravel() @ by_A), by_A.reshape(attentions.shape), by_V.reshape(values.shape)


class OfThirdMoments(LeadingGain):
    """Two layers: S = (1/L) sum A'_ij V'_ab (A_jk V_bc) (A_jl V_bd) T_ia,kc,ld, the prime being the second layer."""

    def __init__(self, law: Law, baseline: Array) -> None:
        size = law.n_sites * law.n_colors
        moments = third_moments_of(law, baseline).reshape(size * size, size) / law.n_sites
        self.moments = np.ascontiguousarray(moments.T)  # what is read last comes first: (read, predicted and read)

    def gradient(self, attentions: Array, values: Array) -> tuple[float, Array, Array]:
        """Return S at these weights and its derivatives by them, in the shapes of the weights."""
        (L, C), (A, B), (V, W) = (attentions.shape[1], values.shape[1]), attentions, values
        unit = _kronecker(A, V)  # row (j, b): what this hidden unit reads
        seen = (unit @ self.moments).reshape(L * C, L * C, L * C)  # (unit, predicted, read once more)
        squares = np.matmul(seen, unit[:, :, None])  # (unit jb, predicted ia): E[(x - q)_ia Y_jb^2] / L
        by_weights = squares.reshape(L, C, L, C).transpose(2, 0, 3, 1).reshape(L * L, C * C)
        by_unit = np.matmul(_kronecker(B.T, W.T)[:, None, :], seen)  # half of it, (unit jb, read kc)
        by_first = 2 * by_unit.reshape(L, C, L, C).transpose(0, 2, 1, 3).reshape(L * L, C * C)
        (by_A, by_V), (by_B, by_W) = (
            (by @ second.ravel(), first.ravel() @ by) for by, first, second in ((by_first, A, V), (by_weights, B, W))
        )
        by_attentions, by_values = np.array([by_A, by_B]), np.array([by_V, by_W])
        return float(by_B @ B.ravel()), by_attentions.reshape(attentions.shape), by_values.reshape(values.shape)


def _kronecker(A: Array, V: Array) -> Array:
    """Return A_jk V_bc as a matrix with rows (j, b) and columns (k, c)."""
    return np.asarray((A[:, None, :, None] * V[:, None, :]).reshape(len(A) * len(V), -1))


class OfContexts(LeadingGain):
    """Any number of layers: back-propagation through the contexts of all masked sites.

    The contexts are cut into blocks whose arrays stay in the cache of a processor, which takes less than half the time.
    """

    def __init__(self, contexts: Contexts, most: int = BLOCK) -> None:
        L, n, C = contexts.inputs.shape
        self.blocks = []
        for rows in blocks(n, L * C, most):
            sites = [
                (i, max(low, rows.start) - rows.start, min(high, rows.stop) - rows.start)
                for i, (low, high) in enumerate(pairwise(contexts.first))
                if low < rows.stop and high > rows.start
            ]
            self.blocks.append((np.ascontiguousarray(contexts.inputs[:, rows]), contexts.surplus[rows], sites))

    def gradient(self, attentions: Array, values: Array) -> tuple[float, Array, Array]:
        """Return S at these weights and its derivatives by them, in the shapes of the weights."""
        by_A, by_V = np.zeros_like(attentions), np.zeros_like(values)
        for inputs, surplus, sites in self.blocks:
            _add_block(inputs, surplus, sites, attentions, values, by_A, by_V)
        return float(np.sum(attentions[-1] * by_A[-1])), by_A, by_V


def _add_block(
    x: Array,
    surplus: Array,
    sites: list[tuple[int, int, int]],
    attentions: Array,
    values: Array,
    by_A: Array,
    by_V: Array,
) -> None:
    """Add the derivatives of the part of S of some contexts; `sites` tells which of them mask which site."""
    L, n, C = x.shape
    inputs, attended, outputs = [x.reshape(L, n * C)], [], []
    for A, V in zip(attentions[:-1], values[:-1], strict=True):
        attended.append((A @ inputs[-1]).reshape(L * n, C))
        outputs.append(attended[-1] @ V.T)
        inputs.append(np.square(outputs[-1]).reshape(L, n * C))
    A, pulled = attentions[-1], surplus @ values[-1]
    last, slope = inputs[-1].reshape(L, n, C), np.empty((L, n, C))  # the slope of S by the input of the layer
    # Of the last layer only the row of the masked site counts, and contexts are grouped by it.
    for i, low, high in sites:
        block = last[:, low:high].reshape(L, -1)
        by_A[-1, i] += block @ pulled[low:high].ravel()
        by_V[-1] += surplus[low:high].T @ (A[i] @ block).reshape(-1, C)
        np.multiply.outer(A[i], pulled[low:high], out=slope[:, low:high])
    for layer in range(len(attentions) - 2, -1, -1):
        slope = 2 * outputs[layer] * slope.reshape(L * n, C)
        by_V[layer] += slope.T @ attended[layer]
        slope = (slope @ values[layer]).reshape(L, n * C)
        by_A[layer] += slope @ inputs[layer].T
        slope = attentions[layer].T @ slope


@checked
def leading_gain(model: Data, stack: FactoredStack) -> float:
    """Compute S, the gain of a network with small logits over its first plateau, in nats per site.

    The masked loss of logits z near zero is ln C - S + O(|z|^2) with S = (1/L) sum_i E[(x_i - 1/C).z_i]. S is
    homogeneous of degree D = 2 (2^N - 1) in the weights, and needs only moments of the data of up to 2^(N-1) + 1 sites.
    Derived here: the cross entropy of log softmax(z) is expanded to first order in the logits. A stack with fields
    first learns the marginals: its plateau is then the loss of predicting each site from its own frequencies alone, the
    marginals take the place of 1/C, and z has no fields. The values of the fields are not used. With skip connections S
    is that of the last layer alone, since the squares of small weights are smaller still.

    `model` is a model that can be enumerated, an enumeration, or `Sequences`; ValueError for one that is too large, and
    for a stack of other sites or colors.

    >>> from theory.models import PottsModel
    >>> pair = PottsModel(site_couplings=[[0, 1], [1, 0]], color_couplings=[[1, 0], [0, 1]], beta=1.0)
    >>> stack = FactoredStack([[[0.0, 0.1], [0.1, 0.0]]], [[[0.1, 0.0], [0.0, 0.1]]])
    >>> round(leading_gain(pair, stack), 9)
    0.002310586
    """
    law = law_of(model)
    require_same_sizes(law, stack)
    stack = stack.last_layer if stack.skip else stack
    gain, _, _ = gain_of(law, stack.n_layers, stack.fields is not None).gradient(stack.attentions, stack.values)
    return gain


def gain_of(law: Law, n_layers: int, fields: bool) -> LeadingGain:
    """Return the way to compute S that suits the number of layers and the size of the data."""
    baseline = law.baseline(fields)
    if n_layers == 1:
        return OfSecondMoments(law, baseline)
    L, C = law.n_sites, law.n_colors
    by_contexts = CONTEXT_COST_RATIO * len(law.states) * L**2 * C * (L + C)
    if n_layers == 2 and (L * C) ** 3 <= MOST_THIRD and by_contexts >= (L * C) ** 4:
        return OfThirdMoments(law, baseline)
    return OfContexts(contexts_of(law, baseline))


def rearranged(moments: Array) -> Array:
    """Return moments (L, C, L, C) as the matrix (L^2, C^2) from pairs of colors to pairs of sites."""
    L, C = moments.shape[:2]
    return np.asarray(moments.transpose(0, 2, 1, 3).reshape(L * L, C * C))


def packed(attentions: Array, values: Array) -> Array:
    """Return all weights as one vector."""
    return np.concatenate([attentions.ravel(), values.ravel()])


def unpacked(weights: Array, stack: FactoredStack) -> Weights:
    """Return a vector of weights as attentions and values of the shapes of `stack`."""
    count = stack.attentions.size
    return weights[:count].reshape(stack.attentions.shape), weights[count:].reshape(stack.values.shape)
