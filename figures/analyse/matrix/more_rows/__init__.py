"""The error that more rows would have: the learning curve beyond the rows of a table, and its limit."""

from figures.analyse.matrix.more_rows.rows_needed import RowsNeeded, rows_needed

__all__ = ["RowsNeeded", "rows_needed"]
