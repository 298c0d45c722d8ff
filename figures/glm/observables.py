"""Reads numbers off a saddle point, which is solved once for all rows and curves that ask for it."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from theory import glm


@lru_cache(maxsize=256)
def saddle_point(model: Any) -> Any:
    """Solve the saddle point of a record once; records are hashed by value or by identity."""
    return glm.solve(model)


def test_error(model: Any) -> float:
    return float(saddle_point(model).test_error)


test_error.__test__ = False  # type: ignore[attr-defined]  # a name that pytest would collect


def train_loss(model: Any) -> float:
    return float(saddle_point(model).train_loss)


def fairness(name: str) -> Callable[[Any], float]:
    """Return the function that reads one scalar of the fairness table, by its name."""
    return lambda model: float(getattr(glm.fairness_table(saddle_point(model)), name))


def accuracy(group: int) -> Callable[[Any], float]:
    return lambda model: float(glm.fairness_table(saddle_point(model)).accuracy[group])
