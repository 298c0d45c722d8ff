"""Makes the rows of the table: learning curves, the map, and its strongest pairs."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from figures.analyse.sequences.pairs.tables import judged_columns
from figures.analyse.sequences.record import SequenceAnalysis
from figures.analyse.sequences.reference import GAP_NUMBER
from figures.core import DataFrame, Row, row
from simulate.core import Estimate
from theory.core.arrays import Array

LEARNING, MAP, RANKED = "held-out sequences", "interaction map", "strongest pairs"
PAIR, ALONE, UNIFORM = "pair model", "sites alone", "uniform"
NOISE = "limit of noise"
SCORES = "score"  # the scores of pairs i < j in the order 12, 13, ..., 23, ...


def learning_rows(
    sizes: Sequence[int], pair: Sequence[Estimate], alone: Sequence[Estimate], n_colors: int, d: int
) -> list[Row]:
    """Return held-out losses against the number of training sequences. They have no z, since there is no theory."""
    rows = [
        row(label, n, panel=LEARNING, d=d, estimate=estimate)
        for label, estimates in ((PAIR, pair), (ALONE, alone))
        for n, estimate in zip(sizes, estimates, strict=True)
    ]
    ends, level = (sizes[0], sizes[-1]), math.log(n_colors)
    return rows + [row(UNIFORM, n, panel=LEARNING, theory=level, reference=True) for n in ends]


def map_rows(scores: Array) -> list[Row]:
    """Return the upper triangle of scores (L, L) as points one after the other, which `map_of` puts together again."""
    upper = scores[np.triu_indices(len(scores), 1)]
    return [row(SCORES, k, panel=MAP, measured=score) for k, score in enumerate(upper)]


def map_of(values: Array) -> Array:
    """Return scores (L, L) from their upper triangle."""
    L = round((1 + math.sqrt(1 + 8 * len(values))) / 2)
    scores = np.zeros((L, L))
    scores[np.triu_indices(L, 1)] = values
    return scores + scores.T


def ranked_rows(labels: Sequence[str], scores: Sequence[float], d: int) -> list[Row]:
    """Return points (rank, score) of the strongest pairs, named by their sites."""
    return [
        row(f"_{label}", rank, panel=RANKED, measured=score, d=d)
        for rank, (label, score) in enumerate(zip(labels, scores, strict=True), start=1)
    ]


def noise_rows(limit: float, n_pairs: int) -> list[Row]:
    """Return the line from the first to the last rank at the score that noise reaches; none where nothing is ranked."""
    return [row(NOISE, rank, panel=RANKED, theory=limit, reference=True) for rank in sorted({1, n_pairs}) if n_pairs]


def pairs_frame(analysis: SequenceAnalysis) -> DataFrame:
    """Return a table with one line for each ranked pair, the strongest first.

    Sites i and j are columns of the file, and beside them residues of the reference sequence where there is one, empty
    where it has a gap. `score` has the average-product correction, and `norm` is without it. Pairs of short sequences
    are ranked by their `dependence`, a further column. `above_noise` says whether the number that pairs are ranked by
    is higher than `limit`, that of permuted columns, and `q_value` is the least share of false discoveries in a list
    from the first pair to this one. Last stand the places of both sites among those analyzed, `index_i` and `index_j`,
    which are their rows in the matrices, and where contacts are known `contact`, empty for pairs of which nothing is
    known, and `distance` in angstroms.
    """
    import pandas as pd

    pairs = analysis.pairs
    columns: dict[str, Any] = {
        "rank": range(1, len(pairs) + 1),
        "i": [analysis.columns[pair.i] for pair in pairs],
        "j": [analysis.columns[pair.j] for pair in pairs],
    }
    if analysis.reference is not None:
        for name, sites in (("i", [pair.i for pair in pairs]), ("j", [pair.j for pair in pairs])):
            numbers = pd.Series(analysis.reference.numbers[sites], dtype="Int64")
            columns[f"residue_{name}"] = numbers.where(numbers != GAP_NUMBER)
            columns[f"A_{name}"] = [analysis.reference.letters[site] for site in sites]
    return pd.DataFrame(
        {
            **columns,
            "letters": [analysis.letters(pair) for pair in pairs],
            "score": [pair.score for pair in pairs],
            "norm": [pair.norm for pair in pairs],
            **({"dependence": [pair.strength for pair in pairs]} if analysis.evidence.is_short else {}),
            "above_noise": [rank < analysis.evidence.count for rank in range(len(pairs))],
            **judged_columns(analysis),
        }
    )
