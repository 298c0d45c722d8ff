"""What the analysis of rows that depend on each other found."""

from dataclasses import dataclass, field

from figures.analyse.matrix.dependent.row_order import RowOrder
from simulate.core import Estimate
from theory.core.arrays import Array

CORRECTED = "corrected GCV"


@dataclass(frozen=True, eq=False)
class BlockedErrors:
    """Errors (n_lams,) on blocks, or sets of groups, each held out once, of fits to the rows far from them.

    The standard errors are over the blocks. `rows` is the number of rows that are fitted, on average.
    """

    lams: Array
    errors: tuple[Estimate, ...]
    rows: float


@dataclass(frozen=True, eq=False)
class DependentRows:
    """What changes where rows depend on each other: what is reported, what is right, and where neither helps.

    All errors are means over the columns at the ridge that is chosen, `corrected` and `gcv` for a row far from all rows
    of the table and as generalized cross-validation has it.
    """

    order: RowOrder
    columns: Array = field(repr=False)  # (d,), the corrected error of each
    gcv: float
    loo: Estimate
    corrected: float
    blocked: BlockedErrors
    at_best: float  # the corrected error at the ridge that is chosen, as the theory interpolates it
    at_gcv: float  # the corrected error at the ridge that GCV would choose
    effective_rows: float  # independent rows that would leave as much noise in the regressions
    effective_rows_of_mean: float  # and in the mean
    corrected_error: Array = field(repr=False)  # (repeats, n_sizes, n_lams + 1), of the fitted rows of each split
    unlike_ratio: Estimate | None  # leave-one-out over GCV where that is above 1, so that rows differ in scale too
    later_worse: bool  # later blocks are predicted worse than any estimate from the rows before says
    drift: bool  # so they are, or the table is too short to tell a drift from a slow change
    too_large: bool  # held-out blocks are predicted better than the corrected error says
    shifted: bool  # most columns repeat a neighboring column one row later
    few: bool  # too few numbers to know the dependence
    fits_later: Estimate  # held-out error of later blocks over the corrected one of the rows that predict them

    @property
    def blocked_error(self) -> Estimate:
        """The error of the blocks at the ridge that is chosen, the one in the middle."""
        return self.blocked.errors[len(self.blocked.errors) // 2]
