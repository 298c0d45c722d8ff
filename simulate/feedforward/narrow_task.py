"""The training set of one narrow teacher, and the energy that its students are sampled with."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import erf, log_ndtr

from simulate.feedforward.narrow_kernels import erf_table, pull_erf, pull_relu
from theory.core import Array, Count, Positive, checked, checks
from theory.models import NarrowNetwork
from theory.models.feedforward.narrow import activation_values

Function = Callable[[Array], Array]
SLOPES: dict[str, Function] = {
    "erf": lambda h: math.sqrt(2 / math.pi) * np.exp(-0.5 * h * h),
    "relu": lambda h: (h > 0).astype(float),
    "quadratic": lambda h: math.sqrt(2) * h,
}
VALUES: dict[str, Function] = {
    "erf": lambda h: erf(h * math.sqrt(0.5)),
    "relu": lambda h: np.maximum(h, 0.0),
    "quadratic": lambda h: (h * h - 1) * math.sqrt(0.5),
}


def activation_and_slope(model: NarrowNetwork, derivative: Any) -> tuple[Function, Function]:
    """Return f and f' of a model; `derivative` is that of a user's function and None for a named activation."""
    f = model.activation
    if isinstance(f, str):
        if derivative is not None:
            raise ValueError(f"derivative must be None for the activation {f!r}, whose derivative is known")
        if f not in SLOPES:
            raise ValueError(f"model must have an activation with a gradient, which {f!r} is not")
        return VALUES[f], SLOPES[f]
    if derivative is None:
        raise ValueError("derivative must be given for an activation that is a function, got None")
    checks.function("derivative", derivative, 1)

    def slope(h: Array) -> Array:
        try:
            return activation_values(derivative, h)
        except ValueError as refused:
            raise ValueError(str(refused).replace("activation", "derivative", 1)) from None

    h = np.linspace(-3.0, 3.0, 61) + 0.0123  # beside the places where kinks usually are
    step = 1e-5
    differences = (activation_values(f, h + step) - activation_values(f, h - step)) / (2 * step)
    given = slope(h)
    wrong = abs(given - differences) > 1e-3 * (1 + abs(differences))
    if wrong.sum() > 3:  # a few may lie at kinks
        place = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"derivative must be that of the activation, got {given[place]:g} at h = {h[place]:g}, "
            f"where differences give {differences[place]:g}"
        )
    return lambda x: activation_values(f, x), slope


@dataclass(frozen=True)
class Task:
    """One teacher with its training samples and fresh test inputs; weights of C chains are arrays (N, C, K)."""

    value: Function
    slope: Function
    readout: Array  # v/sqrt(K), (K,)
    teacher: Array  # (N, K), each column of norm sqrt(N)
    inputs: Array  # (n, N), divided by sqrt(N)
    labels: Array  # (n,)
    test_inputs: Array
    test_outputs: Array  # of the teacher
    noise: float
    signs: bool
    beta: float
    lam: float
    center: bool = False  # outputs have their mean over samples subtracted, and labels too

    @classmethod
    @checked
    def draw(
        cls,
        model: NarrowNetwork,
        sizes: tuple[Count, Count, Count],
        beta: float | None,
        lam: Positive,
        functions: tuple[Function, Function],
        rng: np.random.Generator,
    ) -> "Task":
        """Draw a teacher and its samples; `sizes` are N, K and the number of test inputs.

        Each column of the teacher is brought to the norm sqrt(N): otherwise the fluctuations of these norms would
        dominate the scatter of errors from teacher to teacher. With an equal readout every output has its mean over the
        samples subtracted, of the training set or of the test inputs.
        """
        N, K, n_test = sizes
        n = max(1, round(model.alpha * N * K))
        checks.fits_in_memory(f"a task of sizes {sizes}", 3.0 * (n + n_test + K) * (N + K))
        if beta is not None:
            checks.positive("beta", beta)
        elif not model.noise:
            raise ValueError("beta must be given for a teacher without noise, got None")
        value, slope = functions
        center = model.readout == "equal"
        readout = np.where((np.arange(K) % 2 == 0) | center, 1.0, -1.0) / math.sqrt(K)
        teacher = rng.standard_normal((N, K))
        teacher *= math.sqrt(N) / np.linalg.norm(teacher, axis=0)
        inputs, test_inputs = (rng.standard_normal((count, N)) / math.sqrt(N) for count in (n, n_test))
        # Noise is added before the sign is taken: that is what makes the likelihood of a sign the probit.
        labels = value(inputs @ teacher) @ readout + math.sqrt(model.noise) * rng.standard_normal(n)
        test_outputs = value(test_inputs @ teacher) @ readout
        if center:
            labels, test_outputs = labels - labels.mean(), test_outputs - test_outputs.mean()
        signs = model.labels == "sign"
        return cls(
            *(value, slope, readout, teacher, inputs, np.where(labels > 0, 1.0, -1.0) if signs else labels),
            *(test_inputs, test_outputs, model.noise, signs),
            *(1 / model.noise if beta is None else beta, lam, center),
        )

    def outputs(self, inputs: Array, weights: Array) -> Array:
        """Return the outputs of every chain's network, (samples, C)."""
        return self._centered(self._read(self.value(self._fields(inputs, weights))))

    def _centered(self, s: Array) -> Array:
        return s - s.mean(axis=0) if self.center else s

    def _read(self, hidden: Array) -> Array:
        """Return the sums over units (samples, C, K) times the readout; one product with a matrix is much faster."""
        return np.asarray((hidden.reshape(-1, hidden.shape[2]) @ self.readout).reshape(hidden.shape[:2]))

    def _fields(self, inputs: Array, weights: Array) -> Array:
        N, C, K = weights.shape
        return (inputs @ weights.reshape(N, C * K)).reshape(len(inputs), C, K)

    def energy(self, weights: Array) -> tuple[Array, Array, Array]:
        """Return energies (C,), their gradients (N, C, K), and the mean losses on the training samples (C,).

        The energy of linear labels is beta/2 sum (y - s)^2 + lam/2 |W|^2, with the mean of (y - s)^2 as the loss. For
        signs the sum is -log P(y | s) of the probit, with the share of wrong signs as the loss.
        """
        N, C, K = weights.shape
        if not self.signs and self.value in (VALUES["erf"], VALUES["relu"]):
            return self._compiled_energy(weights)
        fields = self._fields(self.inputs, weights)
        s = self._centered(self._read(self.value(fields)))
        if self.signs:
            margin = self.labels[:, None] * s / math.sqrt(self.noise)
            log_p = log_ndtr(margin)
            energies, losses = -log_p.sum(axis=0), (margin < 0).mean(axis=0)
            # The ratio phi/Phi by logarithms: far on the wrong side both of them underflow.
            density = np.exp(-0.5 * margin**2 - 0.5 * math.log(2 * math.pi) - log_p)
            force = -self.labels[:, None] * density / math.sqrt(self.noise)
        else:
            residuals = self.labels[:, None] - s
            squares = (residuals**2).sum(axis=0)
            energies, losses = self.beta / 2 * squares, squares / len(s)
            force = -self.beta * residuals
        through = (force[:, :, None] * self.readout) * self.slope(fields)
        gradients = (self.inputs.T @ through.reshape(len(s), C * K)).reshape(N, C, K) + self.lam * weights
        return energies + self.lam / 2 * (weights**2).sum(axis=(0, 2)), gradients, losses

    @cached_property
    def _columns(self) -> Array:
        """The inputs as (N, n), in the layout in which their product with weights is fastest."""
        return np.ascontiguousarray(self.inputs.T)

    def _compiled_energy(self, weights: Array) -> tuple[Array, Array, Array]:
        """Return the energies of erf or ReLU units with linear labels, in passes that are compiled."""
        N, C, K = weights.shape
        pulled = (np.ascontiguousarray(weights.reshape(N, C * K).T) @ self._columns).reshape(C, K, len(self.inputs))
        if self.value is VALUES["erf"]:
            squares = pull_erf(pulled, self.labels, self.readout, self.beta, self.center, erf_table())
        else:
            squares = pull_relu(pulled, self.labels, self.readout, self.beta, self.center)
        gradients = (pulled.reshape(C * K, -1) @ self.inputs).T.reshape(N, C, K) + self.lam * weights
        energies = self.beta / 2 * squares + self.lam / 2 * np.einsum("nck,nck->c", weights, weights)
        return energies, gradients, squares / len(self.labels)

    def metric(self, weights: Array) -> Array:
        """Return the mean curvature of the energy between the weights of two units at one input, (K, K).

        It is that of the squared residuals with the outputs linearized, averaged over inputs and chains. As the mass of
        the momenta it takes the stiffness out of the sum over units that all samples see.
        """
        K = weights.shape[2]
        J = (self.slope(self._fields(self.inputs, weights)) * self.readout).reshape(-1, K)
        per_sample = min(self.beta, 1 / self.noise) if self.signs else self.beta
        share = per_sample / (self.teacher.shape[0] * weights.shape[1])
        # The ridge alone makes the mass positive definite, whatever the fields are.
        return np.asarray(self.lam * np.eye(K) + share * (J.T @ J))
