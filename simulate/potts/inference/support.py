"""Data without a finite optimum, found before the fit runs away."""

from itertools import combinations

import numpy as np

from simulate.potts.inference.sequences import Sequences


def require_finite_optimum(data: Sequences, l2: float, field_l2: float) -> None:
    """ValueError where a penalty is zero and a color, or with l2 = 0 a pair of colors, has no weight in the data.

    Its coupling would go to minus infinity. Sites that a majority of others decides are separable too, without any such
    gap: they are not found here, and come out with couplings that grow as the tolerance falls.
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
