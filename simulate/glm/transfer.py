"""Trains a two-layer network on a task by gradient descent, and measures what its first layer is worth on another."""

from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy.special import erf, expit

from simulate.glm.features import controlled_mean, sign_error
from simulate.glm.fit import AnyLoss, LinearFit, checked_inputs, fit
from simulate.glm.population import sample_size
from theory.core import Array, Count, FitError, Positive, checked, checked_fields, checks
from theory.models.glm import HiddenManifold, TransferModel

TEST_SAMPLES = 5000
CONTROLLED_SAMPLES = 3000  # where a linear learner takes out so much of their noise that it is at most that of 5000
MAX_STEPS = 10**7
SLOPE = 2 / np.sqrt(np.pi)  # slope of erf at zero


@dataclass(frozen=True, eq=False)
class Network:
    """Holds a network f(x) = readout.erf(W x)/p with `first_layer` W (p, N) and `readout` (p,); it predicts sign f.

    Raises ValueError for shapes that do not fit.
    """

    first_layer: Array = field(repr=False)
    readout: Array = field(repr=False)

    def __post_init__(self) -> None:
        checked_fields(self)
        if self.first_layer.ndim != 2 or 0 in self.first_layer.shape:
            raise ValueError(f"first_layer must have shape (hidden units, inputs), got {self.first_layer.shape}")
        checks.shaped("readout", self.readout, (len(self.first_layer),), " to fit first_layer")

    def output(self, X: ArrayLike) -> Array:
        """Return f of the rows of X (n, N), (n,)."""
        rows = checked_inputs(X, self.first_layer.shape[1])
        return np.asarray(erf(rows @ self.first_layer.T) @ self.readout / len(self.readout))

    @checked
    def gradient(self, X: ArrayLike, y: ArrayLike) -> tuple[float, "Network"]:
        """Return the mean logistic loss of rows X (n, N) with labels y (n,), and its gradient in both layers.

        The gradient is that times p, the number of hidden units, so that its entries are O(1).
        """
        return self._gradient(*_labeled(self, X, y))

    def _gradient(self, X: Array, y: Array) -> tuple[float, "Network"]:
        before = X @ self.first_layer.T
        features, p = erf(before), len(self.readout)
        f = features @ self.readout / p
        pull = -y * expit(-y * f) / len(y)
        hidden = (pull[:, None] * (SLOPE * np.exp(-(before**2)))) * self.readout
        return float(np.mean(np.logaddexp(0, -y * f))), Network(hidden.T @ X, features.T @ pull)


@checked
def random_network(n_hidden: Count, n_inputs: Count, rng: Generator) -> Network:
    """Draw an untrained network: W with entries N(0, 1/N) and a readout of random signs."""
    p, N = n_hidden, n_inputs
    checks.fits_in_memory("the network", float(p) * N)
    W = rng.standard_normal((p, N)) / np.sqrt(N)
    return Network(W, rng.choice((-1.0, 1.0), p))


@checked
def draw_task(task: HiddenManifold, n: Count, rng: Generator) -> tuple[Array, Array]:
    """Draw n inputs erf(F c) (n, N) of a task and their labels sign(theta.c) (n,)."""
    checks.fits_in_memory("the samples", float(n) * sum(task.input_map.shape))
    return _drawn(task, n, rng)[1:]


def _drawn(task: HiddenManifold, n: int, rng: Generator) -> tuple[Array, Array, Array]:
    """Draw latent vectors c (n, d) with their inputs and labels."""
    c = rng.standard_normal((n, len(task.teacher)))
    return c, np.asarray(erf(c @ task.input_map.T)), np.where(c @ task.teacher >= 0, 1.0, -1.0)


@checked
def train(network: Network, X: ArrayLike, y: ArrayLike, *, steps: Count = 10, rate: Positive = 0.2) -> Network:
    """Train both layers by gradient descent on the mean logistic loss of (X, y), all samples in every step.

    X is (n, N), and y (n,) holds +-1. `rate` multiplies the gradients of `Network.gradient`: for any number of hidden
    units the features move by O(1). Raises ValueError for shapes and labels that do not fit; FitError (a RuntimeError)
    if the loss becomes larger than at the start, because the rate was too large.
    """
    rows, labels = _labeled(network, X, y)
    steps = _steps(steps)
    with np.errstate(over="ignore", invalid="ignore"):
        start, slope = network._gradient(rows, labels)
        for _ in range(steps):
            network = Network(network.first_layer - rate * slope.first_layer, network.readout - rate * slope.readout)
            loss, slope = network._gradient(rows, labels)
            if not loss < start:
                raise FitError(f"training did not lower the loss, {start:.4g} -> {loss:.4g}: take a smaller rate")
    return network


def _labeled(network: Network, X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    rows, labels = checks.finite_array("X", X, 2), checks.finite_array("y", y, 1)
    checked_inputs(rows, network.first_layer.shape[1])
    if labels.shape != (len(rows),) or not np.all(abs(labels) == 1):
        raise ValueError(f"y must be {len(rows)} labels -1 or 1, one for each row of X, got shape {labels.shape}")
    return rows, labels


@checked
def scratch_error(model: TransferModel, d: int, rng: Generator, steps: Count = 200, rate: Positive = 0.5) -> float:
    """Measure the test error of the same network trained from scratch on the target task alone.

    It is trained on the n = alpha p samples of the target task from which the transferred features are read out; there
    is no theory for it. d must be p, the number of units of the first layer. Raises what `train` raises.
    """
    task, p, steps = model.task, _units(model, d), _steps(steps)
    X, y = draw_task(task, sample_size(model.alpha, p, p), rng)
    network = train(random_network(p, X.shape[1], rng), X, y, steps=steps, rate=rate)
    X, y = draw_task(task, TEST_SAMPLES, rng)
    return float(np.mean(y * network.output(X) < 0))


def transferred(model: TransferModel, d: int, rng: Generator) -> tuple[LinearFit, float]:
    """Return the fit of a read-out on the nonlinear features as they are, and its error; d is p, as in `measure`.

    The noise of the test samples is reduced by a learner v.c of their latent vectors, in which each erf is replaced by
    the line nearest to it under a Gaussian law, of slope 2/sqrt(pi (1 + 2 variance)): its error is known exactly, and
    it errs on nearly the same samples.
    """
    p, task, W = _units(model, d), model.task, model.first_layer
    X, y = draw_task(task, sample_size(model.alpha, p, p), rng)
    hidden = X @ W.T
    fitted = fit(erf(hidden), y, cast(AnyLoss, model.loss), model.lam)
    slopes = SLOPE / np.sqrt(1 + 2 * np.mean(hidden**2, axis=0))
    inputs = SLOPE / np.sqrt(1 + 2 * np.sum(task.input_map**2, axis=1))
    v = ((fitted.weights[0] * slopes) @ W * inputs) @ task.input_map
    c, X, y = _drawn(task, CONTROLLED_SAMPLES, rng)
    errors, known = (y * field < 0 for field in (fitted.fields(erf(X @ W.T)), c @ v))
    return fitted, controlled_mean(errors.astype(float), known.astype(float), sign_error(v, task.teacher))


def _steps(steps: int) -> int:
    if steps > MAX_STEPS:
        raise ValueError(f"steps must be an integer of at most {MAX_STEPS}, got {steps}")
    return steps


def _units(model: TransferModel, d: int) -> int:
    """Return the number p of units of the first layer; ValueError where d is another one."""
    if d != len(model.first_layer):
        raise ValueError(f"d must be {len(model.first_layer)}, the size of the model's own matrices, got {d}")
    return len(model.first_layer)
