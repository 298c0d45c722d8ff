"""Adds the options of the pair model of sequences: the file it is written to, and the mutations it scores."""

import argparse
from pathlib import Path

ONLY_SCORES = ""  # --mutations without a file


def add_model_options(parser: argparse.ArgumentParser) -> list[str]:
    """Add the options to the parser, and return their names."""
    add = parser.add_argument_group("models of sequences").add_argument
    options = [
        add(
            "--write-model",
            type=_file,
            metavar="FILE",
            help="write couplings and fields: .params for EVcouplings (plmc, version 2), .dat for adabmDCA, or .npz",
        ),
        add(
            "--mutations",
            nargs="?",
            const=ONLY_SCORES,
            metavar="FILE",
            help="score all substitutions of --reference by the pair model and by sites alone; FILE, if given, holds "
            "measured values of mutants, such as A23V, with which both are compared",
        ),
        add("--measured", metavar="COLUMN", help="column of the measured values in the FILE of --mutations"),
    ]
    return [option.dest for option in options]


def _file(text: str) -> Path:
    if not text:  # it would be the current folder
        raise argparse.ArgumentTypeError("the name of the file is empty")
    return Path(text)
