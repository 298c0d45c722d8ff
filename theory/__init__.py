"""Replica saddle points and random-matrix expressions for masked self-supervised learning.

A subject is a folder of this package. It is loaded when it is first used, by name (`theory.masked`) or by an import
(`from theory import masked`), and so are the kinds of errors below. Importing `theory` alone loads neither numpy nor
scipy.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from theory.core.errors import MaskedSSLError as MaskedSSLError
    from theory.numerics import ConvergenceError as ConvergenceError
    from theory.numerics import ReplicaSymmetryError as ReplicaSymmetryError

__version__ = "0.1.0"  # setup.cfg reads it here

_ROOM_OF = {
    "ConvergenceError": "theory.numerics",
    "MaskedSSLError": "theory.core.errors",
    "ReplicaSymmetryError": "theory.numerics",
}

__all__ = sorted([*_ROOM_OF, *(file.parent.name for file in Path(__file__).parent.glob("*/__init__.py"))])


# A type checker takes a module with this function to have every name, and would let misspelled ones pass.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Load the subject or the error that this module does not hold yet; the next access finds it there."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        room = _ROOM_OF.get(name)
        found = getattr(import_module(room), name) if room else import_module(f"{__name__}.{name}")
        return globals().setdefault(name, found)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
