"""Runs one layer of factored attention as a network: masked input, logits, loss, and back-propagation."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from theory.core import Array, Count, Matrix, Within, checked, checked_fields, checks
from theory.core.read_only import KeepsReadOnly
from theory.models.covariance import set_checked
from theory.models.potts.base import one_hot
from theory.models.potts.batches import States, blocks, checked_samples

# Products of weights that are drawn must not overflow.
Scale = Annotated[float, Within(0.0, 1e150, closed=(False, True))]


@dataclass(frozen=True, eq=False)
class AttentionLayer(KeepsReadOnly):
    """A layer with the logits A X V^T + h of an input X (..., L, C) with one-hot rows (arXiv:2304.07235).

    The `attention` A (L, L) depends on positions only, and the `values` V (C, C), with rows for predicted colors, on
    colors only; the `fields` h (L, C) are zero where None. The row of a masked site is zero, so the diagonal of A would
    not count there; it is kept at zero.
    """

    attention: Matrix = field(repr=False)
    values: Matrix = field(repr=False)
    fields: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        checked_fields(self)
        A, V = self.attention, self.values
        if A.shape[0] != A.shape[1] or np.any(np.diag(A)):
            raise ValueError(f"attention must be square with a zero diagonal, got shape {A.shape}")
        if V.shape[0] != V.shape[1]:
            raise ValueError(f"values must be square, got shape {V.shape}")
        shape = len(A), len(V)
        h = checks.finite_array("fields", np.zeros(shape) if self.fields is None else self.fields, 2)
        set_checked(self, fields=checks.shaped("fields", h, shape, " (sites, colors) as attention and values"))

    @classmethod
    @checked
    def random(cls, n_sites: Count, n_colors: Count, scale: Scale, rng: np.random.Generator) -> Self:
        """Draw a layer without fields, with entries A ~ N(0, scale^2/L) and V ~ N(0, scale^2/C)."""
        L, C = n_sites, n_colors
        checks.fits_in_memory(f"a layer of {L} sites and {C} colors", 3 * (float(L) ** 2 + float(C) ** 2))
        A = scale / np.sqrt(L) * rng.standard_normal((L, L))
        np.fill_diagonal(A, 0.0)
        return cls(A, scale / np.sqrt(C) * rng.standard_normal((C, C)))

    @property
    def n_sites(self) -> int:
        """The number L of sites."""
        return len(self.attention)

    @property
    def n_colors(self) -> int:
        """The number C of colors."""
        return len(self.values)

    def logits(self, inputs: Any) -> Array:
        """Compute A X V^T + h of inputs X (..., L, C): the scores of every color at every site."""
        X = checks.last_axis("inputs", inputs, self.n_colors)
        if X.ndim < 2 or X.shape[-2] != self.n_sites:
            raise ValueError(f"inputs must have shape (..., {self.n_sites}, {self.n_colors}), got {X.shape}")
        return np.asarray(self.attention @ X @ self.values.T + self.fields)


@checked
def masked_inputs(states: Any, n_colors: Count, site: int) -> Array:
    """Return the one-hot input (M, L, C) of states (M, L) with `site` masked.

    The row of the masked site is the zero vector; there is no extra color for it. ValueError for a site that is not
    there.
    """
    colors = checked_samples("states", states, n_colors, least=0)
    checks.between("site", site, -colors.shape[1], colors.shape[1], closed=(True, False))
    checks.fits_in_memory(f"one-hot inputs of {n_colors} colors", float(n_colors) * (colors.size + n_colors))
    inputs = one_hot(colors, n_colors)
    inputs[:, site] = 0.0
    return inputs


@checked
def masked_language_model_loss(layer: AttentionLayer, states: Any) -> float:
    """Measure the loss of a layer on states (M, L), each site masked in turn, in nats.

    It is the mean of -log softmax(logits_i)[s_i] over samples and masked sites i. It equals 1/L times the negative log
    pseudo-likelihood per sample of couplings A_ij V_ab and fields h.
    """
    checked = checked_samples("states", states, layer.n_colors, layer.n_sites)
    total, by_color = 0.0, np.ascontiguousarray(layer.values.T)
    for rows in blocks(len(checked), layer.n_sites * layer.n_colors):
        # The attention of a site to itself is zero, so that masking it makes no difference to its own logits.
        z = layer.attention @ by_color[checked[rows]] + layer.fields
        total -= float(np.sum(np.take_along_axis(log_softmax(z, axis=-1), checked[rows][:, :, None], axis=-1)))
    return total / checked.size


@checked
def loss_and_gradient(layer: AttentionLayer, states: Any, sites: Any) -> tuple[float, Array, Array, Array]:
    """Compute the loss of masking one site in each of `states` (B, L), and its derivatives by A, V and h.

    `sites` (B,) are the masked sites. Back-propagation gives the derivatives: with the residual R = (softmax(z) -
    target)/B at the masked site i and the context N = sum_j A_ij x_j that it attends to, dV = R^T N, dh_i = R and dA_ij
    = (R V) . x_j.
    """
    checked, masked = (
        checked_samples("states", states, layer.n_colors, layer.n_sites),
        checks.integer_array("sites", sites),
    )
    B = len(checked)
    if masked.shape != (B,) or masked.min() < 0 or masked.max() >= layer.n_sites:
        raise ValueError(
            f"sites must be {B} integers from 0 to {layer.n_sites - 1}, one for each state, got {checks.shown(sites)}"
        )
    # An unsigned integer of 64 bits and a signed one would meet in a floating-point number.
    return back_propagated(layer.attention, layer.values, layer.fields, checked.astype(np.int64, copy=False), masked)


def back_propagated(
    A: Array, V: Array, h: Array, states: States, sites: NDArray[np.integer[Any]]
) -> tuple[float, Array, Array, Array]:
    """Compute `loss_and_gradient` of the layer A, V, h without checks, as a training needs it at every step."""
    B, C, each = len(states), len(V), np.arange(len(states))
    # Inputs are one-hot, so that products with them are sums over the sites of a color; a site attends not to itself.
    place = C * each[:, None] + states
    context = np.bincount(place.ravel(), A[sites].ravel(), B * C).reshape(B, C)
    log_p = log_softmax(context @ V.T + h[sites], axis=-1)
    residual, own = np.exp(log_p), states[each, sites]
    residual[each, own] -= 1.0
    residual /= B
    dA, dh = np.zeros_like(A), np.zeros_like(h)
    by_attention = np.take_along_axis(residual @ V, states, axis=1)
    by_attention[each, sites] = 0.0  # the row of the masked site is zero
    np.add.at(dA, sites, by_attention)
    np.add.at(dh, sites, residual)
    return -float(np.mean(log_p[each, own])), dA, residual.T @ context, dh
