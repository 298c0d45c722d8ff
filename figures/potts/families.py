"""The analysis of an alignment as an experiment: the same table and figure as for a user's own file."""

from functools import partial
from pathlib import Path

from figures.analyse.reading.sequences import read_sequences
from figures.analyse.sequences import FIGSIZE, SequenceAnalysis, analyse_sequences, decorate, panels
from figures.core import Context, Experiment, Row
from figures.potts.alignments import alignment, missing

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


def family(name: str, title: str, map_caption: str) -> Experiment:
    """Of the alignment `name` in the folder of ALIGNMENTS; skipped where it is not there."""
    return Experiment(
        title=title,
        compute=partial(_computed, name),
        panels=panels(),
        draw=decorate,
        figsize=FIGSIZE,
        skip=partial(missing, name),
        caption="Pair model by weighted pseudo-likelihood. Left: masked loss of held-out sequences, none of which is "
        "80 % identical to one that was fitted (two standard errors between clusters). Middle: score of each pair, the "
        f"Frobenius norm of its couplings with the average-product correction (dark: strong){map_caption}. "
        "Right: the strongest pairs at least 4 sites apart",
    )


def _computed(name: str, context: Context) -> list[Row]:
    return analysed(alignment(name), context).rows
