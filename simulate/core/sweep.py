"""Runs parallel, resumable sweeps over named tasks."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from simulate.core.backends import Backend, Outcome, Task, run_tasks
from simulate.core.progress import progress_bar
from simulate.core.store import Value, named, stored
from theory.core import MaskedSSLError, checked, checks


class TaskError(MaskedSSLError, RuntimeError):
    """A task raised, or returned something that is not a finite number or array; the message names it."""


@checked
def sweep(
    tasks: Iterable[Task],
    *,
    folder: str | os.PathLike[str] | None = None,
    digest: str = "",
    n_jobs: int = 1,
    backend: Backend = "loky",
    scheduler: str | None = None,
    progress: str | None = None,
    on_finished: Callable[[str], object] | None = None,
) -> dict[str, Value]:
    """Run named tasks in parallel and return the value of each by its key, in the order given.

    `tasks` is gone through once. An iterator that was used up before, as by an earlier sweep, holds no task, and is
    refused; a list may be used again.

    The bits are the same for every `n_jobs` (negative counts from all cores) and `backend`. With a `folder` each
    finished value is stored there at once, and a later call with the same `digest` (of sources and parameters) computes
    only what is missing. `progress` labels a bar; `on_finished` is called with the key of each task that has finished.
    Backend "dask" needs the address `scheduler` of a running one.

    TaskError at the first task that raises, or returns something else than finite numbers; ValueError for what is no
    Task, for an iterator without any, for a key that is used twice and for unknown options; OSError where the folder
    cannot be written; ImportError or ConnectionError where Dask is missing, does not answer, or is lost:
    what is in the folder by then is kept.

    >>> sweep([Task("two", pow, (2, 1)), Task("four", pow, (2, 2))])
    {'two': 2.0, 'four': 4.0}
    """
    if folder is not None:
        named(folder)
    wanted: dict[str, Task] = {}
    for task in _iterated(tasks):
        _require_task(task)
        if wanted.setdefault(task.key, task) is not task:
            raise ValueError(f"key must be unique in a sweep of tasks, got {task.key!r} twice")
    if not wanted and hasattr(tasks, "__next__"):
        raise ValueError(
            "tasks must hold at least one task where it is an iterator, got an empty one: it may have been used up by "
            "an earlier sweep; pass list(...) of it to both"
        )
    with _results(folder, digest) as results:
        missing = [task for key, task in wanted.items() if key not in results]
        outcomes = run_tasks(missing, n_jobs, backend, scheduler)
        bar = progress_bar(progress, len(wanted), len(wanted) - len(missing))
        # Leaving this block by an error or ^C stops the workers at once.
        with contextlib.closing(outcomes), bar as advance:
            for outcome in outcomes:
                results[outcome.key] = _checked(outcome)
                advance()
                if on_finished is not None:
                    on_finished(outcome.key)
        return {key: results[key] for key in wanted}


def _iterated(tasks: Iterable[Task]) -> Iterator[Task]:
    try:
        return iter(tasks)
    except Exception as failed:  # the conversion of an unknown object may raise anything
        raise ValueError(f"tasks must be Task records, got {checks.shown(tasks)} ({failed})") from None


def _require_task(task: Any) -> None:
    if not isinstance(task, Task):
        raise ValueError(f"tasks must be Task records, got {checks.shown(task)}")
    if not (isinstance(task.key, str) and callable(task.function) and isinstance(task.args, tuple)):
        raise ValueError(
            f"tasks must have a text as key, a function and a tuple of arguments, got {checks.shown(task)}"
        )


def _results(folder: str | os.PathLike[str] | None, digest: str) -> contextlib.AbstractContextManager[dict[str, Value]]:
    return contextlib.nullcontext({}) if folder is None else stored(folder, digest)


def _checked(outcome: Outcome) -> Value:
    """Return the value as a float or an array of floats; TaskError where it is something else."""
    if outcome.failure is not None:
        raise TaskError(f"task {outcome.key!r} failed:\n{outcome.failure}")
    try:
        value = np.asarray(outcome.value, dtype=float)
    except (TypeError, ValueError):
        raise TaskError(
            f"task {outcome.key!r} returned {outcome.value!r}, not a number or an array of numbers"
        ) from None
    if not np.all(np.isfinite(value)):
        raise TaskError(f"task {outcome.key!r} returned a value that is not finite: {outcome.value!r}")
    return value if value.ndim else float(value)
