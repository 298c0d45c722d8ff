"""Benchmarks run on request only (`make bench`), and end in one table: on the terminal and in .benchmarks/.

A benchmark is a test that takes the fixture `jobs` and calls its methods; `machinery` says how they measure. Its file
names a SUBJECT, and explains the jobs and their symbols in its docstring: both are printed above the rows.
"""

import time
from pathlib import Path

import pytest

from tests.benchmarks.machinery import table
from tests.benchmarks.machinery.jobs import Jobs, load
from tests.benchmarks.machinery.rows import Row

ROWS = pytest.StashKey[list[Row]]()
START = pytest.StashKey[str]()
BEGUN = pytest.StashKey[float]()
FOLDER = Path(__file__).resolve().parents[2] / ".benchmarks"


def pytest_addoption(parser):
    parser.addoption("--bench", action="store_true", help="run the benchmarks and print their table")
    parser.addoption("--scale", action="store_true", help="with --bench: measure how costs grow, for docs/costs.md")
    parser.addoption(
        "--only", default="", help="with --scale: measure calls with one of these words, parted by commas, and new ones"
    )
    parser.addoption(
        "--bench-folder", type=Path, default=FOLDER, help="where the table is written, by default %(default)s"
    )


def pytest_configure(config):
    if config.getoption("--bench", default=False):
        from threadpoolctl import threadpool_limits

        # A plugin of another package may have loaded numpy before `tests/conftest.py` could tell it by the environment
        # to use one thread; waiting threads would count as CPU time.
        threadpool_limits(1, user_api="blas")
    config.stash[ROWS], config.stash[START], config.stash[BEGUN] = [], load(), time.monotonic()


def pytest_terminal_summary(terminalreporter, config):
    rows = config.stash[ROWS]
    if not rows:
        return
    loads = (f"{config.stash[START]} at the start", f"{load()} at the end")
    text = table.text(rows, loads)
    folder = config.getoption("--bench-folder", default=FOLDER)
    folder.mkdir(exist_ok=True)
    (folder / "table.txt").write_text(text + "\n", encoding="utf-8")
    (folder / "table.csv").write_text(table.as_csv(rows), encoding="utf-8")
    terminalreporter.write_sep("=", "benchmarks")
    terminalreporter.write_line(text)
    terminalreporter.write_line(f"The same in {folder / 'table.txt'}; table.csv has the numbers in full.")


@pytest.fixture(autouse=True)
def _on_request_only(request):
    if not request.config.getoption("--bench"):
        pytest.skip("a benchmark: run by make bench")


@pytest.fixture
def jobs(request):
    """The jobs of one subject, named and explained by the test's file; their rows go to the table."""
    config = request.config
    return Jobs(request.module.SUBJECT, config.stash[ROWS], about=request.module.__doc__, tell=_teller(config))


def _teller(config):
    """Print a line on the terminal while a job runs: the time since the start, and what is being measured."""
    terminal, capture = (config.pluginmanager.getplugin(name) for name in ("terminalreporter", "capturemanager"))

    def tell(text):
        if terminal is not None and capture is not None:
            with capture.global_and_fixture_disabled():
                terminal.ensure_newline()
                terminal.write_line(f"{time.monotonic() - config.stash[BEGUN]:6.0f} s  {text}")

    return tell
