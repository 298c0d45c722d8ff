"""One replicate of a model: draw n = round(alpha p) samples, fit them, look at fresh samples."""

from functools import singledispatch
from typing import Any

import numpy as np
from numpy.random import Generator

from simulate.glm.draw import draw
from simulate.glm.errors import respond
from simulate.glm.features import FeatureTask
from simulate.glm.fit import LinearFit, fit, fit_coupled
from simulate.glm.measured import Measured
from simulate.glm.modes import apportion, embed
from simulate.glm.multiclass import fit_multiclass
from simulate.glm.population import population
from simulate.glm.random_labels import random_inputs
from simulate.glm.transfer import transferred
from theory.models.arrays import Array
from theory.models.glm import MulticlassMixture, RandomFeatures, RandomLabels, TransferModel

TEST_SAMPLES = 5000  # fresh samples where no closed form is known: their noise is below that of the training sample
FIELD_SAMPLES = 50_000  # the same where only K fields are drawn


@singledispatch
def measure(model: Any, d: int, rng: Generator) -> Measured:
    """A replicate of any record of theory.models.glm; d is p, but for random features the number of inputs.

    Models of Gaussian inputs are averaged exactly over fresh samples, given the weights.
    ValueError for a d that the record cannot have, or a loss that is not fitted here.
    """
    source = population(model, d)
    sample = draw(source, round(source.alpha * d), rng)
    learners = np.array([group.learner for group in source.groups])[sample.groups]
    fitted = fit_coupled(
        sample.X,
        sample.y,
        learners,
        source.loss,
        source.lam,
        coupling=source.coupling,
        bias=source.bias,
        sample_weights=sample.weights,
        n_learners=source.n_learners,
    )
    responses = [respond(group, fitted) for group in source.groups]
    shares = np.array([group.share for group in source.groups])
    errors = np.array([response.error for response in responses])
    return Measured(
        train_loss=fitted.train_loss,
        test_error=float(shares @ errors),
        squared_norm=fitted.squared_norm,
        bias=fitted.bias,
        group_errors=errors,
        selection_rates=np.array([response.selection for response in responses]),
    )


@measure.register
def _(model: RandomFeatures, d: int, rng: Generator) -> Measured:
    task = FeatureTask(model, d, rng)
    X, y = task.draw(sample_size(model.samples_per_input, d), rng)
    fitted = fit(X, y, model.loss, model.lam)
    return measured_on(fitted, *task.draw(TEST_SAMPLES, rng), model.labels)


def measured_on(fitted: LinearFit, X: Array, y: Array, labels: str) -> Measured:
    """With the error on a test set X (n, p), y (n,)."""
    h = fitted.fields(X)
    error = np.mean((y - h) ** 2) if labels == "linear" else np.mean(y * h < 0)
    return Measured(
        train_loss=fitted.train_loss, test_error=float(error), squared_norm=fitted.squared_norm, bias=fitted.bias
    )


@measure.register
def _(model: RandomLabels, d: int, rng: Generator, inputs: str = "gaussian") -> Measured:
    covariance = model.covariance if model.covariance.d == d else model.covariance.resized(d)
    X = random_inputs(covariance, sample_size(model.alpha, d), rng, inputs)
    fitted = fit(X, rng.choice((-1.0, 1.0), len(X)), model.loss, model.lam)
    return Measured(train_loss=fitted.train_loss, test_error=0.5, squared_norm=fitted.squared_norm, bias=fitted.bias)


@measure.register
def _(model: MulticlassMixture, d: int, rng: Generator) -> Measured:
    """Errors by drawing the K fields of fresh samples from their exact law."""
    covariances, signals = embed(model.modes, d)
    K, means = model.n_classes, signals / np.sqrt(d)
    roots = np.sqrt(covariances if len(covariances) > 1 else np.repeat(covariances, K, axis=0))
    classes = np.repeat(np.arange(K), apportion(np.array(model.probabilities), sample_size(model.alpha, d)))
    X = means[classes] + roots[classes] * rng.standard_normal((len(classes), d))
    fitted = fit_multiclass(X, classes, K, model.loss, model.lam, bias=model.bias)
    errors = np.empty(K)
    for c in range(K):
        spread = np.linalg.qr((fitted.weights * roots[c]).T / np.sqrt(d), mode="r")
        h = fitted.weights @ means[c] / np.sqrt(d) + fitted.bias
        errors[c] = np.mean(np.argmax(h + rng.standard_normal((FIELD_SAMPLES, len(spread))) @ spread, axis=1) != c)
    return Measured(
        train_loss=fitted.train_loss,
        test_error=float(np.array(model.probabilities) @ errors),
        squared_norm=np.mean(fitted.weights**2, axis=1),
        bias=fitted.bias,
        group_errors=errors,
    )


measure.register(TransferModel, transferred)


def sample_size(alpha: float, d: int) -> int:
    """round(alpha d), at least 1."""
    n = round(alpha * d)
    if n < 1:
        raise ValueError(f"samples per dimension times d must round to at least 1 sample, got {alpha} and d = {d}")
    return n
