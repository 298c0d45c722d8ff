"""How much is fitted: training sizes and penalties."""

import numpy as np

SIZES = 6
SMALLEST = 25
FIELD_PENALTY = 0.01
PENALTY = 0.01  # times (C - 1)(L - 1): 0.2 (L - 1) for proteins


def training_sizes(n_training: int, n_sizes: int = SIZES) -> tuple[int, ...]:
    """Each half of the next, up to all training sequences, none below SMALLEST unless it is the only one."""
    halves = n_training / 2.0 ** np.arange(n_sizes)[::-1]
    return tuple(sorted({round(n) for n in halves if n >= SMALLEST} | {n_training}))


def penalties(
    n_sites: int, n_colors: int, effective_number: float, l2: float | None, field_l2: float | None
) -> tuple[float, float]:
    """(couplings, fields) for the log-likelihood per sequence.

    `l2` and `field_l2` are for its sum over the effective number of sequences, as in the programs of the field
    (CCMpred, EVcouplings): 0.01 (C - 1)(L - 1) |J_ij|^2 for each pair once, and 0.01 |h|^2.
    """
    total = PENALTY * (n_colors - 1) * (n_sites - 1) if l2 is None else l2
    by_field = FIELD_PENALTY if field_l2 is None else field_l2
    return total / effective_number, by_field / effective_number
