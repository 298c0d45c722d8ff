"""Distances between the residues of a chain of a known structure, at the sites of an alignment, by Biopython."""

import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from figures.analyse.errors import DataError
from figures.analyse.reading.opening import extension
from figures.analyse.reading.text_file import text_file
from figures.analyse.sequences.numbering.full_sequence import Matching, matched
from figures.analyse.sequences.reference import Reference
from figures.analyse.wording import counted, listed
from figures.core import missing_extra
from theory.core.arrays import Array

STRUCTURES = (".pdb", ".ent", ".cif", ".mmcif")
# Homologs of a family share the fold, and so the contacts, from about a third of equal residues on (Chothia and Lesk,
# EMBO Journal 5, 823 (1986)); more of them would be left out than is wise by asking for the same protein.
FEWEST_EQUAL = 0.3
FEWEST_RESIDUES = 2
NUCLEOTIDES = {"A": "A", "C": "C", "G": "G", "U": "U", "DA": "A", "DC": "C", "DG": "G", "DT": "T", "DU": "U"}
N_LISTED_CHAINS = 12


class Chain(NamedTuple):
    """The residues of a chain that have coordinates: their letters, and the positions of their atoms (n, 3)."""

    name: str
    letters: str
    atoms: Sequence[Array]


def distances_of_structure(path: Path, reference: Reference, wanted: str | None) -> tuple[Array, str, tuple[str, ...]]:
    """Return the least distance (L, L) in angstroms of atoms of two residues, of which chain, and notes.

    Hydrogen is left out. A residue is at the site of that letter of the reference with which it is aligned; where there
    is none the distance is nan, on the diagonal too. Without a `wanted` chain it is the one with the most letters of
    the reference. DataError where there is no chain of residues or not that one, where fewer than three of ten letters
    of the reference are the same in it, and where Biopython is missing.
    """
    chains = _chains(path)
    if not chains:
        raise DataError(path, "holds no chain of amino acids or nucleotides with coordinates (--contacts)")
    names = listed([chain.name for chain in chains], N_LISTED_CHAINS)
    if wanted is not None:
        chains = [chain for chain in chains if chain.name == wanted]
        if not chains:
            raise DataError(path, f"has no chain {wanted} (--chain); its chains are {names}")
    fits = [matched(path, reference.row, chain.letters, "--contacts", is_homolog=True) for chain in chains]
    best = int(np.argmax([fit.equal for fit in fits]))
    chain, fit = chains[best], fits[best]
    if fit.share < FEWEST_EQUAL:
        which = f"chain {chain.name}" if wanted is not None or len(chains) == 1 else f"the nearest chain, {chain.name},"
        raise DataError(
            path,
            f"{which} does not align with {reference.name}: {fit.equal} of the {counted(fit.compared, 'letter')} of "
            f"{reference.name} are the same in it ({100 * fit.share:.0f} %, of at least {100 * FEWEST_EQUAL:g} %); the "
            f"chains are {names}: choose another one by --chain, or another structure",
        )
    at = _places(reference, fit)
    sites = np.flatnonzero(at >= 0)
    if len(sites) < FEWEST_RESIDUES:
        raise DataError(
            path, f"chain {chain.name} has {len(sites)} residues at sites that are analyzed; two are needed"
        )
    found = np.full((len(at), len(at)), np.nan)
    found[np.ix_(sites, sites)] = least_distances([chain.atoms[k] for k in at[sites]])
    same = f"{fit.equal} of {fit.compared} letters are the same"
    why = f"chain {chain.name} of {path.name}, aligned to {reference.name} ({same})"
    unseen = len(at) - len(sites)
    notes = (
        (f"{counted(unseen, 'site')} of {len(at)} without a residue in the structure: no pair with them is compared",)
        if unseen
        else ()
    )
    return found, why, notes


def _places(reference: Reference, fit: Matching) -> Any:
    """Return the residue of the chain at each site, -1 where there is none."""
    return np.where(reference.places >= 0, np.append(fit.places, -1)[reference.places], -1)


def least_distances(atoms: Sequence[Array]) -> Array:
    """Return the least distance of atoms (n_k, 3) of each two residues, 0 on the diagonal."""
    everything = np.concatenate(atoms)
    starts = np.cumsum([0, *(len(one) for one in atoms[:-1])])
    rows = [np.minimum.reduceat(cdist(own, everything).min(axis=0), starts) for own in atoms]
    return np.array(rows)


def _chains(path: Path) -> list[Chain]:
    """Return the chains of the first model, as they are called by the authors of the structure."""
    if (absent := missing_extra("formats", "Bio")) is not None:
        raise DataError(path, f"is a structure, which is read by Biopython (Bio). {absent}")
    from Bio.PDB import MMCIFParser, PDBParser

    is_cif = extension(path) in (".cif", ".mmcif")
    with text_file(path).open() as content:
        text = content.read()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # chains with breaks, and atoms that stand twice
            parser: Any = MMCIFParser(QUIET=True) if is_cif else PDBParser(QUIET=True)
            model = next(iter(parser.get_structure(path.name, io.StringIO(text))), None)
    except Exception as error:  # its parsers fail by whatever the next line raises
        why = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, KeyError):  # whose text is nothing but the name
            why = f"it has no {error.args[0]}"
        raise DataError(path, f"cannot be read as {'mmCIF' if is_cif else 'PDB'} by Biopython ({why})") from None
    found = [] if model is None else [_chain(chain) for chain in model]
    return [chain for chain in found if chain.letters]


def _chain(chain: Any) -> Chain:
    from Bio.SeqUtils import seq1

    letters, atoms = list[str](), list[Array]()
    for residue in chain:
        name = residue.get_resname().strip()
        letter = NUCLEOTIDES.get(name) or seq1(name, undef_code="") or _modified(name)
        heavy = [atom.coord for atom in residue if atom.element not in ("H", "D")]
        if letter and heavy:
            letters.append(letter)
            atoms.append(np.array(heavy, float))
    return Chain(chain.id, "".join(letters), atoms)


def _modified(name: str) -> str:
    """Return the letter that a residue was made from, as selenomethionine or pseudouridine were; else ""."""
    from Bio.Data.PDBData import nucleic_letters_3to1_extended, protein_letters_3to1_extended

    return str((protein_letters_3to1_extended | nucleic_letters_3to1_extended).get(name.ljust(3), ""))
