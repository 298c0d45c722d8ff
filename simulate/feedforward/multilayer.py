"""Networks of tanh layers with one output, trained on labels +1 and -1 by Adam, in plain numpy."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.optimizers import adam_direction
from theory.core import Array, Count, OpenShare, Result, Within, checked, checks
from theory.core.read_only import KeepsReadOnly
from theory.models.covariance import set_checked

MAX_ENTRY = 1e12  # largest size of inputs and weights, so that sums over neurons stay finite in single precision
Numbers = NDArray[np.floating[Any]]
WeightVariance = Annotated[float, Within(0.0, MAX_ENTRY, closed=(True, True))]


@dataclass(frozen=True, eq=False, repr=False)
class Multilayer(KeepsReadOnly):
    """A network x -> tanh(x W + b) -> ... -> x W + b with one output.

    `layers` are the matrices (inputs + 1, outputs) of all layers; the last row of each holds the biases b. They are
    kept in single precision where all are given in it. ValueError for matrices that do not fit together, weights above
    1e12, and more than one output.
    """

    layers: tuple[Numbers, ...] = field(repr=False)

    def __post_init__(self) -> None:
        given = self.layers
        if not isinstance(given, tuple | list) or not given:
            raise ValueError(f"layers must be a sequence of matrices, got {checks.shown(given)}")
        found: list[Numbers] = [checks.finite_array(f"layers[{k}]", one, 2) for k, one in enumerate(given)]
        for k, layer in enumerate(found):
            below = found[k - 1].shape[1] + 1 if k else max(2, len(layer))
            if len(layer) != below:
                raise ValueError(f"layers[{k}] must have {below} rows, the inputs and the biases, got {len(layer)}")
            if abs(layer).max() > MAX_ENTRY:
                raise ValueError(f"layers[{k}] must lie in [-{MAX_ENTRY:g}, {MAX_ENTRY:g}], got {abs(layer).max():.3g}")
        if found[-1].shape[1] != 1:
            raise ValueError(f"layers must end with one output, got {found[-1].shape[1]}")
        if all(isinstance(one, np.ndarray) and one.dtype == np.float32 for one in given):
            found = [layer.astype(np.float32) for layer in found]
        set_checked(self, layers=tuple(found))

    @classmethod
    @checked
    def random(cls, sizes: tuple[Count, ...], rng: np.random.Generator, variance: WeightVariance = 1.0) -> "Multilayer":
        """Draw weights of the given `variance` over the number of inputs of their layer; biases are zero.

        `sizes` are the numbers of inputs of all layers, then the single output.
        """
        if len(sizes) < 2 or sizes[-1] != 1:
            raise ValueError(f"sizes must be at least two numbers, of which the last is 1, got {checks.shown(sizes)}")
        checks.fits_in_memory(f"layers of sizes {sizes}", sum(float(a) * b for a, b in pairwise(sizes)))
        layers = []
        for inputs, outputs in pairwise(sizes):
            W = np.sqrt(variance / inputs) * rng.standard_normal((inputs, outputs))
            layers.append(np.vstack([W, np.zeros(outputs)]))
        return cls(tuple(layers))

    @property
    def n_inputs(self) -> int:
        """The number of inputs."""
        return len(self.layers[0]) - 1

    @checked
    def hidden(self, inputs: Numbers, depth: int) -> Numbers:
        """Return the outputs of the first `depth` hidden layers for `inputs` (samples, n_inputs)."""
        count = int(checks.between("depth", depth, 0, len(self.layers) - 1, closed=(True, True)))
        return hidden_of(self.layers[:count], self._inputs(inputs))

    @checked
    def outputs(self, inputs: Numbers) -> Numbers:
        """Return the outputs for `inputs` (samples, n_inputs), as (samples,)."""
        return outputs_of(self.layers, self._inputs(inputs))

    @checked
    def error(self, inputs: Numbers, labels: Numbers) -> float:
        """Return the share of `labels`, +1 or -1, that differ from the sign of the output."""
        X = self._inputs(inputs)
        return float(np.mean((outputs_of(self.layers, X) > 0) != (signs(labels, len(X)) > 0)))

    def _inputs(self, inputs: Numbers) -> Numbers:
        X = checks.finite_array("inputs", inputs, 2)
        if X.shape[1] != self.n_inputs:
            raise ValueError(f"inputs must have shape (samples, {self.n_inputs}), got {X.shape}")
        if abs(X).max() > MAX_ENTRY:
            raise ValueError(f"inputs must lie in [-{MAX_ENTRY:g}, {MAX_ENTRY:g}], got {abs(X).max():.3g}")
        return X


def signs(labels: Any, count: int) -> Array:
    """Return `labels` as an array of `count` numbers +1 or -1; ValueError for others."""
    y = checks.finite_array("labels", labels, 1)
    if y.shape != (count,) or not (abs(y) == 1).all():
        raise ValueError(f"labels must be {count} numbers +1 or -1, one for each of inputs, got {checks.shown(labels)}")
    return y


def hidden_of(layers: Sequence[Numbers], inputs: Numbers) -> Numbers:
    """Return what tanh layers make of inputs (samples, n_inputs)."""
    x = inputs
    for layer in layers:
        x = np.tanh(x @ layer[:-1] + layer[-1])
    return x


def outputs_of(layers: Sequence[Numbers], inputs: Numbers) -> Numbers:
    """Return the outputs (samples,) of the network with these layers."""
    return np.asarray((hidden_of(layers[:-1], inputs) @ layers[-1][:-1] + layers[-1][-1])[:, 0])


def logistic_loss(outputs: Numbers, labels: Numbers) -> float:
    """Return the mean of log(1 + exp(-label output))."""
    return float(np.mean(np.logaddexp(0, -labels * outputs)))


def gradient(layers: Sequence[Numbers], inputs: Numbers, labels: Numbers, found: Sequence[Numbers]) -> None:
    """Write the gradient of the mean logistic loss by all `layers` into the arrays `found` of the same shapes."""
    states = [inputs]
    for layer in layers[:-1]:
        fields = states[-1] @ layer[:-1]
        fields += layer[-1]
        states.append(np.tanh(fields, out=fields))
    outputs = (states[-1] @ layers[-1][:-1] + layers[-1][-1])[:, 0]
    # The derivative -label/(1 + exp(label output)), written with tanh, which does not overflow.
    slopes = (-labels * (1 - np.tanh(labels * outputs / 2)) / (2 * len(labels)))[:, None]
    for k in range(len(layers) - 1, -1, -1):
        np.matmul(states[k].T, slopes, out=found[k][:-1])
        np.add.reduce(slopes, axis=0, out=found[k][-1])
        if k:
            weights = layers[k][:-1].T
            slopes = slopes @ weights if len(weights) > 1 else slopes * weights
            bent = states[k]  # is not looked at again, and becomes the derivative 1 - tanh^2
            bent *= bent
            slopes *= np.subtract(1, bent, out=bent)


@dataclass(frozen=True, eq=False, repr=False)
class TrainedMultilayer(Result):
    """The result of a training: the network at the recorded step with the least loss on the held-out samples."""

    network: Multilayer = field(repr=False)
    best_step: int
    n_steps: int
    held_out_loss: float
    held_out_losses: Array = field(repr=False)


@checked
def train_multilayer(
    network: Multilayer,
    inputs: Numbers,
    labels: Numbers,
    rng: np.random.Generator,
    *,
    n_steps: int,
    n_frozen: int = 0,
    batch: int = 128,
    rate: Annotated[float, Within(1e-12, 10.0, closed=(True, True))] = 1e-3,
    held_out: OpenShare = 0.1,
    record_every: int = 50,
    patience: int | None = None,
) -> TrainedMultilayer:
    """Train all layers but the first `n_frozen` on `inputs` (samples, n_inputs) and `labels` (samples,) of +1 and -1.

    A share `held_out` of the samples, one at least, is not trained on. `n_steps` steps of Adam with batches of `batch`
    samples, drawn in passes through the others, minimize the mean logistic loss in single precision. Every
    `record_every` steps the loss of the held-out samples is recorded, and the weights for which it was least, those of
    the start included, are returned. With `patience` training ends at the first record that comes so many steps or more
    after the least one. ValueError for inputs and labels that do not fit, for fewer than two samples, and
    for more frozen layers than there are; with all layers frozen the network comes back as it was.

    >>> rng = np.random.default_rng(0)
    >>> inputs = rng.standard_normal((400, 3))
    >>> start = Multilayer.random((3, 8, 1), rng)
    >>> trained = train_multilayer(start, inputs, np.sign(inputs[:, 0]), rng, n_steps=300, rate=0.01)
    >>> trained.network.error(inputs, np.sign(inputs[:, 0])) < 0.05
    True
    """
    X, y = (part.astype(np.float32) for part in _samples(network, inputs, labels))
    steps = int(checks.between("n_steps", n_steps, 1, 1e9, closed=(True, True)))
    frozen = int(checks.between("n_frozen", n_frozen, 0, len(network.layers), closed=(True, True)))
    size = int(checks.between("batch", batch, 1, 1e9, closed=(True, True)))
    every = int(checks.between("record_every", record_every, 1, 1e9, closed=(True, True)))
    patient = steps if patience is None else int(checks.between("patience", patience, 1, 1e9, closed=(True, True)))
    speed = np.float32(rate)
    n = len(X)
    aside = min(max(1, round(held_out * n)), n - 1)
    single = [layer.astype(np.float32) for layer in network.layers]
    # What is frozen is computed once for all samples; where all is, the last layer still reads.
    hidden = min(frozen, len(single) - 1)
    features = hidden_of(single[:hidden], X)
    order = rng.permutation(n)
    seen, tested = order[aside:], order[:aside]
    weights, layers = _flat(single[frozen:])
    slopes, found = _flat(single[frozen:])
    moments = np.zeros_like(weights), np.zeros_like(weights)
    reading = layers or single[-1:]

    def held_out_loss() -> float:
        return logistic_loss(outputs_of(reading, features[tested]), y[tested])

    losses, best_step, best = [held_out_loss()], 0, weights.copy()
    least, step = losses[0], steps
    batches = np.empty(0, int)
    for step in range(1, steps + 1 if layers else 1):
        if len(batches) < min(size, len(seen)):
            batches = np.concatenate([batches, rng.permutation(seen)])
        now, batches = batches[:size], batches[size:]
        gradient(layers, features[now], y[now], found)
        weights -= speed * adam_direction(slopes, *moments, step)
        if step % every == 0 or step == steps:
            losses.append(held_out_loss())
            if losses[-1] < least:
                least, best_step, best = losses[-1], step, weights.copy()
            elif step - best_step >= patient:
                break
    weights[:] = best
    trained = Multilayer((*single[:frozen], *layers))
    return TrainedMultilayer(trained, best_step, step, least, np.array(losses))


def _flat(layers: Sequence[Numbers]) -> tuple[Numbers, list[Numbers]]:
    """Return one array with all weights, and the layers as views of it, so that Adam works on a single array."""
    flat = np.concatenate([layer.ravel() for layer in layers]) if layers else np.zeros(0, np.float32)
    ends = np.cumsum([layer.size for layer in layers])
    views = [flat[end - layer.size : end].reshape(layer.shape) for end, layer in zip(ends, layers, strict=True)]
    return flat, views


def _samples(network: Multilayer, inputs: Any, labels: Any) -> tuple[Array, Array]:
    X = checks.finite_array("inputs", inputs, 2)
    if X.shape[1] != network.n_inputs or len(X) < 2:
        raise ValueError(f"inputs must have shape (at least two samples, {network.n_inputs}), got {X.shape}")
    if abs(X).max() > MAX_ENTRY:
        raise ValueError(f"inputs must lie in [-{MAX_ENTRY:g}, {MAX_ENTRY:g}], got {abs(X).max():.3g}")
    return X, signs(labels, len(X))
