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
    "Pairs that a model of dihydrofolate reductase couples most are contacts",
    known=contacts,
    reference="DYR_ECOLI",
    label="contacts in the crystal",
    caption="The ten pairs of residues 6 or more apart that a model of an enzyme family couples most are all contacts "
    "of its crystal structure, which the fit did not know; of the 80 strongest 79 % are. (a) The masked loss of "
    "held-out sequences, none of which resembles a fitted one at 80 % of the sites, by the pair model, by "
    "column frequencies and by equal probabilities; bars are over clusters. (b) Scores of all pairs (dark: "
    "strong); circles above the diagonal are contacts in 1RX2: C-beta nearer than 8 angstroms. (c) The "
    "strongest scores of sites 4 or more apart, ten by name; filled: contacts; dotted: limit of noise. (d) The "
    "share of contacts among the strongest.",
)
