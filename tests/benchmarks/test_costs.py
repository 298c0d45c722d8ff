"""The page "What it costs": time and memory of each public solver and simulation, over three doublings of a size.

They are measured by `make bench SCALE=1` alone, which rewrites the tables of docs/costs.md.
"""

from pathlib import Path

import pytest

from tests.benchmarks.costs import JOBS, LARGE
from tests.benchmarks.machinery.growth import (
    Growth,
    Kept,
    grown,
    large_text_of,
    machine,
    once,
    replaced,
    rows_of,
    text_of,
)

SUBJECT = "what it costs"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "costs.md"


@pytest.fixture(autouse=True)
def _asked_for(request):
    if not request.config.getoption("--scale"):
        pytest.skip("measured by make bench SCALE=1")


def test_growth_with_size(jobs, request):
    """With --only other rows of the page stay as they are."""
    measured: list[Growth | Kept] = []
    words, rows = request.config.getoption("--only"), rows_of(PAGE.read_text(encoding="utf-8"))
    for job in JOBS:
        if words and job.call in rows and not any(word in job.call for word in words.split(",")):
            measured.append(Kept(job.subject, job.call, rows[job.call]))
            continue
        jobs.tell(f"{job.subject}: {job.call}")
        measured.append(found := grown(job))
        jobs.number(f"{found.call}, by {found.size}", found.time_power, "power")
    text = replaced(PAGE.read_text(encoding="utf-8"), "growth", text_of(measured))
    PAGE.write_text(replaced(text, "machine", f"The machine: {machine()}."), encoding="utf-8")


def test_large_calls(jobs, request):
    if words := request.config.getoption("--only"):
        pytest.skip(f"large calls are measured without --only, got {words}")
    measured = {}
    for call, make in LARGE.items():
        jobs.tell(call)
        measured[call] = once(make, limit=900.0)
        jobs.number(call, measured[call][0], "s")
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(replaced(page, "large", large_text_of(measured)), encoding="utf-8")
