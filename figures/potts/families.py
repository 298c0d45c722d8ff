"""Makes the analysis of an alignment an experiment, with the table and figure that a user's own file would give.

The project does not ship the alignments of the families: they are read from the folder that ALIGNMENTS names.
"""

import os
from functools import partial
from pathlib import Path

from figures.analyse.reading.sequences import read_sequences
from figures.analyse.sequences import SequenceAnalysis, analyse_sequences, decorate, panels
from figures.core import Context, Experiment, Row

DRAFT_SEQUENCES, DRAFT_SITES = 300, 30


def analysed(path: Path, context: Context) -> SequenceAnalysis:
    """Analyzes an alignment as `figures analyse` does; a draft takes few of its sequences and its first sites."""
    sequences = read_sequences(path, most=DRAFT_SEQUENCES if context.is_draft else None)
    sites = slice(DRAFT_SITES if context.is_draft else None)
    return analyse_sequences(
        sequences.states[:, sites],
        sequences.tokens,
        gap=sequences.gap,
        columns=sequences.columns[sites],
        min_separation=4,
        run=context.sweep,
    )


def family(name: str, title: str, map_caption: str) -> Experiment:
    """Describes the experiment on the alignment `name` in the folder of ALIGNMENTS, which is skipped without it."""
    return Experiment(
        title=title,
        compute=partial(_computed, name),
        panels=panels(),
        draw=decorate,
        skip=partial(_missing, name),
        caption="A pair model was fitted by weighted pseudo-likelihood. Left: the masked loss of held-out "
        "sequences, none of which agrees with a fitted sequence at 80 % of the sites or more, with error bars "
        "between clusters of similar sequences. Middle: the score of each pair of sites, which is "
        f"the Frobenius norm of its couplings after the average-product correction (dark: strong){map_caption}. "
        "Right: the strongest pairs of sites at least 4 sites apart. The alignment states no structure, so that no "
        "known contacts are drawn and the ranking is not tested against them.",
    )


def _computed(name: str, context: Context) -> list[Row]:
    return analysed(_alignment(name), context).rows


def _alignment(name: str) -> Path:
    return Path(os.environ.get("ALIGNMENTS") or ".") / name


def _missing(name: str) -> str | None:
    """Says why an experiment on the alignment is skipped, or None where it can run."""
    if not os.environ.get("ALIGNMENTS"):
        return f"no folder with {name} was named: make figures ALIGNMENTS=FOLDER"
    if _alignment(name).is_file():
        return None
    return f"{_alignment(name)} is not there: make figures ALIGNMENTS=FOLDER, with the folder that holds it"
