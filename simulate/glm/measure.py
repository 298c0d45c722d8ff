"""Measures one replicate of a model: draws n = round(alpha p) samples, fits them, and tests on new samples."""

import math
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from simulate.glm.draw import Sample, draw
from simulate.glm.errors import both_positive, respond
from simulate.glm.features import FeatureTask
from simulate.glm.fit import AnyLoss, Argument, LinearFit, fit, fit_coupled
from simulate.glm.modes import apportion, embed
from simulate.glm.multiclass import MulticlassFit, fit_multiclass
from simulate.glm.penalized import PenalizedLoss, fit_penalized
from simulate.glm.population import GaussianModel, Population, population, sample_size
from simulate.glm.random_labels import InputLaw, random_inputs
from simulate.glm.transfer import transferred
from theory.core import Array, Count, Matrix, SolverResult, Vector, checked, checks
from theory.models.glm import LabelLaw, MulticlassMixture, RandomFeatures, RandomLabels, TransferModel
from theory.models.glm.cluster import kind_of
from theory.models.glm.label_channels import AnyChannel

# New samples, where no closed form is known: so many that their noise is below that of the training sample.
TEST_SAMPLES = 2000
FIELD_SAMPLES = 50_000  # where only K fields are drawn for each sample
MAX_SQUARED_CORRELATION = 1 - 1e-12  # squared correlation of two fields from which on their joint law has no density
NO_VALUES = np.zeros(0)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Measured(SolverResult):
    """Holds the means of one replicate, under the names that they have in the theory.

    `test_error` is the share of wrong signs (or classes), for other labels E (y - h)^2, or E (y - exp(h))^2 of a fit
    with the Poisson loss. `train_loss` is the mean
    loss of the training sample without the ridge, and `train_error` the share of it whose sign (or class) is wrong, NaN
    where that is not measured. `squared_norm` |w|^2/p and `bias` have one entry for each learner or
    output; `cluster_errors` and `selection_rate` P(h > 0) have one for each cluster (group or class) of the model. What
    a model does not have is empty. `nonzero` is the share of weights other than zero, and the rates of true and false
    positives and `support_f1` say which of them are those of the signal; a ridge has 1, NaN, NaN and NaN.
    The evidence is that of the fit.
    """

    train_loss: float
    test_error: float
    train_error: float
    squared_norm: Array = field(default_factory=lambda: NO_VALUES)
    bias: Array = field(default_factory=lambda: NO_VALUES)
    cluster_errors: Array = field(default_factory=lambda: NO_VALUES)
    selection_rate: Array = field(default_factory=lambda: NO_VALUES)
    nonzero: float = 1.0
    true_positive_rate: float = math.nan
    false_positive_rate: float = math.nan
    support_f1: float = math.nan


AnyModel = GaussianModel | MulticlassMixture | RandomFeatures | RandomLabels | TransferModel


@checked
def measure(model: AnyModel, d: Count, rng: Generator, *, inputs: InputLaw = "gaussian") -> Measured:
    """Draw and fit one replicate of any record of theory.models.glm at dimension d.

    d is p, except for random features, where it is the number of inputs. Errors of models with Gaussian inputs are
    averaged exactly over fresh samples, given the weights. `inputs` is the law of the inputs of RandomLabels, as in
    `random_inputs`. A convex loss of one's own is fitted by its values, see `fit`. Raises ValueError for a d that the
    record cannot have, or a loss that is not convex; FitError where the fit finds no minimum.

    >>> from theory.models import GaussianMixture
    >>> model = GaussianMixture.opposite(mean_power=4.0, variances=0.5, alpha=3.0, lam=0.1)
    >>> found = measure(model, 50, np.random.default_rng(0))
    >>> found.test_error < 0.01, found.cluster_errors.shape
    (True, (2,))
    """
    if inputs != "gaussian" and not isinstance(model, RandomLabels):
        raise ValueError(f"inputs must be 'gaussian' for a {type(model).__name__}, got {inputs!r}")
    try:
        return _random_labels(model, d, rng, inputs) if isinstance(model, RandomLabels) else _measured(model, d, rng)
    except ValueError as refused:  # by a fit that refuses the drawn sample, or by a d that the model cannot have
        raise ValueError(f"model cannot be measured at d = {d}: {refused}") from refused


@singledispatch
def _measured(model: Any, d: int, rng: Generator) -> Measured:
    """Measure a replicate of a population of Gaussian groups."""
    source = population(model, d)
    sample = draw(source, sample_size(source.alpha, d, d), rng)
    learners = np.array([group.learner for group in source.groups])[sample.groups]
    fitted = _fitted(source, sample, learners)
    responses = [respond(group, fitted, source.loss) for group in source.groups]
    shares = np.array([group.share for group in source.groups])
    errors = np.array([response.error for response in responses])
    return replicate_of(
        fitted,
        float(shares @ errors),
        wrong_signs(sample.y, fitted.fields(sample.X, learners), source.groups[0].labels),
        cluster_errors=errors,
        selection_rate=np.array([response.selection for response in responses]),
        **_support(source, fitted),
    )


def _fitted(source: Population, sample: Sample, learners: NDArray[np.intp]) -> LinearFit:
    common: dict[str, Any] = {"bias": source.bias, "sample_weights": sample.weights}
    if source.penalty is not None:
        return fit_penalized(sample.X, sample.y, cast(PenalizedLoss, source.loss), source.penalty, **common)
    return fit_coupled(
        sample.X,
        sample.y,
        learners,
        cast(AnyLoss, source.loss),
        source.lam,
        coupling=source.coupling,
        n_learners=source.n_learners,
        argument=_argument(source.groups[0].labels),
        **common,
    )


def _support(source: Population, fitted: LinearFit) -> dict[str, Any]:
    """Return how many weights are not zero and which of them belong to a signal, if the penalty is separable."""
    if source.penalty is None or source.support is None:
        return {}
    weights, signal = fitted.weights[0] != 0, source.support > 0
    both, total, own = (float(np.mean(one)) for one in (weights & signal, weights, signal))
    return {
        "nonzero": total,
        "true_positive_rate": both / own if own else math.nan,
        "false_positive_rate": (total - both) / (1 - own) if own < 1 else math.nan,
        "support_f1": 2 * both / (total + own) if total + own else math.nan,
    }


def _argument(labels: LabelLaw | AnyChannel) -> Argument:
    """Return what a loss of one's own is a function of: the margin of labels +-1, the residual of others."""
    return "margin" if kind_of(labels) == "signs" else "residual"


def wrong_signs(y: Array, h: Array, labels: LabelLaw | AnyChannel = "sign") -> float:
    """Return the share of labels +-1 of which the fields h have the other sign; NaN for other labels."""
    return math.nan if kind_of(labels) != "signs" else float(np.mean(y * h < 0))


def replicate_of(
    fitted: LinearFit | MulticlassFit, test_error: float, train_error: float = math.nan, **more: Any
) -> Measured:
    """Return what is measured of a fit, with its evidence."""
    return Measured(
        train_loss=fitted.train_loss,
        test_error=test_error,
        train_error=train_error,
        squared_norm=fitted.squared_norm,
        bias=fitted.bias,
        **more,
        residual=fitted.residual,
        iterations=fitted.iterations,
        converged=fitted.converged,
    )


@_measured.register
def _(model: RandomFeatures, d: int, rng: Generator) -> Measured:
    task = FeatureTask(model, d, rng)
    X, y = task.draw(sample_size(model.samples_per_input, d, len(task.map)), rng)
    fitted = fit(X, y, cast(AnyLoss, model.loss), model.lam, argument=_argument(model.labels))
    wrong = wrong_signs(y, fitted.fields(X), model.labels)
    return replicate_of(fitted, task.error(fitted.weights[0], TEST_SAMPLES, rng), wrong)


def _random_labels(model: RandomLabels, d: int, rng: Generator, inputs: InputLaw) -> Measured:
    covariance = model.covariance if model.covariance.d == d else model.covariance.resized(d)
    X = random_inputs(covariance, sample_size(model.alpha, d, d), rng, inputs)
    y = rng.choice((-1.0, 1.0), len(X))
    fitted = fit(X, y, cast(AnyLoss, model.loss), model.lam)
    return replicate_of(fitted, 0.5, wrong_signs(y, fitted.fields(X)))


@_measured.register
def _(model: MulticlassMixture, d: int, rng: Generator) -> Measured:
    clusters, shares, loss = ClassClusters.of(model, d), np.array(model.probabilities), model.loss
    classes = np.repeat(np.arange(model.n_classes), apportion(shares, sample_size(model.alpha, d, d)))
    X = clusters.draw(classes, rng)
    fitted = fit_multiclass(X, classes, model.n_classes, loss, model.lam, bias=model.bias)
    errors = clusters.errors(fitted, rng)
    wrong = float(np.mean(fitted.fields(X).argmax(axis=1) != classes))
    return replicate_of(fitted, float(shares @ errors), wrong, cluster_errors=errors)


@dataclass(frozen=True, eq=False)
class ClassClusters:
    """Holds the clusters of K classes at a finite size: their means and standard deviations, both (K, d)."""

    means: Array
    roots: Array

    @classmethod
    def of(cls, model: MulticlassMixture, d: int) -> "ClassClusters":
        """Return the clusters of a model; covariances are diagonal in its modes."""
        covariances, signals = embed(model.modes, d)
        own = covariances if len(covariances) > 1 else np.repeat(covariances, model.n_classes, axis=0)
        return cls(signals / np.sqrt(d), np.sqrt(own))

    def draw(self, classes: NDArray[np.intp], rng: Generator) -> Array:
        """Draw one row for each entry of `classes`."""
        return np.asarray(
            self.means[classes] + self.roots[classes] * rng.standard_normal((len(classes), self.means.shape[1]))
        )

    def errors(self, fitted: MulticlassFit, rng: Generator, n: int = FIELD_SAMPLES) -> Array:
        """Return the share of wrong predictions in each class (K,).

        It is exact for three classes, of whose fields two differences count, unless one of these tells the other. Then,
        and for other numbers of classes, the K fields are drawn n times from their law.
        """
        K, d = self.means.shape
        errors = np.empty(K)
        for c in range(K):
            spread = np.asarray(np.linalg.qr((fitted.weights * self.roots[c]).T / np.sqrt(d), mode="r"), float)
            h = fitted.weights @ self.means[c] / np.sqrt(d) + fitted.bias
            ahead = h[c] - np.delete(h, c)
            factor = spread[:, [c]] - np.delete(spread, c, axis=1)
            covariance = factor.T @ factor
            a, b, shared = float(covariance[0, 0]), float(covariance[-1, -1]), float(covariance[0, -1])
            if K == 3 and shared**2 < MAX_SQUARED_CORRELATION * a * b:
                errors[c] = 1 - both_positive(float(ahead[0]), a, float(ahead[1]), b, shared)
            else:
                errors[c] = np.mean(np.argmax(h + rng.standard_normal((n, len(spread))) @ spread, axis=1) != c)
        return errors


@_measured.register
def _(model: TransferModel, d: int, rng: Generator) -> Measured:
    return replicate_of(*transferred(model, d, rng))


@checked
def resampled(features: Matrix, targets: Vector, n: Count, lam: float, rng: Generator) -> Measured:
    """Fit ridge regression (square loss) to n rows drawn with replacement from a user's data, and judges it on all.

    `features` are (rows, p), and `targets` (rows,) are real. The data are taken as the population, so that
    `test_error`, the mean squared residual of all rows, is what GaussianCovariateModel.from_data predicts; take n well
    below the number of rows. Raises ValueError for shapes that do not fit.
    """
    v, y = features, targets
    if len(v) != len(y):
        raise ValueError(f"targets must have one entry for each of {len(v)} rows of features, got {len(y)}")
    checks.fits_in_memory("the resampled rows", float(n) * v.shape[1])
    chosen = rng.integers(0, len(v), n)
    fitted = fit(v[chosen], y[chosen], "square", lam)
    with np.errstate(over="ignore"):
        return replicate_of(fitted, float(np.mean((y - fitted.fields(v)) ** 2)))
