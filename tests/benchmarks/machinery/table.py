"""The table of benchmarks as text that fits a terminal and as CSV, with a line that sums it up."""

import csv
import io
import platform
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib import metadata

from tests.benchmarks.machinery.jobs import shown_seconds
from tests.benchmarks.machinery.rows import VERDICTS, Row

COLUMNS = ("job", "ours", "peer", "peer's", "ratio", "limit", "goal", "verdict")
EXPLAINED = (
    "Times are CPU seconds on one thread unless a row says wall time. The ratio is the peer's time (or memory) over\n"
    "ours: above 1 we are faster. A limit is where a regression begins, a goal is what we want: at least so many\n"
    "'times', at most of all else. A power is the exponent with which time grows with the size."
)


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
    """The whole table, by subject in the order in which they ran, remarks indented below their rows."""
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
            out += ["", subject[0].upper() + subject[1:]]
        out.append(line(each).rstrip())
        out += [f"    {remark}" for remark in remarks(row)]
    return "\n".join([machine(), *(f"load {each}" for each in loads), EXPLAINED, "", *out, "", summary(rows)])


def as_csv(rows: Iterable[Row]) -> str:
    """One line for each row, with numbers in full: seconds, megabytes, or the unit named there."""
    file = io.StringIO()
    names = ("subject", "job", "unit", "ours", "peer", "theirs", "ratio", "limit", "goal", "verdict", "failure",
             "own_failure", "note")  # fmt: skip
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([getattr(row, name) for name in names] for row in rows)
    return file.getvalue()
