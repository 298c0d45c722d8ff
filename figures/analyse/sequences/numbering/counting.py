"""Numbers residues one after the other, and says where the name of a sequence promises another number of them."""

import numpy as np
from numpy.typing import NDArray

from figures.analyse.wording import counted

GAP_NUMBER = 0  # stands for the number of a residue where the sequence has a gap
CURE = "--reference-sequence FILE numbers by the full sequence, --first-residue N from another first number"


def counted_residues(
    name: str, n_residues: int, ends: tuple[int, int] | None, first: int | None
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the numbers (n,) of the residues of a row, and notes.

    They are counted from `first`, or as the `ends` say that the name has, as in NAME/5-165, or from 1. Where the range
    of the name has another length than the row, letters are missing, or too many, at places that nothing tells: the
    numbers behind them are off. A name that counts downward, as that of the other strand of a genome, is followed.
    """
    if first is not None or ends is None:
        start, step = first or 1, 1
    else:
        start, step = ends[0], 1 if ends[0] <= ends[1] else -1
    numbers = start + step * np.arange(n_residues)
    notes = list[str]()
    if ends is not None:
        promised = abs(ends[1] - ends[0]) + 1
        if first is None and (step < 0 or not numbers.size or numbers.min() < 1):
            if numbers.size and numbers.min() < 1:
                step, numbers = 1, 1 + np.arange(n_residues)
                notes.append(
                    f"the range {ends[0]}-{ends[1]} in the name {name} would give residues numbers below 1: they are "
                    f"counted from 1 ({CURE})"
                )
            else:
                notes.append(
                    f"residues of {name} are numbered downward from {ends[0]}, as its name says (the other strand); "
                    "--first-residue 1 counts upward"
                )
        if promised != n_residues:
            off = abs(promised - n_residues)
            which = f"one by one from {numbers[0]}" if n_residues else "from its first letter"
            behind = "missing" if promised > n_residues else "surplus"
            notes.append(
                f"the name {name} promises {counted(promised, 'residue')} ({ends[0]}-{ends[1]}), but the record has "
                f"{counted(n_residues, 'letter')}: residues are counted {which}, so that numbers behind {behind} "
                f"letters are off by up to {off} ({CURE})"
            )
    return numbers.astype(np.int64), tuple(notes)
