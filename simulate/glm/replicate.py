"""Replicates of one number each, (model, d, rng) -> float, for sweeps; named as the theory's observables."""

from typing import Any

from numpy.random import Generator

from simulate.glm.measure import measure
from theory.models.arrays import Array


def train_loss(model: Any, d: int, rng: Generator, **options: Any) -> float:
    """Mean loss of a training sample, without the ridge; of RandomLabels for any law of the `inputs`."""
    return measure(model, d, rng, **options).train_loss


def test_error(model: Any, d: int, rng: Generator) -> float:
    """E (y - h)^2 for linear labels, else the share of wrong predictions."""
    return measure(model, d, rng).test_error


test_error.__test__ = False  # type: ignore[attr-defined]  # a name that pytest would collect


def squared_norm(model: Any, d: int, rng: Generator) -> float:
    """|w|^2/p of the first learner."""
    return float(measure(model, d, rng).squared_norm[0])


def bias(model: Any, d: int, rng: Generator) -> float:
    """The trained bias of the first learner."""
    return float(measure(model, d, rng).bias[0])


def accuracy_plus(model: Any, d: int, rng: Generator) -> float:
    """P(yhat = y) in the first group."""
    return 1 - _two_groups(measure(model, d, rng).group_errors)[0]


def accuracy_minus(model: Any, d: int, rng: Generator) -> float:
    """P(yhat = y) in the second group."""
    return 1 - _two_groups(measure(model, d, rng).group_errors)[1]


def disparate_impact(model: Any, d: int, rng: Generator) -> float:
    """P(yhat = 1 | second group)/P(yhat = 1 | first group)."""
    plus, minus = _two_groups(measure(model, d, rng).selection_rates)
    return minus / plus


def _two_groups(values: Array) -> tuple[float, float]:
    if len(values) != 2:
        raise ValueError(f"the model must have two groups, got {len(values)}")
    return float(values[0]), float(values[1])
