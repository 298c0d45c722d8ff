"""Whether the memory suffices, asked before anything large is allocated."""

import os
from pathlib import Path

from figures.analyse.errors import DataError
from figures.analyse.wording import size

MOST_CELLS = 2e7  # most cells of a table that is analyzed all at once: 160 MB


def shortage(what: str, needed: float) -> str | None:
    """Compare the `needed` bytes with those there are, in a sentence; None where they suffice."""
    available = available_bytes()
    if needed <= available:
        return None
    return f"{what} would take about {size(needed)} of memory, of which {size(available)} are available"


def require_memory(path: Path, what: str, needed: float, remedy: str) -> None:
    """Raise a DataError, with both sizes and the remedy, where `needed` bytes are more than there are."""
    short = shortage(what, needed)
    if short is not None:
        raise DataError(path, f"{short}; {remedy}")


def available_bytes() -> int:
    """Return the memory that can be had without swapping; where the system does not say, all that is built in."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass  # not Linux
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
