"""Says what whole groups are predicted with where groups were named, also where their rows seem independent."""

from typing import TYPE_CHECKING

from figures.analyse.wording import counted

if TYPE_CHECKING:
    from figures.analyse.matrix.record import MatrixAnalysis


def groups_held_out(analysis: "MatrixAnalysis") -> list[str]:
    """Say what the error of groups is that are held out as a whole; nothing without groups, or where it is said anyway.

    The ridge is that of all rows, and 5 sets of groups are held out once each.
    """
    blocked = analysis.error_of_groups
    if blocked is None or analysis.dependent_rows is not None or analysis.row_order.groups is None:
        return []
    middle = blocked.errors[len(blocked.errors) // 2]
    groups = counted(int(analysis.row_order.groups.max()) + 1, "group")
    return [
        f"Groups are held out as a whole in all splits. With each of {groups} held out once, in 5 sets, the error of a "
        f"column is {middle} (fits to {blocked.rows:.0f} rows); the errors of single columns are those of leaving one "
        "row out, since rows of one group were not found to resemble each other."
    ]
