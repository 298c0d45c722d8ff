"""A user's own data: python -m figures analyse FILE reads it, and leaves tables and figures."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from figures.core.produce import OUTPUT
from figures.reading import DataError

__all__ = ["kind_of", "main"]

EXTENSIONS = {
    "matrix": (".csv", ".tsv", ".npy", ".npz"),
    "sequences": (".fasta", ".fa", ".fas", ".afa", ".faa", ".fna", ".a2m", ".a3m", ".sto", ".stk"),
    "text": (".txt", ".ldac", ".jsonl"),
}
COMMANDS = {"matrix": "figures.analyse_matrix", "sequences": "figures.analyse_sequences"}  # loaded when needed
WRONG_DATA = 2  # exit status


def main(argv: Sequence[str]) -> int:
    """Exit status: 0, or 2 with one line on stderr where the file cannot be used."""
    parser, owners = _parser()
    options = parser.parse_args(argv)
    try:
        kind = options.kind or kind_of(options.file)
        if kind not in COMMANDS:
            raise DataError(options.file, f"holds {kind}; this version analyses matrices and sequences")
        _require_own_options(parser, options, owners, kind)
        _require_writable(options.output)
        import_module(COMMANDS[kind]).run(options)
    except DataError as error:
        print(f"figures analyse: {error}", file=sys.stderr)
        return WRONG_DATA
    return 0


def kind_of(path: Path) -> str:
    """matrix, sequences or text, by the name of the file; a folder is text. DataError where the name does not say."""
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    for kind, extensions in EXTENSIONS.items():
        if suffixes and suffixes[-1] in extensions:
            return kind
    if path.is_dir():
        return "text"
    if not path.exists():
        raise DataError(path, "no such file; check the name and the folder you are in")
    raise DataError(path, f"its name does not say what it holds: say --kind {' or --kind '.join(COMMANDS)}")


def _require_own_options(
    parser: argparse.ArgumentParser, options: argparse.Namespace, owners: dict[str, str], kind: str
) -> None:
    """An option without effect would be a wrong answer in silence."""
    for name, owner in owners.items():
        if owner != kind and getattr(options, name) != parser.get_default(name):
            plural = {"matrix": "matrices"}.get(owner, owner)
            raise DataError(options.file, f"is read as {kind}, but --{name.replace('_', '-')} is for {plural}")


def _require_writable(output: Path) -> None:
    """Asked first, so that no minutes of work are lost."""
    try:
        output.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=output):
            pass
    except OSError as error:
        raise DataError(output, f"cannot be written to ({error.strerror}); choose a folder by --output") from None


def _parser() -> tuple[argparse.ArgumentParser, dict[str, str]]:
    """The parser, and for each option that is not for everything the kind of data that it is for."""
    parser = argparse.ArgumentParser(
        prog="python -m figures analyse",
        description="Theory and simulation for your own data. A matrix: masked ridge regression, every column predicted"
        " from the others, its error against the number of rows compared with Gaussian theory, and the best ridge. "
        "Sequences: the pair model of an alignment by pseudo-likelihood, its masked loss on held-out sequences, and the"
        " map of interacting sites.",
    )
    parser.add_argument(
        "file",
        type=Path,
        help="samples by features (.csv, .tsv, .npy, .npz), or aligned sequences (.fasta, .a2m, .a3m, .sto; a .csv of "
        "tokens with --kind sequences); may be gzipped",
    )
    add = parser.add_argument
    add("--kind", choices=tuple(EXTENSIONS), help="what the file holds; default: by its extension")
    add(
        "--header", choices=("auto", "yes", "no"), default="auto", help="whether the first row of a table names columns"
    )
    add("--columns", metavar="LIST", help="columns of a table to use, by number (from 1) or name: 1-5,8,height")
    add("--skip-columns", metavar="LIST", help="columns of a table to leave out, such as an index")
    add("--test-fraction", type=float, default=0.2, metavar="SHARE", help="of the samples held out (default: 0.2)")
    add("--seed", type=int, default=0, help="of random choices (default: 0)")
    add("--jobs", type=int, default=-1, help="processes; -1 (default): one for each core")
    add("--output", type=Path, default=OUTPUT, metavar="FOLDER", help="default: figures/output")
    return parser, _matrix_options(parser) | _sequence_options(parser)


def _matrix_options(parser: argparse.ArgumentParser) -> dict[str, str]:
    group = parser.add_argument_group("matrices")
    add = group.add_argument
    options = [
        add("--drop-constant", action="store_true", help="leave out columns that are constant"),
        add("--array", metavar="NAME", help="which array of a .npz file"),
        add("--standardize", action="store_true", help="measure each column in units of its standard deviation"),
        add(
            "--lams", type=_numbers, metavar="LIST", help="ridge strengths, as 0.01,0.1,1; default: around the best one"
        ),
        add("--repeats", type=int, help="random splits (default: 20, fewer where that would take long)"),
    ]
    return {option.dest: "matrix" for option in options}


def _sequence_options(parser: argparse.ArgumentParser) -> dict[str, str]:
    group = parser.add_argument_group("sequences")
    add = group.add_argument
    options = [
        add(
            "--alphabet",
            default="auto",
            metavar="NAME",
            help="protein, rna, dna, or the letters; default: by what occurs",
        ),
        add(
            "--unknown", choices=("gap", "drop"), default="gap", help="read unknown letters as gaps, or drop sequences"
        ),
        add("--max-sequences", type=int, metavar="N", help="take a random choice where there are more"),
        add("--identity", type=float, default=0.8, metavar="SHARE", help="of sites that makes sequences similar (0.8)"),
        add(
            "--reweight",
            action=argparse.BooleanOptionalAction,
            help="let similar sequences share their weight (default: up to 50000 sequences)",
        ),
        add("--l2", type=float, help="penalty of couplings, for a sum over sequences (default: what predicts best)"),
        add("--field-l2", type=float, default=0.01, help="penalty of fields, for a sum over sequences (default: 0.01)"),
        add("--min-separation", type=int, default=4, metavar="SITES", help="of ranked pairs (default: 4)"),
        add("--count-gaps", action="store_true", help="let the couplings of gaps count in the interaction map"),
    ]
    return {option.dest: "sequences" for option in options}


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be numbers separated by commas, got {text!r}") from None
