"""Learns the pair model whose samples have the family's pair covariances: once, however many outputs need it."""

import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simulate.core import stream
from simulate.potts import BoltzmannFit, boltzmann_learning
from theory.core import Array

PEARSON, SLOPE = 0.95, 0.8  # of pair covariances, at which learning ends
SECONDS_BETWEEN_LINES = 20.0  # of progress


def learner(
    colors: NDArray[np.uint8],
    n_colors: int,
    weights: Array,
    seed: int,
    n_threads: int,
    label: str | None,
    checkpoint: Path | None = None,
) -> Callable[[], BoltzmannFit]:
    """Return what learns the model of sequences (M, L) at the first call, and returns the same fit at every call.

    A line of progress is written now and then where there is a `label`, and how far learning has come into the file
    `checkpoint` where there is one. FitError where the model was not found.
    """

    @cache
    def learned() -> BoltzmannFit:
        return boltzmann_learning(
            colors,
            max(2, n_colors),
            rng=stream(seed, "Boltzmann learning"),
            weights=weights,
            pearson=PEARSON,
            slope=SLOPE,
            n_threads=n_threads,
            on_record=None if label is None else _progress(label),
            checkpoint=checkpoint,
        )

    return learned


def _progress(label: str) -> Callable[[int, float], None]:
    """Return what writes a line now and then; on a terminal one line after the other, as in a file."""
    last = time.monotonic()

    def on_record(step: int, pearson: float) -> None:
        nonlocal last
        if time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            print(
                f"{label}: Boltzmann learning, step {step}, Pearson's coefficient of pair covariances {pearson:.3f} "
                f"(to reach {PEARSON:g})",
                file=sys.stderr,
                flush=True,
            )

    return on_record
