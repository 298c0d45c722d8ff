"""How much is measured: training sizes, held-out rows, repeats, within a budget of work."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from figures.analyse.splits import checked_sizes, checked_test_fraction

# The theory is a limit of many rows. What n rows leave out is of relative order 1/n, and they know the variance of a
# single column to sqrt(2/n): at ten rows 10 % and 45 %. Below, a number would only look like a prediction.
MIN_ROWS = 10
REPEATS = 20
MIN_REPEATS = 4
POINTS = 14
TEST_ROWS = 4000  # more rows would not make the error bars visibly smaller
BUDGET = 2e12  # floating point operations: about two minutes on one core


@dataclass(frozen=True)
class Plan:
    """A number of random splits (`repeats`) into `n_test` held-out rows and nested training sets of `sizes` rows."""

    n_test: int
    sizes: tuple[int, ...]
    repeats: int
    notes: tuple[str, ...] = field(default=())

    def work(self, d: int, curves: int) -> float:
        """Count the floating point operations of one split of d columns, at so many ridges."""
        return sum(_work(size, d, self.n_test, curves) for size in self.sizes)


def make_plan(
    n: int, d: int, curves: int, *, test_fraction: float, sizes: Sequence[int] | None, repeats: int | None
) -> Plan:
    """Plan the splits of an (n, d) matrix within a budget of work.

    `sizes` and `repeats` are kept where they are given. ValueError where they do not fit n.
    """
    if repeats is not None and repeats < 2:
        raise ValueError(f"repeats must be >= 2 (one has no error bar), got {repeats}")
    held_out = min(max(1, round(checked_test_fraction(test_fraction) * n)), n - 2)
    largest = n - held_out
    chosen = _sizes(largest, d) if sizes is None else checked_sizes(sizes, largest, "rows")
    notes: tuple[str, ...] = ()
    if held_out > TEST_ROWS:
        notes = (f"errors are measured on {TEST_ROWS} of the {held_out} held-out rows",)
    plan = Plan(min(held_out, TEST_ROWS), chosen, repeats or REPEATS, notes)
    return plan if repeats is not None else _affordable(plan, d, curves)


def _sizes(largest: int, d: int) -> tuple[int, ...]:
    """Space the sizes evenly in log n, and put one on the interpolation peak at n - 1 = d where that is within."""
    smallest = max(2, min(d // 5, largest // 10))
    grid = {round(size) for size in np.geomspace(smallest, largest, POINTS)}
    if smallest < d + 1 < largest:
        grid = {size for size in grid if abs(np.log(size / (d + 1))) > 0.1} | {d + 1, largest}
    return tuple(sorted(grid))


def _affordable(plan: Plan, d: int, curves: int) -> Plan:
    repeats = int(np.clip(BUDGET / plan.work(d, curves), MIN_REPEATS, plan.repeats))
    if repeats == plan.repeats:
        return plan
    note = f"{repeats} random splits instead of {plan.repeats}, to save time"
    return replace(plan, repeats=repeats, notes=(*plan.notes, note))


def _work(n: int, d: int, n_test: int, curves: int) -> float:
    """Count floating point operations: Gram matrix, its modes, and for each curve a predictor and its residuals."""
    k = min(n, d)
    return float(n * d * k + 12 * k**3 + curves * 2 * d * d * (k + n_test))
