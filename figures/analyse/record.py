"""What every analysis returns."""

from dataclasses import dataclass, field

from figures.core import DataFrame, Row
from theory.core.results import Result


@dataclass(frozen=True, eq=False, repr=False)
class Analysis(Result):
    """The table of an analysis, in the form of `figures.core`, and notes for the user.

    `converged` says whether every solver and every fit on the way reached its tolerance; where one did not, its rows of
    the table or the notes name it.
    """

    rows: list[Row] = field(repr=False)
    notes: tuple[str, ...]

    def to_frame(self) -> DataFrame:
        """Return the table as a data frame, one line for each point of the figure."""
        from figures.core.table import to_frame

        return to_frame(self.rows)
