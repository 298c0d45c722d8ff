"""What a benchmark calls: each method measures one job and adds its rows to the table.

Ours runs in this process. Another package, or a loop that stands for what a user would write, is a peer: it runs in a
process of its own (`apart`), and its failure is its row. Both are timed in turn, round by round, so that another load
of the machine meets both; the best round counts, in CPU time.
"""

import math
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from tests.benchmarks.machinery.apart import TIME_LIMIT, Apart, PeerError, cpu_clock, seconds_of
from tests.benchmarks.machinery.rows import Row

Job = Callable[[], Any]
ROUND = 0.02  # seconds that a round takes at least, by repeated calls
ENOUGH = 3.0  # seconds of wall time after which no further round begins
LONG = 10.0  # seconds of wall time of a first call that counts itself: compilation is little of it


@dataclass(frozen=True)
class Peer:
    """A function to compare with, and how it is to be understood.

    made: `call` prepares, imports included, and returns the function that is timed.
    times: how many times the timed part the whole job is; 20 where 5 of 100 equal steps are timed.
    limit: seconds of wall time for everything, after which the peer has failed.
    tells: a memory job only: `call` returns the megabytes itself, as `program_megabytes` does.
    """

    call: Job
    made: bool = False
    times: float = 1.0
    limit: float = TIME_LIMIT
    tells: bool = False


def called(name: str) -> str:
    """A peer's name with the version of the package that is its first word, where it is one that is installed."""
    package, *rest = re.split(r"(?=[ ,(])", name, maxsplit=1)
    try:
        version = metadata.version(package)
    except (metadata.PackageNotFoundError, ValueError):  # the latter for no name at all
        return name
    return f"{package} {version}{''.join(rest)}"


def exponent(sizes: Sequence[float], times: Sequence[float]) -> float:
    """The power of the size with which the times grow, by least squares in logarithms."""
    x, y = [math.log(size) for size in sizes], [math.log(each) for each in times]
    middle_x, middle_y = sum(x) / len(x), sum(y) / len(y)
    above = sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y, strict=True))
    return above / sum((a - middle_x) ** 2 for a in x)


def shown_seconds(value: float) -> str:
    """Three digits in the unit that suits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def _deviation(off: Callable[[Any, Any], float], ours: Any, theirs: Any) -> float:
    try:
        return float(off(ours, theirs))
    except Exception as failure:
        raise PeerError(f"its answer cannot be compared: {type(failure).__name__}: {failure}") from failure


def _cores(function: Job) -> float:
    """How many cores a call kept busy: below its number of threads where the machine had no more to give."""
    start, cpu = time.perf_counter(), cpu_clock()
    function()
    return (cpu_clock() - cpu) / (time.perf_counter() - start)


class _Timed:
    """Calls of one function: a first one, in which it compiles, and then in rounds of several."""

    def __init__(self, first: Callable[[], float], calls: Callable[[int], float]) -> None:
        """`first` makes the first call and returns its time, `calls` makes so many and returns the mean."""
        self._calls, self.best, start = calls, math.inf, time.perf_counter()
        took = first()
        wall = time.perf_counter() - start
        self._number = 1 if wall > ENOUGH else max(1, math.ceil(ROUND / max(calls(1), 1e-7)))
        self.is_done = wall > LONG
        if self.is_done:
            self.best = took

    @classmethod
    def here(cls, function: Job, clock: str, answers: list[Any]) -> "_Timed":
        """A function of this process; what its first call returns is appended to `answers`."""
        first = lambda: seconds_of(lambda: answers.append(function()), 1, clock)  # noqa: E731
        return cls(first, lambda calls: seconds_of(function, calls, clock))

    def round(self) -> None:
        """A further round, unless the first call counted itself."""
        if not self.is_done:
            self.best = min(self.best, self._calls(self._number))


def _told_to_nobody(_text: str) -> None:
    """Stands for a terminal that is not there."""


@dataclass
class Jobs:
    """Collects the rows of the benchmarks of one subject; `about` explains its jobs to a reader of the table.

    `tell` is given a line when a job begins, and one for each peer of it.
    """

    subject: str
    rows: list[Row] = field(default_factory=list)
    about: str = ""
    tell: Callable[[str], None] = _told_to_nobody

    def compare(
        self,
        job: str,
        ours: Job,
        peers: Mapping[str, Job | Peer] | None = None,
        *,
        beside: Mapping[str, Job | Peer] | None = None,
        per: float = 1.0,
        goal: str | Mapping[str, str] = "",
        limit: str | Mapping[str, str] = "",
        off: Callable[[Any, Any], float] | None = None,
        clock: str = "cpu",
        rounds: int = 5,
        note: str = "",
    ) -> Any:
        """Time `ours` beside each peer, one row for each, and return what ours returned.

        beside: functions of ours to compare with, timed in this process. per: the number of units of which the job
        consists; the table then shows the time of one. goal, limit: bounds, of all rows or by the peer's name. off: the
        deviation of a peer's answer from ours, (ours, theirs), noted in its row. clock: "cpu", or "wall" for jobs of
        several threads, with a note of how many cores they found.
        """
        row = self._row_of(job, goal, limit, note)
        self.tell(job)
        answers: list[Any] = []
        try:
            mine = _Timed.here(ours, clock, answers)
        except BaseException as failure:
            self.rows.append(row("", own_failure=f"{type(failure).__name__}: {failure}"))
            raise
        timed: dict[str, _Timed] = {}
        scale, notes, failures = dict[str, float](), dict[str, str](), dict[str, str]()
        for name, given in (beside or {}).items():
            function, scale[name] = (given.call, given.times) if isinstance(given, Peer) else (given, 1.0)
            self.tell(f"{job}: {name}")
            timed[name] = _Timed.here(function, clock, [])
        with ExitStack() as stack:
            for name, given in (peers or {}).items():
                peer = given if isinstance(given, Peer) else Peer(given)
                self.tell(f"{job}: {name}, at most {peer.limit:g} s")
                process = stack.enter_context(Apart(peer.call, made=peer.made, limit=peer.limit))
                scale[name] = peer.times

                def first(process: Apart = process, name: str = name) -> float:
                    if off is None:
                        process.warm(clock)
                    else:
                        theirs = process.value(clock)
                        notes[name] = f"its answer differs by {_deviation(off, answers[0], theirs):.1e}"
                    return process.took

                try:
                    timed[name] = _Timed(first, lambda calls, process=process: process.seconds(calls, clock))
                except PeerError as failure:
                    failures[name] = str(failure)
            self._rounds(mine, timed, failures, rounds)
        used = f"ours used {_cores(ours):.2f} cores" if clock == "wall" else ""
        for name in [*(beside or {}), *(peers or {})] or [""]:
            theirs = timed[name].best * scale.get(name, 1.0) / per if name in timed and name not in failures else None
            told = {"failure": failures.get(name, ""), "theirs": theirs}
            self.rows.append(row(name, ours=mine.best / per, **told, more=notes.get(name, used)))
        return answers[0]

    @staticmethod
    def _rounds(mine: _Timed, timed: Mapping[str, _Timed], failures: dict[str, str], rounds: int) -> None:
        """All in turn; a peer that fails only now has failed all the same."""
        end = time.perf_counter() + ENOUGH
        for _ in range(rounds):
            mine.round()
            for name, each in timed.items():
                if name not in failures:
                    try:
                        each.round()
                    except PeerError as failure:
                        failures[name] = str(failure)
            if time.perf_counter() > end:
                return

    def grows(
        self,
        job: str,
        sizes: Sequence[float],
        make: Callable[[Any], Job],
        *,
        goal: str = "",
        limit: str = "",
        note: str = "",
    ) -> None:
        """Time the functions that `make` returns for each size, and fits a power of the size to their times."""
        row = self._row_of(job, goal, limit, note)
        timed = []
        for size in sizes:
            self.tell(f"{job}: size {size:g}")
            timed.append(_Timed.here(make(size), "cpu", []))
        end = time.perf_counter() + ENOUGH
        for _ in range(3):
            for each in timed:
                each.round()
            if time.perf_counter() > end:
                break
        times = [each.best for each in timed]
        sizes_and_times = ", ".join(f"{size:g}: {shown_seconds(t)}" for size, t in zip(sizes, times, strict=True))
        self.rows.append(row("", unit="power", ours=exponent(sizes, times), more=sizes_and_times))

    def memory(
        self,
        job: str,
        ours: Job | Peer,
        peers: Mapping[str, Job | Peer] | None = None,
        *,
        goal: str | Mapping[str, str] = "",
        limit: str | Mapping[str, str] = "",
        note: str = "",
    ) -> None:
        """How far the memory of a fresh process rises during one call, of ours as of the peers.

        A `Peer(call, made=True)` prepares first: its imports, data and compilation then do not count.
        """
        row = self._row_of(job, goal, limit, note)
        measured, failures = dict[str, float | None](), dict[str, str]()
        for name, given in {"": ours, **(peers or {})}.items():
            peer = given if isinstance(given, Peer) else Peer(given)
            self.tell(f"{job}: {name}" if name else job)
            with Apart(peer.call, made=peer.made, limit=peer.limit) as process:
                try:
                    measured[name] = float(process.value()) if peer.tells else process.megabytes()
                except PeerError as failure:
                    measured[name], failures[name] = None, str(failure)
        own = {"unit": "MB", "ours": measured[""], "own_failure": failures.get("", "")}
        for name in peers or [""]:
            self.rows.append(row(name, theirs=measured[name] if name else None, **own, failure=failures.get(name, "")))
        if "" in failures:
            raise PeerError(f"{job}: {failures['']}")

    def number(self, job: str, value: float, unit: str, *, goal: str = "", limit: str = "", note: str = "") -> None:
        """Add a number that was not timed: an error, a count of iterations."""
        self.rows.append(self._row_of(job, goal, limit, note)("", unit=unit, ours=float(value)))

    def _row_of(
        self, job: str, goal: str | Mapping[str, str], limit: str | Mapping[str, str], note: str
    ) -> Callable[..., Row]:
        def bound(given: str | Mapping[str, str], peer: str) -> str:
            return given if isinstance(given, str) else given.get(peer, "")

        def row(peer: str, *, more: str = "", **measured: Any) -> Row:
            told = "; ".join(part for part in (note, more) if part)
            bounds = {"goal": bound(goal, peer), "limit": bound(limit, peer)}
            made = Row(
                subject=self.subject, about=self.about, job=job, peer=called(peer), note=told, **bounds, **measured
            )
            _ = made.verdict  # a bound that cannot be read or kept is the job's mistake, and is told there
            return made

        return row


def load() -> str:
    """How busy the machine is: the mean number of running processes over the last minute, and the cores for them."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{os.getloadavg()[0]:.2f} busy processes on {cores} cores"
