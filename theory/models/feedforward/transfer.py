"""The record of nested features of a source task, of which a target task keeps some."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from theory.core import Array, Count, Within, checked_fields, checks
from theory.core.read_only import KeepsReadOnly
from theory.models.covariance import set_checked


@dataclass(frozen=True, kw_only=True, eq=False)
class NestedFeatures(KeepsReadOnly):
    """Nested spaces of features V_L < ... < V_1 < V_0 = R^d: freezing the first l layers leaves those of V_l.

    `dimensions` (L + 1,) are k_0 = d > k_1 > ... > k_L, the numbers of features that are left. Inputs are x ~ N(0, I_d)
    and labels y = w.x + e with |w| = 1 and Var e = `noise`. `kept_powers` (L + 1,) are s_l = |P_l w|^2, how much of the
    target lies in V_l: s_0 = 1 >= s_1 >= ... >= s_L > 0. A learner at depth l sees P_l x only; the rest of the target,
    1 - s_l, is to it independent Gaussian noise, so that its labels have the noise S_l = `noise` + 1 - s_l.

    Ridges are per sample: (1/n) sum_i (y_i - a.P_l x_i)^2 + lam |a|^2 is minimized. Risks are E (w.x - a.P_l x)^2,
    without the noise of the labels. The definition is a solvable stand-in for the depth at which a pretrained network
    is best cut (arXiv:2303.01429).

    ValueError for dimensions that are no falling integers of at least 1, for powers that rise, leave (0, 1] or do not
    begin with 1, and for a noise that is negative or above 1e12.

    >>> features = NestedFeatures(dimensions=(400, 100, 25, 5), kept_powers=(1, 0.9, 0.7, 0.4), noise=0.1)
    >>> features.label_noises
    array([0.1, 0.2, 0.4, 0.7])
    """

    dimensions: Any
    kept_powers: Any
    noise: Annotated[float, Within(0.0, 1e12, closed=(True, True))] = 0.0

    def __post_init__(self) -> None:
        checked_fields(self)
        k = np.array(checks.finite_array("dimensions", self.dimensions, 1))
        s = checks.finite_array("kept_powers", self.kept_powers, 1)
        if (k % 1).any() or k.min() < 1 or k.max() > 1e12 or (np.diff(k) >= 0).any():
            raise ValueError(f"dimensions must be falling integers from 1 to 1e12, got {checks.shown(self.dimensions)}")
        if s.shape != k.shape:
            raise ValueError(f"kept_powers must have shape {k.shape} as dimensions, got {s.shape}")
        if s[0] != 1 or s.min() < 1e-12 or (np.diff(s) > 0).any():
            allowed = "numbers from 1 down to 1e-12 that begin with 1 and never rise"
            raise ValueError(f"kept_powers must be {allowed}, got {checks.shown(self.kept_powers)}")
        counts = k.astype(np.int64)
        counts.setflags(write=False)
        set_checked(self, dimensions=counts, kept_powers=s)

    @property
    def d(self) -> int:
        """The number of inputs, k_0."""
        return int(self.dimensions[0])

    @property
    def n_depths(self) -> int:
        """The number of depths at which one may cut, L + 1."""
        return len(self.dimensions)

    @property
    def label_noises(self) -> Array:
        """The variances S_l = noise + 1 - s_l that the labels have for a learner at each depth, (L + 1,)."""
        return np.asarray(self.noise + (1 - self.kept_powers))


@dataclass(frozen=True, kw_only=True, eq=False)
class NetworkTransfer(KeepsReadOnly):
    """A pair of related tasks, each with labels of a random deep network, between which a network is transferred.

    The source's teacher has hidden tanh layers of `width` neurons and a linear read-out, on inputs N(0, 1) of dimension
    `n_inputs`, without biases; its weights are Gaussian with the variance `weight_variance` over the number of inputs
    of their layer. In the target's teacher the weights W of layer l are replaced by r W + sqrt(1 - r^2) W', with W'
    drawn anew and r = `layer_overlaps`[l], whose last entry is that of the read-out; there is one hidden layer for each
    of the others. Labels are +1 where the output exceeds its median over inputs, else -1.

    ValueError for sizes that are no integers of at least 1, fewer than two layers, overlaps outside [-1, 1], and a
    variance that is not positive.

    >>> NetworkTransfer().n_layers
    5
    """

    n_inputs: Count = 32
    width: Count = 64
    layer_overlaps: Any = (1.0, 1.0, 0.9, 0.6, 0.3)
    weight_variance: Annotated[float, Within(1e-12, 1e12, closed=(True, True))] = 2.25

    def __post_init__(self) -> None:
        checked_fields(self)
        overlaps = checks.finite_array("layer_overlaps", self.layer_overlaps, 1)
        if len(overlaps) < 2 or abs(overlaps).max() > 1:
            allowed = "at least two numbers in [-1, 1], the last one of the read-out"
            raise ValueError(f"layer_overlaps must be {allowed}, got {checks.shown(self.layer_overlaps)}")
        n_inputs, width = self.n_inputs, self.width
        checks.fits_in_memory(
            f"width = {width}, n_inputs = {n_inputs}", float(width) * (n_inputs + len(overlaps) * float(width))
        )
        set_checked(self, layer_overlaps=overlaps)

    @property
    def n_layers(self) -> int:
        """The number of layers of weights, read-out included."""
        return len(self.layer_overlaps)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of inputs of all layers, and the single output: (n_inputs, width, ..., width, 1)."""
        return (self.n_inputs, *[self.width] * (self.n_layers - 1), 1)
