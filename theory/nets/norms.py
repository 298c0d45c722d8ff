"""The law of norms: how fast the weights of different layers grow follows from the architecture alone."""

from dataclasses import dataclass, field

import numpy as np

from theory.core import Array, Result, checked, checks
from theory.models import FactoredStack
from theory.models.nets import LayerCount


@checked
def norm_ratios(n_layers: LayerCount) -> Array:
    """Return how much faster the squared norm of every layer grows than that of the last: 2^(N-l), (N,).

    The logits of a factored stack are homogeneous of degree d_l = 2^(N-l) in the attention A_l, and in V_l. For a
    function of the logits, Euler's theorem gives <A_l, dloss/dA_l> = d_l G, where G is the mean of (p - x).z without
    the fields, the same for all layers. So under gradient flow d|A_l|^2/dt = d|V_l|^2/dt = -2 d_l G, whatever the data
    and whatever the batch. Derived here by Euler's theorem; that layers of one degree stay balanced is known
    (arXiv:1806.00900).

    This is the law of stacks without skip connections. With them no such ratios exist: what a skip connection passes on
    is not squared, and <A_l, dloss/dA_l> of two layers can even differ in sign. Only the balance within each layer,
    d|A_l|^2/dt = d|V_l|^2/dt, is left, and one sum rule, <A_N, dloss/dA_N> + (1/2) sum_(l < N) <A_l, dloss/dA_l> =
    dloss/dlog c at c = 1, where c multiplies the inputs.

    >>> norm_ratios(3).tolist()
    [4.0, 2.0, 1.0]
    """
    return np.asarray(2.0 ** np.arange(n_layers - 1, -1, -1))


@dataclass(frozen=True, eq=False, repr=False)
class ConservedQuantities(Result):
    """What gradient flow of any loss leaves as it is in a factored stack of N layers.

    `within_layers` (N,) holds |A_l|^2 - |V_l|^2, and `between_layers` (N - 1,) holds 2^-(N-l) |A_l|^2 - |A_N|^2 of all
    layers but the last; with skip connections nothing is conserved between layers, and it is (0,). Norms are Frobenius
    norms.
    """

    within_layers: Array = field(repr=False)
    between_layers: Array = field(repr=False)


@checked
def conserved_quantities(stack: FactoredStack) -> ConservedQuantities:
    """Compute the constants of motion that follow from the law of norms (see `norm_ratios`).

    They hold for gradient flow at all times, for any data and batches, with or without fields; steps of finite size
    change them, see `corrected_growth`. Derived here: squared norms that grow at rates of fixed ratios have weighted
    differences that stay as they are; balanced layers (arXiv:1806.00900) and conservation laws of symmetries
    (arXiv:2012.04728) are known.

    >>> conserved_quantities(FactoredStack([[[3.0, 0.0], [0.0, 0.0]]], [[[0.0, 2.0], [0.0, 0.0]]])).within_layers
    array([5.])
    """
    a, v = _squared_norms(stack.attentions), _squared_norms(stack.values)
    between = a[:0] if stack.skip else a[:-1] / norm_ratios(stack.n_layers)[:-1] - a[-1]
    return ConservedQuantities(a - v, between)


@dataclass(frozen=True, eq=False, repr=False)
class CorrectedGrowth(Result):
    """The growth of squared norms along gradient descent, after what finite steps add to it has been subtracted.

    `attentions` (N,) and `values` (N,) hold Q_l = |A_l|^2 - |A_l(0)|^2 - (sum of the squared steps) and the same of
    V_l. Both are equal in every layer and, without skip connections, proportional to 2^(N-l), exactly.
    """

    attentions: Array
    values: Array

    @property
    def ratios(self) -> Array:
        """The ratios Q_l/Q_N of the attentions, (N,), which `norm_ratios` predicts; nan where nothing has grown."""
        last = self.attentions[-1]
        return np.asarray(self.attentions / last) if last else np.full(len(self.attentions), np.nan)


@checked
def corrected_growth(
    start: FactoredStack, now: FactoredStack, attention_steps: Array, value_steps: Array
) -> CorrectedGrowth:
    """Compute the growth of all squared norms, corrected so that the law of norms holds for steps of any size.

    A step from A to A - eta g changes |A|^2 by -2 eta <A, g> + eta^2 |g|^2. The first term obeys the law of norms
    exactly, batch by batch (see `norm_ratios`); the second does not. Derived here: the square is expanded, and Euler's
    theorem is applied to <A, g> of every batch. `attention_steps` (N,) and `value_steps` (N,) are the sums over all
    steps since `start` of eta^2 |g|^2 for each A_l and V_l. This holds for gradient descent and stochastic gradient
    descent with any rates and batches, not for steps with momentum, weight decay, or Adam.

    >>> start = FactoredStack([[[1.0]]], [[[2.0]]])
    >>> now = FactoredStack([[[1.5]]], [[[2.25]]])  # a step with eta g = -0.5 in A, -0.25 in V: both -2 eta <A, g> = 1
    >>> corrected_growth(start, now, [0.25], [0.0625]).values
    array([1.])
    """
    if now.attentions.shape != start.attentions.shape or now.values.shape != start.values.shape:
        raise ValueError(f"now must have the layers, sites and colors of start, {start}, got {now}")
    grown = []
    for name, steps, before, after in (
        ("attention_steps", attention_steps, start.attentions, now.attentions),
        ("value_steps", value_steps, start.values, now.values),
    ):
        taken = checks.finite_array(name, steps, 1)
        if taken.shape != (start.n_layers,) or taken.min() < 0:
            raise ValueError(f"{name} must be {start.n_layers} numbers >= 0, one a layer, got {checks.shown(steps)}")
        grown.append(_squared_norms(after) - _squared_norms(before) - taken)
    return CorrectedGrowth(*grown)


def _squared_norms(weights: Array) -> Array:
    return np.asarray(np.sum(weights**2, axis=(1, 2)))
