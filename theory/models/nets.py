"""Records of attention networks for Potts data: the weights of a factored stack, the settings of a vanilla encoder."""

import math
from dataclasses import dataclass, field
from typing import Annotated, Any, Self

import numpy as np

from theory.core import Array, AtLeast, Count, FiniteArray, Matrix, Positive, Real, checked, checked_fields, checks
from theory.core.read_only import KeepsReadOnly

MAX_LAYERS = 16  # the degree of the logits, 2^17 - 2, is then still far from where powers of weights lose all meaning
LayerCount = Annotated[int, AtLeast(1, most=MAX_LAYERS)]
MAX_LOGIT = 1e150  # bound for logits, so that their squares and products with weights do not overflow


@dataclass(frozen=True, eq=False, repr=False)
class FactoredStack(KeepsReadOnly):
    """A network of N layers of factored attention with squares between them, with or without skip connections.

    The input X_0 (L, C) holds the one-hot colors of L sites, and zeros at the masked site. Layer l computes
    Y_l = A_l X_(l-1) V_l^T, and passes on X_l = Y_l^2 (entrywise) if it is not the last; the logits of the masked site
    i are row i of Y_N, plus the field h_i. The attention A_l is free, its diagonal included: nothing leaks, since the
    row of the masked site is zero. With `skip` a layer passes on X_l = X_(l-1) + Y_l^2 instead, as the stacks of
    arXiv:2410.19637, section 2, do; the last layer stays linear. Their logits are not homogeneous in the weights.

    `attentions` (N, L, L) holds the A_l, `values` (N, C, C) the V_l, with a row for each color that is put out and a
    column for each that is read, and `fields` (L, C) the h_i; None is a network without fields. The arrays are copied
    and read-only. ValueError for no layer or more than 16, for shapes that do not fit together, and for weights so
    large that logits could exceed 1e150.

    >>> stack = FactoredStack.deterministic(n_layers=2, n_sites=5, n_colors=3, scale=0.8)
    >>> stack
    FactoredStack(n_layers=2, n_sites=5, n_colors=3)
    >>> stack.max_order, stack.degree
    (3, 6)
    """

    attentions: Annotated[Any, FiniteArray(3)] = field(repr=False)
    values: Annotated[Any, FiniteArray(3)] = field(repr=False)
    fields: Matrix | None = field(default=None, repr=False)
    skip: bool = False

    def __post_init__(self) -> None:
        checked_fields(self)
        A, V = self.attentions, self.values
        if A.shape[1] != A.shape[2]:
            raise ValueError(f"attentions must have shape (layers, sites, sites), got {A.shape}")
        if len(A) > MAX_LAYERS:
            raise ValueError(f"attentions must have at most {MAX_LAYERS} layers, got {len(A)}")
        if V.shape[1] != V.shape[2] or len(V) != len(A):
            raise ValueError(
                f"values must have shape ({len(A)}, colors, colors) (layers first, as attentions), got {V.shape}"
            )
        if (h := self.fields) is not None and h.shape != (A.shape[1], V.shape[1]):
            expected = (A.shape[1], V.shape[1])
            raise ValueError(
                f"fields must have shape {expected} (sites, colors) as attentions and values, or be None, got {h.shape}"
            )
        if self._log_largest_logit() > math.log(MAX_LOGIT):
            raise ValueError(
                f"attentions and values must keep all logits below {MAX_LOGIT:g}, got weights up to "
                f"{abs(A).max():g} and {abs(V).max():g} in {len(A)} layers"
            )

    @classmethod
    @checked
    def random(
        cls,
        n_layers: LayerCount,
        n_sites: Count,
        n_colors: Count,
        scale: Positive,
        rng: np.random.Generator,
        *,
        skip: bool = False,
    ) -> Self:
        """Draw a stack without fields, with entries A ~ N(0, scale^2/L) and V ~ N(0, scale^2/C)."""
        N, L, C = _fitting_sizes(n_layers, n_sites, n_colors)
        A, V = rng.standard_normal((N, L, L)), rng.standard_normal((N, C, C))
        return cls(A * (_below_largest("scale", scale) / np.sqrt(L)), V * (scale / np.sqrt(C)), skip=skip)

    @classmethod
    @checked
    def deterministic(
        cls, n_layers: LayerCount, n_sites: Count, n_colors: Count, scale: Positive = 1.0, *, skip: bool = False
    ) -> Self:
        """Make a stack without fields whose weights need no random numbers, for tests and examples.

        The weights are numbered k = 0, 1, ... in the order A_1, V_1, A_2, V_2, ..., each row by row. Number k is
        scale sin((k + 1)^2), divided by sqrt(L) in an attention and by sqrt(C) in a value matrix.
        """
        N, L, C = _fitting_sizes(n_layers, n_sites, n_colors)
        size = _below_largest("scale", scale)
        k = np.arange(1.0, N * (L * L + C * C) + 1).reshape(N, -1)
        waves = size * np.sin(k**2)
        A, V = waves[:, : L * L] / np.sqrt(L), waves[:, L * L :] / np.sqrt(C)
        return cls(A.reshape(N, L, L), V.reshape(N, C, C), skip=skip)

    @property
    def n_layers(self) -> int:
        """The number N of layers."""
        return len(self.attentions)

    @property
    def n_sites(self) -> int:
        """The number L of sites."""
        return int(self.attentions.shape[1])

    @property
    def n_colors(self) -> int:
        """The number C of colors."""
        return int(self.values.shape[1])

    @property
    def n_parameters(self) -> int:
        """The number of weights, fields included."""
        return int(self.attentions.size + self.values.size + (0 if self.fields is None else self.fields.size))

    @property
    def max_order(self) -> int:
        """The largest number of bodies, 2^(N-1) + 1, that an interaction in the logits can have.

        The logits are polynomials of degree 2^(N-1) in the colors of the visible sites; the predicted site is one more.
        """
        return int(2 ** (self.n_layers - 1) + 1)

    @property
    def degree(self) -> int:
        """The degree D = 2 (2^N - 1) of the logits, without fields, in all weights of the layers together.

        ValueError for several layers with skip connections, whose logits have terms of the degrees 2 to D.
        """
        if self.skip and self.n_layers > 1:
            raise ValueError("skip must be False for a degree: with skip connections the logits are not homogeneous")
        return int(2 * (2**self.n_layers - 1))

    @property
    def last_layer(self) -> Self:
        """The stack of the last layer alone, with the fields; it is what skip connections leave of small weights."""
        return type(self)(self.attentions[-1:], self.values[-1:], self.fields)

    @checked
    def scaled(self, factor: Real) -> Self:
        """Return the stack with the weights of all layers multiplied by `factor`; the fields stay as they are."""
        size = _below_largest("factor", factor)
        return type(self)(size * self.attentions, size * self.values, self.fields, self.skip)

    def logits(self, inputs: Any) -> Array:
        """Compute Y_N + h of inputs X_0 (..., L, C), as (..., L, C): the logits of every color at every site.

        Row i predicts site i, if row i of the input is zero. ValueError for another shape, and for entries that do not
        lie between 0 and 1.
        """
        X = checks.real_array("inputs", inputs)
        if X.ndim < 2 or X.shape[-2:] != (self.n_sites, self.n_colors):
            raise ValueError(f"inputs must have shape (..., {self.n_sites}, {self.n_colors}), got {X.shape}")
        if X.size and not (X.min() >= 0 and X.max() <= 1):
            raise ValueError(f"inputs must lie in [0, 1] (one-hot rows, zero where masked), got {checks.shown(inputs)}")
        for layer, (A, V) in enumerate(zip(self.attentions, self.values, strict=True)):
            Y = A @ X @ V.T
            square = X + Y * Y if self.skip else Y * Y
            X = square if layer < self.n_layers - 1 else Y
        return np.asarray(X if self.fields is None else X + self.fields)

    def _log_largest_logit(self) -> float:
        """Return the logarithm of a bound for all logits, from the row sums of weights and inputs between 0 and 1."""
        bound, L, C = 0.0, self.n_sites, self.n_colors
        with np.errstate(divide="ignore"):
            for layer, (A, V) in enumerate(zip(self.attentions, self.values, strict=True)):
                grown = bound + float(np.log(abs(A).max()) + np.log(abs(V).max())) + math.log(L * C)
                if layer < self.n_layers - 1:
                    bound = float(np.logaddexp(bound, 2 * grown)) if self.skip else 2 * grown
                else:
                    bound = grown
        field = 0.0 if self.fields is None else float(abs(self.fields).max())
        return max(bound, math.log(max(field, 1.0)))

    def __repr__(self) -> str:
        shape = f"n_layers={self.n_layers}, n_sites={self.n_sites}, n_colors={self.n_colors}"
        parts = ("" if self.fields is None else ", fields") + (", skip" if self.skip else "")
        return f"{type(self).__name__}({shape}{parts})"


@dataclass(frozen=True, kw_only=True)
class VanillaEncoder:
    """The settings of an ordinary encoder transformer that predicts the color of a masked site; it holds no weights.

    L = `n_sites` sites of C = `n_colors` colors are read through a table of C + 1 tokens, whose last one is the mask,
    and learned positions, both of dimension d = `width`. Each of `n_layers` pre-norm blocks adds to this stream a
    softmax attention of h = `n_heads` heads (scale 1/sqrt(d/h), no bias), and a perceptron d -> m d -> d with GELU
    and biases, where m = `mlp_ratio`; LayerNorm with scale and shift stands before each of the two. The read-out is
    linear, with a bias, at the masked position; `final_norm` puts a LayerNorm before it. `attention_only` leaves the
    perceptrons out. ValueError for sizes that are no integers of at least 1, and unless the heads divide the width.

    >>> VanillaEncoder(n_sites=5, n_colors=3, n_layers=1, n_heads=2, width=16, mlp_ratio=2).n_parameters
    2355
    """

    n_sites: Count
    n_colors: Count
    n_layers: Count
    n_heads: Count
    width: Count
    mlp_ratio: Count = 4
    attention_only: bool = False
    final_norm: bool = False

    def __post_init__(self) -> None:
        checked_fields(self)
        if self.width % self.n_heads:
            raise ValueError(f"n_heads must divide width = {self.width}, got {self.n_heads}")

    @property
    def n_parameters(self) -> int:
        """The number of weights."""
        d, m = self.width, self.mlp_ratio
        perceptron = 0 if self.attention_only else 2 * d + 2 * m * d * d + m * d + d
        block = 2 * d + 4 * d * d + perceptron
        embedding = (self.n_colors + 1 + self.n_sites) * d
        return embedding + self.n_layers * block + (2 * d if self.final_norm else 0) + (d + 1) * self.n_colors


def _fitting_sizes(N: int, L: int, C: int) -> tuple[int, int, int]:
    checks.fits_in_memory(f"a stack of {N} layers, {L} sites and {C} colors", 3.0 * N * (float(L) ** 2 + float(C) ** 2))
    return N, L, C


def _below_largest(name: str, value: float) -> float:
    if abs(value) > MAX_LOGIT:
        raise ValueError(f"{name} must be at most {MAX_LOGIT:g} in absolute value, got {value}")
    return value
