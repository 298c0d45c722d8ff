"""The options of python -m figures analyse that are for text."""

import argparse
import math
from collections.abc import Callable
from pathlib import Path


def add_text_options(parser: argparse.ArgumentParser) -> dict[str, str]:
    """Adds them; returns for each that it is for text."""
    add = parser.add_argument_group("text").add_argument
    options = [
        add("--text-column", metavar="NAME", help="column of a .csv or .tsv, or key of a .jsonl, that holds the text"),
        add("--encoding", metavar="NAME", help="of the files (default: UTF-8, or as their first bytes say)"),
        add(
            "--stop-words",
            default="auto",
            metavar="LIST",
            help="english, none, or a file with one a line (default: english, but none for counted words)",
        ),
        add("--min-documents", type=_at_least(1), metavar="N", help="that a word must be in (default: 5)"),
        add("--max-words", type=_at_least(2), default=4000, metavar="N", help="of the vocabulary (default: 4000)"),
        add("--drop-empty", action="store_true", help="leave out documents without words"),
        add("--topics", type=_at_least(2), default=20, metavar="K", help="that are looked for (default: 20)"),
        add(
            "--sweeps", type=_at_least(1), default=300, metavar="N", help="of the topics' Gibbs sampler (default: 300)"
        ),
        add("--thresholds", type=_shares, metavar="LIST", help="of ambiguity, as 0.002,0.005,0.01 (the default)"),
        add("--permutations", type=_at_least(100), default=200, metavar="N", help="of the topics (default: 200)"),
        add("--split", action="store_true", help="topics from one half of the documents, the model from the other"),
        add(
            "--vectors", type=Path, metavar="FILE", help="embedding to measure as well: lines of a word and its numbers"
        ),
    ]
    return {option.dest: "text" for option in options}


def _at_least(least: int) -> Callable[[str], int]:
    """A type of options."""

    def integer(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"must be an integer of at least {least}, got {text}")
        return value

    return integer


def _shares(text: str) -> list[float]:
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = [math.nan]
    if not all(0 < value < 1 for value in values):
        raise argparse.ArgumentTypeError(f"must be numbers in (0, 1) separated by commas, got {text!r}")
    return values
