"""Analyzes a user's own data: python -m figures analyse FILE reads it, and leaves tables and figures."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from figures.analyse.errors import DataError, OptionError
from figures.analyse.options import KINDS, parsed
from figures.analyse.reading.kinds import AMBIGUOUS_SUFFIXES, kind_of_content
from figures.analyse.reading.opening import extension
from figures.analyse.steps import EXTENSIONS
from figures.analyse.wording import printable
from figures.core.plain_text import escaped
from theory.core.atomic_write import remove_abandoned

__all__ = ["kind_of", "main"]

WRONG_DATA = 2  # exit status


def main(argv: Sequence[str], prog: str = "python -m figures analyse") -> int:
    """Run `figures analyse` with these arguments, and return the exit status.

    `prog` is how the user has called it, for its help. The status is 0, or 2 with one line on stderr where the file or
    an option cannot be used.
    """
    try:
        options, owners = parsed(argv, prog)
        kind = options.kind or kind_of(options.file)
        require_own_options(options, owners, kind)
        _require_writable(options.output)
        # Loaded when needed: an analysis imports its whole subject.
        import_module(f"figures.analyse.{kind}.command").STEPS.run(options)
    except (DataError, OptionError) as error:
        print(escaped(f"figures analyse: {error}"), file=sys.stderr)
        return WRONG_DATA
    return 0


def kind_of(path: Path) -> str:
    """Say what a file holds, matrix, sequences or text, by its name, else by its first lines; a folder is text.

    DataError where there is no such file, and where neither says it.
    """
    if path.is_dir():
        return "text"
    named = next((kind for kind, extensions in EXTENSIONS.items() if extension(path) in extensions), None)
    if not path.is_file():
        if named is None and not path.exists():
            raise DataError(path, "no such file; check the name and the folder you are in")
    elif named is None or extension(path) in AMBIGUOUS_SUFFIXES:
        return kind_of_content(path) or named or _refused(path)
    return named or _refused(path)


def _refused(path: Path) -> str:
    known = f"say --kind {' or --kind '.join(KINDS)} (names of a matrix end in {', '.join(EXTENSIONS['matrix'])})"
    raise DataError(path, f"neither its name nor its first lines say what it holds: {known}")


def require_own_options(options: argparse.Namespace, owners: dict[str, str], kind: str) -> None:
    """Refuse an option that has no effect on this kind of data, because the user expects one."""
    for name, owner in owners.items():
        if kind not in owner.split(" or ") and name in options.typed:
            plural = owner.replace("matrix", "matrices")
            raise DataError(options.file, f"is read as {kind}, but --{name.replace('_', '-')} is for {plural}")


def _require_writable(output: Path) -> None:
    """Refuse an output folder that cannot be written to before the analysis, so that no minutes of work are lost."""
    named = f"--output {printable(output)}"
    try:
        if output.exists() and not output.is_dir():
            raise OptionError(f"{named} is a file; choose a folder")
        output.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=output):
            pass
        remove_abandoned(output)
    except OSError as error:
        why = "no file can be made there" if isinstance(error, FileNotFoundError) else error.strerror
        raise OptionError(f"{named} cannot be written to ({why}); choose another folder") from None
