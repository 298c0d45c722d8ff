"""Draws holes into a table."""

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from simulate.masked.checks import data_matrix
from theory.core import Array, checked, checks
from theory.models import Dropout


@checked
def with_holes(X: Any, missing_rates: Any, rng: Generator) -> tuple[Array, NDArray[np.bool_]]:
    """Return a copy of X (n, d) with NaN in the place of holes, and the truth values `seen` (n, d).

    Entry j of a row is missing with the probability `missing_rates`, one number in [0, 1) or one for each column,
    independently of everything else. With a `Dropout` every row is seen up to a random column and not beyond it.
    ValueError for other rates, and for an X that is no finite matrix.

    >>> holed, seen = with_holes(np.ones((1000, 3)), [0.0, 0.2, 0.5], np.random.default_rng(0))
    >>> seen.mean(axis=0).round(1), int(np.isnan(holed).sum()) == int((~seen).sum())
    (array([1. , 0.8, 0.5]), True)
    """
    data = data_matrix("X", X)
    n, d = data.shape
    if isinstance(missing_rates, Dropout):
        if missing_rates.d != d:
            raise ValueError(f"missing_rates must be of d = {d} columns as X, got d = {missing_rates.d}")
        seen = rng.random((n, 1)) < missing_rates.fractions_seen
    else:
        rates = checks.real_array("missing_rates", missing_rates)
        if rates.shape not in ((), (d,)):
            raise ValueError(f"missing_rates must be one number, or one for each of d = {d}, got shape {rates.shape}")
        if not ((rates >= 0) & (rates < 1)).all():
            raise ValueError(f"missing_rates must lie in [0, 1), got {checks.shown(missing_rates)}")
        seen = rng.random((n, d)) >= rates
    data[~seen] = np.nan
    return data, seen
