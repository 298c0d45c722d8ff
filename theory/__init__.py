"""Replica saddle points and random-matrix expressions for masked self-supervised learning."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from theory import masked, models, random_matrix
from theory.models.errors import MaskedSSLError
from theory.numerics import ConvergenceError

if TYPE_CHECKING:
    from theory import glm, potts, topics

__all__ = ["ConvergenceError", "MaskedSSLError", "glm", "masked", "models", "potts", "random_matrix", "topics"]


def __getattr__(name: str) -> Any:
    """Subjects loaded when first used: importing `theory` stays cheap."""
    if name in __all__:
        return import_module(f"theory.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
