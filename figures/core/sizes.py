"""Brings a model that states its own size to the size that is simulated, where its theory is taken too."""

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

from theory.models import Covariance, Potts

CURE = (
    "give the covariance the size d = inf, or state `theory_at(model, d)`, or simulate one size with extrapolate=False"
)


def parts(model: Any) -> Iterator[Covariance | Potts]:
    """Yield every covariance and Potts model in a record, and in the records and tuples that it holds."""
    if isinstance(model, Covariance | Potts):
        yield model
    elif dataclasses.is_dataclass(model) and not isinstance(model, type):
        for field in dataclasses.fields(model):
            yield from parts(getattr(model, field.name))
    elif isinstance(model, tuple | list):
        for part in model:
            yield from parts(part)


def has_own_size(model: Any) -> bool:
    """Say whether the theory of the model is for one finite size, that of a covariance or its number of sites."""
    return any(math.isfinite(_size(part)) for part in parts(model))


def _size(part: Covariance | Potts) -> float:
    return part.n_sites if isinstance(part, Potts) else part.d


def resized(model: Any, d: float) -> Any:
    """Return the model with each of its covariances at dimension d, which may be infinite.

    ValueError where a family has no such member: a given matrix has one size, a list of variances no limit.
    """
    if all(_size(part) == d for part in parts(model)):
        return model
    if isinstance(model, Potts):
        raise ValueError(f"a {type(model).__name__} has a fixed number of sites {model.n_sites}, got {d!r}")
    if isinstance(model, Covariance):
        other = model.resized(d)
        if math.isinf(d):
            _ = other.spectrum  # a family without a limit says so here, before anything is simulated
        return other
    if dataclasses.is_dataclass(model) and not isinstance(model, type):
        fields = {field.name: getattr(model, field.name) for field in dataclasses.fields(model) if field.init}
        changed = {name: resized(value, d) for name, value in fields.items()}
        return dataclasses.replace(model, **{name: new for name, new in changed.items() if new is not fields[name]})
    if isinstance(model, tuple | list):
        return type(model)(resized(part, d) for part in model)
    return model
