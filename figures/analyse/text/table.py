"""Makes the rows of the figure's table, and the whole table of contrasts."""

import math
from collections.abc import Sequence
from typing import Any

from figures.analyse.text.record import EMBEDDING, RANDOM, RULES, VALUES, Comparison, TextAnalysis
from figures.core import DataFrame, Row, row
from simulate.core import Estimate

COSINE, DIFFERENCE, NULL = "cosine", "difference of cosines", "against permuted topics"
PERMUTED = "permuted topics"


def contrast_rows(comparisons: Sequence[Comparison]) -> list[Row]:
    """Return means and differences, with errors from deleting words, and z. Nothing is predicted here."""
    return [*_cosines(comparisons), *_differences(comparisons), *_scores(comparisons)]


def contrast_frame(comparisons: Sequence[Comparison]) -> DataFrame:
    """Return a table of everything that was measured, one line for each source, rule and threshold.

    A single pair has no standard error: NaN.
    """
    import pandas as pd

    return pd.DataFrame(
        {
            "measured": one.source,
            "rule": RULES[one.overlap],
            "threshold": one.threshold,
            "words": one.contrast.n_words,
            "same_pairs": one.contrast.n_same,
            "different_pairs": one.contrast.n_different,
            "same": one.contrast.same.mean,
            "same_stderr": one.contrast.same.stderr or math.nan,
            "different": one.contrast.different.mean,
            "different_stderr": one.contrast.different.stderr or math.nan,
            "difference": one.contrast.difference.mean,
            "difference_stderr": one.contrast.difference.stderr or math.nan,
            "ratio": one.contrast.ratio,
            "permuted_mean": one.contrast.null_mean,
            "permuted_sd": one.contrast.null_sd,
            "z": one.contrast.z,
        }
        for one in comparisons
    )


def topics_frame(analysis: TextAnalysis) -> DataFrame:
    """Return a table with one line for each topic: its mean share of a document, and its most probable words.

    The column `distance` says how far it is from its partner in another sampling, 0 for the same and 1 for no common
    word (see `simulate.topics.LdaFit`).
    """
    import pandas as pd

    return pd.DataFrame(
        {
            "topic": range(1, len(analysis.topics) + 1),
            "share": analysis.shares,
            "distance": analysis.distances,
            "words": [" ".join(words) for words in analysis.topics],
        }
    )


def _cosines(comparisons: Sequence[Comparison]) -> list[Row]:
    own = [one for one in comparisons if one.source == EMBEDDING]
    return [
        _point(f"{kind}, {RULES[one.overlap]}", one, COSINE, estimate)
        for kind in ("same topic", "different topic")
        for one in own
        for estimate in [one.contrast.same if kind == "same topic" else one.contrast.different]
    ]


def _differences(comparisons: Sequence[Comparison]) -> list[Row]:
    own = [one for one in comparisons if one.source == EMBEDDING]
    random = [one for one in comparisons if one.source == RANDOM and not one.overlap]
    permuted = [
        (one, Estimate(one.contrast.null_mean, one.contrast.null_sd, one.contrast.permutations))
        for one in own
        if not one.overlap
    ]
    return [
        *(_point(RULES[one.overlap], one, DIFFERENCE, one.contrast.difference) for one in own),
        *(_point(RANDOM, one, DIFFERENCE, one.contrast.difference) for one in random),
        *(_point(PERMUTED, one, DIFFERENCE, estimate) for one, estimate in permuted),
    ]


def _scores(comparisons: Sequence[Comparison]) -> list[Row]:
    return [
        row(_named(one), one.threshold, panel=NULL, measured=one.contrast.z, d=one.contrast.n_words)
        for source in (EMBEDDING, VALUES, RANDOM)
        for one in comparisons
        if one.source == source and not (source == RANDOM and one.overlap) and math.isfinite(one.contrast.z)
    ]


def _named(one: Comparison) -> str:
    return one.source if one.source == RANDOM else f"{one.source}, {RULES[one.overlap]}"


def _point(curve: str, one: Comparison, panel: str, estimate: Estimate) -> Row:
    known: dict[str, Any] = {"estimate": estimate, "judged": False} if estimate.stderr else {"measured": estimate.mean}
    return row(curve, one.threshold, panel=panel, d=one.contrast.n_words, **known)
