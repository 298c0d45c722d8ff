"""The table of benchmarks as text that fits a terminal and as CSV, with a line that sums it up."""

import csv
import io
import platform
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib import metadata

from tests.benchmarks.machinery.jobs import shown_seconds
from tests.benchmarks.machinery.rows import VERDICTS, Row

COLUMNS = ("job", "ours", "peer", "peer's", "ratio", "limit", "goal", "verdict")
WIDTH = 116
EXPLAINED = """\
Each row is one job, done by this project (ours) and in most rows by another program, or by another way to do the same
(the peer), on the same data and in turn, so that other processes slow down both.
    ours, peer's   CPU time on one thread of the best of several rounds (s, ms, us, ns), unless the row says wall time,
                   MB of memory, or names what it counts. `power 2` means that the time grows as size^2 over the sizes
                   that stand below the row with their times.
    ratio          the peer's number divided by ours: above 1 we are faster, or need less memory.
    limit, goal    a limit is where a regression begins, a goal is what is wanted: a ratio of at least so many `times`
                   (`1/2 times`: at most twice as slow as the peer), or at most so much of anything else.
    verdict        `met` or `missed` the goal; `regressed`: past the limit; `peer failed`: the bound needs its number;
                   `failed`: ours did, for the reason below the row; `no goal`: the number is only told.
The load of the machine matters to wall times, and to a lesser degree to CPU times, since processes share caches."""


def measured(value: float | None, unit: str) -> str:
    """A number with its unit, "-" where there is none."""
    if value is None:
        return "-"
    if unit == "s":
        return shown_seconds(value)
    return f"power {value:.2f}" if unit == "power" else f"{value:.3g} {unit}".rstrip()


def cells(row: Row) -> tuple[str, ...]:
    """What the table shows of a row, in the order of COLUMNS."""
    theirs = "failed" if row.failure else measured(row.theirs, row.unit) if row.peer else ""
    ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
    own = "failed" if row.own_failure else measured(row.ours, row.unit)
    return row.job, own, row.peer, theirs, ratio, row.limit, row.goal, row.verdict


def remarks(row: Row) -> list[str]:
    """The lines below a row: why something failed, and its note."""
    failed = [f"{row.peer or 'ours'}: failed: {reason}" for reason in (row.failure, row.own_failure) if reason]
    return failed + ([row.note] if row.note else [])


def explained(about: str) -> list[str]:
    """The paragraphs about a subject, wrapped and indented."""
    paragraphs = " ".join(about.split())
    return textwrap.wrap(paragraphs, WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


def summary(rows: Sequence[Row]) -> str:
    """How many rows there are of each verdict."""
    count = Counter(row.verdict for row in rows)
    parts = [f"{count[verdict]} {verdict}" for verdict in VERDICTS if count[verdict]]
    return f"{len(rows)} row{'s' if len(rows) > 1 else ''}: {', '.join(parts)}" if rows else "no rows"


def machine() -> str:
    """The processor, and the versions that every job depends on."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123 (a file of the system)
            names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "scipy", "numba"))
    return (
        f"{(names or [platform.processor() or platform.machine()])[0]}; Python {platform.python_version()}, {versions}"
    )


def text(rows: Sequence[Row], loads: Iterable[str] = ()) -> str:
    """The whole table, by subject in the order in which they ran, remarks indented below their rows.

    What the columns mean stands above it; `loads` says how busy the machine was.
    """
    lines = [cells(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(COLUMNS, *lines, strict=True)]
    numbers = {"ours", "peer's", "ratio"}

    def line(each: Sequence[str]) -> str:
        columns = zip(each, COLUMNS, widths, strict=True)
        return "  ".join(cell.rjust(width) if name in numbers else cell.ljust(width) for cell, name, width in columns)

    out, subject = [line(COLUMNS).rstrip(), "-" * (sum(widths) + 2 * len(widths) - 2)], ""
    for row, each in zip(rows, lines, strict=True):
        if row.subject != subject:
            subject = row.subject
            out += ["", subject[0].upper() + subject[1:], *explained(row.about)]
        out.append(line(each).rstrip())
        out += [f"    {remark}" for remark in remarks(row)]
    return "\n".join([machine(), *(f"load: {each}" for each in loads), "", EXPLAINED, "", *out, "", summary(rows)])


def as_csv(rows: Iterable[Row]) -> str:
    """One line for each row, with numbers in full: seconds, megabytes, or the unit named there."""
    file = io.StringIO()
    names = ("subject", "job", "unit", "ours", "peer", "theirs", "ratio", "limit", "goal", "verdict", "failure",
             "own_failure", "note")  # fmt: skip
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([getattr(row, name) for name in names] for row in rows)
    return file.getvalue()
