"""Declares options of python -m figures analyse for matrices: copies of rows, logarithms, and what is printed."""

import argparse


def add_table_options(parser: argparse.ArgumentParser) -> list[str]:
    """Add these options to the parser, and return their names."""
    add = parser.add_argument_group("matrices: rows that are copies, counts, output").add_argument
    options = [
        add(
            "--copies",
            choices=("once", "together"),
            default="once",
            help="what is done with rows that are copies of others, exactly or up to rounding: once (the default) "
            "takes each of them once, together keeps all and holds out copies together",
        ),
        add("--log1p", action="store_true", help="take log(1 + x) of every cell first, as is usual for counts"),
        add("--show-theory", action="store_true", help="print the columns of theory, which the .csv has anyway"),
    ]
    return [option.dest for option in options]
