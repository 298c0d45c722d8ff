"""The contacts of a protein in its crystal are those of its residues at the sites of an alignment."""

from itertools import combinations

import numpy as np
import pytest

from figures.analyse.sequences.reference import Reference
from figures.potts.known_contacts import APART, read_contacts
from figures.potts.protein_family import STRUCTURE

ECOLI = (
    "MISLIAALAVDRVIGMENAMPWNLPADLAWFKRNTLNKPVIMGRHTWESIGRPLPGRKNIILSSQPGTDDRVTWVKSVDEAIAACGDVPEIMVIGGGRVYEQFLPKAQKLYLTHIDAEVEGD"
    "THFPDYEPDDWESVFSEFHDADAQNSHSYCFEILERR"
)  # dihydrofolate reductase of E. coli as in UniProt, P0ABQ4
# The sheet of the enzyme: its strands, and which of them lie side by side.
STRANDS = {"A": (2, 8), "B": (39, 43), "C": (58, 63), "D": (73, 75), "E": (89, 95), "F": (108, 116), "H": (151, 157)}
SHEET = ("DC", "CB", "BE", "EA", "AF", "FH")


def residues(letters=ECOLI, gaps=()):
    """The protein as a sequence of an alignment with columns of gaps before the residues `gaps`."""
    numbers, shown = [], []
    for number, letter in enumerate(letters, start=1):
        numbers += [0] * (number in gaps) + [number]
        shown += ["-"] * (number in gaps) + [letter]
    return Reference("DYR_ECOLI/1-159", np.array(numbers), tuple(shown))


def test_the_file_is_a_folded_chain():
    lines = [line.split() for line in STRUCTURE.read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    assert [int(line[0]) for line in lines] == list(range(1, 160))
    letters = "".join(line[1] for line in lines)
    assert [k + 1 for k, (a, b) in enumerate(zip(letters, ECOLI, strict=True)) if a != b] == [37]
    places = np.array([line[2:] for line in lines], float)
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert np.argmin(steps) + 1 == 95  # the cis peptide bond of two glycines that the enzyme is known for
    assert 2.7 < steps[94] < 3.1
    assert 3.7 < np.delete(steps, 94).min() < steps.max() < 7.3  # between neighbors along a chain
    distances = np.linalg.norm(places[:, None] - places, axis=2)
    assert distances[np.triu_indices(len(places), 2)].min() > 3.3  # no two atoms overlap
    assert np.sqrt(np.mean((places - places.mean(axis=0)) ** 2, axis=0).sum()) < 17  # compact


def test_contacts_are_those_of_the_fold():
    found = read_contacts(STRUCTURE, residues())
    i, j = np.nonzero(np.triu(found))
    assert len(i) == 346
    assert (found == found.T).all()
    assert (j - i).min() == APART
    for a, b in combinations(STRANDS, 2):
        first, second = (slice(STRANDS[name][0] - 1, STRANDS[name][1]) for name in (a, b))
        beside = a + b in SHEET or b + a in SHEET
        assert (found[first, second].sum() >= 5) == beside, (a, b, found[first, second].sum())


def test_sites_where_the_protein_has_a_gap_are_in_no_contact():
    gaps = (2, 52, 110)
    reference, every = residues(gaps=gaps), read_contacts(STRUCTURE, residues())
    found, sites = read_contacts(STRUCTURE, reference), np.flatnonzero(reference.numbers)
    assert found.shape == (159 + len(gaps),) * 2
    np.testing.assert_array_equal(found[np.ix_(sites, sites)], every)
    assert found.sum() == every.sum()


def test_another_protein_and_missing_residues_are_refused():
    with pytest.raises(ValueError, match=r"residues of DYR_ECOLI/1-159 must be those of DHFR\.txt, got 0 .*and 1[45]"):
        read_contacts(STRUCTURE, residues(ECOLI[::-1]))
    with pytest.raises(ValueError, match=r"got 1 that are not there and 1 of another letter, of 160"):
        read_contacts(STRUCTURE, residues(ECOLI + "K"))
