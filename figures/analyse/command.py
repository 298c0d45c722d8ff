"""A user's own data: python -m figures analyse FILE reads it, and leaves tables and figures."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from figures.analyse.errors import DataError
from figures.analyse.option_types import OptionError
from figures.analyse.options import make_parser

__all__ = ["kind_of", "main"]

EXTENSIONS = {
    "matrix": (".csv", ".tsv", ".npy", ".npz"),
    "sequences": (".fasta", ".fa", ".fas", ".afa", ".faa", ".fna", ".a2m", ".a3m", ".sto", ".stk"),
    "text": (".txt", ".ldac", ".jsonl", ".ndjson"),
}
COMMANDS = {  # loaded when needed
    "matrix": "figures.analyse.matrix.command",
    "sequences": "figures.analyse.sequences.command",
    "text": "figures.analyse.text.command",
}
WRONG_DATA = 2  # exit status


def main(argv: Sequence[str]) -> int:
    """Exit status: 0, or 2 with one line on stderr where the file or an option cannot be used."""
    parser, owners = make_parser()
    try:
        options = parser.parse_args(argv)
        kind = options.kind or kind_of(options.file)
        _require_own_options(parser, options, owners, kind)
        _require_writable(options.output)
        import_module(COMMANDS[kind]).run(options)
    except (DataError, OptionError) as error:
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
    if output.exists() and not output.is_dir():
        raise OptionError(f"--output {output} is a file; choose a folder")
    try:
        output.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=output):
            pass
    except OSError as error:
        why = "no file can be made there" if isinstance(error, FileNotFoundError) else error.strerror
        raise OptionError(f"--output {output} cannot be written to ({why}); choose another folder") from None
