"""The same sweep on a Dask cluster: the serial bits, and nothing lost with a worker."""

import sys
import time

import numpy as np
import pytest

from figures.command_line import main
from figures.core.discover import find_experiments
from simulate.core import Task, TaskError, stream, sweep
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
