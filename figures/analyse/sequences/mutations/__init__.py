"""Scores of all substitutions of one sequence of a family, and how well they follow measured values."""

from figures.analyse.sequences.mutations.compare import MutationComparison, compare_mutations
from figures.analyse.sequences.mutations.measured import Measured, read_mutations
from figures.analyse.sequences.mutations.scores import Mutations, family_mutations

__all__ = [
    "Measured",
    "MutationComparison",
    "Mutations",
    "compare_mutations",
    "family_mutations",
    "read_mutations",
]
