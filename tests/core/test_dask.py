"""The same sweep on a Dask cluster: the serial bits, and nothing lost with a worker."""

import json
import logging
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from figures.command_line import main
from figures.core.discover import find_experiments
from simulate.core import Task, TaskError, dask_cluster, stream, sweep
from simulate.core.store import FILE

TASKS = 12


def measure(k):
    time.sleep(0.05)
    X = stream(0, "dask", k).standard_normal((60, 50))
    return np.linalg.eigvalsh(X.T @ X)


def die_once(k, marker):
    """The fourth task takes its worker with it, the first time."""
    import os
    import pathlib

    if k == 3 and not pathlib.Path(marker).exists():
        pathlib.Path(marker).touch()
        os.kill(os.getpid(), 9)
    return measure(k)


def die_always(k):
    import os

    os.kill(os.getpid(), 9)


def by_value(function):
    """Workers cannot import this file."""
    import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[function.__module__])
    return function


@pytest.fixture(scope="module")
def scheduler():
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        memory_limit=0,
        silence_logs="CRITICAL",
    )
    cluster.scheduler.allowed_failures = 1
    with cluster:
        yield cluster.scheduler_address


def equal(a, b):
    return list(a) == list(b) and all(np.array_equal(a[key], b[key]) for key in a)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the cluster's own
def test_identical_to_the_serial_run(scheduler, tmp_path):
    tasks = [Task(str(k), by_value(measure), (k,)) for k in range(TASKS)]
    assert equal(sweep(tasks, backend="dask", scheduler=scheduler, folder=tmp_path, digest="a"), sweep(tasks))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_killed_worker_loses_nothing(scheduler, tmp_path):
    marker = str(tmp_path / "died")
    tasks = [Task(str(k), by_value(die_once), (k, marker)) for k in range(TASKS)]
    results = sweep(tasks, backend="dask", scheduler=scheduler, folder=tmp_path, digest="a")
    assert (tmp_path / "died").exists()
    assert equal(results, sweep([Task(str(k), measure, (k,)) for k in range(TASKS)]))
    assert (tmp_path / FILE).read_bytes().count(b'"key"') == TASKS


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_task_that_kills_every_worker_is_named(scheduler):
    with pytest.raises(TaskError, match=r"task 'deadly' failed:(.|\n)*KilledWorker"):
        sweep([Task("deadly", by_value(die_always), (0,))], backend="dask", scheduler=scheduler)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_no_scheduler_is_said_soon(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("simulate.core.backends.CONNECT_SECONDS", 1)
    start = time.monotonic()
    with pytest.raises(ConnectionError, match=r"no Dask scheduler answers at tcp://127.0.0.1:9 in 1 s"):
        sweep([Task("a", measure, (0,))], backend="dask", scheduler="tcp://127.0.0.1:9")
    assert time.monotonic() - start < 20
    with pytest.raises(ConnectionError, match="no Dask scheduler answers at nonsense"):
        sweep([Task("a", measure, (0,))], backend="dask", scheduler="nonsense")


class Future:
    """Stands for a future of Dask: a task that ends with this status."""

    def __init__(self, status, result):
        self.status, self.result = status, result


class FakeDask:
    """Stands for the package `distributed`, so that what is said of a cluster is tested where Dask is not installed.

    `ends` are the status and, for tasks that are not finished, the text of each; the tasks wait until `workers` has
    been asked `looks` times.
    """

    def __init__(self, ends, workers=lambda look: {"tcp://worker": 1}, looks=0):
        self.ends, self.workers, self.looks, self.asked, self.loop = ends, workers, looks, 0, None

    def Client(self, address, timeout, set_as_default):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_closed = True

    def map(self, function, tasks, pure):
        return [
            Future(status, function(task) if text is None else text)
            for task, (status, text) in zip(tasks, self.ends, strict=True)
        ]

    def nthreads(self):
        self.asked += 1
        return self.workers(self.asked)

    def as_completed(self, futures, loop, with_results, raise_errors):
        while self.asked < self.looks:
            time.sleep(0.005)
        for future in futures:
            if future.status == "cancelled":
                logging.getLogger("distributed.client").error("forty lines of a traceback")
            yield future, future.result


@pytest.fixture
def quick_looks(monkeypatch):
    monkeypatch.setattr(dask_cluster, "NO_WORKERS_SECONDS", 0.02)
    monkeypatch.setattr(dask_cluster, "LOOK_SECONDS", 0.01)


DONE, LOST, KILLED = ("finished", None), ("cancelled", "CancelledError('0')"), ("error", "KilledWorker('1')")


def on_fake(monkeypatch, dask, count=None, **options):
    monkeypatch.setitem(sys.modules, "distributed", dask)
    tasks = [Task(str(k), pow, (k, 2)) for k in range(count or len(dask.ends))]
    return sweep(tasks, backend="dask", scheduler="tcp://some:8786", **options)


def test_no_workers_are_said_once_and_the_tasks_wait(monkeypatch, capfd, quick_looks):
    dask = FakeDask([DONE] * 3, workers=lambda look: {}, looks=12)
    assert on_fake(monkeypatch, dask) == {"0": 0, "1": 1, "2": 4}
    assert capfd.readouterr().err == "no workers yet at tcp://some:8786: tasks wait until one joins\n"
    assert dask.is_closed


def test_workers_that_went_away_are_said_again(monkeypatch, capfd, quick_looks):
    dask = FakeDask([DONE], workers=lambda look: {"tcp://worker": 1} if 10 <= look < 13 else {}, looks=30)
    on_fake(monkeypatch, dask)
    assert capfd.readouterr().err.count("no workers yet") == 2


def test_workers_at_work_are_not_spoken_of(monkeypatch, capfd, quick_looks):
    on_fake(monkeypatch, FakeDask([DONE] * 2, looks=10))
    assert capfd.readouterr() == ("", "")


def test_a_watch_ends_with_the_connection(monkeypatch, capfd, quick_looks):
    def lost(look):
        raise OSError("closed")

    on_fake(monkeypatch, FakeDask([DONE], workers=lost, looks=1))
    assert capfd.readouterr() == ("", "")


def test_a_lost_connection_is_one_line_blames_no_task_and_keeps_what_is_finished(monkeypatch, capfd, tmp_path):
    dask = FakeDask([DONE, DONE, LOST, LOST])
    message = (
        "connection to the Dask scheduler at tcp://some:8786 was lost after 2 of 4 tasks: finished replicates are kept "
        "where the sweep has a folder, so that the same call goes on from there"
    )
    level = logging.getLogger("distributed.client").level
    with pytest.raises(ConnectionError) as failure:
        on_fake(monkeypatch, dask, folder=tmp_path, digest="a")
    assert str(failure.value) == message
    assert capfd.readouterr() == ("", "")
    assert dask.is_closed
    assert logging.getLogger("distributed.client").level == level
    # The same call needs only the tasks that are missing.
    again = on_fake(monkeypatch, FakeDask([DONE] * 2), count=4, folder=tmp_path, digest="a")
    assert again == {"0": 0, "1": 1, "2": 4, "3": 9}


def test_a_task_that_kills_its_workers_is_still_blamed(monkeypatch):
    with pytest.raises(TaskError, match="task '1' failed:\nKilledWorker"):
        on_fake(monkeypatch, FakeDask([DONE, KILLED]))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_what_a_real_scheduler_without_workers_says(tmp_path, capfd, monkeypatch):
    """A scheduler in a process of its own, without workers, and then killed."""
    pytest.importorskip("distributed")
    monkeypatch.setattr(dask_cluster, "NO_WORKERS_SECONDS", 1)
    monkeypatch.setattr(dask_cluster, "LOOK_SECONDS", 0.5)
    place = tmp_path / "scheduler.json"
    program = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([*program, "--scheduler-file", str(place)], **options) as scheduler:
        try:
            until = time.monotonic() + 60
            while not place.exists():
                assert time.monotonic() < until
                time.sleep(0.1)
            address = json.loads(place.read_text())["address"]
            threading.Timer(5, scheduler.kill).start()
            with pytest.raises(ConnectionError, match="was lost after 0 of 2 tasks: finished replicates are kept"):
                sweep([Task(str(k), pow, (k, 2)) for k in range(2)], backend="dask", scheduler=address)
        finally:
            scheduler.kill()
    assert capfd.readouterr().err == f"no workers yet at {address}: tasks wait until one joins\n"


def test_a_missing_package_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"needs distributed: pip install 'masked-ssl-theory\[dask\]'"):
        sweep([Task("a", measure, (0,))], backend="dask", scheduler="tcp://127.0.0.1:9")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_command_line_gives_the_serial_table(scheduler, tmp_path):
    name = next(iter(find_experiments()))
    common = ("run", name, "--quality", "draft")
    assert main([*common, "--jobs", "1", "--output", str(tmp_path / "serial")]) == 0
    assert main([*common, "--backend", "dask", "--scheduler", scheduler, "--output", str(tmp_path / "dask")]) == 0
    tables = [(tmp_path / way / f"{name}.csv").read_bytes() for way in ("serial", "dask")]
    assert tables[0] == tables[1]
