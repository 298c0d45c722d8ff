"""Options of a command: types that say what is allowed, and errors that name an option as it is typed."""

import argparse
import math
from collections.abc import Callable
from pathlib import Path

from figures.analyse.errors import DataError


class OptionError(Exception):
    """An option has a value that it cannot have; the message names it as it is typed."""


def as_typed(path: Path, error: Exception, options: argparse.Namespace) -> Exception:
    """An error that begins with the name of an argument names the option instead; every other one the file."""
    name, _, rest = str(error).partition(" ")
    if name in vars(options) and name != "file":
        return OptionError(f"--{name.replace('_', '-')} {rest}")
    return DataError(path, str(error))


def number(where: str, allowed: Callable[[float], bool]) -> Callable[[str], float]:
    """A type of options: finite numbers that are `allowed`."""

    def typed(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and allowed(value)):
            raise argparse.ArgumentTypeError(f"must be a number {where}, got {text}")
        return value

    return typed


def numbers(where: str = "", allowed: Callable[[float], bool] = lambda value: True) -> Callable[[str], list[float]]:
    """A type of options: numbers that are `allowed`, separated by commas."""

    def typed(text: str) -> list[float]:
        try:
            values = [float(part) for part in text.split(",")]
        except ValueError:
            values = [math.nan]
        if not all(math.isfinite(value) and allowed(value) for value in values):
            raise argparse.ArgumentTypeError(
                f"must be numbers {where + ' ' if where else ''}separated by commas, got {text!r}"
            )
        return values

    return typed


def integer(least: int) -> Callable[[str], int]:
    """A type of options: integers from `least`."""

    def typed(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"must be an integer of at least {least}, got {text}")
        return value

    return typed
