"""The options of python -m figures analyse that are for text."""

import argparse
from pathlib import Path

from figures.analyse.option_types import integer, numbers

_shares = numbers("in (0, 1)", lambda share: 0 < share < 1)


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
        add("--min-documents", type=integer(1), metavar="N", help="that a word must be in (default: 5)"),
        add("--max-words", type=integer(2), default=4000, metavar="N", help="of the vocabulary (default: 4000)"),
        add("--drop-empty", action="store_true", help="leave out documents without words"),
        add("--topics", type=integer(2), default=20, metavar="K", help="that are looked for (default: 20)"),
        add("--sweeps", type=integer(1), default=300, metavar="N", help="of the topics' Gibbs sampler (default: 300)"),
        add("--thresholds", type=_shares, metavar="LIST", help="of ambiguity, as 0.002,0.005,0.01 (the default)"),
        add("--permutations", type=integer(100), default=200, metavar="N", help="of the topics (default: 200)"),
        add("--split", action="store_true", help="topics from one half of the documents, the model from the other"),
        add(
            "--vectors", type=Path, metavar="FILE", help="embedding to measure as well: lines of a word and its numbers"
        ),
    ]
    return {option.dest: "text" for option in options}
