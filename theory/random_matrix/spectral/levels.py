"""The values that the share of eigenvalues below a gap can have: sums of weights, less alpha times one of scales.

The share N below nu has a closed form (`share_below`), which in a gap is the total weight of the modes with
h sigma + offset < nu, less alpha times the probability of the scales tau with 1 + tau delta < 0; for rows that are
alike the latter is alpha where h < 0 and nothing else. Since N increases through every bulk, at most one gap lies on
each of these levels, and where N passes none there is no gap.
"""

import numpy as np

from theory.core.arrays import Array
from theory.random_matrix.spectral.ensemble import Ensemble

LEVEL_TOLERANCE = 3e-14  # levels and shares that agree to this are equal
MAX_LEVELS = 200_000  # levels beyond which they exclude too little to be worth their memory
MAX_WEIGHT_UNITS = 20_000  # units of weight that are tried


def gap_levels(ensemble: Ensemble, weights: Array, null: float) -> Array | None:
    """List all levels that a gap can lie on, ascending; None where there are too many.

    `weights` (r,) are those of the modes with variance, `null` the share of the others as far as it is counted.
    """
    unit = float(weights.min())
    counts = np.round(weights / unit)
    if not (np.all(abs(weights / unit - counts) < 1e-9) and counts.sum() < MAX_WEIGHT_UNITS):
        return None
    total = float(weights.sum()) + null
    sums = np.arange(np.round(total / unit) + 1) * unit
    rows = ensemble.rows
    # Scales with 1 + tau delta < 0 are the largest ones.
    p = rows.probabilities[np.argsort(-rows.nodes)]
    taken = np.concatenate([[0.0], np.cumsum(p[p > 0])]) * ensemble.alpha
    taken = taken[taken < total + LEVEL_TOLERANCE]
    if len(sums) * len(taken) > MAX_LEVELS:
        return None
    levels = np.unique((sums[:, None] - taken).ravel())
    levels = levels[(levels > -LEVEL_TOLERANCE) & (levels < total + LEVEL_TOLERANCE)]
    new = np.ones(len(levels), bool)
    new[1:] = np.diff(levels) > LEVEL_TOLERANCE
    return np.asarray(levels[new])
