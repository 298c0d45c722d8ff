"""Sequences that were read, and what was noticed on the way."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class LeftOutColumn:
    """A column of the file that is not analyzed: its place from 1, share of gaps, entropy of its letters, and why."""

    column: int
    gap_share: float
    entropy: float  # nats
    why: str


@dataclass(frozen=True, eq=False)
class Sequences:
    """Colors (M, L) of M >= 2 sequences at L >= 2 sites; `notes` are sentences for the user.

    Color a stands for `tokens[a]`; only tokens that occur have one. `columns` (L,) are the places of the sites in the
    alignment, from 1: columns of inserts and of gaps only are left out.
    """

    path: Path
    states: NDArray[np.uint8] = field(repr=False)
    tokens: tuple[str, ...]
    alphabet: str  # "protein", "RNA", "DNA", "letters", "integers" or "tokens"
    columns: NDArray[np.int64] = field(repr=False)
    notes: tuple[str, ...] = ()
    left_out: tuple[LeftOutColumn, ...] = ()  # columns with too many gaps

    @property
    def gap(self) -> int | None:
        """The color of gaps; None where there are none."""
        return self.tokens.index("-") if "-" in self.tokens else None
