"""Most of the strongest interactions of a riboswitch family are the base pairs of its stems."""

from pathlib import Path

from figures.analyse.sequences import SequenceAnalysis
from figures.core import Row
from figures.potts.families import APART, family
from figures.potts.known_pairs import known_rows, read_structure

STRUCTURE = Path(__file__).parent / "data" / "RF00162.txt"


def base_pairs(analysis: SequenceAnalysis) -> list[Row]:
    """Return the circles and the precision of the base pairs."""
    return known_rows(analysis, read_structure(STRUCTURE, analysis.columns), apart=APART)


EXPERIMENT = family(
    "RF00162.fasta",
    "Pairs that a model of a riboswitch family couples most are base pairs",
    known=base_pairs,
    label="base pairs of Rfam",
    caption="Of the 36 pairs above the limit of noise 21 are base pairs of the consensus structure, which cannot "
    "hold all contacts. (a) The masked loss of held-out sequences, none of which resembles a fitted one at 80 % "
    "of the sites, by the pair model, by frequencies of the column and by equal probabilities; bars are over "
    "clusters. (b) Scores of all pairs (dark: strong); circles above the diagonal are 27 base pairs. (c) The "
    "strongest scores and the limit of noise (dotted) from shuffled columns. (d) The share of base pairs among "
    "the strongest pairs, a lower bound of the precision, beside chance.",
)
