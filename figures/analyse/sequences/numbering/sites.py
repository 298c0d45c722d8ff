"""Lists every column of the file: which site of the analysis it is, which residue, and if it is none, why."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.analyse.reading.sequences import LeftOutColumn, Sequences
from figures.analyse.reading.sequences.entries import EXTRA, REFERENCE
from figures.analyse.reading.sequences.formats import format_of
from figures.analyse.reading.sequences.letters import Convention
from figures.analyse.reading.sequences.records import records
from figures.analyse.reading.sequences.tokens import n_columns
from figures.analyse.reading.text_file import text_file
from figures.analyse.sequences.independent_sites import varying_sites
from figures.analyse.sequences.pairs.gaps import entropy
from figures.analyse.sequences.reference import GAP_NUMBER, Reference
from figures.core import DataFrame
from theory.core.arrays import Array

GAPS = np.frombuffer(b"-._~", np.uint8)
ANALYZED, CONSTANT = "analyzed", "the same in all sequences: predicted alone, in no pair"
ONLY_GAPS, INSERTS, NOT_CHOSEN = "gaps only", "inserts, by the reference line #=GC RF", "not chosen (--columns)"


def sites_frame(
    sequences: Sequences, weights: Array, commonest: NDArray[np.int64], reference: Reference | None
) -> DataFrame:
    """Return a table with one line for each column of the file, in its order.

    `index` is the place of the site among those analyzed, from 1, which is also the row of the matrices, and `column`
    its place in the file; `residue` and `letter` are those of the reference sequence, or without one there is no
    residue, and the letter is the commonest one by weight. `gap_share` is the share of the sequences that have a gap,
    each counted once; `entropy` (nats) is that of the letters without gaps, of sequences weighted by `weights` (M,).
    `status` says whether the column is analyzed, or why it is not; what is not known of it is empty.
    """
    import pandas as pd

    total, inserts = _columns_of_file(sequences)
    site = {int(column): k for k, column in enumerate(sequences.columns)}
    out = {one.column: one for one in sequences.left_out}
    varying = varying_sites(sequences.states)
    rows = list[dict[str, Any]]()
    for column in range(1, total + 1):
        k = site.get(column)
        if k is None:
            rows.append(_left_out(column, out.get(column), inserts))
            continue
        number = GAP_NUMBER if reference is None else int(reference.numbers[k])
        gaps = sequences.states[:, k] == (-1 if sequences.gap is None else sequences.gap)
        rows.append(
            {
                "index": k + 1,
                "column": column,
                "residue": None if number == GAP_NUMBER else number,
                "letter": sequences.tokens[commonest[k]] if reference is None else reference.letters[k],
                "gap_share": gaps.mean(),
                "entropy": entropy(sequences.states[:, k], gaps, weights),
                "status": ANALYZED if varying[k] else CONSTANT,
            }
        )
    frame = pd.DataFrame(rows)
    return frame.astype({"index": "Int64", "residue": "Int64"})


def _left_out(column: int, known: LeftOutColumn | None, inserts: dict[int, float] | None) -> dict[str, Any]:
    line: dict[str, Any] = {"index": None, "column": column, "residue": None, "letter": None}
    if known is not None:
        return line | {"gap_share": known.gap_share, "entropy": known.entropy, "status": known.why}
    if inserts is None:
        return line | {"gap_share": None, "entropy": None, "status": NOT_CHOSEN}
    if column in inserts:
        return line | {"gap_share": inserts[column], "entropy": None, "status": INSERTS}
    return line | {"gap_share": 1.0, "entropy": None, "status": ONLY_GAPS}


def _columns_of_file(sequences: Sequences) -> tuple[int, dict[int, float] | None]:
    """Return how many columns the file has, and the shares of gaps of those that its reference line calls inserts.

    None in their place for tables, where the user chooses columns.
    """
    file = text_file(sequences.path)
    form = format_of(file)
    if form == "table":
        return n_columns(file), None
    with records(file, form) as found:
        if form != "stockholm":
            convention = Convention(inserts=form == "a2m", custom=_custom(sequences))
            rows = (entry for entry in found.entries if entry.letters and entry.name not in EXTRA)
            return max(len(convention.sites(next(rows).letters)), int(sequences.columns[-1])), {}
        entries = list(found.entries)
    marks = next((entry.letters for entry in entries if entry.name == REFERENCE), "")
    letters = [entry.letters.encode("latin-1", "replace") for entry in entries if entry.name != REFERENCE]
    at = [k for k, mark in enumerate(marks) if chr(ord(mark)) in ".-~"]
    gaps = np.isin(np.frombuffer(b"".join(letters), np.uint8).reshape(len(letters), -1), GAPS)
    return gaps.shape[1], {k + 1: float(gaps[:, k].mean()) for k in at}


def _custom(sequences: Sequences) -> bytes | None:
    """Return the letters of an alphabet of the user's own, which may be small ones; None for a known alphabet."""
    if sequences.alphabet != "letters":
        return None
    return "".join(token for token in sequences.tokens if token != "-").encode("latin-1", "replace")
