"""Makes many figures side by side, each wholly in one process, those that take longest first.

A figure alone is made by all processes together, which share its replicates. Of many figures, each process takes a
whole one instead: theory is then computed on all cores too, nothing is sent back and forth, and what a figure computes
once (eigenvectors, compiled functions) it computes in one process only.
"""

import contextlib
import math
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import joblib

from figures.core.context import Context
from figures.core.outputs import Outputs, Skipped, draw, run
from simulate.core import Task, TaskError
from simulate.core.backends import run_tasks

SECONDS = Path(__file__).with_name("seconds.txt")
UNKNOWN = 60.0  # seconds that a figure without an entry is expected to take: it is among the first
WHOLE_FAILURES = 3  # are shown with the place in the code, further ones in a line each
EXPECTED = (Skipped, TaskError, OSError, ImportError)  # what the command line explains in one line


def are_many(figures: Sequence[Outputs], context: Context) -> bool:
    """Say whether there are enough figures to give every process whole ones; not on a cluster, which takes tasks."""
    return context.backend == "loky" and len(figures) >= max(2, 2 * joblib.effective_n_jobs(context.n_jobs))


def make_side_by_side(figures: Sequence[Outputs], context: Context, *, force: bool, pictures: bool) -> list[Skipped]:
    """Compute the tables of these figures, with `pictures` draw them too, and return those that had to be skipped.

    Tables have the same bytes as if they were made one after the other. Figures that fail keep no other from being
    made: TaskError then says in the end what failed. What no figure could be made without, such as a folder that can
    be written to, ends it at once. Finished replicates of all figures are kept, as after ^C.
    """
    by_cost = sorted(figures, key=lambda outputs: -expected_seconds(outputs))
    alone = replace(context, n_jobs=1, label=None)
    tasks = [Task(outputs.path.stem, _made, (outputs, alone, force, pictures)) for outputs in by_cost]
    costs = {outputs.path.stem: expected_seconds(outputs) for outputs in by_cost}
    skipped: list[Skipped] = []
    failed: list[TaskError] = []
    processes = joblib.effective_n_jobs(context.n_jobs)
    with contextlib.closing(run_tasks(tasks, processes)) as outcomes, _progress(costs, processes) as finished:
        for outcome in outcomes:
            if outcome.failure is not None:
                failed.append(TaskError(f"{outcome.key} cannot be made:\n{outcome.failure}"))
            elif isinstance(outcome.value, TaskError):
                failed.append(outcome.value)
            elif isinstance(outcome.value, Skipped):
                skipped.append(outcome.value)
            elif outcome.value is not None:
                raise outcome.value
            finished(outcome.key)
    if failed:
        shown = [str(one).rstrip() for one in failed[:WHOLE_FAILURES]]
        shown += [
            f"{lines[0]} {lines[-1]}" for lines in (str(one).rstrip().split("\n") for one in failed[WHOLE_FAILURES:])
        ]
        made = len(figures) - len(failed) - len(skipped)
        raise TaskError("\n".join([*shown, f"{len(failed)} failed, {made} made, {len(skipped)} skipped"]))
    return sorted(skipped, key=lambda one: one.name)


def _made(outputs: Outputs, context: Context, force: bool, pictures: bool) -> Exception | None:
    """Make one figure in this process; what the command line can explain is returned, since it survives pickling."""
    try:
        run(outputs, context, force=force)
    except EXPECTED as reason:
        return reason
    if pictures and not outputs.has_fresh_pictures():
        try:
            draw(outputs)
        except Exception:
            return TaskError(f"{outputs.path.stem} cannot be drawn:\n{traceback.format_exc()}")
    return None


def expected_seconds(outputs: Outputs) -> float:
    """Return about how long a figure takes; only the order and the time left that is shown depend on it."""
    return _measured().get(outputs.path.stem, UNKNOWN)


@cache
def _measured() -> dict[str, float]:
    lines = SECONDS.read_text(encoding="utf-8").splitlines()
    return {line.split()[0]: float(line.split()[1]) for line in lines if line and not line.startswith("#")}


@contextlib.contextmanager
def _progress(costs: dict[str, float], processes: int) -> Iterator[Callable[[str], object]]:
    """Show how many figures are made and the time left; yield the function to call with the name of each."""
    start, done = time.monotonic(), 0

    def said(name: str) -> None:
        nonlocal done
        done += 1
        print(f"{done} of {len(costs)} figures after {time.monotonic() - start:.0f} s: {name}", file=sys.stderr)

    if not sys.stderr.isatty():
        yield said
        return
    from tqdm import tqdm

    minutes = math.ceil(sum(costs.values()) / processes / 60)
    form = "{desc} {percentage:3.0f}%|{bar}| {elapsed}, {remaining} left"
    with tqdm(total=sum(costs.values()), bar_format=form, dynamic_ncols=True, smoothing=0) as bar:
        bar.set_description_str(f"0 of {len(costs)} figures, about {minutes} min")

        def shown(name: str) -> None:
            nonlocal done
            done += 1
            bar.set_description_str(f"{done} of {len(costs)} figures", refresh=False)
            bar.update(costs[name])

        yield shown
