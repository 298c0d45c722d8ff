"""Samples in single or double precision, and what a descent knows at a place: fields, pulls and the gradient."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.core import Array

Numbers = NDArray[Any]  # in single or double precision
BLOCK, LEAST_ROWS = 2**17, 1024  # numbers that stay in the cache while they are multiplied, and rows at least


class Pulls(NamedTuple):
    """Hold what weighted losses are near some fields (n,) or (n, K): `pull` is minus their slopes.

    `bent` returns by how much the pulls fall where the fields move, perhaps in place of these, and `curvature`, shaped
    as the fields, what that is for a unit move of each field alone.
    """

    pull: Numbers
    curvature: Numbers
    bent: Callable[[Numbers], Numbers]


Expand = Callable[[Numbers, slice], Pulls]


@dataclass(frozen=True, eq=False)
class Samples:
    """Inputs (n, p) in either precision, with the columns of the offsets (n, k)."""

    inputs: Numbers
    offsets: Array

    def every(self, stride: int) -> "Samples":
        """Return one in so many of the samples."""
        return Samples(self.inputs[::stride], self.offsets[::stride])

    def fields(self, x: Array) -> Numbers:
        """Return the fields of the coordinates x = (v, b)."""
        p = self.inputs.shape[1]
        h: Numbers = self.inputs @ x[:p].astype(self.inputs.dtype, copy=False)
        return h + (self.offsets @ x[p:]).astype(h.dtype, copy=False) if self.offsets.shape[1] else h

    def back(self, pull: Numbers) -> Array:
        """Return (inputs, offsets)' pull."""
        tied = self.inputs.T @ pull.astype(self.inputs.dtype, copy=False)
        return np.concatenate((tied, self.offsets.T @ pull)) if self.offsets.shape[1] else tied.astype(float)

    def weighted_square(self, root: Numbers) -> Numbers:
        """Return A'A in single precision for A = root (inputs, offsets), (n,) numbers that multiply the rows."""
        n, p = self.inputs.shape
        q = p + self.offsets.shape[1]
        height = max(LEAST_ROWS, BLOCK // q)
        A, square = np.empty((min(n, height), q), np.float32), np.zeros((q, q), np.float32)
        for start in range(0, n, height):
            rows = slice(start, start + height)
            B = A[: len(root[rows])]
            B[:, :p], B[:, p:] = self.inputs[rows], self.offsets[rows]
            B *= root[rows, None]
            square += B.T @ B  # for which half of the products are done, since it is symmetric
        return square


@dataclass(frozen=True, eq=False)
class Place:
    """Coordinates x = (v, b), their fields, the losses there, the gradient, its length, and that over its parts.

    `by_weights` is the length of the gradient by v, and `by_offsets` the largest derivative by b, over all pulls.
    """

    x: Array
    h: Numbers
    at: Pulls
    gradient: Array
    length: float
    residual: float
    by_weights: float
    by_offsets: float


def placed(x: Array, h: Numbers, at: Pulls, tied: Array, back: Array, p: int) -> Place:
    """Return the place where the ridge asks `tied` of the coordinates and the samples pull them `back`."""
    gradient = tied - back
    by_weights = float(np.linalg.norm(gradient[:p]))
    parts = float(np.linalg.norm(tied[:p]) + np.linalg.norm(back[:p]))
    # Where both parts vanish, as for inputs that are all zero, so does their difference.
    left = by_weights / parts if parts else 0.0
    free = float(abs(back[p:]).max()) / (float(abs(at.pull).sum()) + 1e-300) if len(back) > p else 0.0
    return Place(x, h, at, gradient, float(np.linalg.norm(gradient)), max(left, free), by_weights, free)


@dataclass(frozen=True)
class Descent:
    """Hold where a descent has ended: weights v, offsets b, fields, the relative gradient, steps and products.

    `by_weights` and `by_offsets` are those of the last place, and `settled` is the next step relative to (v, b), an
    estimate of their error; it is infinite where nobody has made one.
    """

    v: Array
    b: Array
    fields: Array
    residual: float
    steps: int
    products: int
    by_weights: float
    by_offsets: float
    settled: float


def single(samples: Samples) -> Samples:
    """Return the samples in single precision, their offsets, which are zeros and ones, as further columns of inputs."""
    X, offsets = samples.inputs, samples.offsets
    if not offsets.shape[1]:
        return Samples(X.astype(np.float32, order="C"), offsets)
    inputs = np.empty((len(X), X.shape[1] + offsets.shape[1]), np.float32)
    inputs[:, : X.shape[1]], inputs[:, X.shape[1] :] = X, offsets
    return Samples(inputs, offsets[:, :0])
