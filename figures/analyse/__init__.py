"""Analyses of users' own files: readers, and what is measured and predicted for matrices, sequences and text.

What is of use in Python is loaded when it is first used: `read_alignment` and the `Alignment` that it returns,
`family_model`, `write_model` and `read_model` with the `SequenceModel` between them, and `compare_mutations`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from figures.analyse.sequences.models import Alignment as Alignment
    from figures.analyse.sequences.models import SequenceModel as SequenceModel
    from figures.analyse.sequences.models import family_model as family_model
    from figures.analyse.sequences.models import read_alignment as read_alignment
    from figures.analyse.sequences.models import read_model as read_model
    from figures.analyse.sequences.models import write_model as write_model

_MODELS = "figures.analyse.sequences.models"
_ROOM_OF = dict.fromkeys(
    ("Alignment", "SequenceModel", "family_model", "read_alignment", "read_model", "write_model"), _MODELS
)

__all__ = sorted(_ROOM_OF)


# A type checker takes a module with this function to have every name, and would let misspelled ones pass.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Load a public name that this module does not hold yet; the next access finds it there."""
        if name not in _ROOM_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return globals().setdefault(name, getattr(import_module(_ROOM_OF[name]), name))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
