"""Defines the two errors that a user can cause: a file that cannot be used, and an option that cannot."""

import argparse
from pathlib import Path

from figures.analyse.wording import printable
from theory.core.errors import MaskedSSLError


class DataError(MaskedSSLError):
    """A user's file cannot be used; the message is one line that names the file, the place and what to do."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(f"{printable(path)}: {' '.join(message.split())}")


class OptionError(MaskedSSLError):
    """An option has a value that it cannot have; the message names the option as the user typed it."""


def as_typed(path: Path, error: Exception, options: argparse.Namespace) -> Exception:
    """Return the error of an analysis in the user's terms.

    A message that begins with the name of an argument becomes an OptionError that names the option, and says so where
    the value is the default and was not typed; any other message becomes a DataError that names the file.
    """
    name, _, rest = str(error).partition(" ")
    if name in vars(options) and name != "file":
        untyped = "" if name in options.typed else " (the default; choose another one)"
        return OptionError(f"--{name.replace('_', '-')} {rest}{untyped}")
    return DataError(path, str(error))
