"""The masked loss of a stack of factored attention and its gradient, by back-propagation written out by hand.

A stack maps one-hot inputs X_0 (L, C), the row of the hidden site zero, through Y_l = A_l X_{l-1} V_l^T and X_l = Y_l^2
(elementwise, l < N) to the logits Y_N + h of the hidden site (arXiv:2410.19637, Fig. 2).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from simulate.nets.population import MaskedContexts
from theory.models import FactoredStack
from theory.models.arguments import checked
from theory.models.arrays import Array
from theory.models.potts.batches import States
from theory.models.results import Result


@dataclass(frozen=True, eq=False, repr=False)
class StackGradient(Result):
    """The masked `loss` of a stack in nats, and its derivatives by the weights of the stack.

    They have the shapes of the weights: `attentions` (N, L, L), `values` (N, C, C) and `fields` (L, C), which are None
    where the stack has none.
    """

    loss: float
    attentions: Array = field(repr=False)
    values: Array = field(repr=False)
    fields: Array | None = field(repr=False)


@checked
def stack_gradient(stack: FactoredStack, contexts: MaskedContexts) -> StackGradient:
    """Computes the masked loss of a stack on all `contexts`, and its exact gradient.

    With R = weights (softmax(z) - targets), the derivative by the logits at the hidden sites, back-propagation gives
    dV_l = dY_l^T (A_l X_{l-1}), T = dY_l V_l, dA_l = T X_{l-1}^T (contracted over contexts and colors), dX_{l-1} =
    A_l^T T and dY_{l-1} = 2 Y_{l-1} dX_{l-1}; at the last layer dY_N has the one row R. ValueError for contexts of
    other sites or colors than the stack's.

    >>> from theory.models import PottsModel
    >>> from simulate.nets import enumerated_contexts
    >>> contexts = enumerated_contexts(PottsModel([[0, 1], [1, 0]], [[1, 0], [0, 1]]))
    >>> stack = FactoredStack(attentions=[[[0, 1], [1, 0]]], values=[[[1, 0], [0, 1]]])  # the law of the model itself
    >>> gradient = stack_gradient(stack, contexts)
    >>> abs(gradient.loss - contexts.floor) < 1e-12, bool(abs(gradient.values).max() < 1e-12)
    (True, True)
    """
    require_fit(stack, contexts)
    weights = Weights.of(stack)
    loss, gradient = loss_and_gradient(weights, Batch.of(contexts))
    return StackGradient(loss, np.array(gradient.attentions), np.array(gradient.values), gradient.fields)


def require_fit(stack: FactoredStack, contexts: MaskedContexts) -> None:
    """Refuses, by ValueError, contexts of other sites or colors than those of the stack."""
    shape = stack.attentions.shape[1], stack.values.shape[1]
    if (contexts.n_sites, contexts.n_colors) != shape:
        raise ValueError(
            f"contexts must have {shape[0]} sites and {shape[1]} colors as stack has, got {contexts.n_sites} and "
            f"{contexts.n_colors}"
        )


class Weights(NamedTuple):
    """The arrays of a stack, or a direction in their space: writable, so that an optimizer moves them in place."""

    attentions: Array  # (N, L, L)
    values: Array  # (N, C, C)
    fields: Array | None  # (L, C)

    @classmethod
    def of(cls, stack: FactoredStack) -> "Weights":
        """Copies the arrays of a stack."""
        fields = None if stack.fields is None else np.array(stack.fields)
        return cls(np.array(stack.attentions), np.array(stack.values), fields)

    @property
    def stack(self) -> FactoredStack:
        """The stack that has these arrays."""
        return FactoredStack(self.attentions, self.values, self.fields)

    @property
    def arrays(self) -> list[Array]:
        """The two or three arrays in their order."""
        return [each for each in self if each is not None]

    @property
    def flat(self) -> Array:
        """All numbers in one vector."""
        return np.concatenate([each.reshape(-1) for each in self.arrays])

    def like(self, flat: Array) -> "Weights":
        """Cuts a vector such as `flat` into arrays with the shapes of these."""
        cuts = np.cumsum([each.size for each in self.arrays])[:-1]
        parts = [part.reshape(each.shape) for part, each in zip(np.split(flat, cuts), self.arrays, strict=True)]
        return Weights(parts[0], parts[1], parts[2] if len(parts) > 2 else None)


class Batch(NamedTuple):
    """What the gradient reads of R contexts, in a layout in which every layer is two matrix products."""

    inputs: Array  # (L, R, C), one-hot, zero at the hidden site
    sites: NDArray[np.int64]  # (R,)
    at: Array  # (L, R), one where the site is the hidden one
    weights: Array  # (R, 1)
    targets: Array  # (R, C)

    @classmethod
    def of(cls, contexts: MaskedContexts) -> "Batch":
        """Unfolds a record of contexts."""
        return cls.of_rows(contexts, slice(None))

    @classmethod
    def of_rows(cls, contexts: MaskedContexts, rows: slice) -> "Batch":
        """Unfolds a part of a record of contexts; the weights of all parts add up to one."""
        sites = contexts.sites[rows]
        inputs, at = _hidden(contexts.states[rows], sites, contexts.n_colors)
        return cls(inputs, sites, at, contexts.weights[rows, None], contexts.targets[rows])

    @classmethod
    def of_sequences(cls, states: States, sites: NDArray[np.int64], n_colors: int) -> "Batch":
        """Hides one site of each of the sequences `states` (B, L), which count alike."""
        inputs, at = _hidden(states, sites, n_colors)
        targets = np.eye(n_colors)[states[np.arange(len(states)), sites]]
        return cls(inputs, sites, at, np.full((len(states), 1), 1 / len(states)), targets)


def _hidden(states: States, sites: NDArray[np.int64], n_colors: int) -> tuple[Array, Array]:
    inputs = np.eye(n_colors)[states.T]
    inputs[sites, np.arange(len(sites))] = 0.0
    at = np.zeros(inputs.shape[:2])
    at[sites, np.arange(len(sites))] = 1.0
    return inputs, at


def stack_loss(weights: Weights, batch: Batch) -> float:
    """Computes the masked loss alone."""
    log_p = log_softmax(_forward(weights, batch)[0], axis=1)
    return -float(np.sum(batch.weights * batch.targets * log_p))


def loss_and_gradient(weights: Weights, batch: Batch) -> tuple[float, Weights]:
    """Computes the masked loss and its derivatives, as `stack_gradient`, without a record around them."""
    A, V, _ = weights
    L, R, C = batch.inputs.shape
    logits, context, layers = _forward(weights, batch)
    log_p = log_softmax(logits, axis=1)
    residual = batch.weights * (np.exp(log_p) - batch.targets)
    dA, dV = np.empty_like(A), np.empty_like(V)
    dV[-1] = residual.T @ context
    back = residual @ V[-1]  # (R, C)
    last = layers[-1].inputs
    dA[-1] = batch.at @ np.einsum("jrc,rc->jr", last, back).T
    # The derivative by the outputs of the last hidden layer has every row of the attention of the hidden site.
    dX = A[-1][batch.sites].T[:, :, None] * back
    for number in range(len(A) - 2, -1, -1):
        layer = layers[number]
        dY = (2.0 * layer.outputs * dX).reshape(L * R, C)
        dV[number] = dY.T @ layer.attended.reshape(L * R, C)
        back = (dY @ V[number]).reshape(L, R * C)
        dA[number] = back @ layer.inputs.reshape(L, R * C).T
        if number:
            dX = (A[number].T @ back).reshape(L, R, C)
    dh = None if weights.fields is None else batch.at @ residual
    return -float(np.sum(batch.weights * batch.targets * log_p)), Weights(dA, dV, dh)


class _Layer(NamedTuple):
    """X_{l-1}, A_l X_{l-1} and Y_l of a hidden layer, (L, R, C); of the last layer only its inputs are kept."""

    inputs: Array
    attended: Array
    outputs: Array


def _forward(weights: Weights, batch: Batch) -> tuple[Array, Array, Sequence[_Layer]]:
    """Returns the logits of the hidden sites (R, C), what the last layer attends to there (R, C), and the layers."""
    A, V, h = weights
    L, R, C = batch.inputs.shape
    X, layers = batch.inputs, []
    for attention, values in zip(A[:-1], V[:-1], strict=True):
        attended = (attention @ X.reshape(L, R * C)).reshape(L, R, C)
        outputs = (attended.reshape(L * R, C) @ values.T).reshape(L, R, C)
        layers.append(_Layer(X, attended, outputs))
        X = outputs * outputs
    layers.append(_Layer(X, X, X))
    context = np.einsum("rj,jrc->rc", A[-1][batch.sites], X)
    logits = context @ V[-1].T
    return (logits if h is None else logits + h[batch.sites]), context, layers
