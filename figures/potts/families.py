"""Makes the analysis of an alignment an experiment, with the table and figure that a user's own file would give.

The project does not ship the alignments of the families: they are read from the folder that ALIGNMENTS names.
"""

import os
from functools import partial
from pathlib import Path

from figures.analyse.reading.sequences import read_sequences
from figures.analyse.sequences import SequenceAnalysis, analyse_sequences, panels
from figures.core import Context, Experiment, Row
from figures.potts.known_pairs import draw_known, known_rows, precision_panel, read_structure

DRAFT_SEQUENCES, DRAFT_SITES = 300, 30
APART = 4  # sites between the pairs that are ranked: neighbors along the chain are near each other anyway


def analysed(path: Path, context: Context) -> SequenceAnalysis:
    """Analyzes an alignment as `figures analyse` does; a draft takes few of its sequences and its first sites."""
    sequences = read_sequences(path, most=DRAFT_SEQUENCES if context.is_draft else None)
    sites = slice(DRAFT_SITES if context.is_draft else None)
    return analyse_sequences(
        sequences.states[:, sites],
        sequences.tokens,
        gap=sequences.gap,
        columns=sequences.columns[sites],
        min_separation=APART,
        run=context.sweep,
    )


def family(
    name: str, title: str, map_caption: str, *, known: Path | None = None, label: str = "", outcome: str
) -> Experiment:
    """Describes the experiment on the alignment `name` in the folder of ALIGNMENTS, which is skipped without it.

    A file of base pairs, `known`, adds their circles, called `label`, to the map, and a panel of the precision.
    """
    return Experiment(
        title=title,
        compute=partial(_computed, name, known),
        panels=panels() if known is None else (*panels(), precision_panel()),
        draw=partial(draw_known, label=label),
        skip=partial(_missing, name),
        caption="A pair model was fitted by weighted pseudo-likelihood. First panel: the masked loss of held-out "
        "sequences, in nats per hidden letter, by the pair model (from all other sites), by the frequencies of the "
        "letters in the column, and by equal probabilities. None of the held-out sequences agrees with a fitted "
        "sequence at 80 % of the sites or more, and error bars are between clusters of similar sequences; lines "
        "join the markers. Second: the score of each pair of sites, which is the Frobenius norm of its couplings "
        f"after the average-product correction{map_caption}; dark means strong. Third: the scores of the strongest "
        f"pairs of sites at least {APART} sites apart, and the score that pairs of permuted columns reach (dotted); "
        f"the sites of the ten strongest pairs are listed. {outcome}",
    )


def _computed(name: str, known: Path | None, context: Context) -> list[Row]:
    analysis = analysed(_alignment(name), context)
    if known is None:
        return analysis.rows
    return [*analysis.rows, *known_rows(analysis, read_structure(known, analysis.columns), apart=APART)]


def _alignment(name: str) -> Path:
    return Path(os.environ.get("ALIGNMENTS") or ".") / name


def _missing(name: str) -> str | None:
    """Says why an experiment on the alignment is skipped, or None where it can run."""
    if not os.environ.get("ALIGNMENTS"):
        return f"no folder with {name} was named: make figures ALIGNMENTS=FOLDER"
    if _alignment(name).is_file():
        return None
    return f"{_alignment(name)} is not there: make figures ALIGNMENTS=FOLDER, with the folder that holds it"
