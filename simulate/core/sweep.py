"""Parallel, resumable sweeps over named tasks."""

import contextlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from simulate.core.backends import Backend, Outcome, Task, run_tasks
from simulate.core.progress import progress_bar
from simulate.core.store import Value, stored
from theory.models.errors import MaskedSSLError


class TaskError(MaskedSSLError, RuntimeError):
    """A task raised, or returned something that is not a finite number or array; the message names it."""


def sweep(
    tasks: Iterable[Task],
    *,
    folder: Path | str | None = None,
    digest: str = "",
    n_jobs: int = 1,
    backend: Backend = "loky",
    scheduler: str | None = None,
    progress: str | None = None,
) -> dict[str, Value]:
    """Value of every task by its key, in the order given; the same bits for every `n_jobs` and `backend`.

    With a `folder` each finished value is stored there at once, and a later call with the same `digest` (of sources
    and parameters) computes only what is missing. `progress` labels a bar. Raises TaskError at the first failure;
    ValueError for a key used twice; `run_tasks` says what the backends raise.
    """
    wanted: dict[str, Task] = {}
    for task in tasks:
        if wanted.setdefault(task.key, task) is not task:
            raise ValueError(f"key must be unique in a sweep, got {task.key!r} twice")
    with _results(folder, digest) as results:
        missing = [task for key, task in wanted.items() if key not in results]
        outcomes = run_tasks(missing, n_jobs, backend, scheduler)
        bar = progress_bar(progress, len(wanted), len(wanted) - len(missing))
        with contextlib.closing(outcomes), bar as advance:  # an error or ^C stops the workers at once
            for outcome in outcomes:
                results[outcome.key] = _checked(outcome)
                advance()
        return {key: results[key] for key in wanted}


def _results(folder: Path | str | None, digest: str) -> contextlib.AbstractContextManager[dict[str, Value]]:
    return contextlib.nullcontext({}) if folder is None else stored(folder, digest)


def _checked(outcome: Outcome) -> Value:
    """The value as a float or float array."""
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
