"""Measures one replicate of masked regression under a pattern of masks along training."""

from dataclasses import replace

import numpy as np
from numpy.random import Generator

from simulate.masked.draw import draw
from simulate.masked.masks.random_masks import masked_test_error
from simulate.masked.sampler import Inputs
from simulate.masked.training.replicate import TrainingErrors
from simulate.masked.training.steps import follow
from theory.core import Array, checked
from theory.models import Descent, Flow, RandomMasksTraining, SpanMaskTraining, Training


def trained(H: Array, cross: Array, training: Training, lam: float) -> Array:
    """Return the coefficients (b, m) after training from zero along cross - a (H + lam), H (m, m) and cross (b, m).

    Gradient flow is followed by the eigenvalues of H, and steps one by one; each row is one regression.
    """
    if isinstance(training, Flow):
        c, vectors = np.linalg.eigh(H)
        reach = np.maximum(c, 0.0) + lam
        share = np.divide(-np.expm1(-training.time * reach), reach, out=np.full_like(c, training.time), where=reach > 0)
        return np.asarray((cross @ vectors * share) @ vectors.T)
    if not isinstance(training, Descent):
        raise ValueError(f"training must be Flow, Descent, HeavyBall or Nesterov, got {training!r}")
    return follow(H, cross, training, lam)


@checked
def pattern_replicate(
    model: RandomMasksTraining | SpanMaskTraining, d: int, rng: Generator, inputs: Inputs = "gaussian"
) -> TrainingErrors:
    """Draw n = round(alpha d) rows, train as the model says, and measure both errors, means over the coordinates.

    With random masks each coordinate is trained by itself on the mean over all masks, d trainings in all.
    `theory.masked.solve(model)` predicts the errors under the same names. ValueError as in `mean_test_error`.

    >>> from simulate.core import stream
    >>> from theory.models import AR1
    >>> model = SpanMaskTraining(AR1(d=40, correlation=0.7), 2.0, Flow(5.0), span=(10, 11))
    >>> 0.5 < pattern_replicate(model, 40, stream(0, "docstring")).mean_test_error < 1.0
    True
    """
    covariance, X = draw(model, d, rng, inputs)
    C, Sigma = X.T @ X / len(X), covariance.matrix
    if isinstance(model, SpanMaskTraining):
        model = replace(model, covariance=covariance)  # at this size the span is checked
        span = np.array(model.span)
        others = np.setdiff1d(np.arange(d), span)
        rows = np.zeros((len(span), d))
        rows[:, others] = -trained(C[np.ix_(others, others)], C[np.ix_(span, others)], model.training, model.lam)
        rows[np.arange(len(span)), span] = 1.0
        test, train = (float(np.vdot(rows @ moments, rows)) / len(span) for moments in (Sigma, C))
        return TrainingErrors(test, train)
    p, power = model.mask_rate, np.diagonal(C)
    second = (1 - p) ** 2 * C + np.diag(p * (1 - p) * power)
    predictor, train = np.zeros((d, d)), 0.0
    for k in range(d):
        others = np.delete(np.arange(d), k)
        H, cross = second[np.ix_(others, others)], (1 - p) * C[k, others]
        a = trained(H, cross[None], model.training, model.lam)[0]
        predictor[k, others] = a
        train += power[k] - 2 * a @ cross + a @ H @ a
    return TrainingErrors(float(masked_test_error(predictor, covariance, p).mean()), float(train) / d)
