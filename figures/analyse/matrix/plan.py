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
MIN_BLOCKS = 2  # blocks of later rows, without which there is no error bar


@dataclass(frozen=True)
class Plan:
    """A number of splits (`repeats`) into `n_test` held-out rows and nested training sets of `sizes` rows.

    The splits are random, or, where `gap` is a number, blocks of successive rows at the end of the table, each begun
    `stride` rows after the last, with training sets that end `gap` rows before them.
    """

    n_test: int
    sizes: tuple[int, ...]
    repeats: int
    notes: tuple[str, ...] = field(default=())
    gap: int | None = None
    stride: int = 0

    def work(self, d: int, curves: int) -> float:
        """Count the floating point operations of one split of d columns, at so many ridges."""
        return sum(_work(size, d, self.n_test, curves) for size in self.sizes)


def make_plan(
    n: int,
    d: int,
    curves: int,
    *,
    test_fraction: float,
    sizes: Sequence[int] | None,
    repeats: int | None,
    gap: int | None = None,
    spare: int = 0,
) -> Plan:
    """Plan the splits of an (n, d) matrix within a budget of work.

    `sizes` and `repeats` are kept where they are given. With a `gap` the held-out rows are blocks at the end of the
    table, at least as long as the gap where there are rows enough; `spare` rows are neither fitted nor held out.
    ValueError where they do not fit n.
    """
    if repeats is not None and repeats < 2:
        raise ValueError(f"repeats must be >= 2 (one has no error bar), got {repeats}")
    held_out = min(max(1, round(checked_test_fraction(test_fraction) * n)), n - 2)
    if gap is not None:
        return _blocks(n, d, curves, max(held_out, MIN_BLOCKS), gap, sizes, repeats)
    largest = max(n - held_out - spare, 2)
    chosen = _sizes(largest, d) if sizes is None else checked_sizes(sizes, largest, "rows")
    notes: tuple[str, ...] = ()
    if held_out > TEST_ROWS:
        notes = (f"errors are measured on {TEST_ROWS} of the {held_out} held-out rows",)
    plan = Plan(min(held_out, TEST_ROWS), chosen, repeats or REPEATS, notes)
    return plan if repeats is not None else _affordable(plan, d, curves)


def _blocks(
    n: int, d: int, curves: int, held_out: int, gap: int, sizes: Sequence[int] | None, repeats: int | None
) -> Plan:
    """Plan blocks of successive held-out rows; ValueError where too few rows are left before the gap."""
    largest = n - held_out - gap
    if largest < 2:
        raise ValueError(f"gap must be at most {n - held_out - 2}, so that two rows are left to be fitted, got {gap}")
    chosen = _sizes(largest, d) if sizes is None else checked_sizes(sizes, largest, "rows before the gap")
    wanted = repeats or int(np.clip(held_out // max(gap, 1), MIN_BLOCKS, REPEATS))
    plan = Plan(held_out, chosen, min(wanted, held_out), gap=gap)
    if repeats is None:
        plan = _affordable(plan, d, curves, least=min(MIN_REPEATS, plan.repeats), what="blocks of later rows")
    stride = held_out // plan.repeats
    return replace(plan, n_test=min(stride, TEST_ROWS), stride=stride)


def _sizes(largest: int, d: int) -> tuple[int, ...]:
    """Space the sizes evenly in log n, and put one on the interpolation peak at n - 1 = d where that is within."""
    smallest = max(2, min(d // 5, largest // 10))
    grid = {round(size) for size in np.geomspace(smallest, largest, POINTS)}
    if smallest < d + 1 < largest:
        grid = {size for size in grid if abs(np.log(size / (d + 1))) > 0.1} | {d + 1, largest}
    return tuple(sorted(grid))


def _affordable(plan: Plan, d: int, curves: int, least: int = MIN_REPEATS, what: str = "random splits") -> Plan:
    repeats = int(np.clip(BUDGET / plan.work(d, curves), least, plan.repeats))
    if repeats == plan.repeats:
        return plan
    note = f"{repeats} {what} instead of {plan.repeats}, to save time"
    return replace(plan, repeats=repeats, notes=(*plan.notes, note))


def _work(n: int, d: int, n_test: int, curves: int) -> float:
    """Count floating point operations: Gram matrix, its modes, and for each curve a predictor and its residuals."""
    k = min(n, d)
    return float(n * d * k + 12 * k**3 + curves * 2 * d * d * (k + n_test))
