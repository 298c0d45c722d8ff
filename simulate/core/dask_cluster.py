"""What is said of a Dask cluster that has no workers, or whose scheduler is gone."""

import contextlib
import logging
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

NO_WORKERS_SECONDS = 10.0  # without a worker, after which a line says so; workers of a batch system may take hours
LOOK_SECONDS = 2.0  # between two looks at the list of workers
SILENCED = ("distributed", "tornado", "asyncio")  # loggers that tell of a lost connection in some forty lines


@contextlib.contextmanager
def watched(client: Any, scheduler: str) -> Iterator[None]:
    """Print a line on the standard error whenever the cluster has had no workers for a while, and go on waiting."""
    ended = threading.Event()
    watch = threading.Thread(target=_watch, args=(client, scheduler, ended), daemon=True)
    watch.start()
    try:
        yield
    finally:
        ended.set()
        watch.join(LOOK_SECONDS)


def _watch(client: Any, scheduler: str, ended: threading.Event) -> None:
    seen, told = time.monotonic(), False
    while not ended.wait(min(LOOK_SECONDS, NO_WORKERS_SECONDS / 2)):
        try:
            workers = client.nthreads()
        except Exception:  # the connection is lost, of which the futures tell
            return
        if workers:
            seen, told = time.monotonic(), False
        elif not told and time.monotonic() - seen >= NO_WORKERS_SECONDS:
            told = True
            print(f"no workers yet at {scheduler}: tasks wait until one joins", file=sys.stderr, flush=True)


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Let the packages of Dask log nothing here: what matters of it is raised, or said in one line."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in SILENCED]
    before = {name: logging.getLogger(name).level for name in {*SILENCED, *names}}
    for name in before:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


def connection_lost(scheduler: str, finished: int, total: int) -> ConnectionError:
    """Make the error of a scheduler that went away."""
    return ConnectionError(
        f"connection to the Dask scheduler at {scheduler} was lost after {finished} of {total} tasks: finished "
        "replicates are kept where the sweep has a folder, so that the same call goes on from there"
    )
