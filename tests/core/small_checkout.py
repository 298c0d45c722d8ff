"""A checkout of its own with made-up experiments, and how to run its command line in another process."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

# Hears ^C even where the tests run in the background, whose shell has it ignored; said by the program itself, since a
# function that Popen would call between fork and exec is unsafe where a library of the tests has threads.
HEAR = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
ROOT = Path(__file__).resolve().parents[2]
EXPERIMENT = '''
"""Made up."""
import os, time
from figures.core import Experiment

def replicate(model, d, rng):
    if os.environ.get("HOLD") == str(model):
        time.sleep(600)
    return float(model + 0.1 * rng.standard_normal())

EXPERIMENT = Experiment(
    title="{title}", curves={{"a": lambda x: x}}, theory=float, replicate=replicate, line=(1, 2, 3), points=(1, 2),
    replicates=4, {more}
)
'''


def add(folder, name, more=""):
    folder.mkdir(exist_ok=True, parents=True)
    text = EXPERIMENT.format(title=f"Title of {name}", more=more)
    (folder / f"{name}.py").write_text(text, encoding="utf-8")


def checkout(folder):
    """A small checkout of its own, with one slow experiment."""
    (folder / "figures").mkdir(parents=True)
    shutil.copy(ROOT / "setup.cfg", folder)
    for name in ("__init__.py", "__main__.py", "command_line.py", "command_options.py", "start.py"):
        shutil.copy2(ROOT / "figures" / name, folder / "figures" / name)
    shutil.copytree(ROOT / "figures" / "core", folder / "figures" / "core")  # with what is compiled of it
    for wing in ("theory", "simulate"):
        (folder / wing).symlink_to(ROOT / wing)
    add(folder / "figures" / "toy", "slow_toy")
    return folder


def start(folder, *arguments, hold=""):
    """Replicates of the model `hold` do not end: the sweep cannot finish, however late somebody looks."""
    program = f"{HEAR}\nimport runpy; runpy.run_module('figures', run_name='__main__')"
    command = [sys.executable, "-c", program, *arguments]
    environment = os.environ | {"PYTHONPATH": str(folder), "HOLD": hold}
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_until(true, seconds=60):
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert true()
