"""Sweeps: the same results on every backend, kept on disk, with failures that name their task."""

import math
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from simulate.core import (
    Estimate,
    Task,
    TaskError,
    replicate_estimate,
    replicate_tasks,
    replicate_values,
    stream,
    sweep,
)
from simulate.core.backends import FEEDING_THREAD, _stopped_in_silence, run_tasks
from simulate.core.progress import MinuteLines, progress_bar
from simulate.core.store import FILE, discard

calls = []


def measure(name):
    """A value that uses BLAS, so that its bits depend on the number of threads."""
    calls.append(name)
    X = stream(0, name).standard_normal((150, 130))
    return float(np.linalg.slogdet(X.T @ X)[1])


def vector(name):
    return stream(0, name).standard_normal(5)


def explode(name):
    raise ZeroDivisionError(name)


def tasks(n, function=measure):
    return [Task(f"task {k}", function, (k,)) for k in range(n)]


@pytest.fixture(autouse=True)
def no_calls():
    calls.clear()


def test_results_come_in_the_order_given():
    assert list(sweep(reversed(tasks(4)))) == ["task 3", "task 2", "task 1", "task 0"]


def test_an_iterator_of_tasks_is_no_second_sweep():
    given = iter(tasks(2))
    assert len(sweep(given)) == 2
    with pytest.raises(ValueError, match="tasks must hold at least one task where it is an iterator"):
        sweep(given)
    assert sweep([]) == {}
    several = replicate_tasks(replicate, None, 3, 2)
    assert sweep(several) == sweep(several)
    assert len(sweep(several)) == len(several) == 2


def replicate(model, d, rng):
    return rng.random()


def test_each_task_is_told_when_it_has_finished(tmp_path):
    told = []
    sweep(tasks(2), folder=tmp_path / "store", on_finished=told.append)
    assert told == ["task 0", "task 1"]
    sweep(tasks(3), folder=tmp_path / "store", on_finished=told.append)
    assert told == ["task 0", "task 1", "task 2"]  # those that were stored do not run again


@pytest.mark.usefixtures("one_process_streams")
def test_two_processes_give_the_same_bits(tmp_path):
    serial = sweep(tasks(6))
    assert sweep(tasks(6), n_jobs=2) == serial
    assert sweep(tasks(6), n_jobs=2, folder=tmp_path, digest="a") == serial
    assert calls == list(range(6))  # the others ran elsewhere


def test_a_task_in_this_process_has_one_blas_thread():
    """The suite itself runs with one; here two are allowed, and a task sees one all the same."""
    threadpoolctl = pytest.importorskip("threadpoolctl")

    def threads():
        return max(info["num_threads"] for info in threadpoolctl.threadpool_info() if info["user_api"] == "blas")

    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        if threads() < 2:
            pytest.skip("this BLAS has one thread")
        assert sweep([Task("threads", threads)]) == {"threads": 1.0}


def test_a_finished_task_is_never_computed_again(tmp_path):
    first = sweep(tasks(3), folder=tmp_path, digest="a")
    assert sweep(tasks(5), folder=tmp_path, digest="a") | first == sweep(tasks(5))
    assert calls[:5] == [0, 1, 2, 3, 4]


def test_another_digest_discards(tmp_path):
    sweep(tasks(2), folder=tmp_path, digest="a")
    sweep(tasks(2), folder=tmp_path, digest="b")
    sweep(tasks(2), folder=tmp_path, digest="a")
    assert calls == [0, 1] * 3


def test_arrays_are_kept_to_the_last_bit(tmp_path):
    fresh = sweep(tasks(2, vector))
    for _ in range(2):
        kept = sweep(tasks(2, vector), folder=tmp_path, digest="a")
        for key, value in fresh.items():
            np.testing.assert_array_equal(kept[key], value, strict=True)


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: raw[:-9],  # killed while writing
        lambda raw: b"",
        lambda raw: b"\x00\xff\n" * 3,
        lambda raw: raw.replace(b'"value"', b'"valve"', 1),
        lambda raw: (
            raw + b'{"key": "task 3", "value": "much"}\n{"key": 3, "value": 1}\n[]\n{"key": "task 2", "value": NaN}\n'
        ),
        lambda raw: raw[raw.index(b"\n") :],  # without the digest
        lambda raw: raw + b"[" * 200_000 + b"]" * 200_000 + b"\n",  # deeper than Python nests
        lambda raw: raw + b'{"key": "task 3", "value": ' + b"[" * 200_000 + b"\n",
        lambda raw: raw + b'{"key": "task 3", "value": ' + b"9" * 400 + b"}\n",  # an integer beyond the floats
        lambda raw: raw + b'{"key": "task 3", "value": ' + b"9" * 5000 + b"}\n",
    ],
)
def test_a_damaged_file_is_computed_again(tmp_path, damage):
    expected = sweep(tasks(4), folder=tmp_path, digest="a")
    file = tmp_path / FILE
    file.write_bytes(damage(file.read_bytes()))
    assert sweep(tasks(4), folder=tmp_path, digest="a") == expected
    calls.clear()
    assert sweep(tasks(4), folder=tmp_path, digest="a") == expected  # and is whole again
    assert calls == []


def test_a_failure_names_its_task_and_keeps_the_others(tmp_path):
    work = [*tasks(2), Task("the bad one", explode, ("why",))]
    with pytest.raises(TaskError, match=r"task 'the bad one' failed:(.|\n)*ZeroDivisionError: why"):
        sweep(work, folder=tmp_path, digest="a")
    with pytest.raises(TaskError, match="the bad one"):
        sweep(work, n_jobs=2)
    calls.clear()
    sweep(tasks(2), folder=tmp_path, digest="a")
    assert calls == []


@pytest.mark.parametrize("value", [math.nan, math.inf, np.array([1.0, math.nan]), None, "text", 1j])
def test_a_value_must_be_finite_numbers(value):
    with pytest.raises(TaskError, match=r"task 'bad' returned"):
        sweep([Task("bad", lambda: value)])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backend": "threads"}, "backend must be one of 'loky', 'dask', got 'threads'"),
        ({"n_jobs": 0}, "n_jobs must be >= 1, or negative .*, got 0"),
        ({"backend": "dask"}, "needs scheduler"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        sweep(tasks(2), **options)


def test_keys_must_be_unique():
    with pytest.raises(ValueError, match="key must be unique in a sweep of tasks, got 'task 0' twice"):
        sweep(tasks(2) + tasks(1))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([3], r"tasks\[0\] must be a record of simulate.core \(Task\), got int"),
        (iter([3]), "tasks must be Task records, got 3"),
        ([Task(3, measure)], "tasks must have a text as key"),
        ([Task("a", "b")], "tasks must have a text as key, a function"),
        ([Task("a", measure, 3)], "and a tuple of arguments"),
        (5, "tasks must be a sequence"),
    ],
)
def test_what_is_no_task(given, message):
    with pytest.raises(ValueError, match=message):
        sweep(given)


def test_a_folder_without_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for call in (discard, lambda folder: sweep(tasks(1), folder=folder)):
        with pytest.raises(ValueError, match=r"folder must be the path of a (file or )?folder, got ''"):
            call("")
    assert list(tmp_path.iterdir()) == []


def test_more_processes_than_tasks_are_not_started(monkeypatch):
    seen = []
    monkeypatch.setattr("simulate.core.backends._in_processes", lambda given, n_jobs: seen.append(n_jobs) or iter(()))
    run_tasks(tasks(3), n_jobs=10**12)
    assert seen == [3]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux can take cores from a process")
def test_all_cores_of_a_program_that_may_use_one():
    """All cores are one here, where joblib starts no worker; the program must not take itself for an orphaned one."""
    program = """
import os, time
from simulate.core import Task, sweep
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
print(sweep([Task(str(k), pow, (k, 2)) for k in (2, 3)], n_jobs=-1))
time.sleep(0.2)
print("goes on")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "{'2': 4.0, '3': 9.0}\ngoes on\n")


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        sweep(tasks(1), folder=tmp_path / "file" / "folder")


def test_no_tasks(tmp_path):
    assert sweep([]) == sweep([], folder=tmp_path, n_jobs=2) == {}


def test_discard(tmp_path):
    sweep(tasks(1), folder=tmp_path / "a", digest="a")
    discard(tmp_path / "a")
    discard(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_replicates_do_not_depend_on_how_many_there_are():
    def replicate(model, d, rng):
        return model + rng.standard_normal(d)

    few, many = (replicate_values(replicate, 1.0, 3, n, names=("a",)) for n in (2, 4))
    assert many.shape == (4, 3)
    np.testing.assert_array_equal(few, many[:2])
    with pytest.raises(ValueError, match="n must be an integer of at least 1, got 0"):
        replicate_values(replicate, 1.0, 3, 0)


def test_replicate_estimate():
    estimate = replicate_estimate(lambda model, d, rng: rng.standard_normal(), None, 1, 50, seed=3)
    assert estimate == Estimate.of([stream(3, 1, r).standard_normal() for r in range(50)])


def test_an_estimate_is_of_numbers():
    with pytest.raises(ValueError, match=r"replicate must return a number, got arrays of shape \(3,\)"):
        replicate_estimate(lambda model, d, rng: rng.standard_normal(d), None, 3, 2)
    with pytest.raises(ValueError, match=r"n must be >= 2 .*, got 1"):
        replicate_estimate(lambda model, d, rng: rng.standard_normal(), None, 3, 1)


def blocks_interrupts(_):
    return float(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))


def test_an_interrupt_is_left_to_the_main_process():
    assert set(sweep(tasks(4, blocks_interrupts), n_jobs=2).values()) == {1.0}
    assert blocks_interrupts(0) == 0.0


def test_stopping_early_is_silent():
    outcomes = run_tasks(tasks(20), n_jobs=2)
    next(outcomes)
    outcomes.close()  # a warning would be an error


def test_only_the_thread_that_is_stopped_may_fail_in_silence():
    def fail():
        raise KeyError(26)

    seen, before = [], threading.excepthook
    threading.excepthook = seen.append
    try:
        with _stopped_in_silence():
            for name in (FEEDING_THREAD, "another"):
                thread = threading.Thread(target=fail, name=name)
                thread.start()
                thread.join()
        assert [arguments.thread.name for arguments in seen] == ["another"]
        assert threading.excepthook == seen.append
    finally:
        threading.excepthook = before


def test_progress_is_silent_without_tqdm_and_short_without_a_terminal(capsys, monkeypatch):
    sweep(tasks(2), progress="peak")
    assert capsys.readouterr().err == "peak: 2 tasks in 0 s\n"
    sweep(tasks(2))
    monkeypatch.setitem(sys.modules, "tqdm", None)
    sweep(tasks(2), progress="peak")
    assert capsys.readouterr().err == ""


def test_a_log_has_a_line_a_minute(capsys, monkeypatch):
    now = iter([0.0, 30.0, 61.0, 90.0, 130.0])
    monkeypatch.setattr("simulate.core.progress.time.monotonic", lambda: next(now))
    lines = MinuteLines("peak", 10, 2)
    for _ in range(4):
        lines()
    assert capsys.readouterr().err == (
        "peak: 40% after 61 s, about 183 s left\npeak: 60% after 130 s, about 130 s left\n"
    )


def test_progress_on_a_terminal_shows_the_time_left(capsys, monkeypatch):
    pytest.importorskip("tqdm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress_bar("peak", 10, 4) as advance:
        advance()
    shown = capsys.readouterr().err
    assert "peak" in shown
    assert "5/10" in shown
    assert "<" in shown  # elapsed<left
