"""Analyses of users' own files: readers, and what is measured and predicted for matrices, sequences and text.

What is of use in Python is loaded when it is first used: whole analyses (`analyse`), alignments (`read_alignment`), the
pair model of a family with the files that other programs read (`family_model`, `write_model`, `read_model`), the scores
of its mutations (`family_mutations`, `read_mutations`, `compare_mutations`), and the rows that a table would need
(`rows_needed`).
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from figures.analyse.in_python import Analyzed as Analyzed
    from figures.analyse.in_python import analyse as analyse
    from figures.analyse.matrix.more_rows import RowsNeeded as RowsNeeded
    from figures.analyse.matrix.more_rows import rows_needed as rows_needed
    from figures.analyse.sequences.models import Alignment as Alignment
    from figures.analyse.sequences.models import SequenceModel as SequenceModel
    from figures.analyse.sequences.models import family_model as family_model
    from figures.analyse.sequences.models import read_alignment as read_alignment
    from figures.analyse.sequences.models import read_model as read_model
    from figures.analyse.sequences.models import write_model as write_model
    from figures.analyse.sequences.mutations import Measured as Measured
    from figures.analyse.sequences.mutations import MutationComparison as MutationComparison
    from figures.analyse.sequences.mutations import Mutations as Mutations
    from figures.analyse.sequences.mutations import compare_mutations as compare_mutations
    from figures.analyse.sequences.mutations import family_mutations as family_mutations
    from figures.analyse.sequences.mutations import read_mutations as read_mutations

_NAMES_OF = {
    "figures.analyse.in_python": ("Analyzed", "analyse"),
    "figures.analyse.matrix.more_rows": ("RowsNeeded", "rows_needed"),
    "figures.analyse.sequences.models": (
        "Alignment",
        "SequenceModel",
        "family_model",
        "read_alignment",
        "read_model",
        "write_model",
    ),
    "figures.analyse.sequences.mutations": (
        "Measured",
        "MutationComparison",
        "Mutations",
        "compare_mutations",
        "family_mutations",
        "read_mutations",
    ),
}
_ROOM_OF = {name: room for room, names in _NAMES_OF.items() for name in names}

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
