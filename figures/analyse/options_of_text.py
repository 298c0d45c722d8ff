"""Declares the options of python -m figures analyse for text."""

import argparse
from pathlib import Path

from figures.analyse.option_types import fractions, integer


def add_text_options(parser: argparse.ArgumentParser) -> list[str]:
    """Add the options of text to the parser, and return their names."""
    add = parser.add_argument_group("text").add_argument
    options = [
        add("--text-column", metavar="NAME", help="column of a table, or its number, or key of a .jsonl: the text"),
        add(
            "--encoding",
            metavar="NAME",
            help="encoding, such as utf-8, latin-1 or cp1252 (default: UTF-8, unless the first bytes say another)",
        ),
        add(
            "--stop-words",
            default="auto",
            metavar="LIST",
            help="words not to count: english, none, or a file of them, one a line (default: english; none for .ldac)",
        ),
        add(
            "--min-documents",
            type=integer(1),
            metavar="N",
            help="count words that are in at least N documents (default: 5, fewer for less than 50 documents)",
        ),
        add(
            "--max-words",
            type=integer(2),
            default=4000,
            metavar="N",
            help="count at most N different words, those in most documents (default: 4000)",
        ),
        add("--drop-empty", action="store_true", help="leave out documents without words"),
        add("--topics", type=integer(2), metavar="K", help="topics to find (default: one per 10 documents, 2 to 20)"),
        add(
            "--sweeps",
            type=integer(1),
            default=300,
            metavar="N",
            help="passes of the Gibbs sampler that finds the topics (default: 300)",
        ),
        add(
            "--thresholds",
            type=fractions,
            metavar="LIST",
            help="shares of the vocabulary that characterize a topic, its most probable words (default: "
            "0.002,0.005,0.01, more where there are fewer than 1000 words)",
        ),
        add(
            "--permutations",
            type=integer(100),
            default=200,
            metavar="N",
            help="number of random permutations of the topics among the words to compare with (default: 200)",
        ),
        add("--split", action="store_true", help="find topics in half of the documents, fit the model to the others"),
        add(
            "--vectors",
            type=Path,
            metavar="FILE",
            help="word vectors of your own to measure too; each line holds a word and its numbers",
        ),
        add(
            "--encoder",
            action="store_true",
            help="measure the embeddings and the attention of a pretrained encoder too, which EXTRAS=encoder installs",
        ),
    ]
    return [option.dest for option in options]
