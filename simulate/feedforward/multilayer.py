"""Networks of tanh layers with one output, trained on labels +1 and -1 by Adam, in plain numpy."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from theory.models import checks
from theory.models.arguments import checked
from theory.models.arrays import Array
from theory.models.results import Result

DECAYS, TINY = (0.9, 0.999), 1e-8  # Adam's own
Numbers = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False, repr=False)
class Multilayer:
    """A network x -> tanh(x W + b) -> ... -> x W + b with one output.

    `layers` are the matrices (inputs + 1, outputs) of all layers; the last row of each holds the biases b.
    """

    layers: tuple[Numbers, ...] = field(repr=False)

    @classmethod
    def random(cls, sizes: tuple[int, ...], rng: np.random.Generator, variance: float = 1.0) -> Self:
        """Draws weights of the given `variance` over the number of inputs of their layer; biases are zero."""
        layers = []
        for inputs, outputs in pairwise(sizes):
            W = np.sqrt(variance / inputs) * rng.standard_normal((inputs, outputs))
            layers.append(np.vstack([W, np.zeros(outputs)]))
        return cls(tuple(layers))

    def astype(self, kind: type) -> "Multilayer":
        """Returns the network with weights of another floating-point type."""
        return Multilayer(tuple(layer.astype(kind) for layer in self.layers))

    def hidden(self, inputs: Numbers, depth: int) -> Numbers:
        """Returns the outputs of the first `depth` hidden layers for `inputs` (samples, n_inputs)."""
        x = inputs
        for layer in self.layers[:depth]:
            x = np.tanh(x @ layer[:-1] + layer[-1])
        return x

    def outputs(self, inputs: Numbers) -> Numbers:
        """Returns the outputs for `inputs` (samples, n_inputs), as (samples,)."""
        last = self.layers[-1]
        return np.asarray((self.hidden(inputs, len(self.layers) - 1) @ last[:-1] + last[-1])[:, 0])

    def error(self, inputs: Numbers, labels: Numbers) -> float:
        """Returns the share of labels that differ from the sign of the output."""
        return float(np.mean((self.outputs(inputs) > 0) != (labels > 0)))


def logistic_loss(outputs: Numbers, labels: Numbers) -> float:
    """Returns the mean of log(1 + exp(-label output))."""
    return float(np.mean(np.logaddexp(0, -labels * outputs)))


def gradient(layers: list[Numbers], inputs: Numbers, labels: Numbers, found: list[Numbers]) -> None:
    """Writes the gradient of the mean logistic loss by all `layers` into the arrays `found` of the same shapes."""
    states = [inputs]
    for layer in layers[:-1]:
        states.append(np.tanh(states[-1] @ layer[:-1] + layer[-1]))
    outputs = (states[-1] @ layers[-1][:-1] + layers[-1][-1])[:, 0]
    # The derivative -label/(1 + exp(label output)), written with tanh, which does not overflow.
    slopes = (-labels * (1 - np.tanh(labels * outputs / 2)) / (2 * len(labels)))[:, None]
    for k in range(len(layers) - 1, -1, -1):
        np.matmul(states[k].T, slopes, out=found[k][:-1])
        np.sum(slopes, axis=0, out=found[k][-1])
        if k:
            slopes = (slopes @ layers[k][:-1].T) * (1 - states[k] ** 2)


@dataclass(frozen=True, eq=False, repr=False)
class TrainedMultilayer(Result):
    """A network after training: that of the recorded step with the least loss on the samples that were held out."""

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
    rate: float = 1e-3,
    held_out: float = 0.1,
    record_every: int = 50,
) -> TrainedMultilayer:
    """Trains all layers but the first `n_frozen` on `inputs` (samples, n_inputs) and `labels` (samples,) of +1 and -1.

    A share `held_out` of the samples, one at least, is not trained on. `n_steps` steps of Adam with batches of `batch`
    samples, drawn in passes through the others, minimize the mean logistic loss; every `record_every` steps that of the
    held-out samples is recorded, and the weights with the least loss, those of the start included, are returned.
    Single precision. ValueError for inputs and labels that do not fit, for fewer than two samples, and for more frozen
    layers than there are; with all layers frozen the network comes back as it was.

    >>> rng = np.random.default_rng(0)
    >>> inputs = rng.standard_normal((400, 3))
    >>> start = Multilayer.random((3, 8, 1), rng)
    >>> trained = train_multilayer(start, inputs, np.sign(inputs[:, 0]), rng, n_steps=300, rate=0.01)
    >>> trained.network.error(inputs, np.sign(inputs[:, 0])) < 0.05
    True
    """
    X, y = _samples(network, inputs, labels)
    steps = int(checks.between("n_steps", n_steps, 1, 1e9, closed=(True, True)))
    frozen = int(checks.between("n_frozen", n_frozen, 0, len(network.layers), closed=(True, True)))
    size = int(checks.between("batch", batch, 1, 1e9, closed=(True, True)))
    every = int(checks.between("record_every", record_every, 1, 1e9, closed=(True, True)))
    speed = np.float32(checks.between("rate", rate, 1e-12, 1e3, closed=(True, True)))
    share = checks.between("held_out", held_out, 0.0, 1.0)
    n = len(X)
    aside = min(max(1, round(share * n)), n - 1)
    single = network.astype(np.float32)
    kept = single.layers[:frozen]
    # What is frozen is computed once for all samples.
    features = single.hidden(X, min(frozen, len(single.layers) - 1)).astype(np.float32)
    order = rng.permutation(n)
    seen, tested = order[aside:], order[:aside]
    weights, layers = _flat(single.layers[frozen:])
    slopes, found = _flat(single.layers[frozen:])
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    read = Multilayer(tuple(layers) if layers else single.layers[-1:])

    def held_out_loss() -> float:
        return logistic_loss(read.outputs(features[tested]), y[tested])

    losses, best_step, best = [held_out_loss()], 0, weights.copy()
    least = losses[0]
    batches = np.empty(0, int)
    for step in range(1, steps + 1 if layers else 1):
        if len(batches) < min(size, len(seen)):
            batches = np.concatenate([batches, rng.permutation(seen)])
        now, batches = batches[:size], batches[size:]
        gradient(layers, features[now], y[now], found)
        first += np.float32(1 - DECAYS[0]) * (slopes - first)
        second += np.float32(1 - DECAYS[1]) * (slopes * slopes - second)
        corrected = speed * np.float32(np.sqrt(1 - DECAYS[1] ** step) / (1 - DECAYS[0] ** step))
        weights -= corrected * first / (np.sqrt(second) + np.float32(TINY))
        if step % every == 0 or step == steps:
            losses.append(held_out_loss())
            if losses[-1] < least:
                least, best_step, best = losses[-1], step, weights.copy()
    weights[:] = best
    trained = Multilayer((*kept, *(layer.copy() for layer in layers)))
    return TrainedMultilayer(trained, best_step, steps, least, np.array(losses))


def _flat(layers: tuple[Numbers, ...]) -> tuple[Numbers, list[Numbers]]:
    """Returns one array with all weights, and the layers as views of it, so that Adam works on a single array."""
    flat = np.concatenate([layer.ravel() for layer in layers]) if layers else np.zeros(0, np.float32)
    ends = np.cumsum([layer.size for layer in layers])
    views = [flat[end - layer.size : end].reshape(layer.shape) for end, layer in zip(ends, layers, strict=True)]
    return flat, views


def _samples(network: Multilayer, inputs: Any, labels: Any) -> tuple[Numbers, Numbers]:
    X, y = checks.finite_array("inputs", inputs, 2), checks.finite_array("labels", labels, 1)
    expected = len(network.layers[0]) - 1
    if X.shape[1] != expected or len(X) < 2:
        raise ValueError(f"inputs must have shape (at least two samples, {expected}), got {X.shape}")
    if abs(X).max() > 1e30:
        raise ValueError(f"inputs must lie in [-1e30, 1e30], got {abs(X).max():.3g}")
    if y.shape != (len(X),) or not (abs(y) == 1).all():
        raise ValueError(
            f"labels must be {len(X)} numbers +1 or -1, one for each of inputs, got {checks.shown(labels)}"
        )
    return X.astype(np.float32), y.astype(np.float32)
