"""Recognizes data for which an unpenalized fit has no finite optimum, before or after it runs away."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from simulate.potts.inference.sequences import Sequences
from theory.models.potts.batches import blocks

Conditionals = Callable[[Any], Any]  # states (M, L) -> log P(s_i = a | rest) (M, L, C)

WEAK_PENALTIES = (1e-2, 5e-4)  # two penalties, in units of the weight of one sample
# Growth of log odds: log(20) = 3 and more where some are certain, some hundredths at a finite optimum.
DIVERGING_GROWTH = 0.7
WEAK_TOL, WEAK_ITERATIONS = 1e-6, 300  # tolerance and limit of the fits with these penalties
COUNTED_COLORS = 32  # numbers counted for each site when samples are taken in blocks: a bound for usual alphabets


def require_finite_optimum(data: Sequences, l2: float, field_l2: float) -> None:
    """Raise ValueError where a penalty is zero and a color, or with l2 = 0 a pair of colors, never occurs in the data.

    The coupling of that color or pair would go to minus infinity. Data can also be separable without such a gap, where
    several sites together decide another one; `drift` finds that after the fit.
    """
    if l2 > 0 and field_l2 > 0:
        return
    zero = "l2" if l2 == 0 else "field_l2"
    missing = np.argwhere(data.frequencies() == 0)
    if len(missing):
        i, a = missing[0]
        raise ValueError(
            f"{zero} = 0 leaves no finite optimum: color {a} never occurs at site {i} (one of {len(missing)} such "
            f"cases); use {zero} > 0, or fewer colors"
        )
    if l2 == 0:
        _require_all_pairs(data)


def _require_all_pairs(data: Sequences) -> None:
    for i, j in combinations(range(data.n_sites), 2):
        missing = np.argwhere(data.pair_frequencies(i, j) == 0)
        if len(missing):
            a, b = missing[0]
            raise ValueError(
                f"l2 = 0 leaves no finite optimum: colors {a}, {b} never occur together at sites {i}, {j}; use l2 > 0"
            )


def drift(before: Conditionals, after: Conditionals, states: Any) -> float:
    """Return the largest growth of the log odds of an observed color, from a fit to another with a weaker penalty.

    Where there is a finite optimum without any penalty the growth is some hundredths at most. Where some samples can be
    predicted with certainty it is about the logarithm of the penalties' ratio. Fits without a penalty cannot tell, as
    they jump as far as rounding lets them.
    """
    growth = 0.0
    for rows in blocks(len(states), states.shape[1] * COUNTED_COLORS):
        growth = max(growth, float((_log_odds(after, states[rows]) - _log_odds(before, states[rows])).max()))
    return growth


def still_growing(growth: float) -> str:
    """Return the reason why a fit with this growth of its log odds is no minimum, or '' if it is one."""
    if growth < DIVERGING_GROWTH:
        return ""
    ratio = WEAK_PENALTIES[0] / WEAK_PENALTIES[1]
    return (
        f"log odds of the data grow by {growth:.2g} as a small l2 falls {ratio:.0f} times: with l2 = 0 "
        "colors that can be predicted with certainty leave no finite optimum; use l2 > 0"
    )


def _log_odds(conditionals: Conditionals, states: Any) -> Any:
    own = np.take_along_axis(conditionals(states), states[..., None].astype(np.intp), axis=2)[..., 0]
    return own - np.log(np.maximum(-np.expm1(own), np.finfo(float).tiny))
