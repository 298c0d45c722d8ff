"""Leaves out sequences and columns that are mostly gaps, and says which ones a user of other programs would miss."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from figures.analyse.errors import OptionError
from figures.analyse.reading.sequences import LeftOutColumn, Sequences
from figures.analyse.wording import counted, listed

# EVcouplings' defaults minimum_sequence_coverage: 50 and minimum_column_coverage: 70, as shares of gaps.
FIELD_SEQUENCE, FIELD_COLUMN = 0.5, 0.3
N_LISTED_COLUMNS = 8


def without_gaps(sequences: Sequences, in_sequence: float | None, in_column: float | None) -> Sequences:
    """Return the sequences with at most `in_sequence` gaps, and of these the columns with at most `in_column`.

    Both are shares; with None nothing is left out, and a note says how much the defaults of EVcouplings would leave
    out. The columns left out are listed in `left_out`. OptionError where fewer than two sequences or columns remain.
    """
    gaps = _gaps(sequences)
    notes = list(sequences.notes)
    states, columns, out = sequences.states, sequences.columns, list(sequences.left_out)
    if in_sequence is not None:
        kept = gaps.mean(axis=1) <= in_sequence
        _require_enough(int(kept.sum()), "sequence", in_sequence)
        if not kept.all():
            notes.append(
                f"{counted(int((~kept).sum()), 'sequence')} with gaps in more than {100 * in_sequence:g} % of the "
                "columns left out (--max-gaps-sequence)"
            )
        states, gaps = states[kept], gaps[kept]
    if in_column is not None:
        shares = gaps.mean(axis=0)
        kept = shares <= in_column
        _require_enough(int(kept.sum()), "column", in_column)
        if not kept.all():
            why = f"gaps in more than {100 * in_column:g} % of the sequences (--max-gaps-column)"
            notes.append(f"{counted(int((~kept).sum()), 'column')} with {why} left out: {_listed(columns[~kept])}")
            out += [
                LeftOutColumn(int(columns[k]), float(shares[k]), entropy(states[:, k], gaps[:, k]), why)
                for k in np.flatnonzero(~kept)
            ]
        states, columns = states[:, kept], columns[kept]
    notes += _advice(sequences, in_sequence, in_column)
    states, tokens = _colors(states, sequences.tokens)
    return replace(sequences, states=states, tokens=tokens, columns=columns, notes=tuple(notes), left_out=tuple(out))


def entropy(column: NDArray[np.uint8], gaps: NDArray[np.bool_], weights: NDArray[np.float64] | None = None) -> float:
    """Return -sum p log p of the letters of a column (M,) in nats, gaps left out; nan where all are gaps."""
    there = ~gaps
    if not there.any():
        return float("nan")
    counts = np.bincount(column[there], None if weights is None else weights[there])
    p = counts[counts > 0] / counts.sum()
    return float(abs(p @ np.log(p)))


def _gaps(sequences: Sequences) -> NDArray[np.bool_]:
    gap = sequences.gap
    return np.zeros(sequences.states.shape, bool) if gap is None else sequences.states == gap


def _require_enough(left: int, noun: str, share: float) -> None:
    if left < 2:
        raise OptionError(
            f"--max-gaps-{noun} {share:g} leaves {counted(left, noun) if left else f'no {noun}'}; at least two are "
            "needed: allow more gaps"
        )


def _advice(sequences: Sequences, in_sequence: float | None, in_column: float | None) -> list[str]:
    """Say how much the usual filters would leave out, where they would and the user has not chosen one."""
    gaps = _gaps(sequences)
    if in_sequence is not None or in_column is not None:
        return []
    rows, columns = (gaps.mean(axis=1) > FIELD_SEQUENCE).sum(), (gaps.mean(axis=0) > FIELD_COLUMN).sum()
    if not rows and not columns:
        return []
    return [
        f"all are analyzed; EVcouplings would leave out {counted(int(rows), 'sequence')} with gaps in more than "
        f"{100 * FIELD_SEQUENCE:g} % of the columns, and {counted(int(columns), 'column')} with gaps in more than "
        f"{100 * FIELD_COLUMN:g} % of the sequences (here --max-gaps-sequence {FIELD_SEQUENCE:g} --max-gaps-column "
        f"{FIELD_COLUMN:g} do so)"
    ]


def _colors(states: NDArray[np.uint8], tokens: tuple[str, ...]) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
    """Return the states with the colors that still occur, numbered from 0 again, and their tokens."""
    there = np.bincount(states.reshape(-1), minlength=len(tokens)) > 0
    table = (np.cumsum(there) - 1).astype(np.uint8)
    return np.ascontiguousarray(table[states]), tuple(token for token, kept in zip(tokens, there, strict=True) if kept)


def _listed(columns: NDArray[np.int64]) -> str:
    return listed(columns.tolist(), N_LISTED_COLUMNS)
