"""Carries out trainings: which steps are measured, and runs that are kept on disk and go on from there."""

import time
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from simulate.core.checkpoint import Checkpoint
from simulate.core.progress import progress_bar
from theory.core import checks


class Run(Protocol):
    """A training between two steps, with all that the next step depends on."""

    step: int

    def measure(self) -> None:
        """Record the present state, where that is due and was not done before."""

    def advance(self) -> None:
        """Make the next step, or several."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to be saved."""

    def restore(self, saved: dict[str, NDArray[Any]], /) -> None:
        """Go on from what `state` gave."""


def carry_out(run: Run, n_steps: int, file: Checkpoint | None, save_seconds: float, progress: str | None) -> None:
    """Bring `run` to the step `n_steps`, from where `file` has it; there it is saved now and then, and at the end."""
    saved = file.load() if file else None
    if saved is not None:
        run.restore(saved)
    last = time.monotonic()
    with progress_bar(progress, n_steps, run.step) as advanced:
        while True:
            run.measure()
            if run.step == n_steps:
                break
            before = run.step
            run.advance()
            for _ in range(before, run.step):
                advanced()
            if file and time.monotonic() - last >= save_seconds:
                file.save(run.state())
                last = time.monotonic()
    if file:
        file.save(run.state())


def recorded_steps(record: Sequence[int] | None, n_steps: int, most: int) -> list[int]:
    """Return the steps to be measured in order, by default about 60 that are spaced evenly in their logarithm.

    ValueError for steps outside 0 to `n_steps`, for none, and for more than `most` steps of a training.
    """
    if n_steps > most:
        raise ValueError(f"n_steps must be at most {most}, got {n_steps}")
    if record is None:
        return sorted({0, *np.geomspace(1, n_steps, 60).round().astype(int).tolist()})
    if not record or min(record) < 0 or max(record) > n_steps:
        raise ValueError(f"record must name steps from 0 to n_steps = {n_steps}, got {checks.shown(list(record))}")
    return sorted(set(record))
