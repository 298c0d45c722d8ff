"""Measures how time and memory of a call grow with a size, and writes the table of the page "What it costs".

Times are CPU seconds on one thread, of a process of their own in which a call of the smallest size has compiled and
loaded what there is. The memory is how far such a process, one for each size, rises at its peak during one call, with
its input made before.
"""

import os
import pickle
import platform
import resource
import signal
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.machinery.apart import Apart, PeerError, cpu_clock, megabytes_of
from tests.benchmarks.machinery.jobs import exponent, shown_seconds

ENOUGH_SECONDS = 0.2  # of repeated calls of one size, of which the fastest counts
MIN_CALLS, LONG_SECONDS = 3, 2.0  # as many calls at least, unless they take so long: the first touches new memory
MIN_MEGABYTES = 20.0  # a rise below this is not told apart from what the allocator keeps
LIMIT_SECONDS = 1500.0  # for all calls of one process
BEGIN, END = "<!-- measured: {name} -->", "<!-- end of what was measured -->"
Make = Callable[[int], Callable[[], Any]]


@dataclass(frozen=True)
class Growth:
    """What was measured of a call: CPU seconds at each size, and MB at half the largest size and at the largest."""

    subject: str
    call: str
    size: str
    sizes: Sequence[int]
    seconds: Sequence[float]
    megabytes: Sequence[float]

    @property
    def time_power(self) -> float:
        """The power of the size with which the time grows, by least squares over all sizes."""
        return exponent(self.sizes, self.seconds)

    @property
    def last_power(self) -> float:
        """The power over the last doubling, which an extrapolation to larger sizes goes by."""
        return exponent(self.sizes[-2:], self.seconds[-2:])

    @property
    def memory_power(self) -> float | None:
        """The power over the last doubling, or None where the memory is too small to tell, or falls by chance."""
        if min(self.megabytes) < MIN_MEGABYTES or self.megabytes[0] > self.megabytes[1]:
            return None
        return exponent(self.sizes[-2:], self.megabytes)

    def row(self) -> str:
        """Write the row of the table, in Markdown."""
        megabytes = self.megabytes[-1]
        memory = f"< {MIN_MEGABYTES:.0f} MB" if megabytes < MIN_MEGABYTES else f"{megabytes:.3g} MB"
        power = "" if self.memory_power is None else f"{self.memory_power:.1f}".replace("-0.0", "0.0")
        cells = (
            f"`{self.call}`" if " " not in self.call else self.call,
            self.size,
            f"{self.sizes[0]:,} to {self.sizes[-1]:,}",
            shown_seconds(self.seconds[-1]),
            f"{self.time_power:.1f}",
            f"{self.last_power:.1f}",
            memory,
            power,
        )
        return "| " + " | ".join(cells) + " |"


HEAD = (
    "| call | size | from, to | time at the largest | power of time | last doubling | memory at the largest | power |\n"
    "|---|---|---|---|---|---|---|---|"
)


def fastest(function: Callable[[], Any]) -> float:
    """Return the CPU seconds of the fastest of repeated calls, or of one where it is long."""
    took = list[float]()
    while sum(took) < ENOUGH_SECONDS or (len(took) < MIN_CALLS and sum(took) < LONG_SECONDS):
        start = cpu_clock()
        function()
        took.append(cpu_clock() - start)
    return min(took)


def grown(job: Any, make: Make | None = None) -> Growth:
    """Measure a job, of the fields of `Growth` and `make`: its times in one process, its memory in two others."""
    made: Make = make or job.make

    def measured() -> tuple[list[float], list[float]]:
        made(job.sizes[0])()
        rises = [in_a_copy(lambda size=size: max(megabytes_of(made(size)), 0.1)) for size in job.sizes[-2:]]
        return [fastest(made(size)) for size in job.sizes], rises

    seconds, megabytes = in_a_copy(measured)
    return Growth(job.subject, job.call, job.size, tuple(job.sizes), tuple(seconds), tuple(megabytes))


def in_a_copy(function: Callable[[], Any], limit: float = LIMIT_SECONDS) -> Any:
    """Return what a function returns in a copy of this process (fork), which begins with nothing of other jobs.

    The copy has all packages already, whose import would take longer than most jobs. PeerError where it fails.
    """
    reading, writing = os.pipe()
    with warnings.catch_warnings(action="ignore"):  # of packages whose threads a copy has not: no job is theirs
        child = os.fork()
    if child == 0:
        signal.alarm(int(limit))
        try:
            answer = ("done", function())
        except BaseException as failure:
            answer = ("failed", f"{type(failure).__name__}: {failure}")
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(answer, pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        received = pipe.read()
    os.waitpid(child, 0)
    status, answer = pickle.loads(received) if received else ("failed", f"no answer in {limit:g} s")
    if status == "failed":
        raise PeerError(answer)
    return answer


def once(make: Callable[[], Callable[[], Any]], limit: float) -> tuple[float, float, float]:
    """Measure one large call: CPU seconds, how far its process rises in MB, and the peak of the process in MB."""

    def measured() -> tuple[float, float, float]:
        function = make()
        start = cpu_clock()
        rise = megabytes_of(function)
        seconds = cpu_clock() - start
        return seconds, rise, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3

    with Apart(measured, limit=limit) as process:
        return process.value()


@dataclass(frozen=True)
class Kept:
    """A row of the page that is not measured anew: its subject, its call, and the row itself."""

    subject: str
    call: str
    text: str

    def row(self) -> str:
        """Return the row as it is."""
        return self.text


def rows_of(page: str) -> dict[str, str]:
    """Return the rows of the tables of a page by their calls."""
    rows = [line for line in page.splitlines() if line.startswith("| ") and not line.startswith("| call |")]
    return {row.split("|")[1].strip().strip("`"): row for row in rows}


def text_of(measured: Sequence[Growth | Kept]) -> str:
    """Write the tables, one for each subject."""
    parts = []
    for subject in dict.fromkeys(one.subject for one in measured):
        rows = [one.row() for one in measured if one.subject == subject]
        parts.append("\n".join([f"### {subject[0].upper()}{subject[1:]}\n", HEAD, *rows]))
    return "\n\n".join(parts)


def large_text_of(measured: Mapping[str, tuple[float, float, float]]) -> str:
    """Write the table of single large calls."""
    head = "| call | time | memory of the call | peak of the process, with the input |\n|---|---|---|---|"
    rows = [f"| {call} | {seconds:.3g} s | {a:.3g} MB | {b:.3g} MB |" for call, (seconds, a, b) in measured.items()]
    return "\n".join([head, *rows])


def machine() -> str:
    """Name the processor and the versions of what computes."""
    model = ""
    cpu = Path("/proc/cpuinfo")
    if cpu.exists():
        named = [line for line in cpu.read_text().splitlines() if line.startswith("model name")]
        model = named[0].partition(":")[2].strip() if named else ""
    import numba
    import numpy
    import scipy

    versions = f"Python {platform.python_version()}, numpy {numpy.__version__}, scipy {scipy.__version__}"
    return f"{model or platform.machine()}; {versions}, numba {numba.__version__}"


def replaced(page: str, name: str, text: str) -> str:
    """Return the page with `text` between the comments that begin and end the part `name`."""
    begin = BEGIN.format(name=name)
    before, found, rest = page.partition(begin)
    _, ended, after = rest.partition(END)
    if not (found and ended):
        raise ValueError(f"page must have a part between {begin!r} and {END!r}, got none")
    return f"{before}{begin}\n\n{text}\n\n{END}{after}"
