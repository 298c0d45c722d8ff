"""Declares the options of the command line."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from figures.core.context import QUALITIES, quality_from_environment
from figures.core.discover import OUTPUT_SHOWN
from figures.core.outputs import OUTPUT
from figures.core.render import STYLES


def make_parser(prog: str, actions: Mapping[str, Callable[[argparse.Namespace], Any]]) -> argparse.ArgumentParser:
    """Return the parser of the program that users call as `prog`, with what each of its commands does."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--jobs", type=_jobs, default=-1, help="number of processes; -1, the default, starts one for each core"
    )
    common.add_argument(
        "--backend",
        choices=("loky", "dask"),
        default="loky",
        help="what runs the replicates: processes on this machine (loky, the default) or a Dask cluster",
    )
    common.add_argument(
        "--scheduler", metavar="ADDRESS", help="address of a running Dask scheduler, such as tcp://host:8786"
    )
    common.add_argument(
        "--quality",
        type=_quality,
        choices=QUALITIES,
        default=quality_from_environment(),
        help="how many replicates are simulated: a few at toy size (draft), the declared number (default), or four "
        "times as many (paper); without this option the environment variable QUALITY decides",
    )
    common.add_argument(
        "--output",
        type=Path,
        default=OUTPUT,
        metavar="FOLDER",
        help=f"folder of the tables and figures (default: {OUTPUT_SHOWN})",
    )

    parser = argparse.ArgumentParser(
        prog=prog,
        description="Computes and draws figures and tables that compare theory with simulation. Each of them is an "
        "experiment with a NAME.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, text in (
        ("list", "show the subject, the last run and the title of every experiment"),
        ("run", "compute tables (CSV)"),
        ("update", "compute and draw what is out of date, and nothing else"),
        ("draw", "draw figures (PDF and PNG) from the tables"),
        ("table", "print tables"),
        ("gallery", "draw small PNGs, and write the page that shows them"),
    ):
        command = commands.add_parser(name, parents=[common], help=text, description=f"{text[0].upper()}{text[1:]}.")
        command.set_defaults(action=actions[name])
        if name != "list":
            command.add_argument("names", nargs="*", metavar="NAME", help="name of an experiment, as `list` shows it")
            command.add_argument("--all", action="store_true", help="take every experiment")
        if name == "list":
            command.add_argument(
                "--papers", action="store_true", help="show published figures and their counterparts here instead"
            )
        if name == "table":
            command.add_argument(
                "--format", choices=tuple(STYLES), default="text", help="how the tables are written (default: text)"
            )
        if name in ("table", "gallery"):
            command.add_argument("--fresh", action="store_true", help="first compute again what is out of date")
        if name == "gallery":
            command.add_argument(
                "--check", action="store_true", help="draw nothing; name the pictures that do not show the tables there"
            )
        if name == "draw":
            _add_style(command)
        if name == "run":
            command.add_argument("--force", action="store_true", help="compute again even what is up to date")
    commands.add_parser(
        "analyse", help="compare theory with your own data: analyse FILE; `analyse --help` lists the options"
    )
    return parser


def _add_style(command: argparse.ArgumentParser) -> None:
    text = "; with this option the figure is drawn in FOLDER/styled, and that of the project stays as it is"
    command.add_argument(
        "--style", type=Path, metavar="FILE", help="a matplotlibrc or style sheet with own fonts and colors" + text
    )
    command.add_argument("--width", type=_width, metavar="INCHES", help="the width of the figure" + text)
    command.add_argument(
        "--points",
        type=Path,
        metavar="FILE",
        help="a CSV file of own points to draw over the figure, with the columns x and y, and perhaps low and high, "
        "panel and label" + text,
    )


def _width(text: str) -> float:
    value = float(text)
    if not 1 <= value <= 40:
        raise argparse.ArgumentTypeError(f"must be between 1 and 40 inches, got {text}")
    return value


def _quality(text: str) -> str:
    """Return a quality that exists; `choices` alone are not applied to a default, which the environment gives."""
    if text not in QUALITIES:
        choices = ", ".join(QUALITIES)
        raise argparse.ArgumentTypeError(f"invalid choice: {text!r}; it, or QUALITY, must be one of {choices}")
    return text


def _jobs(text: str) -> int:
    if int(text) == 0:
        raise argparse.ArgumentTypeError("must be >= 1, or negative to count from all cores (-1), got 0")
    return int(text)
