"""Reads the command line: python -m figures list|run|update|draw|table|gallery|analyse."""

import argparse
import contextlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from figures.command_options import make_parser
from figures.core.context import Context
from figures.core.discover import UnknownExperiment, find_experiments, load, path_of
from figures.core.outputs import Outputs, Skipped, draw, run
from figures.core.papers import map_of_papers, render_text
from figures.core.side_by_side import are_many, make_side_by_side
from figures.core.sources import SourceTree
from figures.core.table import TableError
from simulate.core import Task, TaskError
from simulate.core.backends import run_tasks
from theory.commands import INTERRUPTED

REPLICATES_KEPT = "finished replicates are kept, the same command goes on from here"
ANALYSIS_KEPT = "the same command goes on from the fits that were finished, if any; earlier results stay as they are"


def main(argv: Sequence[str] | None = None, prog: str = "python -m figures") -> int:
    """Run the command line and return its exit status; every expected failure is one line on stderr.

    `prog` is how the user has called this program, for its help.
    """
    if hasattr(sys.stdout, "reconfigure"):  # the name of a file may hold bytes that are no text
        sys.stdout.reconfigure(errors="backslashreplace")
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if arguments[:1] == ["analyse"]:  # has options of its own
            from figures.analyse.command import main as analyse

            return int(analyse(arguments[1:], f"{prog} analyse") or 0)
        options = _parse(arguments, prog)
        return int(options.action(options) or 0)
    except KeyboardInterrupt:
        print(f"\ninterrupted; {ANALYSIS_KEPT if arguments[:1] == ['analyse'] else REPLICATES_KEPT}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # for `until_closed`
        raise
    except OSError as error:
        print(f"figures: {_explained(error)}", file=sys.stderr)
    except (UnknownExperiment, TableError, TaskError, ImportError) as error:
        print(f"figures: {error}", file=sys.stderr)
    return 1


def _explained(error: OSError) -> str:
    return f"{error.strerror}: {error.filename}" if error.filename and error.strerror else str(error)


def _list(options: argparse.Namespace) -> None:
    if options.papers:
        print(render_text(map_of_papers()))
        return
    for name, path in find_experiments().items():
        table = options.output / f"{name}.csv"
        last = f"{datetime.fromtimestamp(table.stat().st_mtime):%Y-%m-%d %H:%M}" if table.exists() else "never run"
        print(f"{name:28} {path.parent.name:10} {last:17} {load(path).title}")


def _run(options: argparse.Namespace) -> None:
    for outputs in _with_tables(_chosen(options), options):
        print(outputs.table)


def _update(options: argparse.Namespace) -> None:
    """Make what is out of date, and nothing else.

    Few tables are made one after the other on all cores, then their pictures; many figures side by side, each on one.
    """
    skipped: list[Skipped] = []
    whole = list(_with_tables(_chosen(options), options, skipped=skipped, pictures=True))
    old = [outputs for outputs in whole if not outputs.has_fresh_pictures()]
    with contextlib.closing(run_tasks([Task(o.path.stem, draw, (o,)) for o in old], options.jobs)) as outcomes:
        for outcome in outcomes:
            if outcome.failure is not None:
                raise TaskError(f"{outcome.key} cannot be drawn:\n{outcome.failure}")
    if options.all:
        print(_said(len(whole), options.output, skipped))
        return
    for reason in skipped:
        print(reason, file=sys.stderr)
    if whole:
        print(*(file for outputs in whole for file in (outputs.table, *outputs.drawn)), sep="\n")


def _said(made: int, folder: Path, skipped: list[Skipped]) -> str:
    """Return the last line of `update --all`: how many figures there are, and why others are not."""
    reasons = "; ".join(f"{one.name} because {one.reason}" for one in skipped)
    return (
        f"{made} made (figure as PDF and PNG, table as CSV, caption as MD: {_shown(folder)}/), {len(skipped)} skipped"
        f"{': ' if skipped else ''}{reasons}"
    )


def _draw(options: argparse.Namespace) -> None:
    styled = {name: getattr(options, name) for name in ("style", "width", "points")}
    for outputs in _with_tables(_chosen(options), options, only_missing=True):
        if any(value is not None for value in styled.values()):
            from figures.core.own_style import draw_styled

            print(*draw_styled(outputs, options.output / "styled", **styled), sep="\n")
        else:
            print(*draw(outputs), sep="\n")


def _table(options: argparse.Namespace) -> None:
    from figures.core.captions import caption_of
    from figures.core.report import render_table
    from figures.core.table import read_csv

    options.all = options.all or not options.names
    shown = _with_tables(_chosen(options), options, only_missing=not options.fresh)
    for number, outputs in enumerate(shown):
        experiment, name = load(outputs.path), outputs.path.stem
        rows = read_csv(outputs.table)
        caption = caption_of(experiment, rows)
        title = f"{name}: {experiment.title}" + (f". {caption}" if caption else "")
        print(("\n" if number else "") + render_table(rows, title, options.format, experiment))


def _gallery(options: argparse.Namespace) -> int:
    from figures.core.gallery import add_to_gallery, write_page

    options.all = options.all or not options.names
    if options.check:
        return _check_gallery(options)
    for outputs in _with_tables(_chosen(options), options, only_missing=not options.fresh):
        print(add_to_gallery(outputs))
    print(write_page())
    return 0


def _check_gallery(options: argparse.Namespace) -> int:
    """Name the pictures that do not show the tables that are there; a table of other sources tells nothing of them."""
    from figures.core.gallery import shows_another_table

    tree = SourceTree()
    found = [Outputs(path, options.output, tree) for path in _chosen(options)]
    fresh = [outputs for outputs in found if outputs.has_fresh_table(options.quality)]
    old = [outputs.path.stem for outputs in fresh if shows_another_table(outputs)]
    print(f"pictures of the gallery that show their tables in {_shown(options.output)}/: {len(fresh) - len(old)}")
    if len(found) > len(fresh):
        print(f"pictures without a table that is up to date, which are not checked: {len(found) - len(fresh)}")
    if old:
        print(f"these pictures show other tables: python -m figures gallery {' '.join(old)}", file=sys.stderr)
    return int(bool(old))


def _chosen(options: argparse.Namespace) -> list[Path]:
    """Return the files of the experiments that were asked for; every name is checked before anything is computed."""
    if options.all:
        return list(find_experiments().values())
    if not options.names:
        raise UnknownExperiment(f"which one? {', '.join(find_experiments()) or '(there are none)'}; or --all")
    return [path_of(name) for name in options.names]


def _with_tables(
    paths: list[Path],
    options: argparse.Namespace,
    only_missing: bool = False,
    skipped: list[Skipped] | None = None,
    pictures: bool = False,
) -> Iterator[Outputs]:
    """Yield experiments as soon as their tables are there: computed where they are missing, broken or out of date.

    `only_missing` keeps a whole table that is out of date, and says so. What must be skipped is added to `skipped`, or
    says why on stderr. Where there are many to compute they are made first, side by side, with `pictures` drawn too.
    """
    tree = SourceTree()
    found = [Outputs(path, options.output, tree) for path in paths]
    force = getattr(options, "force", False)
    old = [outputs for outputs in found if force or not outputs.has_fresh_table(options.quality)]
    kept = [outputs for outputs in old if only_missing and outputs.has_whole_table()]
    missing = [outputs for outputs in old if outputs not in kept]
    context = Context(options.quality, options.jobs, options.backend, options.scheduler)
    left_out: list[Skipped] = []
    together = are_many(missing, context)
    if together:
        left_out = make_side_by_side(missing, context, force=force, pictures=pictures)
    for outputs in found:
        name = outputs.path.stem
        if outputs in kept:
            print(f"{outputs.table} is out of date (other sources or quality): run {name}", file=sys.stderr)
        elif outputs in missing and not together:
            label = f"figure {missing.index(outputs) + 1} of {len(missing)}: {name}" if len(missing) > 1 else name
            try:
                run(outputs, replace(context, label=label), force=force)
            except Skipped as reason:
                left_out.append(reason)
        reasons = [reason for reason in left_out if reason.name == name]
        if skipped is not None:
            skipped += reasons
        for said in reasons if skipped is None else ():
            print(said, file=sys.stderr)
        if not reasons:
            yield outputs


def _shown(folder: Path) -> Path:
    return folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder


def _parse(arguments: list[str], prog: str) -> argparse.Namespace:
    parser = make_parser(prog, ACTIONS)
    options = parser.parse_args(arguments)
    if options.backend == "dask" and not options.scheduler:
        parser.error("--backend dask needs --scheduler ADDRESS of a running scheduler, such as tcp://host:8786")
    return options


ACTIONS = {"list": _list, "run": _run, "update": _update, "draw": _draw, "table": _table, "gallery": _gallery}
