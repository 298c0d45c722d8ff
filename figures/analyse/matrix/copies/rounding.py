"""Which rows repeat another one up to rounding: to a number of decimals, or to a number of significant digits."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from theory.core.arrays import Array

DECIMALS, DIGITS = range(8, -1, -1), range(9, 1, -1)  # finer rounding first
MIN_COLUMNS = 3  # fewer agree by chance
SEARCHED_COLUMNS = 6  # in which near rows are looked for before all cells are compared
MOST_NEAR = 20  # rows near one, beyond which the rounding is too coarse to tell rows from each other
CHANCE_SHARE = 0.1
SLACK = 1 + 1e-6  # of half a unit, which a number between two others is away from both
WHOLE = 1e-9  # relative distance from a whole number that is rounding
MAX_RATIO = 1e15  # of a number over its last digit: all that double precision has


def rounded_copies(X: Array, rows: NDArray[np.int64], parts: Sequence[NDArray[np.int64]]) -> dict[int, int]:
    """Return those of the `rows` of X (n, d), all of them different, that are another one rounded, with that one.

    A row counts as rounded where all its cells have at most so many decimals (or digits), and it repeats a row that has
    more where no cell differs by more than half a unit of the last of these. There must be one such row only, and
    hardly any that fits in the columns of one of the `parts` and not in all.
    """
    found: dict[int, int] = {}
    if X.shape[1] < MIN_COLUMNS:
        return found
    units = [*(partial(_of_decimals, k) for k in DECIMALS), *(partial(_of_digits, k) for k in DIGITS)]
    for unit in units:
        left = rows[~np.isin(rows, list(found))] if found else rows
        found |= _at(X, left, unit, parts)
    return found


def _of_decimals(count: int, X: Array) -> Array:
    return np.full(X.shape, 10.0**-count)


def _of_digits(count: int, X: Array) -> Array:
    size = np.where(X == 0, 1.0, abs(X))
    return np.asarray(10.0 ** (np.floor(np.log10(size) + 1e-12) - count + 1))


def _at(
    X: Array, rows: NDArray[np.int64], unit: Callable[[Array], Array], parts: Sequence[NDArray[np.int64]]
) -> dict[int, int]:
    own = X[rows]
    with np.errstate(over="ignore"):
        ratio = own / unit(own)
    # A number of more digits than double precision has is no rounded one.
    coarse = ((abs(ratio - np.rint(ratio)) <= WHOLE * np.maximum(abs(ratio), 1)) & (abs(ratio) < MAX_RATIO)).all(axis=1)
    few, many = rows[coarse], rows[~coarse]
    if not len(few) or not len(many):
        return {}
    chance, pairs = 0, None
    for part in parts:
        near = _near(X, few, many, unit, part)
        if near is None:
            return {}
        fits = (abs(X[few[near[:, 0]]] - X[many[near[:, 1]]]) <= _half(X[few[near[:, 0]]], unit)).all(axis=1)
        chance, pairs = max(chance, int((~fits).sum())), near[fits]
    if pairs is None or not len(pairs):
        return {}
    one = np.bincount(pairs[:, 0], minlength=len(few)) == 1  # a row that fits two others says nothing
    chance += int((~one[pairs[:, 0]]).sum())
    good = pairs[one[pairs[:, 0]]]
    if chance > CHANCE_SHARE * len(good):
        return {}
    return {int(few[i]): int(many[j]) for i, j in good}


def _half(X: Array, unit: Callable[[Array], Array]) -> Array:
    return np.asarray(unit(X) / 2 * SLACK)


def _near(
    X: Array, few: NDArray[np.int64], many: NDArray[np.int64], unit: Callable[[Array], Array], part: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """Return pairs (k, 2) of the `few` and the `many` rows that fit in the columns `part`; None where any has many.

    In units of the widest tolerance of each column a search in some of the columns misses none.
    """
    widest = _half(X[few], unit).max(axis=0)
    spread = X.std(axis=0)
    # The columns that tell most rows apart.
    some = part[np.argsort(widest[part] / np.maximum(spread[part], 1e-300), kind="stable")][:SEARCHED_COLUMNS]
    tree = cKDTree(X[np.ix_(many, some)] / widest[some])
    points = X[np.ix_(few, some)] / widest[some]
    if (tree.query_ball_point(points, 1.0, p=np.inf, return_length=True) > MOST_NEAR).any():
        return None
    lists = tree.query_ball_point(points, 1.0, p=np.inf)
    pairs = np.array([(i, j) for i, near in enumerate(lists) for j in near], dtype=np.int64).reshape(-1, 2)
    given = X[np.ix_(few[pairs[:, 0]], part)]
    close = abs(given - X[np.ix_(many[pairs[:, 1]], part)]) <= _half(X[few[pairs[:, 0]]], unit)[:, part]
    return np.asarray(pairs[close.all(axis=1)])
