"""The one function that every system adds a case to."""

from functools import singledispatch
from typing import Any

from theory.models.glm import GeneralizedLinearModel


@singledispatch
def as_problem(model: Any) -> GeneralizedLinearModel:
    """Modes, clusters, loss and ridge of any model record; ValueError for anything else."""
    raise ValueError(f"model must be a record of a generalized linear model, got {type(model).__name__}")


@as_problem.register
def _(model: GeneralizedLinearModel) -> GeneralizedLinearModel:
    return model
