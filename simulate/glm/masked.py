"""A masked site predicted from the others by a regularized fit, and judged by the true law of the site."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from simulate.glm.fit import fit
from simulate.glm.multiclass import fit_multiclass
from theory.models import checks
from theory.models.arrays import Array


@dataclass(frozen=True)
class MaskedSiteFit:
    """`test_loss`: cross entropy in nats on the test inputs, averaged over the true law of the site given each input.

    `excess` is what it has above the entropy of that law, `test_error` the probability of a wrong guess; `train_loss`
    is the mean over the training samples, without the ridge, and `squared_norm` |w|^2/p.
    """

    train_loss: float
    test_loss: float
    excess: float
    test_error: float
    squared_norm: float


def fit_masked_site(
    inputs: Any, colors: Any, lam: float, *, test_inputs: Any, conditionals: Any, bias: bool = False
) -> MaskedSiteFit:
    """Fit of a site's `colors` (n,) to the `inputs` (n, p), the numbers of the other sites; `test_inputs` (T, p).

    `conditionals` (T, C): P(color | input), true, of each test input: averages over the color are exact, and the excess
    has no noise of its own. Two colors: logistic loss with y = +1 for color 0 and -1 for color 1; more: softmax. The
    sum of losses + (lam/2) |w|^2 is minimized, fields w.x/sqrt(p). Of a pseudo-likelihood that takes the mean over the
    samples and the penalty l2 |J|^2 this is one site, asymmetric, at l2 = lam p/(2 n); without `bias` it has no fields.
    """
    P = checks.finite_array("conditionals", conditionals, 2)
    X = checks.finite_array("test_inputs", test_inputs, 2)
    if len(P) != len(X) or P.shape[1] < 2 or abs(P.sum(axis=1) - 1).max() > 1e-6 or P.min() < 0:
        raise ValueError(f"conditionals must be probabilities (T, C) of T = {len(X)} test inputs, got shape {P.shape}")
    s, n_colors = checks.colors("colors", colors, P.shape[1]), P.shape[1]
    if n_colors == 2:
        spins = fit(inputs, 1.0 - 2.0 * s, "logistic", lam, bias=bias)
        log_Q = -np.logaddexp(0, np.outer(spins.fields(X), [-1.0, 1.0]))
        return _judged(P, log_Q, spins.train_loss, float(spins.squared_norm[0]))
    classes = fit_multiclass(inputs, s.astype(int), n_colors, "softmax", lam, bias=bias)
    h = classes.fields(X)
    log_Q = h - np.logaddexp.reduce(h, axis=1, keepdims=True)
    return _judged(P, log_Q, classes.train_loss, float(np.sum(classes.weights**2) / X.shape[1]))


def _judged(P: Array, log_Q: Array, train_loss: float, squared_norm: float) -> MaskedSiteFit:
    test_loss = -float(np.mean(np.sum(P * log_Q, axis=1)))
    guessed = np.take_along_axis(P, log_Q.argmax(axis=1)[:, None], axis=1)
    excess = test_loss - conditional_entropy(P)
    return MaskedSiteFit(train_loss, test_loss, excess, 1 - float(guessed.mean()), squared_norm)


def conditional_entropy(conditionals: Any) -> float:
    """Mean entropy in nats of the laws along the last axis: the least cross entropy there can be."""
    P = np.asarray(conditionals, float)
    return -float(np.mean(np.sum(P * np.log(np.maximum(P, 1e-300)), axis=-1)))
