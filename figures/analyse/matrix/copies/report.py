"""Says which rows are copies of which, and what was done about it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from figures.analyse.matrix.copies.find import CopiedRows
from figures.analyse.matrix.copies.once import CopyChoice
from figures.analyse.wording import counted, listed

if TYPE_CHECKING:
    from pandas import DataFrame

N_LISTED_ROWS = 5


def copies_said(found: CopiedRows, choice: CopyChoice, names: Sequence[str] = (), numbered: bool = True) -> list[str]:
    """Say how many rows are copies, which, and what the errors mean; nothing where none is.

    Rows are called by their `names`, where there are any, and else by their numbers from 1; `numbered` says in which
    file all of them stand.
    """
    copies = found.copies
    if not len(copies):
        return []
    rounded = int(found.rounded[copies].sum())
    how = f", {rounded} of them up to rounding" if rounded else ""
    are = "is a copy of another one" if len(copies) == 1 else "are copies of other ones"
    pairs = listed([f"{_called(k, names)} of {_called(found.of[k], names)}" for k in copies], N_LISTED_ROWS)
    rows = "" if names else ", numbers from 1 without the header"
    more = "; all are in the file that ends in _copies.csv" if numbered and len(copies) > N_LISTED_ROWS else ""
    first = f"{counted(len(copies), 'row')} {are} in every cell{how} ({pairs}{rows}{more})"
    if choice == "once":
        left = counted(int(found.kept.sum()), "row")
        return [
            f"{first}: each of these is taken once, which leaves {left}; a row whose copy is fitted would be predicted "
            "too well, and leave-one-out, generalized cross-validation and theory would take copies for further "
            "samples (--copies together keeps all rows, and holds out copies together)"
        ]
    return [
        f"{first}: copies of one row are held out together; leave-one-out and generalized cross-validation leave "
        "single rows out, and what they report is too small unless it is called corrected"
    ]


def copies_frame(found: CopiedRows, names: Sequence[str] = ()) -> "DataFrame":
    """Return a table with one line for each copy: its number from 1, the row that it repeats, and whether exactly."""
    import pandas as pd

    copies = found.copies
    frame = {"row": copies + 1, "copy_of": found.of[copies] + 1}
    if names:
        frame |= {"name": np.array(names)[copies], "name_of": np.array(names)[found.of[copies]]}
    return pd.DataFrame(frame | {"equal": np.where(found.rounded[copies], "up to rounding", "exactly")})


def _called(row: int, names: Sequence[str]) -> str:
    return repr(names[row]) if names else str(row + 1)
