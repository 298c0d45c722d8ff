"""Fits a masked site to the other sites, and judges the fit by the true law of the site."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr, log_softmax

from simulate.glm.fit import LinearFit, fit
from simulate.glm.multiclass import MulticlassFit, fit_multiclass
from theory.core import Array, Positive, SolverResult, checked, checks


@dataclass(frozen=True, eq=False, repr=False)
class MaskedSiteFit(SolverResult):
    """Holds how well a fitted site is predicted, averaged over the true law of the site given each test input.

    `test_loss` is the cross entropy in nats on the test inputs, `excess` what it has above the entropy of the true law,
    `test_error` the probability of a wrong guess; `train_loss` is the mean over the training samples, without the
    ridge, and `squared_norm` |w|^2/p. The evidence is that of the fit.
    """

    train_loss: float
    test_loss: float
    excess: float
    test_error: float
    squared_norm: float


@checked
def fit_masked_site(
    inputs: ArrayLike, colors: Any, lam: Positive, *, test_inputs: ArrayLike, conditionals: ArrayLike,
    bias: bool = False,
) -> MaskedSiteFit:  # fmt: skip
    """Fit a site's `colors` (n,) to `inputs` (n, p), the numbers of the other sites, and judges it by its true law.

    `test_inputs` are (T, p), and `conditionals` (T, C) are the true P(color | input) of each test input: averages over
    the color are exact, and the excess over the least loss has no noise of its own. With two colors the loss is
    logistic, with y = +1 for color 0 and -1 for color 1; with more it is softmax. The sum of the losses + (lam/2) |w|^2
    is minimized, where w acts through the fields w.x/sqrt(p). This is one site of an asymmetric pseudo-likelihood that
    takes the mean over the samples and the penalty l2 |J|^2 with l2 = lam p/(2 n); without `bias` it has no fields.
    Raises ValueError for bad shapes, colors and probabilities; FitError where no minimum is found.
    """
    P = checked_conditionals(conditionals)
    X, test = checks.finite_array("inputs", inputs, 2), checks.finite_array("test_inputs", test_inputs, 2)
    if len(P) != len(test) or P.shape[1] < 2:
        raise ValueError(f"conditionals must be (T, C) for the T = {len(test)} rows of test_inputs, got {P.shape}")
    if test.shape[1] != X.shape[1]:
        raise ValueError(f"test_inputs must have {X.shape[1]} columns as inputs, got {test.shape[1]}")
    s = checks.colors("colors", checks.integer_array("colors", colors), P.shape[1])
    if s.shape != (len(X),):
        raise ValueError(f"colors must have one entry for each of {len(X)} rows of inputs, got shape {s.shape}")
    with np.errstate(over="ignore"):
        if P.shape[1] == 2:
            fitted: LinearFit | MulticlassFit = fit(X, 1.0 - 2.0 * s, "logistic", lam, bias=bias)
            log_Q = -np.logaddexp(0, np.outer(fitted.fields(test), [-1.0, 1.0]))
        else:
            fitted = fit_multiclass(X, s.astype(int), P.shape[1], "softmax", lam, bias=bias)
            log_Q = log_softmax(fitted.fields(test), axis=1)
        return _judged(P, log_Q, fitted)


def checked_conditionals(conditionals: Any) -> Array:
    """Return probabilities (T, C) whose rows sum to 1, or raise ValueError."""
    P = checks.finite_array("conditionals", conditionals, 2)
    if P.min() < 0 or P.max() > 2 or abs(P.sum(axis=1) - 1).max() > 1e-6:
        raise ValueError(f"conditionals must be probabilities whose rows sum to 1, got {checks.shown(conditionals)}")
    return P


def _judged(P: Array, log_Q: Array, fitted: LinearFit | MulticlassFit) -> MaskedSiteFit:
    test_loss = -float(np.mean(np.sum(P * log_Q, axis=1)))
    guessed = np.take_along_axis(P, log_Q.argmax(axis=1)[:, None], axis=1)
    return MaskedSiteFit(
        train_loss=fitted.train_loss,
        test_loss=test_loss,
        excess=test_loss - conditional_entropy(P),
        test_error=1 - float(guessed.mean()),
        squared_norm=float(np.sum(fitted.squared_norm)),
        residual=fitted.residual,
        iterations=fitted.iterations,
        converged=fitted.converged,
    )


@checked
def conditional_entropy(conditionals: ArrayLike) -> float:
    """Return the mean entropy in nats of the laws along the last axis of `conditionals`, (..., C).

    It is the least cross entropy there can be. Raises ValueError for what are no probabilities.
    """
    P = checks.real_array("conditionals", conditionals)
    laws = checked_conditionals(P.reshape(-1, P.shape[-1]) if P.ndim > 2 and P.size else P)
    return float(np.mean(np.sum(entr(laws), axis=-1)))
