"""Enumerates what a layer with uniform attention sees and should predict, to be fitted without any closed form."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from simulate.topics import Batch, Layer, loss_and_gradient, population_batch
from simulate.topics.layer import Loss
from simulate.topics.population import topic_sets
from theory.core.arrays import Array
from theory.models import Masking, TopicModel


@dataclass(frozen=True, eq=False)
class Population:
    """Holds the shares of the visible tokens and of the true words in every topic set, both (sets, D)."""

    visible: Array
    words: Array

    @classmethod
    def of(cls, model: TopicModel, masking: Masking) -> "Population":
        words = topic_sets(model)
        return cls(population_batch(model, masking).keys, np.column_stack([np.zeros(len(words)), words]))

    @property
    def batch(self) -> Batch:
        """The batch with one query for each topic set: all queries of a set get the same answer here."""
        n = len(self.words)
        return Batch(self.visible, np.arange(n), np.zeros(n, dtype=np.int64), self.words / n)


def descent(population: Population, loss: Loss, step: float, records: list[int], rng: np.random.Generator) -> Array:
    """Return the loss and the entries of the value matrix along gradient descent on it alone, (records, 1 + D D).

    There is no bias, and attention stays uniform.
    """
    batch, D = population.batch, population.words.shape[1]
    value, path = 1e-4 * rng.standard_normal((D, D)), []
    for k in range(max(records) + 1):
        now, gradient = loss_and_gradient(Layer(np.zeros((1, D)), np.zeros((1, D)), value, np.zeros(D)), batch, loss)
        if k in records:
            path.append(np.append(now, value))
        value = value - step * gradient.value
    return np.array(path)


def fitted_embedding(
    population: Population, dimension: int, rng: np.random.Generator, *, decay: float = 0.0, bias: bool = False
) -> tuple[Array, float]:
    """Return E = W'W (D, D) that minimizes the excess loss + decay |W|^2 over W (dimension, D), and the excess."""
    X, target = population.visible.T, population.words.T
    D, n = X.shape

    def objective(x: Array) -> tuple[float, Array]:
        W, b = x[:-D].reshape(dimension, D), x[-D:] * bias
        error = W.T @ (W @ X) + b[:, None] - target
        by_gram = 2 / n * error @ X.T
        gradient = W @ (by_gram + by_gram.T) + 2 * decay * W
        return float((error**2).sum() / n + decay * (W**2).sum()), np.append(gradient, 2 / n * error.sum(1) * bias)

    start = np.append(0.6 * rng.standard_normal(dimension * D) / np.sqrt(D), np.zeros(D))
    options = {"maxiter": 20_000, "maxfun": 20_000, "ftol": 1e-16, "gtol": 1e-10}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    W = found.x[:-D].reshape(dimension, D)
    return W.T @ W, float(found.fun - decay * (W**2).sum())
