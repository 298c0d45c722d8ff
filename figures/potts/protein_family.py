"""Most of the strongest interactions of a protein family are between residues that touch each other in the crystal."""

from pathlib import Path

from figures.analyse.sequences import SequenceAnalysis
from figures.core import Row
from figures.potts.families import family
from figures.potts.known_contacts import APART, read_contacts
from figures.potts.known_pairs import known_among_strongest, known_rows

STRUCTURE = Path(__file__).parent / "data" / "DHFR.txt"
LISTED = (40, 80, 159, 318)  # a quarter, half, once and twice the number of residues


def contacts(analysis: SequenceAnalysis) -> list[Row]:
    """Return the circles and the precision of the contacts."""
    residues = analysis.reference
    assert residues is not None  # `family` was given its name
    known = read_contacts(STRUCTURE, residues)
    circles_and_shares = known_rows(analysis, known, apart=APART, numbers=residues.numbers, listed=LISTED)
    return [*circles_and_shares, *known_among_strongest(analysis, known)]


EXPERIMENT = family(
    "DHFR.a2m",
    "The strongest couplings in a model of dihydrofolate reductase are mostly contacts",
    known=contacts,
    reference="DYR_ECOLI",
    label="contacts in the crystal",
    caption="Of the ten strongest pairs of a model of an enzyme family seven are contacts of its crystal, unknown "
    "to the fit, and three are 4 apart along the chain, where contacts are not counted. (a) The masked loss of "
    "held-out sequences, none like a fitted one at 80 % of the sites, by the pair model, by column frequencies and by "
    "equal probabilities; bars: over clusters. (b) Scores (dark: strong); circles: contacts in 1RX2, C-beta within 8 "
    "angstroms, 6 or more residues apart. (c) Scores of sites 4 or more apart; dotted: limit of noise. (d) The share "
    "of contacts among the strongest 6 or more apart (79 % of 80); squares are rows of the table.",
)
