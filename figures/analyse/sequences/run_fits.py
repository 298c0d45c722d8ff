"""Carries out all fits of an analysis, with one bar of progress over them and the time that is left."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from joblib.externals.loky.process_executor import BrokenProcessPool

from figures.analyse.sequences.needs import Work
from figures.analyse.splits import Sweep
from simulate.core import Task, TaskError, sweep
from simulate.core.progress import MinuteLines

BAR = "{desc}: {percentage:3.0f}%|{bar}| {elapsed} passed, about {remaining} left"


@contextmanager
def in_processes(
    jobs: int,
    label: str | None,
    work: Work | None,
    folder: str | os.PathLike[str] | None = None,
    digest: str = "",
) -> Iterator[Sweep]:
    """Yield what carries out the tasks of all sweeps of an analysis, `jobs` at a time, and show the progress of `work`.

    `label` names the bar; nothing is shown where `work` is None. Finished fits are kept in the `folder` for the
    `digest` (see `simulate.core.sweep`); those that are there already count on the bar at the end of their sweep.
    MemoryError where the memory runs out in a fit.
    """
    with _bar(label, work) as advance:
        yield partial(_carried_out, n_jobs=jobs, on_finished=advance, folder=folder, digest=digest)


def _carried_out(
    tasks: Iterable[Task], n_jobs: int, on_finished: Callable[[str], object], **options: Any
) -> dict[str, Any]:
    fitted = set[str]()

    def noted(key: str) -> None:
        fitted.add(key)
        on_finished(key)

    try:
        values = sweep(tasks, n_jobs=n_jobs, on_finished=noted, **options)
        for key in values.keys() - fitted:
            on_finished(key)
        return values
    except TaskError as error:
        if "MemoryError" not in str(error).splitlines()[-1]:
            raise
    except BrokenProcessPool:
        pass  # the system ends the process that takes too much
    processes = ", run fewer processes (--jobs 1)," if n_jobs > 1 else ""
    raise MemoryError(
        f"the memory ran out while the pair model was fitted; take fewer columns{processes} or close other programs"
    )


@contextmanager
def _bar(label: str | None, work: Work | None) -> Iterator[Callable[[str], object]]:
    """Yield what is called with the key of each finished task: it counts by the time that it was to take."""
    if work is None:
        yield lambda key: None
    elif sys.stderr.isatty() and (tqdm := _tqdm()) is not None:
        total = sum(work.seconds.values())
        with tqdm(desc=label, total=total, bar_format=BAR, dynamic_ncols=True, smoothing=0, mininterval=0) as bar:
            yield lambda key: bar.update(work.seconds[key])
    else:
        finished, lines = list[str](), MinuteLines(label, sum(work.seconds.values()))

        def noted(key: str) -> None:
            finished.append(key)
            lines(work.seconds[key])

        yield noted
        if label is not None:
            print(f"{label}: {len(finished)} fits in {time.monotonic() - lines.start:.0f} s", file=sys.stderr)


def _tqdm() -> Any:
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm
