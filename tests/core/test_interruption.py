"""A sweep that is killed or interrupted goes on where it was, to the same bytes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from simulate.core.store import FILE
from tests.core.small_checkout import HEAR

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = f"""
{HEAR}
import sys, time
from simulate.core import Task, stream, sweep

def slow(k):
    open(sys.argv[1] + "/calls", "a").write(f"{{k}}\\n")
    time.sleep(float(sys.argv[2]) * (1 if k < 6 else 600))  # half of them only end before the test does
    return stream(0, k).random()

if __name__ == "__main__":
    tasks = [Task(str(k), slow, (k,)) for k in range(12)]
    values = sweep(tasks, folder=sys.argv[1], digest="a", n_jobs=int(sys.argv[3]))
    open(sys.argv[1] + "/values", "w").write(repr(values))
"""


def start(script, folder, seconds, n_jobs):
    folder.mkdir(exist_ok=True)
    command = [sys.executable, str(script), str(folder), str(seconds), str(n_jobs)]
    environment = {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True)


def ended(process, how):
    """Its status. ^C reaches the workers too; one that falls into a finalizer is lost to Python, and pressed again."""
    for _ in range(6):
        os.killpg(process.pid, how)
        try:
            return process.wait(10)
        except subprocess.TimeoutExpired:
            continue
    return 0


def finished(folder):
    file = folder / FILE
    return file.read_bytes().count(b'"key"') if file.exists() else 0


@pytest.mark.parametrize(("how", "n_jobs"), [(signal.SIGKILL, 1), (signal.SIGINT, 1), (signal.SIGINT, 2)])
def test_resume(tmp_path, how, n_jobs):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")
    assert start(script, tmp_path / "whole", 0, 1).wait(60) == 0

    folder = tmp_path / "broken"
    process = start(script, folder, 0.1, n_jobs)
    deadline = time.monotonic() + 60
    while finished(folder) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert ended(process, how) != 0
    kept = finished(folder)
    assert 3 <= kept < 12
    calls = (folder / "calls").read_text().split()

    assert start(script, folder, 0, 1).wait(60) == 0
    again = (folder / "calls").read_text().split()[len(calls) :]
    assert len(again) == 12 - kept  # nothing finished is computed again
    assert (folder / "values").read_bytes() == (tmp_path / "whole" / "values").read_bytes()
