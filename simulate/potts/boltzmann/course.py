"""The course of Boltzmann learning between two checks, and how it is kept in a file and goes on from there."""

import json
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.checkpoint import Checkpoint, generator_state
from simulate.potts.boltzmann.agreement import Agreement
from simulate.potts.boltzmann.ascent import Ascent

WAIT = 30  # steps after a failed check until the next one, at the least; then twice as many, and so on
LEAST_RATE_FACTOR = 1 / 16  # of the rate, which every failed check halves


class Course:
    """Holds how far learning has come: steps, what the chains have shown, when the next check is due, and the rate.

    `state` and `restore` hold every number on which the next step depends, so that a run which was killed goes on to
    the same bits. `seconds` is the time of the processors, that of the parts of an interrupted run together.
    """

    def __init__(self, ascent: Ascent, rng: np.random.Generator, first_check: int, began: float) -> None:
        self.ascent, self.step, self.history = ascent, 0, list[tuple[float, float, float]]()
        self.factor, self._waits, self._next_check = 1.0, WAIT, first_check
        self._rng, self._began, self._earlier = rng, began, 0.0
        self._saved_at, self._saved_step = time.monotonic(), -1

    @property
    def seconds(self) -> float:
        """The time of the processors that learning has taken."""
        return self._earlier + time.process_time() - self._began

    def record(self) -> Agreement:
        """Note what the chains show at this step, and return it."""
        shown = self.ascent.agreement()
        self.history.append((self.step, shown.pearson, shown.slope))
        return shown

    def is_due(self, pearson: float, slope: float) -> bool:
        """Say whether what was noted last calls for a check by fresh chains."""
        if not self.history or self.history[-1][0] != self.step:
            return False
        return self.step >= self._next_check and self.history[-1][1] >= pearson and self.history[-1][2] >= slope

    def failed(self) -> None:
        """Lower the rate after a check that failed, and wait longer until the next one."""
        self.factor = max(self.factor / 2, LEAST_RATE_FACTOR)
        self._next_check, self._waits = self.step + self._waits, 2 * self._waits

    def keep(self, file: Checkpoint | None, seconds: float = 0.0) -> None:
        """Save the course in the file where there is one, unless it was in the last `seconds` or at this step."""
        if file is None or self._saved_step == self.step or time.monotonic() - self._saved_at < seconds:
            return
        file.save(self.state())
        self._saved_at, self._saved_step = time.monotonic(), self.step

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to be saved."""
        return {
            "step": np.array(self.step),
            "history": np.array(self.history).reshape(-1, 3),
            "factor": np.array(self.factor),
            "checks": np.array([self._waits, self._next_check]),
            "seconds": np.array(self.seconds),
            "generator": np.array(generator_state(self._rng)),
            **self.ascent.state(),
        }

    def restore(self, saved: dict[str, NDArray[Any]]) -> None:
        """Go on from what `state` gave."""
        self.step, self.factor = int(saved["step"]), float(saved["factor"])
        self.history = [(one, two, three) for one, two, three in saved["history"].tolist()]
        self._waits, self._next_check = saved["checks"].tolist()
        self._earlier, self._saved_step = float(saved["seconds"]), self.step
        self._rng.bit_generator.state = json.loads(str(saved["generator"]))
        self.ascent.restore(saved)
