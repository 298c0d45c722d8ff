"""Runs tasks in this process, in local processes (joblib's loky), or on an existing Dask cluster."""

import contextlib
import functools
import os
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from multiprocessing import resource_tracker
from typing import Any, Literal, NamedTuple

import joblib
from joblib.externals.loky.backend import resource_tracker as loky_tracker

from simulate.core.dask_cluster import connection_lost, silenced, watched

Backend = Literal["loky", "dask"]
CONNECT_SECONDS = 5
FEEDING_THREAD, STOP_SECONDS = "ExecutorManagerThread", 5.0  # the thread of loky that must end before we go on
WATCH_SECONDS = 1.0  # a worker checks so often whether its parent still runs


class Task(NamedTuple):
    """Names a piece of work: `key` is unique in its sweep, `function(*args)` returns a float or a float array.

    >>> from simulate.core import Task, sweep
    >>> sweep([Task("square of 3", pow, (3, 2)), Task("square of 4", pow, (4, 2))])
    {'square of 3': 9.0, 'square of 4': 16.0}
    """

    key: str
    function: Callable[..., Any]
    args: tuple[Any, ...] = ()


class Outcome(NamedTuple):
    """Tells what became of a task: its value, or the traceback of what it raised."""

    key: str
    value: Any
    failure: str | None


Outcomes = Generator[Outcome, None, None]  # closing it stops the workers


def run_tasks(
    tasks: Sequence[Task], n_jobs: int = 1, backend: Backend = "loky", scheduler: str | None = None
) -> Outcomes:
    """Run the tasks and yield their outcomes in the order of completion.

    BLAS gets one thread everywhere, since the processes use all cores already. The workers of Dask need the same
    checkout and environment as this process; `scheduler` is an address like tcp://host:8786.
    ValueError for an unknown backend, n_jobs = 0 or dask without address; ImportError without the package
    `distributed`; ConnectionError where no scheduler answers, or the connection to it is lost. While there are no
    workers the tasks wait, and a line on the standard error says so.
    """
    if backend not in ("loky", "dask"):
        raise ValueError(f"backend must be 'loky' or 'dask', got {backend!r}")
    if n_jobs == 0:
        raise ValueError("n_jobs must be >= 1, or negative to count from all cores (-1), got 0")
    if backend == "dask" and tasks:
        return _on_dask(tasks, scheduler)
    return _in_process(tasks) if n_jobs == 1 or len(tasks) < 2 else _in_processes(tasks, min(n_jobs, len(tasks)))


def _in_process(tasks: Sequence[Task]) -> Outcomes:
    with _one_blas_thread():
        yield from map(_attempt, tasks)


def _in_processes(tasks: Sequence[Task], n_jobs: int) -> Outcomes:
    with joblib.parallel_config(backend="loky", n_jobs=n_jobs, inner_max_num_threads=1):
        # Batches hold one task, because a larger one comes back as a whole: an interrupt would lose its finished part.
        parallel = joblib.Parallel(return_as="generator_unordered", batch_size=1)
        with _without_interrupt():  # inherited by the workers, which are stopped from here on ^C
            outcomes = parallel(joblib.delayed(_attempt_below)(os.getpid(), task) for task in tasks)
        exhausted = False
        try:
            for outcome in outcomes:  # noqa: UP028  `yield from` would close them before complaints are silenced
                yield outcome
            exhausted = True
        finally:
            with contextlib.nullcontext() if exhausted else _stopped_in_silence():
                outcomes.close()


def _on_dask(tasks: Sequence[Task], scheduler: str | None) -> Outcomes:
    """Run the tasks through futures: joblib's own Dask backend returns nothing before everything is finished."""
    if not scheduler:
        raise ValueError("backend 'dask' needs scheduler, the address of a running one such as tcp://host:8786")
    dask = _distributed()
    try:
        client = dask.Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConnectionError(f"no Dask scheduler answers at {scheduler} in {CONNECT_SECONDS} s: {error}") from error
    finished = 0
    with silenced(), client, watched(client, scheduler):
        names = dict(zip(client.map(_attempt, tasks, pure=False), [task.key for task in tasks], strict=True))
        for future, result in dask.as_completed(names, loop=client.loop, with_results=True, raise_errors=False):
            if future.status in ("cancelled", "lost"):  # nobody here cancels: the client does, when it loses all
                raise connection_lost(scheduler, finished, len(tasks))
            done = future.status == "finished"  # otherwise it killed several workers, or could not be sent
            yield Outcome(*result) if done else Outcome(names[future], None, str(result))
            finished += 1


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise ImportError("backend 'dask' needs distributed: pip install 'masked-ssl-theory[dask]'") from error
    return distributed


def _attempt_below(parent: int, task: Task) -> Outcome:
    if os.getpid() != parent:  # where one core may be used, joblib runs tasks in the parent itself
        _end_with(parent)
    return _attempt(task)


@functools.cache  # each process starts its watching thread once
def _end_with(parent: int) -> None:
    """End this worker soon after its parent: a program that was killed could not tell its workers, so they look."""
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os._exit(1)  # without a parent nobody could receive an error


def _attempt(task: Task) -> Outcome:
    """Run a task in the worker; a failure travels as text, since not every exception survives pickling."""
    try:
        return Outcome(task.key, task.function(*task.args), None)
    except Exception:
        return Outcome(task.key, None, traceback.format_exc())


@contextlib.contextmanager
def _stopped_in_silence() -> Iterator[None]:
    """Let joblib abandon its tasks without a word: neither warning of them nor an error of the thread that feeds them.

    This thread may look for a task that was canceled a moment ago, and ends then by a KeyError, which says nothing.
    """
    heard = threading.excepthook

    def hook(arguments: threading.ExceptHookArgs) -> None:
        if arguments.thread is None or arguments.thread.name != FEEDING_THREAD:
            heard(arguments)

    threading.excepthook = hook
    try:
        # The warning that is ignored says that tasks were canceled.
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            yield
        for thread in threading.enumerate():
            if thread.name == FEEDING_THREAD:
                thread.join(STOP_SECONDS)
    finally:
        threading.excepthook = heard


@contextlib.contextmanager
def _without_interrupt() -> Iterator[None]:
    """Hold ^C back until the end; a process that is started meanwhile inherits this and never gets it.

    Nothing happens on systems without signal masks.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    for tracker in (resource_tracker, loky_tracker):  # joblib would start them inside this block, and end the block
        tracker.ensure_running()
    earlier = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, earlier)


def _one_blas_thread() -> Any:
    """Limit BLAS to one thread, so that sums have the same rounding here as in the workers."""
    try:
        import threadpoolctl  # type: ignore[import-untyped]  # comes with scikit-learn
    except ImportError:
        return contextlib.nullcontext()
    return threadpoolctl.threadpool_limits(1, user_api="blas")
