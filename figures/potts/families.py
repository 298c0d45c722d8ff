"""Makes the analysis of an alignment an experiment, with the table and figure that a user's own file would give.

The project does not ship the alignments of the families: they are read from the folder that ALIGNMENTS names.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from figures.analyse.reading.sequences import read_sequences
from figures.analyse.sequences import SequenceAnalysis, analyse_sequences, panels
from figures.analyse.sequences.reference import read_reference
from figures.core import Context, Experiment, Row
from figures.potts.known_pairs import draw_known, precision_panel

DRAFT_SEQUENCES, DRAFT_SITES = 300, 30
APART = 4  # sites between the pairs that are ranked: neighbors along the chain are near each other anyway


def analysed(path: Path, context: Context, reference: str | None = None) -> SequenceAnalysis:
    """Analyze an alignment as `figures analyse` does; a draft takes few of its sequences and its first sites.

    The residues of the sequence called `reference` are kept beside the sites.
    """
    sequences = read_sequences(path, most=DRAFT_SEQUENCES if context.is_draft else None)
    sites = slice(DRAFT_SITES if context.is_draft else None)
    kept = replace(sequences, states=sequences.states[:, sites], columns=sequences.columns[sites])
    analysis = analyse_sequences(
        kept.states, kept.tokens, gap=kept.gap, columns=kept.columns, min_separation=APART, run=context.sweep
    )
    return analysis if reference is None else replace(analysis, reference=read_reference(kept, reference, "auto", None))


def family(
    name: str,
    title: str,
    *,
    known: Callable[[SequenceAnalysis], list[Row]],
    reference: str | None = None,
    label: str,
    caption: str,
) -> Experiment:
    """Describe the experiment on the alignment `name` in the folder of ALIGNMENTS, which is skipped without it.

    The rows of `known` are circles in the map around pairs that are known to interact, called `label`, and the panel of
    the precision. They may use the residues of the sequence that is called `reference`.
    """
    return Experiment(
        title=title,
        compute=partial(_computed, name, known, reference),
        panels=(*panels(), precision_panel()),
        draw=partial(draw_known, label=label),
        skip=partial(_missing, name),
        caption=caption,
    )


def _computed(
    name: str, known: Callable[[SequenceAnalysis], list[Row]], reference: str | None, context: Context
) -> list[Row]:
    analysis = analysed(_alignment(name), context, reference)
    return [*analysis.rows, *known(analysis)]


def _alignment(name: str) -> Path:
    return Path(os.environ.get("ALIGNMENTS") or ".") / name


def _missing(name: str) -> str | None:
    """Say why an experiment on the alignment is skipped, or None where it can run."""
    if not os.environ.get("ALIGNMENTS"):
        return f"no folder with {name} was named: make figures ALIGNMENTS=FOLDER"
    if _alignment(name).is_file():
        return None
    return f"{_alignment(name)} is not there: make figures ALIGNMENTS=FOLDER, with the folder that holds it"
