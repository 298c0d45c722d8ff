"""Binary networks of finite width at initialization: fields of a few inputs, and gradients, through drawn weights."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from scipy.special import erf

from theory.core import Array, Count, Result, Several, Within, checked, checks
from theory.models import BinaryNetwork

# Size of perturbations relative to the fields: their squares do not matter, rounding neither.
RELATIVE_PERTURBATION = 1e-4
FieldVariance = Annotated[float, Within(1e-100, 1e15, closed=(True, True))]
Correlation = Annotated[float, Within(-1.0, 1.0, closed=(True, True))]


@dataclass(frozen=True, eq=False, repr=False)
class FieldStatistics(Result):
    """The mean square of the fields of a layer and the correlation of those of two inputs, (n_layers + 1,) each."""

    variances: Array
    correlations: Array


@dataclass(frozen=True, eq=False, repr=False)
class Decay(Result):
    """What is left of a small perturbation after each layer, and of a gradient on the way back, (n_layers + 1,) each.

    `correlations` are changes of the correlation of two inputs, relative to the change at the start. `gradients` are
    mean squares of the gradient of a random read-out of the last layer with regard to the fields, from the last layer
    to the first, relative to the last. Both begin with 1. `variance` and `correlation` are those of the last layer.
    """

    correlations: Array
    gradients: Array
    variance: float
    correlation: float


@dataclass(frozen=True, eq=False, repr=False)
class Layer:
    """One drawn layer: the means of its weights are sqrt(s/N) `signs` (with 1/sqrt(N) included), (N, N)."""

    network: BinaryNetwork
    signs: Array = field(repr=False)
    biases: Array = field(repr=False)  # (N,)

    @classmethod
    @checked
    def random(cls, network: BinaryNetwork, width: Count, rng: np.random.Generator) -> "Layer":
        """Draw signs and biases."""
        checks.fits_in_memory(f"a layer of {width} neurons", 3.0 * width**2)
        bits = np.unpackbits(np.frombuffer(rng.bytes(-(-(width**2) // 8)), np.uint8), count=width**2)
        biases = math.sqrt(network.bias_variance) * rng.standard_normal(width)
        return cls(network, 2.0 * bits.reshape(width, width).astype(float) - 1.0, biases)

    @property
    def scale(self) -> float:
        """The size sqrt(s/N) of the means."""
        return math.sqrt(self.network.mean_variance / len(self.biases))

    def forward(self, fields: Array, noise: Array) -> Array:
        """Return the fields of this layer for the `fields` (N, inputs) of the layer below, with `noise` of that shape.

        Signs have no noise.
        """
        outputs = activation(self.network, fields)
        driven = self.scale * (self.signs @ outputs) + self.biases[:, None]
        freedom = np.sqrt(self._freedom(outputs))
        if self.network.neurons != "sign":
            return np.asarray(driven + noise * freedom)
        infinite = np.where(driven >= 0, np.inf, -np.inf)  # where all neurons below are certain, and the weights too
        return np.asarray(np.divide(driven, freedom, out=infinite, where=freedom > 0))

    def backward(self, fields: Array, noise: Array, slopes: Array) -> Array:
        """Return the gradients by `fields` of what has the gradients `slopes` by the fields of this layer.

        The last axis are inputs; everything is (N, inputs). What the fields do to the noise's size is included.
        """
        outputs, width = activation(self.network, fields), len(fields)
        freedom = np.sqrt(self._freedom(outputs))
        s = self.network.mean_variance
        if self.network.neurons == "sign":
            common = (slopes * self.forward(fields, noise)).sum(axis=0) * s / (width * freedom**2)
            below = self.scale * (self.signs.T @ slopes) / freedom + common * outputs
            return np.asarray(_slope(self.network, fields) * below)
        common = np.zeros(fields.shape[1])
        np.divide((slopes * noise).sum(axis=0) * (1 - s), width * freedom, out=common, where=freedom > 0)
        return np.asarray((1 - outputs**2) * (self.scale * (self.signs.T @ slopes) + common * outputs))

    def _freedom(self, outputs: Array) -> Array:
        """Return the variance that weights leave to the fields (signs: with that of the neurons below), (inputs,)."""
        s, power = self.network.mean_variance, np.mean(outputs**2, axis=0)
        return np.asarray(1 - s * power if self.network.neurons == "sign" else (1 - s) * power)


def activation(network: BinaryNetwork, fields: Array) -> Array:
    """Return the outputs of neurons with these fields."""
    return np.asarray(erf(fields / math.sqrt(2)) if _is_probit(network) else np.tanh(fields))


def _slope(network: BinaryNetwork, fields: Array) -> Array:
    if _is_probit(network):
        return np.asarray(math.sqrt(2 / math.pi) * np.exp(-(fields**2) / 2))
    return np.asarray(1 - np.tanh(fields) ** 2)


def _is_probit(network: BinaryNetwork) -> bool:
    return network.neurons == "sign" and network.phi == "erf"


@checked
def field_statistics(
    network: BinaryNetwork,
    width: Several,
    n_layers: int,
    rng: np.random.Generator,
    *,
    variance: FieldVariance = 1.0,
    correlation: Correlation = 0.0,
) -> FieldStatistics:
    """Send two inputs through one network of `width` neurons in each layer, with drawn means of weights and biases.

    In the first layer their fields are Gaussian with the given `variance` and `correlation`; their measured statistics
    come first. The means are +sqrt(s) or -sqrt(s), s the network's mean variance. ValueError for less than two neurons
    or one layer, for a variance or a correlation that is none, and for so few neurons that all fields of a layer vanish
    or all neurons of it are saturated.

    >>> network = BinaryNetwork(mean_variance=0.9, bias_variance=0.1)
    >>> found = field_statistics(network, 1000, 5, np.random.default_rng(0))
    >>> abs(found.variances[-1] - 0.258) < 0.05, abs(found.correlations[-1] - 0.895) < 0.05
    (np.True_, np.True_)
    """
    N, count = _sizes(width, n_layers)
    fields = _start(N, 1, variance, correlation, rng)
    variances, correlations = [], []
    for layer in range(count + 1):
        if layer:
            fields = _passed(Layer.random(network, N, rng), fields, rng.standard_normal(fields.shape))
        squares = np.mean(fields**2, axis=0)
        variances.append(float(squares.mean()))
        correlations.append(float(np.mean(fields[:, 0] * fields[:, 1]) / math.sqrt(squares[0] * squares[1])))
    return FieldStatistics(np.array(variances), np.array(correlations))


@checked
def decay(
    network: BinaryNetwork,
    width: Several,
    n_layers: int,
    rng: np.random.Generator,
    *,
    variance: FieldVariance,
    correlation: Correlation = 1.0,
    burn_in: int = 2,
    n_pairs: int = 4,
) -> Decay:
    """Measure how fast correlations and gradients decay in one network of `width` neurons in each layer.

    `n_pairs` pairs of inputs start with Gaussian fields of the given `variance` and `correlation`, which should be near
    the stationary ones, and pass `burn_in` layers. Then one input of every pair is moved a little towards the other,
    at fixed length, and the change of the correlation of the two is followed for `n_layers` layers; the moved input
    feels the same noise. Where a network has no noise (signs, or means of one) the two inputs become equal, and it is
    the distance of an input from itself moved in a random direction that is followed. ValueError for less than two
    neurons, one layer or one pair, for variances that are not positive, and as in `field_statistics` for layers without
    fields.

    >>> network = BinaryNetwork(mean_variance=0.9, bias_variance=0.1)
    >>> found = decay(network, 500, 6, np.random.default_rng(0), variance=0.236)
    >>> abs(found.correlations[-1] ** (1 / 6) - 0.531) < 0.05, abs(found.gradients[-1] ** (1 / 6) - 0.531) < 0.05
    (np.True_, np.True_)
    """
    N, count = _sizes(width, n_layers)
    pairs = int(checks.between("n_pairs", n_pairs, 1, 10_000, closed=(True, True)))
    waiting = int(checks.between("burn_in", burn_in, 0, 10_000, closed=(True, True)))
    checks.fits_in_memory(f"{count} layers of {N} neurons", float(count) * N * (N + 4.0 * pairs))
    fields = _start(N, pairs, variance, correlation, rng)
    for _ in range(waiting):
        fields = _passed(Layer.random(network, N, rng), fields, rng.standard_normal(fields.shape))
    noiseless = network.neurons == "sign" or network.mean_variance == 1
    first, second = fields[:, :pairs], fields[:, pairs:]
    if noiseless:
        first, towards = second, rng.standard_normal(second.shape) * math.sqrt(variance)
    else:
        towards = first
    moved = second + RELATIVE_PERTURBATION * (towards - _along(towards, second) * second)
    state = np.hstack([first, second, moved])
    followed, trail = [_change(state, pairs, noiseless)], []
    for _ in range(count):
        layer = Layer.random(network, N, rng)
        noise = rng.standard_normal((N, 2 * pairs))
        noise = np.hstack([noise, noise[:, pairs:]])
        trail.append((layer, state[:, :pairs], noise[:, :pairs]))
        state = _passed(layer, state, noise)
        followed.append(_change(state, pairs, noiseless))
    first, second = state[:, :pairs], state[:, pairs : 2 * pairs]
    changes = np.array(followed)
    return Decay(
        changes / changes[0],
        np.array(list(_gradients(trail, rng))),
        float(np.mean(first**2)),
        float(np.mean(first * second) / math.sqrt(np.mean(first**2) * np.mean(second**2))),
    )


def _passed(layer: Layer, fields: Array, noise: Array) -> Array:
    """Return the fields of the next layer; ValueError where it has none that could be correlated."""
    passed = layer.forward(fields, noise)
    if not np.isfinite(passed).all():
        raise ValueError(f"width must be so large that not all neurons are saturated, got {len(passed)}")
    if not passed.any(axis=0).all():
        raise ValueError(f"width must be so large that not all fields of a layer vanish, got {len(passed)}")
    return passed


def _gradients(trail: list[tuple[Layer, Array, Array]], rng: np.random.Generator) -> Iterator[float]:
    """Yield the mean squares of gradients of a random linear read-out, relative to that at the last layer."""
    slopes = rng.standard_normal(trail[-1][1].shape)
    start = float(np.mean(slopes**2))
    yield 1.0
    for layer, fields, noise in reversed(trail):
        slopes = layer.backward(fields, noise, slopes)
        yield float(np.mean(slopes**2)) / start


def _change(state: Array, pairs: int, noiseless: bool) -> float:
    """Return the change of the correlation that the move has made, mean over pairs."""
    first, second, moved = (part / np.linalg.norm(part, axis=0) for part in np.split(state, 3, axis=1))
    assert first.shape[1] == pairs
    # Differences of unit vectors lose no digits: 1 - c is half their square.
    gap = moved - second
    return float(np.mean(gap**2) * len(state) / 2 if noiseless else np.mean((first * gap).sum(axis=0)))


def _along(vectors: Array, axes: Array) -> Array:
    return np.asarray((vectors * axes).sum(axis=0) / (axes**2).sum(axis=0))


def _start(width: int, pairs: int, variance: float, correlation: float, rng: np.random.Generator) -> Array:
    """Gaussian fields (N, 2 pairs): those of the first inputs of all pairs, then those of the second."""
    c = correlation
    first, fresh = rng.standard_normal((2, width, pairs))
    return np.asarray(math.sqrt(variance) * np.hstack([first, c * first + math.sqrt(1 - c * c) * fresh]))


def _sizes(width: int, n_layers: int) -> tuple[int, int]:
    checks.fits_in_memory(f"a layer of {width} neurons", 3.0 * float(width) ** 2)
    return width, int(checks.between("n_layers", n_layers, 1, 10_000, closed=(True, True)))
