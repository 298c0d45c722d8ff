"""Gradient descent on the means of stochastic binary weights, until their signs classify all patterns."""

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from scipy.special import erfcx, log_ndtr

from simulate.core.optimizers import adam_direction
from simulate.perceptron.stochastic_gibbs import number_of_patterns
from theory.core import Array, Count, Positive, Several, SolverResult, Within, checked

START_DEVIATION = 0.1  # standard deviation of theta
EPOCHS_BETWEEN_TESTS = 10  # epochs between tests of the signs
LearningRate = Annotated[float, Within(0.0, 1.0, closed=(False, True))]


@dataclass(frozen=True, eq=False, repr=False)
class StochasticDescent(SolverResult):
    """The end of one descent: `solved` says whether the binary weights sign(m) classify every pattern correctly.

    `errors` counts the patterns that they misclassify, and `epochs` the epochs that were made. `squared_norm` is
    |m|^2/N and `loss` the negative log-likelihood per weight at the end; `means` (N,) are m. `converged` is the same as
    `solved`, and `residual` is the fraction of misclassified patterns.
    """

    solved: bool
    errors: int
    epochs: int
    squared_norm: float
    loss: float
    means: Array = field(repr=False)


@checked
def descend_stochastic_weights(
    alpha: Positive, n_weights: Several, rng: np.random.Generator, *,
    learning_rate: LearningRate = 0.02, max_epochs: Count = 3000,
) -> StochasticDescent:  # fmt: skip
    """Train N = `n_weights` means on round(alpha N) patterns of random signs, until their signs solve the problem.

    The loss is - sum log Phi(h/s) with h = xi.m/sqrt(N), where s^2 is the mean of 1 - m_i^2, so that the norm is free
    (arXiv:1710.09825); m = tanh(theta), and theta is changed by Adam with this learning rate on all patterns at once,
    from independent Gaussian values of standard deviation 0.1. The signs of m are tested every ten epochs; the descent
    ends where they classify all patterns correctly, or at `max_epochs` without success. No theory line is known for the
    probability of success; an odd N avoids fields of exactly zero, which count as errors.

    ValueError for fewer than two weights, no pattern, and a rate or number of epochs that is not positive.

    >>> descent = descend_stochastic_weights(0.3, 201, np.random.default_rng(0))
    >>> descent.solved, descent.errors
    (True, 0)
    """
    N, P = n_weights, number_of_patterns(alpha, n_weights)
    xi = rng.choice([-1.0, 1.0], (P, N))
    # Means near zero, so that at first nothing is decided and no tanh is flat.
    theta = START_DEVIATION * rng.standard_normal(N)
    moments = np.zeros(N), np.zeros(N)
    for epoch in range(1, max_epochs + 1):
        m = np.tanh(theta)
        theta -= learning_rate * adam_direction(_gradient(xi, m) * (1 - m * m), *moments, epoch)
        if epoch % EPOCHS_BETWEEN_TESTS == 0 or epoch == max_epochs:
            errors = int(np.sum(xi @ np.sign(theta) <= 0))
            if errors == 0:
                break
    m = np.tanh(theta)
    return StochasticDescent(
        solved=errors == 0,
        errors=errors,
        epochs=epoch,
        squared_norm=float(np.mean(m * m)),
        loss=-float(np.sum(log_ndtr(_fields(xi, m)[0]))) / N,
        means=m,
        residual=errors / P,
        iterations=epoch,
        converged=errors == 0,
    )


def _fields(xi: Array, m: Array) -> tuple[Array, float]:
    """Return the fields h/s (P,) in units of their width, and the width s."""
    # Where all means are +-1 the width is zero, and the fields are as good as infinite.
    width = float(np.sqrt(np.maximum(np.mean(1 - m * m), 1e-30)))
    return xi @ m / (np.sqrt(len(m)) * width), width


def _gradient(xi: Array, m: Array) -> Array:
    """Return the gradient of the loss with respect to the means, through the fields and through their width."""
    x, width = _fields(xi, m)
    # By the scaled function, since phi and Phi both underflow far on the wrong side.
    slope = np.sqrt(2 / np.pi) / erfcx(-x / np.sqrt(2))  # phi/Phi
    N = len(m)
    return np.asarray(-(slope @ xi) / (np.sqrt(N) * width) - (slope @ x) * m / (N * width**2))
