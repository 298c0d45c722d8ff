"""Says how an experiment is run here: its quality, where its tasks go, and where finished ones are kept."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simulate.core import Backend, Task, sweep

QUALITIES = ("draft", "default", "paper")


@dataclass(frozen=True)
class Context:
    """Says how an experiment is run: how large, on which processes or cluster, and where finished tasks are kept.

    Of the qualities, `draft` is the toy size of the test suite, and `paper` takes four times the replicates of
    `default`. ValueError for another one.
    """

    quality: str = "default"
    n_jobs: int = 1
    backend: Backend = "loky"
    scheduler: str | None = None
    folder: Path | None = None  # finished tasks are kept here
    digest: str = ""  # of the sources they are valid for
    label: str | None = None  # of the progress bar

    def __post_init__(self) -> None:
        if self.quality not in QUALITIES:
            raise ValueError(f"quality must be one of {', '.join(QUALITIES)}, got {self.quality!r}")

    @property
    def is_draft(self) -> bool:
        """Whether everything is at toy size."""
        return self.quality == "draft"

    def replicates(self, n: int) -> int:
        """Return how many replicates stand for the `n` of a declaration at this quality."""
        return {"draft": 3, "default": n, "paper": 4 * n}[self.quality]

    def size(self, d: int, toy: int = 20) -> int:
        """Return the dimension that stands for the `d` of a declaration: at most `toy` in a draft."""
        return min(d, toy) if self.is_draft else d

    def thin(self, values: Sequence[float] | NDArray[np.float64], n: int = 4) -> list[float]:
        """Return the values as plain numbers, in a draft at most `n` of them with both ends."""
        grid = np.asarray(values)
        if self.is_draft and len(grid) > n:
            grid = grid[np.linspace(0, len(grid) - 1, n).round().astype(int)]
        return list(grid.tolist())

    def sweep(self, tasks: Iterable[Task]) -> dict[str, float | NDArray[np.float64]]:
        """Run the tasks where this context says and return the value of each by its key (see simulate.core)."""
        return sweep(
            list(tasks),  # an experiment may have none, which is refused of an iterator
            folder=self.folder,
            digest=self.digest,
            n_jobs=self.n_jobs,
            backend=self.backend,
            scheduler=self.scheduler,
            progress=self.label,
        )


def quality_from_environment() -> str:
    """Return the environment's QUALITY, or "default" where it is not set or empty."""
    return os.environ.get("QUALITY") or "default"
