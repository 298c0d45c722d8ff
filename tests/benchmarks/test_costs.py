"""The page "What it costs": time and memory of each public solver and simulation, over three doublings of a size.

They are measured by `make bench SCALE=1` alone, which rewrites the tables of docs/costs.md.
"""

from pathlib import Path

import pytest

from tests.benchmarks.costs import JOBS, LARGE
from tests.benchmarks.machinery.growth import grown, large_text_of, machine, once, replaced, text_of

SUBJECT = "what it costs"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "costs.md"


@pytest.fixture(autouse=True)
def _asked_for(request):
    if not request.config.getoption("--scale"):
        pytest.skip("measured by make bench SCALE=1")


def test_growth_with_size(jobs):
    measured = []
    for job in JOBS:
        jobs.tell(f"{job.subject}: {job.call}")
        measured.append(found := grown(job))
        jobs.number(f"{found.call}, by {found.size}", found.time_power, "power")
    text = replaced(PAGE.read_text(encoding="utf-8"), "growth", text_of(measured))
    PAGE.write_text(replaced(text, "machine", f"The machine: {machine()}."), encoding="utf-8")


def test_large_calls(jobs):
    measured = {}
    for call, make in LARGE.items():
        jobs.tell(call)
        measured[call] = once(make, limit=900.0)
        jobs.number(call, measured[call][0], "s")
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(replaced(page, "large", large_text_of(measured)), encoding="utf-8")
