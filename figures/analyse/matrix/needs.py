"""Says what the analysis of a matrix needs, memory and time, from its shape.

The memory is that of the libraries, of the matrix itself, and of the step that needs most beside it; while the splits
are measured that step is every process at once. Each step holds a few arrays of the size of the matrix, of the rows
that it uses, or of d x d numbers; how many was measured step by step, as resident memory, on tables of 200 x 30 to
100000 x 100 numbers. The time is that of its floating point operations at a speed that was measured too.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import joblib

from figures.analyse.matrix.analyse import RELATIVE_LAMS
from figures.analyse.matrix.data_quality import MAX_OPERATIONS as MOST_FOR_QUALITY
from figures.analyse.matrix.groups_column import reading_of
from figures.analyse.matrix.mask_rates import operations_of_masks
from figures.analyse.matrix.more_rows.curve import FLOPS_OF_BARS, operations_of_bars
from figures.analyse.matrix.plan import Plan, make_plan
from figures.analyse.matrix.row_scales import rows_of_test
from figures.analyse.matrix.spectrum.analyse import LEAST_COLUMNS, LEAST_ROWS, MOST_COLUMNS
from figures.analyse.memory import MOST_CELLS
from figures.analyse.needs import Needs, require_affordable
from figures.analyse.reading.matrix import TableShape, table_shape
from simulate.masked.heterogeneity import ROTATIONS
from simulate.masked.row_blocks import block_rows

NUMBER = 8  # bytes
# Memory in bytes: libraries that are loaded before a table is read, then compiled code and results, and the figures.
LIBRARIES, RESULTS, FIGURES = 165e6, 35e6, 50e6
HELPERS, WORKER = 29e6, 62e6  # two small processes beside the workers, and one worker before its first split
# Time in s, and floating point operations of one core in a second.
START, DRAWING, SPLIT = 4.0, 3.5, 0.1
SPLITS, OTHERS = 33e9, 20e9
STOPPING = 0.2  # of the splits, what the best time to stop takes beside them (.05 to .4 were measured)
PASSES = 30  # over all rows, of d operations a number: fits, and what leaves rows out
SECONDS_PER_NUMBER = 200e-9  # s for each number of the table, in all these passes, however few columns there are
ROTATED = 140e-9  # s for each number in a random rotation of the rows
PARSED = 45e6  # bytes of a table of text in a second


@dataclass(frozen=True)
class Sizes:
    """The sizes, in bytes, of the arrays in an analysis of n rows and d columns."""

    n: int
    d: int
    plan: Plan
    tested: int  # rows on which it is tested whether they differ in scale
    held: float  # the matrix as it was read and as it is analyzed, nothing where it stays in the file
    in_blocks: bool

    @property
    def rows(self) -> float:
        """A copy of the matrix; where it comes in blocks, that of one block and a few numbers for each row."""
        whole = float(NUMBER * self.n * self.d)
        return min(whole, float(NUMBER * (block_rows(self.d) * self.d + 3 * self.n))) if self.in_blocks else whole

    @property
    def square(self) -> float:
        """A matrix of d x d numbers."""
        return float(NUMBER * self.d**2)

    def before(self) -> float:
        """Return what the search for redundant columns, and the test whether rows differ in scale, hold at most."""
        quality = 2 * self.rows + 9.5 * self.square if self.n * self.d**2 <= MOST_FOR_QUALITY else 0.0
        copies = 9 if self.tested == self.n else 10  # of the rows that are tested; some of all rows are one copy more
        test = copies * float(NUMBER * self.tested * self.d) + 4 * self.square
        return max(quality, test, 3 * self.rows)

    def splitting(self) -> float:
        """Return what one process holds at most while it fits and judges training sets."""
        largest = self.plan.sizes[-1]
        training = self.rows * largest / self.n
        held_out = float(NUMBER * self.plan.n_test * self.d)
        gram = 6 if largest > self.d else 2  # the modes of a Gram matrix of rows are few
        parts = len(self.plan.sizes) if self.in_blocks else 0  # each has its moments
        return 2 * training + 3 * held_out + (gram + parts) * self.square

    def after(self) -> float:
        """Return what the spectrum of the predictor, and then the figures, hold at most."""
        if not (self.n >= LEAST_ROWS and LEAST_COLUMNS <= self.d <= MOST_COLUMNS):
            return max(3 * self.rows, FIGURES)
        return max(3 * self.rows + 14 * self.square, FIGURES + 13 * self.square)

    def memory(self, workers: int) -> float:
        """Return the most memory that all processes hold together; without `workers` the splits are done by one."""
        kept = 4 * self.square  # the covariance, and what is predicted with it
        # Workers share one copy of the matrix, and stay until the end.
        shared = HELPERS + self.held + workers * WORKER if workers else 0.0
        splits = kept + shared + max(workers, 1) * self.splitting()
        after = kept + shared + 2 * workers * self.square + self.after()
        return LIBRARIES + RESULTS + self.held + max(self.before(), splits, after)

    def seconds(self, curves: int, workers: int) -> float:
        """Return the time of all steps but reading; workers share the splits."""
        n, d = float(self.n), float(self.d)
        passes = (PASSES * n + 60 * min(n, d)) * d**2 / OTHERS + n * d * SECONDS_PER_NUMBER
        bars = operations_of_bars(self.n, self.d)
        passes += (operations_of_masks(self.n, self.d) + (bars if bars < FLOPS_OF_BARS else 0.0)) / OTHERS
        test = (ROTATIONS + 1) * self.tested * d * ROTATED
        split = (
            SPLIT
            + self.plan.work(self.d, curves) / SPLITS
            + (n * d * SECONDS_PER_NUMBER / 10 if self.in_blocks else 0.0)
        )
        return START + DRAWING + passes + test + split * (1 + STOPPING) * self.plan.repeats / max(workers, 1)


def matrix_needs(options: argparse.Namespace) -> Needs:
    """Return what an analysis with these options needs; the DataErrors are those of reading, as far as it goes."""
    shape = table_shape(options.file, reading_of(options))
    return needs_of(shape, options, joblib.effective_n_jobs(options.jobs))


def needs_of(shape: TableShape, options: argparse.Namespace, jobs: int) -> Needs:
    """Return what the analysis of a table of this shape needs, by so many processes."""
    n, d = max(shape.rows, 3), max(shape.columns, 2)  # smaller ones are refused when they are read
    curves = len(RELATIVE_LAMS) + 2 if options.lams is None else len(options.lams) + 1
    plan = make_plan(n, d, curves, test_fraction=options.test_fraction, sizes=None, repeats=options.repeats)
    in_blocks = shape.held == 0 or n * d > MOST_CELLS
    changed = shape.held if (options.standardize or options.equal_rows) and not in_blocks else 0.0  # a copy is kept
    sizes = Sizes(n, d, plan, rows_of_test(n, d), shape.held + changed, in_blocks)
    workers = 0 if jobs == 1 else min(jobs, plan.repeats)
    memory = max(LIBRARIES + shape.reading, sizes.memory(workers))
    seconds = shape.text / PARSED + sizes.seconds(curves, workers)
    processes = f"{workers} processes" if workers > 1 else "one process"
    basis = f"The file holds {shape.known}; the splits are measured by {processes}. The memory is known to about 25 %"
    return Needs(memory, seconds, f"{basis}, the time only roughly: it is that of a core with nothing else to do.")


def require_memory_for(options: argparse.Namespace) -> None:
    """Raise a DataError, with the estimate and the remedy, where the analysis needs more memory than there is."""
    shape, jobs = table_shape(options.file, reading_of(options)), joblib.effective_n_jobs(options.jobs)
    require_affordable(options.file, needs_of(shape, options, jobs), partial(remedy, shape, options, jobs))


def remedy(shape: TableShape, options: argparse.Namespace, jobs: int, available: float) -> str:
    """Advise what fits an analysis into the bytes there are: fewer rows, columns or processes, if one alone does."""

    def fits(rows: int, columns: int, processes: int = jobs) -> bool:
        part = rows * columns / (shape.rows * shape.columns)
        smaller = replace(shape, rows=rows, columns=columns, held=shape.held * part, reading=shape.reading * part)
        return needs_of(smaller, options, processes).memory <= available

    rows = _most(lambda n: fits(n, shape.columns), shape.rows)
    columns = _most(lambda d: fits(shape.rows, d), shape.columns)
    ways = [
        *([f"fewer rows (about {rows} of {shape.rows})"] if rows >= LEAST_ROWS else []),
        *([f"fewer columns with --columns (about {columns} of {shape.columns})"] if columns >= 2 else []),
        *(["one process (--jobs 1)"] if jobs != 1 and fits(shape.rows, shape.columns, 1) else []),
    ]
    return f"Take {', or '.join(ways) or 'fewer rows and also fewer columns with --columns'}"


def _most(fits: Callable[[int], bool], most: int) -> int:
    """Return the largest number below `most` that fits, rounded down to two digits; 0 where not even two do."""
    low, high = 1, max(most, 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    unit = 10 ** max(0, len(str(low)) - 2)
    return low // unit * unit if low >= 2 else 0
