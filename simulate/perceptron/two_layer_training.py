"""Trains the means of binary weights through two layers, or real weights of the same network."""

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from simulate.core.optimizers import Adam
from simulate.perceptron.stochastic_descent import LearningRate
from simulate.perceptron.two_layer_network import Labels, TwoLayerNetwork, class_labels, loss_and_gradient
from theory.core import Array, AtLeast, Count, Matrix, SolverResult, checked, checks

# Of theta, for stochastic and for real weights. Of 0.1, 0.3 and 1 the second is best for the signs of real weights.
START_DEVIATION = {True: 0.1, False: 0.3}
MAX_EPOCHS = 10_000
MAX_INPUT = 1e6


@dataclass(frozen=True, eq=False, repr=False)
class TwoLayerTraining(SolverResult):
    """The end of one training and its history.

    `network` has the trained weights: means m = tanh(theta) in (-1, 1) where `stochastic`, else real ones. `error` is
    its share of wrong labels on the test set, and `binarized_error` that of the network of the signs of its weights.
    `sampled_error` is that of a network whose binary weights are drawn with the means m, and NaN for real weights.
    `losses`, `errors`, `binarized_errors` and `sampled_errors`, each (epochs + 1,), are their history from the start on
    (at the start there is no loss yet, which is NaN; later ones are averages over the batches of an epoch). A training
    has `converged` where the signs classify all of the training set correctly, and `residual` is the share that they do
    not; nothing stops a training before its last epoch, and `iterations` counts the steps.
    """

    stochastic: bool
    error: float
    binarized_error: float
    sampled_error: float
    network: TwoLayerNetwork = field(repr=False)
    losses: Array = field(repr=False)
    errors: Array = field(repr=False)
    binarized_errors: Array = field(repr=False)
    sampled_errors: Array = field(repr=False)

    def binarized(self) -> TwoLayerNetwork:
        """Return the network of the signs of all weights."""
        return self.network.binarized()


@checked
def train_two_layers(
    inputs: Matrix, labels: Labels, test_inputs: Matrix, test_labels: Labels, n_hidden: Count, rng: np.random.Generator,
    *, stochastic: bool = True, learning_rate: LearningRate = 0.02,
    epochs: Annotated[int, AtLeast(1, most=MAX_EPOCHS)] = 40, batch_size: Count = 50,
) -> TwoLayerTraining:  # fmt: skip
    """Train a `TwoLayerNetwork` of `n_hidden` units on the rows of `inputs` (P, d) and their `labels` 0, 1, ..., (P,).

    With `stochastic` the weights are binary and random, and their means m = tanh(theta) are trained: every field is
    Gaussian by the central limit theorem, with a mean and a variance that follow from those of the layer below, and the
    loss is the logistic one of the classes for one draw of the fields (see `loss_and_gradient`). This is the extension
    of the stochastic weights of arXiv:1710.09825 to two layers, derived here. Otherwise real weights theta are trained
    on the same loss without noise. Adam changes theta with this learning rate, on batches of `batch_size` rows in an
    order that is drawn anew in each epoch. Theta starts from independent Gaussian values of standard deviation 0.1, or
    0.3 for real weights; both kinds of weights draw the same ones from equal generators. Inputs should be of order one.

    ValueError for arrays that do not fit each other, labels that are negative or not whole, test labels that the
    training set lacks, inputs beyond 1e6, learning rates beyond 1, and more than 10,000 epochs; MemoryError for sizes
    that do not fit.

    >>> rng = np.random.default_rng(0)
    >>> inputs = rng.standard_normal((600, 21))
    >>> labels = (inputs @ rng.choice([-1, 1], 21) > 0).astype(int)
    >>> trained = train_two_layers(inputs[:400], labels[:400], inputs[400:], labels[400:], 30, rng)
    >>> trained.binarized_error < 0.1
    True
    """
    P, d = inputs.shape
    n_classes = max(2, int(checks.integer_array("labels", labels).max(initial=0)) + 1)
    labels = class_labels("labels", labels, P, n_classes)
    checks.shaped("test_inputs", test_inputs, (len(test_inputs), d))
    for name, given in (("inputs", inputs), ("test_inputs", test_inputs)):
        if (largest := float(abs(given).max())) > MAX_INPUT:
            raise ValueError(f"{name} must lie between -{MAX_INPUT:g} and {MAX_INPUT:g}, got {largest:g}: divide them")
    test = test_inputs, class_labels("test_labels", test_labels, len(test_inputs), n_classes)
    # Weights, both moments, gradients and what they are made of; fields of a batch and of all rows.
    rows = float(max(P, len(test_inputs)))
    checks.fits_in_memory(
        f"{n_hidden} hidden units of {d} inputs and {n_classes} classes",
        8.0 * n_hidden * (d + n_classes) + 6.0 * rows * (n_hidden + n_classes),
    )
    shapes = (d, n_hidden), (n_hidden, n_classes)
    theta = [START_DEVIATION[stochastic] * rng.standard_normal(shape) for shape in shapes]
    optimizer, steps = Adam(learning_rate), 0
    history = [_measured(theta, stochastic, np.nan, test, rng)]
    for _ in range(epochs):
        order, total = rng.permutation(P), 0.0
        for start in range(0, P, batch_size):
            rows_now = order[start : start + batch_size]
            first, second = _weights(theta, stochastic)
            # Drawn for real weights too, so that both kinds of weights see the same batches.
            noise = rng.standard_normal((len(rows_now), n_hidden)), rng.standard_normal((len(rows_now), n_classes))
            loss, *gradients = loss_and_gradient(
                inputs[rows_now], labels[rows_now], first, second, noise if stochastic else None
            )
            if stochastic:
                gradients = [g * (1 - m * m) for g, m in zip(gradients, (first, second), strict=True)]
            optimizer(theta, gradients)
            total, steps = total + loss * len(rows_now), steps + 1
        history.append(_measured(theta, stochastic, total / P, test, rng))
    losses, errors, binarized, sampled = np.array(history).T
    network = TwoLayerNetwork(*_weights(theta, stochastic))
    wrong = network.binarized().error(inputs, labels)
    return TwoLayerTraining(
        stochastic=stochastic,
        error=float(errors[-1]),
        binarized_error=float(binarized[-1]),
        sampled_error=float(sampled[-1]),
        network=network,
        losses=losses,
        errors=errors,
        binarized_errors=binarized,
        sampled_errors=sampled,
        residual=wrong,
        iterations=steps,
        converged=wrong == 0,
    )


def _weights(theta: list[Array], stochastic: bool) -> list[Array]:
    return [np.tanh(each) for each in theta] if stochastic else theta


def _measured(
    theta: list[Array], stochastic: bool, loss: float, test: tuple[Array, Labels], rng: np.random.Generator
) -> tuple[float, float, float, float]:
    """Return the loss and the test errors of the network, of its signs and of a draw."""
    network = TwoLayerNetwork(*_weights(theta, stochastic))
    # A draw consumes as much of the stream for real weights, whose batches would otherwise differ.
    means = network if stochastic else TwoLayerNetwork(*(np.zeros_like(each) for each in theta))
    sampled = means.sampled(rng).error(*test)
    return loss, network.error(*test), network.binarized().error(*test), sampled if stochastic else np.nan
