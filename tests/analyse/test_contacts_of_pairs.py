"""Known contacts: structures and tables are read, pairs compared with them, and what does not fit is refused."""

import gzip
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from figures.analyse.command import main
from figures.analyse.errors import DataError
from figures.analyse.sequences.pairs import structure
from figures.analyse.sequences.pairs.contacts import Contacts, read_contacts
from figures.analyse.sequences.pairs.precision import precisions
from figures.analyse.sequences.pairs.structure import least_distances
from figures.analyse.sequences.reference import Reference
from figures.analyse.sequences.scores import Pair
from simulate.core import stream

THREE = "ALA CYS ASP GLU PHE GLY HIS ILE LYS LEU MET ASN PRO GLN ARG SER THR VAL TRP TYR"
NAMES = dict(zip("ACDEFGHIKLMNPQRSTVWY", THREE.split(), strict=True))
CHAIN = "MKTAYIAKQRQISFVKSHFSRQLEERLGLIEV"


def reference(row=CHAIN, first=1, gaps=()):
    """The residues of a row without gaps in the alignment, but for these sites."""
    sites = np.array([0 if k in gaps else 1 for k in range(len(row) + len(gaps))])
    places = np.where(sites == 1, np.cumsum(sites) - 1, -1)
    numbers = np.where(places >= 0, first + places, 0)
    return Reference("mine", numbers, tuple(row[p] if p >= 0 else "-" for p in places), row, places)


def atom(serial, name, residue, chain, number, xyz, element, record="ATOM  "):
    x, y, z = xyz
    return (
        f"{record}{serial:5d} {name:<4s} {residue:>3s} {chain}{number:4d}    {x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00"
        f"          {element:>2s}\n"
    )


def pdb(path, chains, missing=()):
    """Write chains {name: letters}, with two heavy atoms and a hydrogen, which is nearer to others, in a residue."""
    lines, serial, at = [], 0, {}
    for which, (chain, letters) in enumerate(chains.items()):
        rng = stream(which, "a chain in space")
        steps = np.cumsum(2.2 * rng.standard_normal((len(letters), 3)), axis=0)
        for k, letter in enumerate(letters):
            own = [steps[k], steps[k] + rng.standard_normal(3)]
            at[chain, k] = np.round(own, 3)
            if k in missing:
                continue
            name = "MSE" if letter == "M" else NAMES[letter]
            kind = "HETATM" if letter == "M" else "ATOM  "
            for label, xyz in zip(("CA", "CB"), own, strict=True):
                serial += 1
                lines.append(atom(serial, f" {label}", name, chain, 50 + k, xyz, "C", kind))
            serial += 1
            lines.append(atom(serial, " H", name, chain, 50 + k, 0.9 * steps[k], "H", kind))
        serial += 1
        lines.append(atom(serial, " O", "HOH", chain, 900, (0, 0, 0), "O", "HETATM"))
    path.write_text("".join(lines) + "END\n")
    return at


def nearest(at, chain, i, j):
    return min(np.linalg.norm(a - b) for a in at[chain, i] for b in at[chain, j])


def line(serial, residue, number, xyz, *, chain="A", inserted=" ", alternative=" ", occupancy=1.0, record="ATOM  "):
    x, y, z = xyz
    return (
        f"{record}{serial:5d}  CA {alternative}{residue:>3s} {chain}{number:4d}{inserted}   {x:8.3f}{y:8.3f}{z:8.3f}"
        f"{occupancy:6.2f}  0.00           C\n"
    )


def test_what_structures_of_experiments_hold(tmp_path):
    """Models of which the first counts, residues between two numbers, positions with shares, ligands and ions."""
    pytest.importorskip("Bio")
    first = [
        line(1, "MET", 10, (0, 0, 0)),
        line(2, "LYS", 11, (5, 0, 0)),
        line(3, "THR", 11, (9, 0, 0), inserted="A"),  # number 11A
        line(4, "ALA", 12, (30, 0, 0), alternative="A", occupancy=0.3),
        line(5, "ALA", 12, (13, 0, 0), alternative="B", occupancy=0.7),
        line(6, "TYR", 20, (17, 0, 0)),  # numbers 13 to 19 were not seen
        line(7, "MSE", 21, (21, 0, 0), record="HETATM"),
        line(8, "NAG", 900, (0, 1, 0), record="HETATM"),
        line(9, "ZN ", 901, (0, 2, 0), record="HETATM"),
    ]
    second = [each[:30] + each[30:].replace("0.000", "9.999", 1) for each in first]
    (tmp_path / "x.pdb").write_text(
        "MODEL        1\n" + "".join(first) + "ENDMDL\nMODEL        2\n" + "".join(second) + "ENDMDL\nEND\n"
    )
    found = read_contacts(tmp_path / "x.pdb", np.arange(1, 7), reference("MKTAYM"))
    at = np.array([0, 5, 9, 13, 17, 21])
    assert np.array_equal(found.distances, abs(at[:, None] - at))


def test_modified_nucleotides_are_those_that_they_were_made_from(tmp_path):
    pytest.importorskip("Bio")
    names = ["G", "PSU", "5MC", "A", "2MG", "C"]
    lines = [
        line(k, name, k, (4 * k, 0, 0), record="HETATM" if len(name) > 1 else "ATOM  ") for k, name in enumerate(names)
    ]
    (tmp_path / "x.pdb").write_text("".join(lines) + "END\n")
    found = read_contacts(tmp_path / "x.pdb", np.arange(1, 7), reference("GUCAGC"))
    assert "6 of 6 letters are the same" in found.source
    assert found.known.all()


def test_a_file_without_the_columns_of_atoms_is_refused_by_them(tmp_path):
    pytest.importorskip("Bio")
    path = tmp_path / "x.cif"
    path.write_text("data_x\nloop_\n_atom_site.group_PDB\n_atom_site.label_atom_id\nATOM CA\n")
    with pytest.raises(DataError, match=r"cannot be read as mmCIF by Biopython \(it has no _atom_site"):
        read_contacts(path, np.arange(1, 7), reference("MKTAYM"))


def test_residues_touch_where_heavy_atoms_are_near(tmp_path):
    pytest.importorskip("Bio")
    at = pdb(tmp_path / "x.pdb", {"A": CHAIN, "B": CHAIN[::-1]}, missing=(13, 14))
    own = reference(CHAIN[2:28], gaps=(5,))
    found = read_contacts(tmp_path / "x.pdb", np.arange(1, 28), own)
    assert "chain A of x.pdb, aligned to mine (24 of 26 letters are the same)" in found.source
    assert "3 sites of 27 without a residue in the structure" in found.notes[0]
    places = {site: 2 + place for site, place in enumerate(own.places) if place >= 0 and 2 + place not in (13, 14)}
    assert np.flatnonzero(found.known).tolist() == sorted(places)
    for a, i in places.items():
        for b, j in places.items():
            if a < b:
                distance = nearest(at, "A", i, j)
                assert found.distances[a, b] == pytest.approx(distance, abs=1e-4)
                assert found.touching[a, b] == found.touching[b, a] == (distance < 8)
    assert 0 < np.triu(found.touching, 4).sum() < 0.8 * 24 * 23 / 2
    assert not found.touching[np.isnan(found.distances)].any()


def test_a_chain_is_chosen_by_its_letters_or_by_the_user(tmp_path):
    pytest.importorskip("Bio")
    pdb(tmp_path / "x.pdb", {"A": CHAIN[::-1], "B": CHAIN, "C": CHAIN})
    assert "chain B of" in read_contacts(tmp_path / "x.pdb", np.arange(1, 33), reference()).source
    assert "chain C of" in read_contacts(tmp_path / "x.pdb", np.arange(1, 33), reference(), "C").source


def test_mmcif_and_gzip_give_the_same_contacts(tmp_path):
    pytest.importorskip("Bio")
    from Bio.PDB import MMCIFIO, PDBParser

    pdb(tmp_path / "x.pdb", {"A": CHAIN})
    writer = MMCIFIO()
    writer.set_structure(PDBParser(QUIET=True).get_structure("x", str(tmp_path / "x.pdb")))
    writer.save(str(tmp_path / "x.cif"))
    (tmp_path / "x.pdb.gz").write_bytes(gzip.compress((tmp_path / "x.pdb").read_bytes()))
    first, *others = (
        read_contacts(tmp_path / f"x{end}", np.arange(1, 33), reference()) for end in (".pdb", ".cif", ".pdb.gz")
    )
    for other in others:
        assert other.distances == pytest.approx(first.distances, abs=1e-3)


def test_a_homolog_is_aligned_by_likeness(tmp_path):
    """A third of the letters differ, by letters that are like them, and a loop is missing."""
    pytest.importorskip("Bio")
    alike = str.maketrans("KIEFSLRVY", "RVDYTMKIF")
    other = "".join(a.translate(alike) if k % 2 else a for k, a in enumerate(CHAIN))
    pdb(tmp_path / "x.pdb", {"A": other[:12] + other[15:]})
    found = read_contacts(tmp_path / "x.pdb", np.arange(1, 33), reference())
    unseen = np.flatnonzero(~found.known)
    assert len(unseen) == 3
    assert ((unseen > 9) & (unseen < 16)).all()  # the ends of a loop are known to a residue or two


def test_nucleotides_are_residues_too(tmp_path):
    pytest.importorskip("Bio")
    letters, lines = "GGCAUUCGAUGC", []
    for k, letter in enumerate(letters):
        name = f"D{letter}" if k % 2 and letter != "U" else letter
        lines.append(atom(k + 1, " P", name, "R", k + 1, (6.0 * k, 0, 0), "P"))
    (tmp_path / "x.pdb").write_text("".join(lines))
    found = read_contacts(tmp_path / "x.pdb", np.arange(1, 13), reference(letters.replace("U", "T")))
    assert "(12 of 12 letters are the same)" in found.source
    i, j = np.nonzero(np.triu(found.touching))
    assert (j - i == 1).all()
    assert len(i) == 11


@pytest.mark.parametrize(
    ("chains", "wanted", "row", "words"),
    [
        ({"A": CHAIN, "B": CHAIN}, "C", CHAIN, "has no chain C (--chain); its chains are A, B"),
        (
            {"A": "W" * 30},
            None,
            CHAIN,
            "chain A does not align with mine: 0 of the 32 letters of mine are the same in it",
        ),
        ({"A": "W" * 30, "B": CHAIN}, "A", CHAIN, "chain A does not align with mine"),
        ({"A": "W" * 30, "B": "P" * 30}, None, CHAIN, "the nearest chain, A, does not align with mine"),
        ({}, None, CHAIN, "holds no chain of amino acids or nucleotides"),
    ],
)
def test_structures_that_do_not_fit(tmp_path, chains, wanted, row, words):
    pytest.importorskip("Bio")
    pdb(tmp_path / "x.pdb", chains)
    with pytest.raises(DataError, match=re.escape(words)):
        read_contacts(tmp_path / "x.pdb", np.arange(1, 33), reference(row), wanted)


def test_a_structure_that_is_none(tmp_path):
    pytest.importorskip("Bio")
    (tmp_path / "x.cif").write_text("no structure\n")
    with pytest.raises(DataError, match=r"cannot be read as mmCIF by Biopython|holds no chain"):
        read_contacts(tmp_path / "x.cif", np.arange(1, 33), reference())


def test_a_structure_needs_a_reference_and_biopython(tmp_path, monkeypatch):
    (tmp_path / "x.pdb").write_text("END\n")
    with pytest.raises(DataError, match="say --reference NAME too"):
        read_contacts(tmp_path / "x.pdb", np.arange(1, 9), None)
    monkeypatch.setattr(structure, "missing_extra", lambda extra, *names: f"{names[0]} is missing: EXTRAS={extra}")
    with pytest.raises(DataError, match=r"read by Biopython.*EXTRAS=formats"):
        read_contacts(tmp_path / "x.pdb", np.arange(1, 9), reference(CHAIN[:8]))


def test_least_distances_of_atoms():
    rng = stream(0, "atoms")
    atoms = [rng.standard_normal((n, 3)) for n in (1, 4, 2, 5)]
    expected = [[min(np.linalg.norm(a - b) for a in one for b in other) for other in atoms] for one in atoms]
    assert least_distances(atoms) == pytest.approx(np.array(expected))


TABLE = "i,j,distance\n11,15,7.99\n12,18,8.0\n13,17,3\n11,99,2.0\n"


@pytest.mark.parametrize("text", [TABLE, TABLE.replace(",", "\t"), TABLE.replace(",", " ; "), TABLE.split("\n", 1)[1]])
def test_a_table_of_residues(tmp_path, text):
    path = tmp_path / "contacts.txt"
    path.write_text(text)
    found = read_contacts(path, np.arange(1, 10), reference(CHAIN[:8], first=11, gaps=(2,)))
    i, j = np.nonzero(np.triu(found.touching))
    assert list(zip(i.tolist(), j.tolist(), strict=True)) == [(0, 5), (3, 7)]
    assert found.distances[1, 8] == 8.0
    assert found.known.tolist() == [k != 2 for k in range(9)]
    assert (
        "2 contacts between residues of mine that are sites, and 1 more are 8 angstroms apart or farther"
        in found.source
    )
    assert found.notes == ("1 pair of 4 not compared: their residues of mine are no sites",)
    assert not found.is_judged(2, 3)


def test_without_a_reference_a_table_has_columns(tmp_path):
    path = tmp_path / "contacts.csv"
    path.write_text('"i","j"\n2,5\n3,9\n')
    found = read_contacts(path, np.array([2, 3, 5, 9]), None)
    assert np.argwhere(np.triu(found.touching)).tolist() == [[0, 2], [1, 3]]
    assert found.known.all()
    assert np.isnan(found.distances).all()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("i,j\n", "holds no pair of contacts"),
        ("# nothing\n", "holds no pair of contacts"),
        (
            "i,j\n70,75\n80,90\n",
            "none of its 2 pairs is a pair of analyzed sites, which are columns of the alignment from 1",
        ),
        ("1,2\n3,x\n", "line 2: '3,x' is no pair of contacts"),
        ("1,2\n3\n", "line 2: '3' is no pair of contacts"),
        ("1,2.5\n", "line 1: '1,2.5' is no pair of contacts"),
        ("1,2,3,4\n", "line 1: '1,2,3,4' is no pair of contacts"),
    ],
)
def test_tables_that_are_refused(tmp_path, text, words):
    path = tmp_path / "contacts.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=re.escape(words)):
        read_contacts(path, np.arange(1, 9), None)


def test_other_files_that_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"no such file \(--contacts\)"):
        read_contacts(tmp_path / "nowhere.pdb", np.arange(1, 9), reference())
    (tmp_path / "c.csv").write_text("1,2\n")
    with pytest.raises(DataError, match="is read as a table, but --chain is for structures"):
        read_contacts(tmp_path / "c.csv", np.arange(1, 9), None, "A")


def test_the_precision_is_that_of_pairs_that_are_known():
    touching = np.zeros((10, 10), bool)
    touching[0, 5] = touching[1, 6] = touching[2, 7] = True
    known = np.ones(10, bool)
    known[9] = False
    contacts = Contacts("", touching, known, np.full((10, 10), np.nan))
    order = [(0, 9), (0, 5), (1, 6), (0, 4), (2, 7), (3, 9), (0, 3), (0, 2)]
    pairs = [Pair(i, j, 1.0 - k / 10, 1.0, (0, 0)) for k, (i, j) in enumerate(order)]
    found = {one.of: (one.pairs, one.contacts) for one in precisions(pairs, contacts, 10, {"above": 4, "none": 0})}
    assert found == {
        "L/5": (2, 2),  # the pair with the site that is not known is passed by
        "L/2": (5, 3),
        "L": (6, 3),
        "2L": (6, 3),
        "above": (3, 2),
        "none": (0, 0),
        "all ranked": (6, 3),
    }
    assert np.isnan(precisions(pairs, contacts, 10, {"none": 0})[4].share)


def test_the_command_compares_pairs_with_contacts(tmp_path, capsys):
    rng = stream(0, "pairs with contacts")
    states = rng.integers(0, 4, (120, 26))
    for i in range(5):
        states[:, 20 + i] = np.where(rng.random(120) < 0.8, states[:, i], states[:, 20 + i])
    path, contacts = tmp_path / "f.fasta", tmp_path / "contacts.csv"
    path.write_text("".join(f">s{k}\n{''.join('ACGU'[a] for a in row)}\n" for k, row in enumerate(states)))
    contacts.write_text("i,j\n" + "".join(f"{i + 1},{i + 21}\n" for i in range(5)) + "3,4\n2,40\n")
    options = ("--l2", "4", "--jobs", "1", "--no-reweight", "--min-separation", "2", "--output", str(tmp_path))
    assert main([str(path), *options, "--contacts", str(contacts)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "L/5 (5 pairs): 100 % (57 to 100)" in said
    assert "1 pair of 7 not compared: their columns of the alignment are no sites" in said
    pairs = pd.read_csv(tmp_path / "analyse_f.fasta_pairs.csv")
    assert pairs.contact.sum() == 5
    assert pairs.contact[:5].all()
    precision = pd.read_csv(tmp_path / "analyse_f.fasta_precision.csv").set_index("first")
    assert precision.loc["L/5", ["pairs", "contacts", "precision"]].tolist() == [5, 5, 1]
    assert precision.loc["all ranked", "pairs"] == len(pairs)
    assert precision.loc["above the limit of noise", "pairs"] == pairs.above_noise.sum()
    assert precision.loc["q-value at most 0.1", "pairs"] == (pairs.q_value <= 0.1).sum()
    drawn = pd.read_csv(tmp_path / "analyse_f.fasta.csv")
    circles = drawn[drawn.curve == "contact"]
    assert list(zip(circles.x, circles.theory, strict=True)) == [(i + 1, i + 21) for i in range(5)]  # not 3,4
    assert Path(tmp_path / "analyse_f.fasta.png").exists()
