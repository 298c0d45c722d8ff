"""The analysis of an alignment as an experiment: the same table and figure as for a user's own file."""

from pathlib import Path

from figures.core import Context, Row
from figures.potts.analysis import SequenceAnalysis, analyse_sequences
from figures.reading import read_sequences

DRAFT_SEQUENCES, DRAFT_SITES = 300, 30


def analysed(path: Path, context: Context) -> SequenceAnalysis:
    """A draft takes few sequences and the first sites."""
    sequences = read_sequences(path, most=DRAFT_SEQUENCES if context.is_draft else None)
    sites = slice(DRAFT_SITES if context.is_draft else None)
    return analyse_sequences(
        sequences.states[:, sites],
        sequences.tokens,
        gap=sequences.gap,
        columns=sequences.columns[sites],
        run=context.sweep,
    )


def rows_of(path: Path, context: Context) -> list[Row]:
    """The table alone."""
    return analysed(path, context).rows
