"""The command line: python -m figures list|run|draw|table|gallery|analyse."""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from figures.core.context import QUALITIES, Context, quality_from_environment
from figures.core.discover import UnknownExperiment, find_experiments, load, path_of
from figures.core.produce import OUTPUT, Skipped, draw, is_fresh, is_intact, run
from figures.core.render import STYLES
from figures.core.table import TableError
from simulate.core import TaskError

INTERRUPTED = 130  # the shell's code for ^C
REPLICATES_KEPT = "finished replicates are kept, the same command goes on from here"
ANALYSIS_LOST = "an analysis is written at its end only: nothing of it is kept, earlier results stay as they are"


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status; every expected failure is one line on stderr."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if arguments[:1] == ["analyse"]:  # has options of its own
            from figures.analyse.command import main as analyse

            return int(analyse(arguments[1:]) or 0)
        options = _parse(arguments)
        return int(options.action(options) or 0)
    except KeyboardInterrupt:
        print(f"\ninterrupted; {ANALYSIS_LOST if arguments[:1] == ['analyse'] else REPLICATES_KEPT}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # `| head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"figures: {_explained(error)}", file=sys.stderr)
    except (UnknownExperiment, TableError, TaskError, ImportError) as error:
        print(f"figures: {error}", file=sys.stderr)
    return 1


def _explained(error: OSError) -> str:
    return f"{error.strerror}: {error.filename}" if error.filename and error.strerror else str(error)


def _list(options: argparse.Namespace) -> None:
    for name, path in find_experiments().items():
        table = options.output / f"{name}.csv"
        last = f"{datetime.fromtimestamp(table.stat().st_mtime):%Y-%m-%d %H:%M}" if table.exists() else "never run"
        print(f"{name:28} {path.parent.name:10} {last:17} {load(path).title}")


def _run(options: argparse.Namespace) -> None:
    paths = _chosen(options)
    for number, path in enumerate(paths, 1):
        position = options.position or (f"figure {number} of {len(paths)}" if len(paths) > 1 else "")
        for table in _tables([path], options, position):
            print(table)


def _draw(options: argparse.Namespace) -> None:
    for table in _tables(_chosen(options), options, only_missing=True):
        print(*draw(path_of(table.stem), options.output), sep="\n")


def _table(options: argparse.Namespace) -> None:
    from figures.core.table import read_csv, render_table

    options.all = options.all or not options.names
    for number, table in enumerate(_tables(_chosen(options), options, only_missing=True)):
        experiment = load(path_of(table.stem))
        title = f"{table.stem}: {experiment.title}" + (f". {experiment.caption}" if experiment.caption else "")
        print(("\n" if number else "") + render_table(read_csv(table), title, options.format))


def _gallery(options: argparse.Namespace) -> None:
    from figures.core.gallery import add_to_gallery

    options.all = options.all or not options.names
    for table in _tables(_chosen(options), options, only_missing=True):
        print(add_to_gallery(path_of(table.stem), options.output))


def _chosen(options: argparse.Namespace) -> list[Path]:
    """Every name is checked before anything is computed."""
    if options.all:
        return list(find_experiments().values())
    if not options.names:
        raise UnknownExperiment(f"which one? {', '.join(find_experiments()) or '(there are none)'}; or --all")
    return [path_of(name) for name in options.names]


def _tables(
    paths: list[Path], options: argparse.Namespace, position: str = "", only_missing: bool = False
) -> Iterator[Path]:
    """The tables, computed where they are missing, broken or out of date; `only_missing` keeps the last, and says so.

    An experiment that must be skipped says why.
    """
    for path in paths:
        table: Path = options.output / f"{path.stem}.csv"
        if only_missing and is_intact(path, options.output):
            if not is_fresh(path, options.output, options.quality):
                print(f"{table} is out of date (other sources or quality): run {path.stem}", file=sys.stderr)
            yield table
            continue
        label = f"{position}: {path.stem}" if position else path.stem
        context = Context(options.quality, options.jobs, options.backend, options.scheduler, label=label)
        try:
            yield run(path, options.output, context, force=getattr(options, "force", False))
        except Skipped as reason:
            print(reason, file=sys.stderr)


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.backend == "dask" and not options.scheduler:
        parser.error("--backend dask needs --scheduler ADDRESS of a running scheduler, such as tcp://host:8786")
    return options


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--jobs", type=_jobs, default=-1, help="processes; -1 (default): one per core")
    common.add_argument("--backend", choices=("loky", "dask"), default="loky", help="where replicates run")
    common.add_argument("--scheduler", metavar="ADDRESS", help="of a running Dask scheduler, tcp://host:8786")
    common.add_argument(
        "--quality", type=_quality, choices=QUALITIES, default=quality_from_environment(), help="default: $QUALITY"
    )
    common.add_argument("--output", type=Path, default=OUTPUT, metavar="FOLDER", help="default: figures/output")

    parser = argparse.ArgumentParser(prog="python -m figures", description="Theory against simulation.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, action, text in (
        ("list", _list, "every experiment: subject, last run, title"),
        ("run", _run, "compute tables (CSV)"),
        ("draw", _draw, "draw figures (PDF and PNG) from the tables"),
        ("table", _table, "print tables"),
        ("gallery", _gallery, "small PNGs for the README"),
    ):
        command = commands.add_parser(name, parents=[common], help=text, description=text)
        command.set_defaults(action=action)
        if name != "list":
            command.add_argument("names", nargs="*", metavar="NAME")
            command.add_argument("--all", action="store_true", help="every experiment")
        if name == "table":
            command.add_argument("--format", choices=tuple(STYLES), default="text")
        if name == "run":
            command.add_argument("--force", action="store_true", help="compute again what is up to date")
            command.add_argument("--position", default="", help=argparse.SUPPRESS)  # "figure 3 of 8", from make
    commands.add_parser("analyse", help="theory and simulation for your own data: analyse FILE, see analyse --help")
    return parser


def _quality(text: str) -> str:
    """Checked here, not by `choices` alone: these are not applied to a default, which comes from the environment."""
    if text not in QUALITIES:
        choices = ", ".join(QUALITIES)
        raise argparse.ArgumentTypeError(f"invalid choice: {text!r}; it, or QUALITY, must be one of {choices}")
    return text


def _jobs(text: str) -> int:
    if int(text) == 0:
        raise argparse.ArgumentTypeError("must be >= 1, or negative to count from all cores (-1), got 0")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
