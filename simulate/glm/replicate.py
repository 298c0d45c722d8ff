"""Replicates of one number each, (model, d, rng) -> float, for sweeps; named as the theory's observables."""

from numpy.random import Generator

from simulate.glm.measure import AnyModel, measure
from simulate.glm.random_labels import InputLaw
from theory.core import Array, checked


@checked
def train_loss(model: AnyModel, d: int, rng: Generator, *, inputs: InputLaw = "gaussian") -> float:
    """Measure the mean loss of a training sample, without the ridge; of RandomLabels for any law of the `inputs`."""
    return measure(model, d, rng, inputs=inputs).train_loss


@checked
def train_error(model: AnyModel, d: int, rng: Generator) -> float:
    """Measures the share of the training samples whose label (sign or class) is not predicted.

    NaN for linear labels and for TransferModel, of whose training set only the loss is measured.
    """
    return measure(model, d, rng).train_error


@checked
def test_error(model: AnyModel, d: int, rng: Generator) -> float:
    """Measures E (y - h)^2 on fresh samples for linear labels, else the share of wrong predictions.

    One sample of 400 inputs lies near the limit of infinitely many:

    >>> from simulate.core import stream
    >>> from simulate.glm import test_error
    >>> from theory import glm
    >>> mixture = glm.gaussian_mixture(variances=0.5, probability=0.25, alpha=1.0, lam=0.1)
    >>> abs(test_error(mixture, 400, stream(0, "example")) - glm.solve(mixture).test_error) < 0.03
    True
    """
    return measure(model, d, rng).test_error


test_error.__test__ = False  # type: ignore[attr-defined]  # a name that pytest would collect


@checked
def squared_norm(model: AnyModel, d: int, rng: Generator) -> float:
    """Measure the mean square |w|^2/p of the weights of the first learner."""
    return float(measure(model, d, rng).squared_norm[0])


@checked
def bias(model: AnyModel, d: int, rng: Generator) -> float:
    """Measure the trained bias of the first learner, 0 where it has none."""
    return float(measure(model, d, rng).bias[0])


@checked
def accuracy_plus(model: AnyModel, d: int, rng: Generator) -> float:
    """Measure P(yhat = y) on fresh samples of the first of two groups; ValueError for other models."""
    return 1 - _two_groups(measure(model, d, rng).cluster_errors)[0]


@checked
def accuracy_minus(model: AnyModel, d: int, rng: Generator) -> float:
    """Measure P(yhat = y) on fresh samples of the second of two groups; ValueError for other models."""
    return 1 - _two_groups(measure(model, d, rng).cluster_errors)[1]


@checked
def disparate_impact(model: AnyModel, d: int, rng: Generator) -> float:
    """Measure P(yhat = 1 | second group)/P(yhat = 1 | first group); ValueError unless the model has two groups."""
    plus, minus = _two_groups(measure(model, d, rng).selection_rate)
    if plus == 0:
        raise ValueError("model must label some samples of its first group 1: no rate is relative to zero")
    return minus / plus


def _two_groups(values: Array) -> tuple[float, float]:
    if len(values) != 2:
        raise ValueError(f"the model must have two groups, got {len(values)}")
    return float(values[0]), float(values[1])
