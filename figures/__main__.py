"""Starts the command line, python -m figures."""

import sys
from collections.abc import Callable

from figures.start import start


def _loaded() -> Callable[[], int]:
    from figures.command_line import main

    return main


if __name__ == "__main__":
    sys.exit(start(_loaded))
