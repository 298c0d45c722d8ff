"""Reads the options of python -m figures analyse; each is checked at once, and a wrong one named in one line."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from figures.analyse.errors import OptionError
from figures.analyse.option_types import fraction, integer, jobs, penalty, positive_numbers, share
from figures.analyse.options_of_generation import add_generation_options
from figures.analyse.options_of_models import add_model_options
from figures.analyse.options_of_numbering import add_numbering_options
from figures.analyse.options_of_tables import add_table_options
from figures.analyse.options_of_text import add_text_options
from figures.analyse.reading.matrix.formats import FORMATS
from figures.analyse.reading.sequences import MAX_TOKENS, checked_alphabet
from figures.analyse.reading.tables.cells import kind_of
from figures.core.discover import OUTPUT, OUTPUT_SHOWN

KINDS = ("matrix", "sequences", "text")


class _Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line, without the list of all options."""

    def error(self, message: str) -> NoReturn:
        if message.startswith("argument --"):
            message = message.removeprefix("argument ").replace(": ", " ", 1)
        raise OptionError(message.removeprefix("argument file: "))


def parsed(argv: Sequence[str], prog: str = "python -m figures analyse") -> tuple[argparse.Namespace, dict[str, str]]:
    """Parse the options of the user, with the names of those typed in `typed`, and say to which kind each belongs.

    Owners are as in `make_parser`. OptionError for an option that is not known or has a wrong value.
    """
    parser, owners = make_parser(prog)
    options = parser.parse_args(_with_dashes(argv))
    options.typed = {name for name, value in vars(options).items() if value != parser.get_default(name)}
    return options, owners


def _with_dashes(argv: Sequence[str]) -> list[str]:
    """Return the arguments so that a value such as -999,x is taken for one, where argparse would see an option.

    OptionError for a file whose name begins with a dash, which the user has to write in another way.
    """
    found: list[str] = []
    for argument in argv:
        dashed = argument.startswith("-") and not argument.startswith("--") and len(argument) > 1
        if dashed and found and found[-1] in ("--missing", "--columns", "--skip-columns"):
            found[-1] += f"={argument}"
        elif dashed and (Path(argument).suffix or Path(argument).exists()) and not _is_number(argument):
            raise OptionError(f"{argument} begins with a dash, as options do; if it is a file write ./{argument}")
        else:
            found.append(argument)
    return found


def _is_number(text: str) -> bool:
    return all(kind_of(part) == "number" for part in text.split(","))


def _file(text: str) -> Path:
    if not text:  # it would be the current folder
        raise argparse.ArgumentTypeError("the name of the file is empty")
    return Path(text)


def make_parser(prog: str) -> tuple[argparse.ArgumentParser, dict[str, str]]:
    """Make the parser; also return for whom each option is that is not for every kind of data."""
    parser = _Parser(
        prog=prog,
        description="Compares theory with your own data. In a matrix every column is predicted from the others by "
        "ridge regression: the error is measured against the number of rows and compared with Gaussian theory, and the "
        "best ridge is found. From aligned sequences a model of pairs of sites is learned: the output says how well it "
        "predicts held-out sequences, and which sites interact. In text the topics are found, and it is measured how "
        "much closer a model that learned from the text places words of one topic than words of different topics.",
    )
    parser.add_argument(
        "file",
        type=_file,
        help=f"samples by features ({', '.join(FORMATS)}), aligned sequences (.fasta, .a2m, .a3m, .sto, "
        f".aln, .phy, .nex, .msf; a .csv of at most {MAX_TOKENS} tokens with --kind sequences), or documents (.ldac, "
        ".dat, .mtx, .jsonl, a .txt with one in each line, a folder of .txt; a .csv with --kind text); may be gzipped",
    )
    add = parser.add_argument
    add("--kind", choices=KINDS, help="what the file holds (default: what its name says, or else its first lines)")
    add("--seed", type=integer(0), default=0, metavar="N", help="seed of all random choices (default: 0)")
    of_jobs = "number of processes; -1, the default, starts one for each core"
    add("--jobs", type=jobs, default=-1, metavar="N", help=of_jobs)
    add("--estimate", action="store_true", help="only say how much memory and time the analysis would need")
    add("--output", type=Path, default=OUTPUT, metavar="FOLDER", help=f"where results go (default: {OUTPUT_SHOWN})")
    add("--json", action="store_true", help="also write conclusions and numbers as analyse_NAME.json")
    add = parser.add_argument_group("tables, of numbers or of tokens").add_argument
    shared = [
        add(
            "--header",
            choices=("auto", "yes", "no"),
            default="auto",
            help="whether the first row holds the names of the columns (default: auto, by what it looks like)",
        ),
        add("--columns", metavar="LIST", help="columns to use, by number (from 1) or name, as in 1-5,8,height"),
        add("--skip-columns", metavar="LIST", help="columns to leave out, such as an index"),
    ]
    add = parser.add_argument_group("matrices and sequences").add_argument
    shared.append(
        add(
            "--test-fraction",
            type=fraction,
            default=0.2,
            metavar="SHARE",
            help="share of the samples that is held out to measure errors (default: 0.2)",
        )
    )
    owners = {option.dest: "matrix or sequences" for option in shared}
    owners |= dict.fromkeys(_add_matrix_options(parser), "matrix")
    owners |= dict.fromkeys(add_table_options(parser), "matrix")
    owners |= dict.fromkeys(_add_sequence_options(parser), "sequences")
    owners |= dict.fromkeys(add_model_options(parser), "sequences")
    owners |= dict.fromkeys(add_generation_options(parser), "sequences")
    owners |= dict.fromkeys(add_text_options(parser), "text")
    return parser, owners


def _add_matrix_options(parser: argparse.ArgumentParser) -> list[str]:
    """Add the options of matrices to the parser, and return their names."""
    add = parser.add_argument_group("matrices").add_argument
    options = [
        add("--drop-constant", action="store_true", help="leave out columns that are constant"),
        add("--drop-rows", action="store_true", help="leave out rows that have missing cells, and analyze the others"),
        add(
            "--missing",
            metavar="LIST",
            help="what else marks a missing cell, as in -999,x (empty cells, NaN, NA, null, ?, . and - do anyway)",
        ),
        add(
            "--missing-as",
            choices=("zero", "pairwise", "em"),
            help="how missing cells are dealt with: as zeros about the mean of the column, by the covariance of pairs "
            "that are seen, or by expectation maximization (default: em to fill, the better of the others for errors)",
        ),
        add(
            "--impute",
            type=_file,
            metavar="FILE",
            help="write the table with its missing cells filled, in the format of the file, and beside it the expected "
            "error of each of them; all other cells stay as they are",
        ),
        add("--decimal", choices=(".", ","), default=".", help="sign that marks the decimals in a table (default: .)"),
        add("--array", metavar="NAME", help="which array of a .npz file to use"),
        add(
            "--standardize",
            action=argparse.BooleanOptionalAction,
            help="measure each column in units of its standard deviation (default: where the variances of the columns "
            "differ by more than a factor of 100)",
        ),
        add(
            "--equal-rows",
            action="store_true",
            help="scale every row to the same distance from the mean of all rows, so that none counts more than others",
        ),
        add(
            "--order",
            choices=("time", "none"),
            help="time: rows are in order of time, and later ones are held out; none: their order says nothing "
            "(default: by a test whether successive rows resemble each other)",
        ),
        add(
            "--groups",
            metavar="COLUMN",
            help="column, by number or name, that says which rows belong together, as those of one person; it is not "
            "analyzed, and whole groups are held out where their rows resemble each other",
        ),
        add(
            "--gap",
            type=integer(0),
            metavar="N",
            help="rows between fitted rows and held-out blocks (default: as far as rows correlate by more than 0.1)",
        ),
        add(
            "--whiten-rows",
            action="store_true",
            help="take out of each row what the rows before it, or its group, say of it, if rows depend on each other",
        ),
        add(
            "--lams",
            type=positive_numbers,
            metavar="LIST",
            help="ridge strengths to measure, as in 0.01,0.1,1 (default: some that lie around the best one)",
        ),
        add(
            "--repeats",
            type=integer(2),
            metavar="N",
            help="number of random splits into fitted and held-out rows (default: 20, fewer if that would take long)",
        ),
    ]
    return [option.dest for option in options]


def _add_sequence_options(parser: argparse.ArgumentParser) -> list[str]:
    """Add the options of sequences to the parser, and return their names."""
    add = parser.add_argument_group("sequences").add_argument
    options = [
        add(
            "--alphabet",
            type=_alphabet,
            default="auto",
            metavar="NAME",
            help="protein, rna, dna, or the letters themselves (default: by what occurs)",
        ),
        add(
            "--unknown",
            choices=("gap", "drop"),
            default="gap",
            help="read letters that the alphabet does not have as gaps (the default), or drop their sequences",
        ),
        add("--max-sequences", type=integer(2), metavar="N", help="analyze N random ones if there are more"),
        add(
            "--identity",
            type=share,
            default=0.8,
            metavar="SHARE",
            help="sequences that agree at this share of the sites count as similar (default: 0.8)",
        ),
        add(
            "--reweight",
            action=argparse.BooleanOptionalAction,
            help="let similar sequences share their weight (default: up to 50000 sequences)",
        ),
        add(
            "--l2",
            type=penalty,
            metavar="NUMBER",
            help="penalty of the couplings, for a log-likelihood summed over sequences (default: the best predictor's)",
        ),
        add(
            "--field-l2",
            type=penalty,
            default=0.01,
            metavar="NUMBER",
            help="penalty of the fields, for the same log-likelihood (default: 0.01)",
        ),
        add(
            "--min-separation",
            type=integer(1),
            metavar="SITES",
            help="rank pairs that are at least this many sites apart (default: 4 for proteins, 1 for anything else)",
        ),
        add(
            "--clones",
            type=integer(1),
            metavar="K",
            help="write clones of the orders 1 to K, at most 3: as many new sequences as there are, drawn "
            "from a model in which at most 1 to K sites interact, as NAME_clone1.fasta and so on",
        ),
        add("--count-gaps", action="store_true", help="let the couplings of gaps count in the interaction map"),
    ]
    return [option.dest for option in options] + add_numbering_options(parser)


def _alphabet(text: str) -> str:
    try:
        return checked_alphabet(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
