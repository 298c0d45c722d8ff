"""Benchmarks run on request only (`make bench`), and end in one table: on the terminal and in .benchmarks/.

A benchmark is a test that takes the fixture `jobs` and calls its methods; `machinery` says how they measure. `show` and
pytest-benchmark's own fixture still work: what they tell is printed below the table.
"""

from pathlib import Path

import pytest

from tests.benchmarks.machinery import table
from tests.benchmarks.machinery.jobs import Jobs, load
from tests.benchmarks.machinery.rows import Row

ROWS = pytest.StashKey[list[Row]]()
OTHERS = pytest.StashKey[list[str]]()
START = pytest.StashKey[str]()
FOLDER = Path(__file__).resolve().parents[2] / ".benchmarks"


def pytest_addoption(parser):
    parser.addoption("--bench", action="store_true", help="run the benchmarks and print their table")
    parser.addoption(
        "--bench-folder", type=Path, default=FOLDER, help="where the table is written, by default %(default)s"
    )


def requested(config):
    return config.getoption("--bench", default=False) or config.getoption("benchmark_only", default=False)


def pytest_configure(config):
    config.stash[ROWS], config.stash[OTHERS], config.stash[START] = [], [], load()


def pytest_terminal_summary(terminalreporter, config):
    rows, others = config.stash[ROWS], config.stash[OTHERS]
    if not rows and not others:
        return
    loads = (f"{config.stash[START]} at the start", f"{load()} at the end")
    text = table.text(rows, loads)
    if others:
        text = "\n".join(["Not in the table:", *(f"  {line}" for line in others), "", text])
    folder = config.getoption("--bench-folder", default=FOLDER)
    folder.mkdir(exist_ok=True)
    (folder / "table.txt").write_text(text + "\n", encoding="utf-8")
    (folder / "table.csv").write_text(table.as_csv(rows), encoding="utf-8")
    terminalreporter.write_sep("=", "benchmarks")
    terminalreporter.write_line(text)
    terminalreporter.write_line(f"The same in {folder / 'table.txt'}; table.csv has the numbers in full.")


@pytest.fixture(autouse=True)
def _on_request_only(request):
    if not requested(request.config):
        pytest.skip("a benchmark: run by make bench")


@pytest.fixture
def jobs(request):
    """The jobs of one subject, by default the name of the test's file; their rows go to the table."""
    subject = getattr(request.module, "SUBJECT", request.path.stem.removeprefix("test_").replace("_", " "))
    return Jobs(subject, request.config.stash[ROWS])


@pytest.fixture
def show(request, benchmark):
    """Tells numbers beside each other below the table, and keeps them with pytest-benchmark's fixture."""

    def line(title, **numbers):
        benchmark.extra_info.update(numbers)
        shown = ", ".join(f"{name.replace('_', ' ')} {value:.4g}" for name, value in numbers.items())
        request.config.stash[OTHERS].append(f"{title}: {shown}")

    return line


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """A test that only uses pytest-benchmark is told by its best wall time."""
    result = yield
    used, told = getattr(item, "funcargs", {}), len(item.config.stash[OTHERS])
    if "benchmark" in used and "show" not in used and used["benchmark"].stats is not None:
        best = used["benchmark"].stats.stats.min
        item.config.stash[OTHERS].insert(told, f"{item.nodeid}: {best:.4g} s of wall time")
    return result
