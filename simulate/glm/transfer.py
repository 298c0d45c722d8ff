"""A two-layer network trained on a task by gradient descent, and what its first layer is worth on another."""

from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from scipy.special import erf, expit

from simulate.glm.fit import fit
from simulate.glm.measured import Measured
from theory.models import checks
from theory.models.arrays import Array
from theory.models.glm import HiddenManifold, TransferModel

TEST_SAMPLES = 5000
SLOPE = 2 / np.sqrt(np.pi)  # of erf at zero


@dataclass(frozen=True, eq=False)
class Network:
    """f(x) = readout.erf(W x)/p with `first_layer` W (p, N) and `readout` (p,); it predicts sign f."""

    first_layer: Array = field(repr=False)
    readout: Array = field(repr=False)

    def output(self, X: Array) -> Array:
        """f of the rows of X (n, N)."""
        return np.asarray(erf(X @ self.first_layer.T) @ self.readout / len(self.readout))

    def gradient(self, X: Array, y: Array) -> tuple[float, "Network"]:
        """Mean logistic loss, and its gradient in both layers times p (so that entries of it are O(1))."""
        before = X @ self.first_layer.T
        features, p = erf(before), len(self.readout)
        f = features @ self.readout / p
        pull = -y * expit(-y * f) / len(y)
        hidden = (pull[:, None] * (SLOPE * np.exp(-(before**2)))) * self.readout
        return float(np.mean(np.logaddexp(0, -y * f))), Network(hidden.T @ X, features.T @ pull)


def random_network(n_hidden: int, n_inputs: int, rng: Generator) -> Network:
    """W with entries N(0, 1/N) and a readout of random signs: an untrained network."""
    W = rng.standard_normal((n_hidden, n_inputs)) / np.sqrt(n_inputs)
    return Network(W, rng.choice((-1.0, 1.0), n_hidden))


def draw_task(task: HiddenManifold, n: int, rng: Generator) -> tuple[Array, Array]:
    """n inputs erf(F c) (n, N) and their labels (n,)."""
    c = rng.standard_normal((n, len(task.teacher)))
    return np.asarray(erf(c @ task.input_map.T)), np.where(c @ task.teacher >= 0, 1.0, -1.0)


def train(network: Network, X: Array, y: Array, *, steps: int = 10, rate: float = 0.2) -> Network:
    """Gradient descent on the mean logistic loss of (X, y), all samples in every step, both layers at once.

    `rate` multiplies the gradients of `Network.gradient`: for any number of hidden units the features move by O(1).
    RuntimeError if the loss becomes larger than at the start: the rate was too large.
    """
    steps, rate = int(checks.dimension(steps, name="steps")), checks.positive("rate", rate)
    start, slope = network.gradient(X, y)
    for _ in range(steps):
        network = Network(network.first_layer - rate * slope.first_layer, network.readout - rate * slope.readout)
        loss, slope = network.gradient(X, y)
        if not loss < start:
            raise RuntimeError(f"training did not lower the loss, {start:.4g} -> {loss:.4g}: take a smaller rate")
    return network


def scratch_error(model: TransferModel, d: int, rng: Generator, steps: int = 200, rate: float = 0.5) -> float:
    """Test error of the same network trained from scratch on the n = alpha p target samples; no theory for it."""
    task, p = model.task, _features(model, d)
    X, y = draw_task(task, _samples(model), rng)
    network = train(random_network(p, X.shape[1], rng), X, y, steps=steps, rate=rate)
    X, y = draw_task(task, TEST_SAMPLES, rng)
    return float(np.mean(y * network.output(X) < 0))


def transferred(model: TransferModel, d: int, rng: Generator) -> Measured:
    """A replicate with the nonlinear features as they are; d is p, the number of the first layer's units."""
    _features(model, d)
    X, y = draw_task(model.task, _samples(model), rng)
    fitted = fit(erf(X @ model.first_layer.T), y, model.loss, model.lam)
    X, y = draw_task(model.task, TEST_SAMPLES, rng)
    error = float(np.mean(y * fitted.fields(erf(X @ model.first_layer.T)) < 0))
    return Measured(train_loss=fitted.train_loss, test_error=error, squared_norm=fitted.squared_norm, bias=fitted.bias)


def _features(model: TransferModel, d: int) -> int:
    if d != len(model.first_layer):
        raise ValueError(f"the model has matrices of its own size: d must be {len(model.first_layer)}, got {d}")
    return d


def _samples(model: TransferModel) -> int:
    n = round(model.alpha * len(model.first_layer))
    if n < 1:
        raise ValueError(f"alpha * p must round to at least 1 sample, got alpha = {model.alpha}")
    return n
