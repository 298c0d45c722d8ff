"""Whether the memory suffices, asked before anything large is allocated."""

import os
from pathlib import Path

from figures.analyse.errors import DataError

COPIES = 4  # of the matrix in its analysis: read, centered, in a fit, and a temporary
SQUARES = 6  # d x d matrices: covariance, its eigenvectors and loadings, predictor, workspace


def require_memory(path: Path, rows: int, columns: int) -> None:
    """DataError where analyzing a (rows, columns) matrix would need more memory than there is."""
    needed = 8 * (COPIES * rows * columns + SQUARES * columns**2)
    available = available_bytes()
    if needed > available:
        raise DataError(
            path,
            f"{rows} x {columns} numbers need about {needed / 1e9:.2g} GB of memory for their analysis and "
            f"{available / 1e9:.2g} GB are available; take fewer rows, or fewer columns with --columns",
        )


def available_bytes() -> int:
    """Memory that can be had without swapping; where the system does not say, all that is built in."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass  # not Linux
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
