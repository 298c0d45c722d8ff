"""The masked loss of a stack of factored attention and its gradient, by back-propagation written out by hand.

A stack maps one-hot inputs X_0 (L, C), the row of the hidden site zero, through Y_l = A_l X_{l-1} V_l^T and X_l = Y_l^2
(elementwise, l < N), with skip connections X_l = X_{l-1} + Y_l^2, to the logits Y_N + h of the hidden site.
"""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulate.nets.population import MaskedContexts, require_fit
from simulate.nets.stack_steps import NO_MOMENTS, Contexts, Layers, descend, is_wide
from theory.core import Array, Count, Result, checked, checks
from theory.models import FactoredStack
from theory.models.potts.batches import States

Precision = Literal["float32", "float64"]
NUMBERS = {name: np.zeros(0, name) for name in ("float32", "float64")}  # by which kernels know a precision


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
def stack_gradient(
    stack: FactoredStack, contexts: MaskedContexts, precision: Literal["float32", "float64"] = "float64"
) -> StackGradient:
    """Compute the masked loss of a stack on all `contexts`, and its exact gradient.

    With R = weights (softmax(z) - targets), the derivative by the logits at the hidden sites, back-propagation gives
    dV_l = dY_l^T (A_l X_{l-1}), T = dY_l V_l, dA_l = T X_{l-1}^T (contracted over contexts and colors), dX_{l-1} =
    A_l^T T and dY_{l-1} = 2 Y_{l-1} dX_{l-1}; at the last layer dY_N has the one row R. A skip connection adds dX_l to
    dX_{l-1}. With `precision` "float32" all but the softmax and the sums over blocks of contexts is computed in single
    precision. ValueError for contexts of other sites or colors than the stack's, and for logits that single precision
    cannot hold.

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
    loss, gradient = loss_and_gradient(weights, Batch.of(contexts), precision)
    if not np.isfinite(loss):
        raise ValueError(
            f"stack must have logits that are finite in precision {precision!r}; 'float64' reaches further"
        )
    return StackGradient(loss, np.array(gradient.attentions), np.array(gradient.values), gradient.fields)


class Weights(NamedTuple):
    """The arrays of a stack, or a direction in their space: writable, so that an optimizer moves them in place."""

    attentions: Array  # (N, L, L)
    values: Array  # (N, C, C)
    fields: Array | None  # (L, C)
    skip: bool = False

    @classmethod
    @checked
    def of(cls, stack: FactoredStack) -> "Weights":
        """Copy the arrays of a stack, in the one layout that kernels are compiled for."""
        fields = None if stack.fields is None else np.array(stack.fields, order="C")
        return cls(np.array(stack.attentions, order="C"), np.array(stack.values, order="C"), fields, stack.skip)

    @property
    def stack(self) -> FactoredStack:
        """The stack that has these arrays."""
        return FactoredStack(self.attentions, self.values, self.fields, self.skip)

    @property
    def layers(self) -> Layers:
        """The arrays as kernels take them, with no rows of fields where the stack has none."""
        A, V, h, _ = self
        return A, V, np.zeros((0, V.shape[1])) if h is None else h

    @property
    def arrays(self) -> list[Array]:
        """The two or three arrays in their order."""
        return [each for each in (self.attentions, self.values, self.fields) if each is not None]

    @property
    def flat(self) -> Array:
        """All numbers in one vector."""
        return np.concatenate([each.reshape(-1) for each in self.arrays])

    @checked
    def like(self, flat: Array) -> "Weights":
        """Cut a vector such as `flat` into arrays with the shapes of these."""
        checks.shaped("flat", flat, (sum(each.size for each in self.arrays),))
        cuts = np.cumsum([each.size for each in self.arrays])[:-1]
        parts = [part.reshape(each.shape) for part, each in zip(np.split(flat, cuts), self.arrays, strict=True)]
        return Weights(parts[0], parts[1], parts[2] if len(parts) > 2 else None, self.skip)


class Batch(NamedTuple):
    """What the gradient reads of R contexts."""

    states: NDArray[np.int64]  # (R, L)
    sites: NDArray[np.int64]  # (R,), the hidden ones
    weights: Array  # (R,)
    targets: Array  # (R, C)

    @property
    def arrays(self) -> Contexts:
        """The arrays as kernels take them."""
        return self.states, self.sites, self.weights, self.targets

    def part(self, first: int, size: int) -> "Batch":
        """Return the contexts from `first` on, at most `size` of them."""
        here = slice(first, first + size)
        return Batch(self.states[here], self.sites[here], self.weights[here], self.targets[here])

    @classmethod
    @checked
    def of(cls, contexts: MaskedContexts) -> "Batch":
        """Take the arrays of a record of contexts."""
        states, sites = (np.array(each, np.int64, order="C") for each in (contexts.states, contexts.sites))
        return cls(states, sites, np.array(contexts.weights), np.array(contexts.targets, order="C"))

    @classmethod
    @checked
    def of_sequences(cls, states: States, sites: NDArray[np.int64], n_colors: Count) -> "Batch":
        """Hide one site of each of the sequences `states` (B, L), which count alike."""
        checks.fits_in_memory(f"n_colors = {n_colors}", float(n_colors) ** 2)
        if checks.colors("states", states, n_colors).ndim != 2 or not len(states):
            raise ValueError(f"states must have shape (sequences, sites), got {states.shape}")
        if sites.shape != states.shape[:1] or sites.min() < 0 or sites.max() >= states.shape[1]:
            raise ValueError(f"sites must be {len(states)} numbers below {states.shape[1]}, got {checks.shown(sites)}")
        return cls.unchecked(states.astype(np.int64, copy=False), sites, n_colors, len(states))

    @classmethod
    def unchecked(cls, states: NDArray[np.int64], sites: NDArray[np.int64], n_colors: int, size: int) -> "Batch":
        """Make batches of `size` sequences in one, without checks, as a training needs them at every step."""
        targets, rows = np.zeros((len(states), n_colors)), np.arange(len(states))
        targets[rows, states[rows, sites]] = 1.0
        return cls(states, sites, np.full(len(states), 1 / size), targets)


def stack_loss(weights: Weights, batch: Batch, precision: Precision = "float64") -> float:
    """Compute the masked loss alone."""
    return _pass(weights, batch, precision, with_gradient=False)[0]


def loss_and_gradient(weights: Weights, batch: Batch, precision: Precision = "float64") -> tuple[float, Weights]:
    """Compute the masked loss and its derivatives, as `stack_gradient`, without a record around them."""
    return _pass(weights, batch, precision, with_gradient=True)


def _pass(weights: Weights, batch: Batch, precision: Precision, *, with_gradient: bool) -> tuple[float, Weights]:
    layers = weights.layers
    found = np.empty_like(layers[0]), np.empty_like(layers[1]), np.empty_like(layers[2])
    number, unmoved = NUMBERS[precision], np.zeros((2, len(layers[0])))
    _, loss = descend(
        1, len(batch.sites), batch.arrays, layers, number, weights.skip, with_gradient, True, found, 0.0, NO_MOMENTS, 0,
        unmoved, is_wide(weights.attentions, weights.values),
    )  # fmt: skip
    return loss, Weights(found[0], found[1], None if weights.fields is None else found[2], weights.skip)
