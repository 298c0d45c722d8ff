"""Declares the options of python -m figures analyse that number sites by residues, filter gaps, and name contacts."""

import argparse
from pathlib import Path

from figures.analyse.option_types import integer, share


def add_numbering_options(parser: argparse.ArgumentParser) -> list[str]:
    """Add the options of residues, gaps and contacts to the parser, and return their names."""
    add = parser.add_argument_group("sequences: residues, gaps and contacts").add_argument
    options = [
        add(
            "--reference",
            metavar="NAME",
            help="number the sites by the residues of this sequence too, given by its name or its number in the file",
        ),
        add(
            "--first-residue",
            type=integer(1),
            metavar="N",
            help="number of the first residue of --reference (default: from a name like RASH_HUMAN/5-165, or 1), or of "
            "--reference-sequence where that is given (default: 1)",
        ),
        add(
            "--reference-sequence",
            type=Path,
            metavar="FILE",
            help="FASTA of the full sequence of --reference: its residues are aligned to it and have its numbers, so "
            "that letters which the alignment lacks shift none (EXTRAS=formats)",
        ),
        add(
            "--max-gaps-sequence",
            type=share,
            metavar="SHARE",
            help="leave out sequences with gaps in more than this share of the columns (default: none is left out)",
        ),
        add(
            "--max-gaps-column",
            type=share,
            metavar="SHARE",
            help="then leave out columns with gaps in more than this share of the sequences (default: none)",
        ),
        add(
            "--contacts",
            type=Path,
            metavar="FILE",
            help="compare the pairs with contacts: a structure (.pdb, .cif; EXTRAS=formats; --reference says whose), "
            "or a table i,j or i,j,distance of residues, without --reference of columns",
        ),
        add("--chain", metavar="ID", help="chain of the structure (default: the one most like --reference)"),
    ]
    return [option.dest for option in options]
