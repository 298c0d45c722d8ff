"""Declares the options of python -m figures analyse for new sequences."""

import argparse

from figures.analyse.option_types import integer


def add_generation_options(parser: argparse.ArgumentParser) -> list[str]:
    """Add the options of new sequences to the parser, and return their names."""
    add = parser.add_argument_group("new sequences").add_argument
    options = [
        add(
            "--generate",
            type=integer(1),
            metavar="N",
            help="write N new sequences, drawn from the pair model, as NAME_generated.fasta, and compare them with the "
            "family",
        ),
        add(
            "--boltzmann",
            action=argparse.BooleanOptionalAction,
            help="learn the model of new sequences by Boltzmann learning, which reproduces the covariances of pairs "
            "that penalized pseudo-likelihood misses, and takes longer (default: for --clones 2 and 3, not for "
            "--generate)",
        ),
    ]
    return [option.dest for option in options]
