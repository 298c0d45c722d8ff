"""Where two conventions for the ridge meet.

Per sample, as in `MaskedRidge`: (1/n) |y - X w|^2 + lam |w|^2. Per unknown, as in replica calculations:
(1/2) |y - X w|^2 + (L u/2) |w|^2 with u unknowns. Both have the same minimum if L u = n lam. With n = alpha d samples
the unknowns are the d - 1 other coordinates: u = d in the limit d -> infinity, where L = alpha lam.
"""

import math

from theory.models import checks


def ridge_per_unknown(lam: float, alpha: float, d: float = math.inf) -> float:
    """L = n lam/(d - 1) of a ridge `lam` per sample at n = alpha d; a finite d counts the d - 1 unknowns exactly."""
    return samples_per_unknown(alpha, d) * checks.non_negative("lam", lam)


def ridge_per_sample(L: float, alpha: float, d: float = math.inf) -> float:
    """lam = (d - 1) L/n of a ridge `L` per unknown at n = alpha d, the inverse of `ridge_per_unknown`."""
    return checks.non_negative("L", L) / samples_per_unknown(alpha, d)


def samples_per_unknown(alpha: float, d: float = math.inf) -> float:
    """n/(d - 1) at n = alpha d, alpha at d = infinity. ValueError for d < 2: one coordinate has no unknowns."""
    alpha, d = checks.positive("alpha", alpha), checks.dimension(d, infinite=True, least=2)
    return alpha * d / (d - 1) if math.isfinite(d) else alpha
