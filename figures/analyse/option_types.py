"""Types of options: what their values must be, said in one line where they are not."""

import argparse
import math
from collections.abc import Callable


def number(where: str, allowed: Callable[[float], bool]) -> Callable[[str], float]:
    """Return a type of options: finite numbers that are `allowed`, which `where` says in words."""

    def typed(text: str) -> float:
        value = _float(text)
        if not (math.isfinite(value) and allowed(value)):
            raise argparse.ArgumentTypeError(f"must be a number {where}, got {text}")
        return value

    return typed


def numbers(where: str, allowed: Callable[[float], bool]) -> Callable[[str], list[float]]:
    """Return a type of options: finite numbers that are `allowed`, separated by commas."""

    def typed(text: str) -> list[float]:
        values = [_float(part) for part in text.split(",")]
        if not all(math.isfinite(value) and allowed(value) for value in values):
            raise argparse.ArgumentTypeError(f"must be numbers {where}, separated by commas, got {text!r}")
        return values

    return typed


def integer(least: int) -> Callable[[str], int]:
    """Return a type of options: integers from `least`."""

    def typed(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"must be an integer of at least {least}, got {text}")
        return value

    return typed


def jobs(text: str) -> int:
    """Return a type of options: a number of processes, or a negative number to count from the number of cores."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if not value:
        raise argparse.ArgumentTypeError(f"must be at least 1, or -1 for one process a core, got {text}")
    return value


fraction = number("between 0 and 1, both excluded", lambda x: 0 < x < 1)
fractions = numbers("between 0 and 1, both excluded", lambda x: 0 < x < 1)
share = number("above 0 and at most 1", lambda x: 0 < x <= 1)
penalty = number("of at least 0", lambda x: x >= 0)
positive_numbers = numbers("above 0", lambda x: x > 0)


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
