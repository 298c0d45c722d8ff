"""Points on the real line with what is known there: the root, the share of eigenvalues below, gap or bulk."""

from dataclasses import dataclass, fields

import numpy as np

from theory.core.arrays import Array, ComplexArray
from theory.random_matrix.spectral.ensemble import Indices, Mask

MIN_RELATIVE_WIDTH = 8 * float(np.finfo(float).eps)  # relative width of an interval that is not bisected


@dataclass(frozen=True, eq=False)
class Points:
    """What is known at points nu, ascending; both ends of the support stand for the gaps beyond them."""

    nu: Array
    h: ComplexArray
    share: Array  # N, the share of eigenvalues below
    inside: Mask  # in a bulk, else in a gap
    a: Array  # (points, r), of the scalar equation

    def take(self, index: Indices | Mask) -> "Points":
        """Select points."""
        return Points(self.nu[index], self.h[index], self.share[index], self.inside[index], self.a[index])

    def sorted(self) -> "Points":
        """Put the points in order."""
        return self.take(np.argsort(self.nu, kind="stable"))

    def joined(self, other: "Points") -> "Points":
        """Put the points of both in order."""
        both = (np.concatenate([getattr(self, one.name), getattr(other, one.name)]) for one in fields(self))
        return Points(*both).sorted()


def between(low: Array, high: Array) -> Array:
    """Return the middle of intervals, in log nu where they span more than a factor of two."""
    middle = (low + high) / 2
    wide = high > 2 * low
    # A lower end near zero counts as a millionth of the upper one, since its own logarithm could be infinite.
    return np.where(wide, np.sqrt(np.maximum(low, 1e-6 * high) * high), middle)
