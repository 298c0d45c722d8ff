"""Most of the strongest interactions of a riboswitch family are the base pairs of its stems."""

from pathlib import Path

from figures.analyse.sequences import SequenceAnalysis
from figures.core import Row
from figures.potts.families import APART, family
from figures.potts.known_pairs import known_among_strongest, known_rows, read_structure

STRUCTURE = Path(__file__).parent / "data" / "RF00162.txt"
LISTED = (6, 13, 27, 36, 54)  # a quarter, half, once and twice the number of base pairs, and the pairs above noise


def base_pairs(analysis: SequenceAnalysis) -> list[Row]:
    """Return the circles and the precision of the base pairs."""
    known = read_structure(STRUCTURE, analysis.columns)
    return [*known_rows(analysis, known, apart=APART, listed=LISTED), *known_among_strongest(analysis, known)]


EXPERIMENT = family(
    "RF00162.fasta",
    "Most couplings above noise in a model of a riboswitch family are base pairs",
    known=base_pairs,
    label="base pairs of Rfam",
    caption="Of the 36 pairs above the limit of noise 21 are base pairs of the consensus structure, which cannot "
    "hold all contacts. (a) The masked loss of held-out sequences, none of which resembles a fitted one at 80 % of "
    "the sites, by the pair model, by frequencies of the column and by equal probabilities; bars are over clusters. "
    "(b) Scores of all pairs (dark: strong); circles are 27 base pairs. (c) The strongest scores of sites 4 or more "
    "apart; dotted: limit of noise, from shuffled columns; filled: base pairs. (d) The share of base pairs among the "
    "strongest, a lower bound of the precision, beside chance; squares: rows of the table, at 36 those above noise.",
)
