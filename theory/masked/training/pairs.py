"""Sums over all pairs of ridges that a weighted sum of ridge regressions has in every square."""

from dataclasses import dataclass

import numpy as np

from theory.core.arrays import Array, ComplexArray
from theory.numerics import ConvergenceError

LARGEST_ROUNDING = 1e-8  # of the test error, relative to it
VANISHED = 10 * np.finfo(float).eps  # of the sum of sizes: what rounding may leave of a sum that is zero
ADVICE = "training has come too close to its end for double precision: take ridgeless, which is its limit"


def both_halves(*arrays: ComplexArray) -> list[ComplexArray]:
    """Append to arrays over the ridges of the upper half plane (N, ...) those of their conjugates, (2 N, ...)."""
    return [np.concatenate([values, values.conj()]) for values in arrays]


@dataclass(frozen=True, eq=False)
class PairSum:
    """The value (c,) of a sum over pairs of ridges, and the sum of the sizes of its terms, which rounding goes by."""

    value: Array
    terms: Array

    @classmethod
    def of(cls, pairs: ComplexArray, left: ComplexArray, right: ComplexArray, own: ComplexArray) -> "PairSum":
        """Sum pairs_ij (left_i right_j - left_j right_i) over i != j, and own_i, the pair of one ridge with itself.

        `pairs` (M, M) changes its sign with the order, with a zero diagonal, `left` is (M,), `right` and `own` (M, c).
        """
        value = 2 * ((left @ pairs)[:, None] * right).sum(0) + own.sum(0)
        terms = 2 * ((abs(left) @ abs(pairs))[:, None] * abs(right)).sum(0) + abs(own).sum(0)
        return cls(np.asarray(value.real), np.asarray(terms))

    def __add__(self, other: "PairSum") -> "PairSum":
        """Return the sum of two such sums."""
        return PairSum(self.value + other.value, self.terms + other.terms)

    def times(self, factor: float) -> "PairSum":
        """Return a multiple by a positive number."""
        return PairSum(factor * self.value, factor * self.terms)

    def rounding(self, ridges: ComplexArray) -> float:
        """Return the rounding of a test error, relative to it; ConvergenceError where it is too large."""
        scale = np.finfo(float).eps * self.terms
        found = np.divide(scale, self.value, out=np.zeros_like(scale), where=self.value > 0)
        largest = float(np.max(found))
        if not largest <= LARGEST_ROUNDING:
            what = f"errors along training at ridges down to |L| = {abs(ridges).min():.3g}"
            raise ConvergenceError.of(what, self.value, largest, LARGEST_ROUNDING, advice=ADVICE)
        return largest

    def of_train(self) -> Array:
        """Return the value, or where it has vanished the rounding of its terms, of which the sign is lost."""
        return np.where(abs(self.value) < VANISHED * self.terms, abs(self.value), self.value)
