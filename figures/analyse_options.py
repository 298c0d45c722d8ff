"""The options of python -m figures analyse: each is checked as it is typed, and a wrong one is one line."""

import argparse
from pathlib import Path
from typing import NoReturn

from figures.core.outputs import OUTPUT
from figures.reading.common.options import OptionError, integer, number, numbers
from figures.reading.sequences import MOST_TOKENS, checked_alphabet
from figures.reading.text import add_text_options

KINDS = ("matrix", "sequences", "text")


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the list of all options."""

    def error(self, message: str) -> NoReturn:
        of_option = message.startswith("argument --")
        raise OptionError(message.removeprefix("argument ").replace(": ", " ", 1) if of_option else message)


def make_parser() -> tuple[argparse.ArgumentParser, dict[str, str]]:
    """The parser, and for each option that is not for everything the kind of data that it is for."""
    parser = _Parser(
        prog="python -m figures analyse",
        description="Theory and simulation for your own data. A matrix: masked ridge regression, every column predicted"
        " from the others, its error against the number of rows compared with Gaussian theory, and the best ridge. "
        "Sequences: the pair model of an alignment by pseudo-likelihood, its masked loss on held-out sequences, and the"
        " map of interacting sites. Text: its topics, and how much closer a model learned from it places words of one "
        "topic than words of different ones.",
    )
    parser.add_argument(
        "file",
        type=Path,
        help="samples by features (.csv, .tsv, .npy, .npz), or aligned sequences (.fasta, .a2m, .a3m, .sto; a .csv of "
        f"at most {MOST_TOKENS} different tokens with --kind sequences), or documents (.ldac with .tokens, .jsonl, a "
        ".txt with one a line, a folder of .txt; a .csv with --kind text); may be gzipped",
    )
    add = parser.add_argument
    add("--kind", choices=KINDS, help="what the file holds; default: by its extension")
    add(
        "--header", choices=("auto", "yes", "no"), default="auto", help="whether the first row of a table names columns"
    )
    add("--columns", metavar="LIST", help="columns of a table to use, by number (from 1) or name: 1-5,8,height")
    add("--skip-columns", metavar="LIST", help="columns of a table to leave out, such as an index")
    add(
        "--test-fraction",
        type=_fraction,
        default=0.2,
        metavar="SHARE",
        help="of the samples held out (default: 0.2)",
    )
    add("--seed", type=integer(0), default=0, help="of random choices (default: 0)")
    add("--jobs", type=_jobs, default=-1, help="processes; -1 (default): one for each core")
    add("--output", type=Path, default=OUTPUT, metavar="FOLDER", help="default: figures/output")
    return parser, _matrix_options(parser) | _sequence_options(parser) | add_text_options(parser)


def _matrix_options(parser: argparse.ArgumentParser) -> dict[str, str]:
    group = parser.add_argument_group("matrices")
    add = group.add_argument
    options = [
        add("--drop-constant", action="store_true", help="leave out columns that are constant"),
        add("--array", metavar="NAME", help="which array of a .npz file"),
        add("--standardize", action="store_true", help="measure each column in units of its standard deviation"),
        add(
            "--lams",
            type=numbers(),
            metavar="LIST",
            help="ridge strengths, as 0.01,0.1,1; default: around the best",
        ),
        add("--repeats", type=integer(1), help="random splits (default: 20, fewer where that would take long)"),
    ]
    return {option.dest: "matrix" for option in options}


def _sequence_options(parser: argparse.ArgumentParser) -> dict[str, str]:
    group = parser.add_argument_group("sequences")
    add = group.add_argument
    options = [
        add(
            "--alphabet",
            type=_alphabet,
            default="auto",
            metavar="NAME",
            help="protein, rna, dna, or the letters; default: by what occurs",
        ),
        add(
            "--unknown", choices=("gap", "drop"), default="gap", help="read unknown letters as gaps, or drop sequences"
        ),
        add("--max-sequences", type=integer(2), metavar="N", help="take a random choice where there are more"),
        add(
            "--identity",
            type=_share,
            default=0.8,
            metavar="SHARE",
            help="of sites that makes sequences similar (0.8)",
        ),
        add(
            "--reweight",
            action=argparse.BooleanOptionalAction,
            help="let similar sequences share their weight (default: up to 50000 sequences)",
        ),
        add("--l2", type=_penalty, help="penalty of couplings, for a sum over sequences (default: what predicts best)"),
        add(
            "--field-l2",
            type=_penalty,
            default=0.01,
            help="penalty of fields, for the same sum (default: 0.01)",
        ),
        add("--min-separation", type=integer(1), default=4, metavar="SITES", help="of ranked pairs (default: 4)"),
        add("--count-gaps", action="store_true", help="let the couplings of gaps count in the interaction map"),
    ]
    return {option.dest: "sequences" for option in options}


_fraction = number("in (0, 1)", lambda x: 0 < x < 1)
_share = number("in (0, 1]", lambda x: 0 < x <= 1)
_penalty = number("of at least 0", lambda x: x >= 0)


def _jobs(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if not value:
        raise argparse.ArgumentTypeError(f"must be at least 1, or negative to count from all cores (-1), got {text}")
    return value


def _alphabet(text: str) -> str:
    try:
        return checked_alphabet(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
