"""Exact yardsticks of generalised Potts models: small systems, solvable ones, and what a fit can reach."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

_ROOMS = (
    "enumeration",
    "floors",
    "rings",
    "strips",
    "mean_field",
    "finite_mean_field",
    "square_lattice",
    "clones",
    "excess_loss",
    "contrasts",
    "gaussian_equivalence",
)


def __getattr__(name: str) -> Any:
    """Functions and records of the rooms, loaded when first used: importing `theory` stays cheap."""
    for room in _ROOMS if not name.startswith("_") else ():
        if find_spec(where := f"{__name__}.{room}"):
            found = getattr(import_module(where), name, None)
            if getattr(found, "__module__", None) == where:
                return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
