"""Makes the tables of the pairs' judgment: q-values, contacts and precision, and the rows that the map draws."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from figures.analyse.sequences.pairs.contacts import Contacts
from figures.analyse.sequences.pairs.map import COLUMN, CONTACT, MAP
from figures.core import DataFrame, Row, row

if TYPE_CHECKING:
    from figures.analyse.sequences.record import SequenceAnalysis


def judged_columns(analysis: "SequenceAnalysis") -> dict[str, Any]:
    """Return the last columns of the table of pairs: limit, q-value, indices, and contacts where they are known."""
    pairs, contacts = analysis.pairs, analysis.contacts
    found: dict[str, Any] = {
        "limit": [analysis.evidence.limit] * len(pairs),
        "q_value": analysis.evidence.q_values,
        "index_i": [pair.i + 1 for pair in pairs],
        "index_j": [pair.j + 1 for pair in pairs],
    }
    if contacts is not None:
        judged = [contacts.is_judged(pair.i, pair.j) for pair in pairs]
        touching = [bool(contacts.touching[pair.i, pair.j]) for pair in pairs]
        found["contact"] = [touch if known else None for touch, known in zip(touching, judged, strict=True)]
        found["distance"] = [contacts.distances[pair.i, pair.j].round(3) for pair in pairs]
    return found


def site_frames(analysis: "SequenceAnalysis") -> dict[str, DataFrame]:
    """Return the tables of the columns of the file, and of the precision where contacts are known."""
    import pandas as pd

    found = {} if analysis.sites is None else {"sites": analysis.sites}
    if analysis.contacts is None:
        return found
    precision = analysis.precision
    ends = [one.interval for one in precision]
    columns: dict[str, list[Any]] = {
        "first": [one.of for one in precision],
        "pairs": [one.pairs for one in precision],
        "contacts": [one.contacts for one in precision],
        "precision": [one.share for one in precision],
        "low": [low for low, _ in ends],
        "high": [high for _, high in ends],
    }
    return found | {"precision": pd.DataFrame(columns)}


def numbering_rows(columns: NDArray[np.int64]) -> list[Row]:
    """Return the column of each site for the axes of the map; none where the columns are 1 to L."""
    if np.array_equal(columns, np.arange(1, len(columns) + 1)):
        return []
    return [
        row(COLUMN, k, panel=MAP, theory=float(column), reference=True)
        for k, column in enumerate(columns.tolist(), start=1)
    ]


def contact_rows(contacts: Contacts | None, separation: int) -> list[Row]:
    """Return the known contacts at least `separation` sites apart as points of the map, by the indices of sites."""
    if contacts is None:
        return []
    i, j = np.nonzero(np.triu(contacts.touching, separation))
    return [
        row(CONTACT, a + 1, panel=MAP, theory=b + 1.0, reference=True)
        for a, b in zip(i.tolist(), j.tolist(), strict=True)
    ]
