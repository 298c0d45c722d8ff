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
    "SAM riboswitch (RF00162), 4757 sequences of 107 sites",
    "; circles above the diagonal mark the 27 base pairs of the consensus secondary structure of Rfam, which the fit "
    "did not know",
    known=base_pairs,
    label="base pairs of Rfam",
    outcome="Fourth: the share of these base pairs among the strongest pairs, beside the share that chance would "
    "give; squares are the rows of the table. Of the 36 pairs above the dotted line of the third panel 21 are base "
    "pairs of Rfam. Four more, 25-79, 26-78, 27-77 and 28-76, join a loop to the strand between two stems, where "
    "the crystal structure has a pseudoknot (Montange and Batey, Nature 441, 1172, 2006), which a secondary "
    "structure cannot hold. Six continue a stem into its loop (18-37, 52-60, 53-59, 54-58, 84-92, 85-91), and five "
    "are neither. Therefore the precision in the figure is a lower bound: the fit finds contacts that the secondary "
    "structure leaves out.",
)
