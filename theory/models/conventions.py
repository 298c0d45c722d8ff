"""The two conventions for the ridge, and how one is converted into the other.

In the records of the subject `masked` the ridge lam is one per sample: (1/n) sum_i (y_i - a.x_i)^2 + lam |a|^2 is
minimized. In the records of the subject `glm`, as in replica calculations, the ridge L is one per unknown: sum_i
loss(y_i, w.x_i/sqrt(u)) + (L/2) |w|^2 is minimized, with u unknowns and the square loss (y - h)^2/2. With w = sqrt(u) a
both have the same minimum if L u = n lam. With n = alpha d samples the unknowns of masked regression are the d - 1
other coordinates, so that L = alpha lam in the limit d -> infinity. `record.ridge_per_unknown` is L, computed with the
record's own number of unknowns.
"""

import math
from typing import Annotated

from theory.core import Within, checks

SMALLEST_RATIO, LARGEST_RATIO = 1e-300, 1e300  # beyond these, products with alpha leave the floating-point numbers

RATIOS = Within(SMALLEST_RATIO, LARGEST_RATIO, closed=(True, True))
SampleRatio = Annotated[float, RATIOS]


def ridge_per_unknown(lam: float, alpha: float, d: float = math.inf) -> float:
    """Convert a ridge `lam` per sample at n = alpha d into L = n lam/(d - 1), the ridge in the records of `glm`.

    A finite d counts the d - 1 unknowns of masked regression exactly. ValueError for d < 2.

    >>> ridge_per_unknown(0.1, alpha=2.0)
    0.2
    """
    return samples_per_unknown(alpha, d) * checks.non_negative("lam", lam)


def ridge_per_sample(L: float, alpha: float, d: float = math.inf) -> float:
    """Convert a ridge `L` per unknown at n = alpha d into lam = (d - 1) L/n, the ridge in the records of `masked`.

    It is the inverse of `ridge_per_unknown`.

    >>> ridge_per_sample(0.2, alpha=2.0)
    0.1
    """
    return checks.non_negative("L", L) / samples_per_unknown(alpha, d)


def samples_per_unknown(alpha: float, d: float = math.inf) -> float:
    """Return n/(d - 1) at n = alpha d, and alpha at d = infinity; ValueError for d < 2, which leaves no unknowns."""
    alpha, d = checks.positive("alpha", alpha), checks.dimension(d, infinite=True, least=2)
    return alpha * d / (d - 1) if math.isfinite(d) else alpha
