"""A network of two layers without biases, and the loss of one whose binary weights are drawn at random."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from theory.core import Array, CheckedRecord, Matrix, checked, checks

Labels = NDArray[np.integer]  # (P,), classes from 0
MIN_WIDTH = 1e-12  # of a field: below it the slope of the width, which is infinite at zero, is cut off


@dataclass(frozen=True, eq=False)
class TwoLayerNetwork(CheckedRecord):
    """A network with the scores max(x W_1/sqrt(d), 0) W_2/sqrt(K) of its classes, of which the largest one is chosen.

    `first` (d, K) are the weights W_1 of K hidden units, and `second` (K, C) the weights W_2 of C classes. Rectified
    units without biases make the chosen class independent of the scale of each layer, so that the signs of real weights
    lose nothing by their common scale. Where all weights lie in [-1, 1] they can be means of binary weights.
    An input of one in every row of x acts as a bias of the hidden units.
    """

    first: Matrix
    second: Matrix

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.second) != self.first.shape[1]:
            raise ValueError(
                f"second must have a row for each of {self.first.shape[1]} columns of first, got {len(self.second)}"
            )

    @checked
    def scores(self, inputs: Matrix) -> Array:
        """Compute the scores (P, C) of the rows x of `inputs` (P, d); ValueError where they are not d numbers."""
        checks.shaped("inputs", inputs, (len(inputs), len(self.first)))
        return np.asarray(_scores(inputs, self.first, self.second))

    @checked
    def error(self, inputs: Matrix, labels: Labels) -> float:
        """Compute the share of the rows of `inputs` (P, d) whose largest score is not that of their label, (P,)."""
        scores = self.scores(inputs)
        labels = class_labels("labels", labels, len(inputs), scores.shape[1])
        return float(np.mean(scores.argmax(axis=1) != labels))

    def binarized(self) -> "TwoLayerNetwork":
        """Return the network of the signs of all weights; a weight of zero becomes 1."""
        return TwoLayerNetwork(np.where(self.first >= 0, 1.0, -1.0), np.where(self.second >= 0, 1.0, -1.0))

    @checked
    def sampled(self, rng: Generator) -> "TwoLayerNetwork":
        """Draw a network of independent binary weights whose means are these weights; ValueError for any beyond 1."""
        layers = self.first, self.second
        largest = max(float(abs(m).max()) for m in layers)
        if largest > 1:
            raise ValueError(f"rng cannot draw signs with these weights as means, which reach {largest:g} beyond 1")
        return TwoLayerNetwork(*(np.where(rng.random(m.shape) < (1 + m) / 2, 1.0, -1.0) for m in layers))


def class_labels(name: str, value: Any, n_rows: int, n_classes: int) -> Labels:
    """Return `value` as labels (n_rows,) from 0 to n_classes - 1, or raise ValueError that names the argument."""
    labels = checks.shaped(
        name,
        checks.integer_array(name, value),
        (n_rows,),
        f" (one label for each row of {name.replace('labels', 'inputs')})",
    )
    if labels.min() < 0 or labels.max() >= n_classes:
        raise ValueError(f"{name} must lie between 0 and {n_classes - 1}, got {labels.min()} to {labels.max()}")
    return labels


def _scores(inputs: Array, first: Array, second: Array) -> Array:
    d, K = first.shape
    return np.asarray(np.maximum(inputs @ first / np.sqrt(d), 0) @ second / np.sqrt(K))


def loss_and_gradient(
    inputs: Array, labels: Labels, first: Array, second: Array, noise: tuple[Array, Array] | None
) -> tuple[float, Array, Array]:
    """Return the mean logistic loss of the classes and its gradients by the weights of both layers, derived here.

    Without `noise` the weights are those of a real network. With it they are the means m of binary weights, and noise
    holds standard Gaussian numbers for the fields of the hidden units (P, K) and of the classes (P, C). By the central
    limit theorem a hidden field is Gaussian with the mean sum_i x_i m_ik/sqrt(d) and the variance
    sum_i x_i^2 (1 - m_ik^2)/d, and given the activities a_k = max(field_k, 0) so is a score, with the mean
    sum_k a_k m_kc/sqrt(K) and the variance sum_k a_k^2 (1 - m_kc^2)/K. The numbers of the noise take the place of draws
    of all weights for every input, and the gradient goes through mean and width of every field (local
    reparametrization).
    """
    d, K = first.shape
    rows = np.arange(len(labels))
    field, squares = inputs @ first / np.sqrt(d), inputs**2
    if noise is not None:
        width = np.sqrt(squares @ (1 - first**2) / d)
        field = field + width * noise[0]
    active = np.maximum(field, 0)
    score = active @ second / np.sqrt(K)
    if noise is not None:
        score_width = np.sqrt(active**2 @ (1 - second**2) / K)
        score = score + score_width * noise[1]
    # The largest score is taken off first, so that no exponential overflows.
    score -= score.max(axis=1, keepdims=True)
    logs = score - np.log(np.exp(score).sum(axis=1, keepdims=True))
    by_score = np.exp(logs)
    by_score[rows, labels] -= 1
    by_score /= len(labels)
    by_second = active.T @ by_score / np.sqrt(K)
    by_active = by_score @ second.T / np.sqrt(K)
    if noise is not None:
        by_variance = by_score * noise[1] / (2 * np.maximum(score_width, MIN_WIDTH))
        by_second -= 2 * second * ((active**2).T @ by_variance) / K
        by_active += 2 * active * (by_variance @ (1 - second**2).T) / K
    by_field = by_active * (field > 0)
    by_first = inputs.T @ by_field / np.sqrt(d)
    if noise is not None:
        by_variance = by_field * noise[0] / (2 * np.maximum(width, MIN_WIDTH))
        by_first -= 2 * first * (squares.T @ by_variance) / d
    return -float(np.mean(logs[rows, labels])), by_first, by_second
