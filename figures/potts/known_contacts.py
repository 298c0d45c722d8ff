"""Finds the residues that touch each other in a protein of known structure, at the sites of an alignment."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from figures.analyse.sequences.reference import Reference

TOUCHING = 8.0  # angstroms between the C-beta of two residues in contact (the C-alpha of glycine)
APART = 6  # residues along the chain from which on a contact tells of the fold


def read_contacts(file: Path, residues: Reference) -> NDArray[np.bool_]:
    """Return which pairs of sites, (L, L), are contacts of residues at least `APART` residues apart along the chain.

    The file has the number, the letter and the coordinates of one residue in each line, and `residues` are those of the
    same protein at the sites of the alignment. ValueError for a residue that the file has not, or has with another
    letter, except for one in twenty, since strains differ.
    """
    lines = [line.split() for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    letters = {int(number): letter for number, letter, *_ in lines}
    place = {number: k for k, number in enumerate(letters)}
    own = {int(number): letter for number, letter in zip(residues.numbers, residues.letters, strict=True) if number}
    missing = sorted(set(own) - set(letters))
    other = [number for number in own if number in letters and own[number] != letters[number]]
    if missing or len(other) > len(own) / 20:
        raise ValueError(
            f"the residues of {residues.name} must be those of {file.name}, got {len(missing)} that are not there and "
            f"{len(other)} of another letter, of {len(own)}"
        )
    coordinates = np.array([[float(number) for number in line[2:]] for line in lines])
    sites = np.flatnonzero(residues.numbers)
    numbers = residues.numbers[sites]
    at = coordinates[[place[int(number)] for number in numbers]]
    near = np.linalg.norm(at[:, None] - at, axis=2) < TOUCHING
    found = np.zeros((len(residues.numbers), len(residues.numbers)), dtype=bool)
    found[np.ix_(sites, sites)] = near & (abs(numbers[:, None] - numbers) >= APART)
    return found
