"""Gradients near a base, where they are known in double precision: what changes from there needs fewer digits.

The fields at x are those of the base plus the inputs times (x - base), and the samples pull as at the base plus what
that changes. Both products are taken in single precision, whose error is 1e-7 of the change and not of the whole, and
which reads half as much from memory.
"""

from collections.abc import Callable, Iterator

import numpy as np

from simulate.glm.samples import Numbers, Place, Pulls, Samples, placed
from theory.core import Array

BLOCK = 2**19  # inputs that are multiplied from both sides before others, which would push them out of the cache
NONE = np.zeros(0)


class Changes:
    """The gradients of one fit: the base is x = 0 at first, where no sample is said to pull."""

    def __init__(
        self, samples: Samples, small: Samples, diagonal: Array, slopes: Callable[[Numbers, slice], Numbers]
    ) -> None:
        """Take the samples in both precisions, the ridge of each coordinate, and what tells the pulls at fields."""
        self.samples, self.small, self.diagonal, self.slopes = samples, small, diagonal, slopes
        (n, q), self.p = small.inputs.shape, samples.inputs.shape[1]
        self.x, self.h, self.pull, self.back = np.zeros(q), np.zeros(n), np.zeros(n), np.zeros(q)

    def near(self, x: Array) -> Place:
        """Return the place x by what has changed since the base; its curvatures are not told."""
        from simulate.glm.changes_kernel import add_changed_pulls, moved_fields  # numba takes a while to load

        move, h, pull, back = (x - self.x).astype(np.float32), np.empty(len(self.h)), np.empty(len(self.h)), +self.back
        for rows in self._blocks():
            inputs = self.small.inputs[rows]
            moved_fields(inputs, move, self.h[rows], h[rows])
            pull[rows] = self.slopes(h[rows], rows)
            add_changed_pulls(inputs, pull[rows], self.pull[rows], back)
        return self._placed(x, h, pull, back)

    def exact(self, x: Array) -> Place:
        """Return the place x in double precision, which is the base of what follows."""
        h, pull, back = np.empty(len(self.h)), np.empty(len(self.h)), np.zeros(len(x))
        for rows in self._blocks():
            part = Samples(self.samples.inputs[rows], self.samples.offsets[rows])
            h[rows] = part.fields(x)
            pull[rows] = self.slopes(h[rows], rows)
            back += part.back(pull[rows])
        self.x, self.h, self.pull, self.back = x, h, pull, back
        return self._placed(x, h, pull, back)

    def _placed(self, x: Array, h: Array, pull: Array, back: Array) -> Place:
        return placed(x, h, Pulls(pull, NONE, np.copy), self.diagonal * x, back, self.p)

    def _blocks(self) -> Iterator[slice]:
        n, parts = len(self.h), max(1, round(self.small.inputs.size / BLOCK))
        ends = [n * k // parts for k in range(parts + 1)]
        return map(slice, ends, ends[1:])
