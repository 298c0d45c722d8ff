"""How much is fitted: training sizes and penalties."""

import numpy as np

from figures.analyse.memory import available_bytes, shortage
from simulate.potts.inference.memory import peak_bytes

SIZES = 6
MIN_FOLD_SEQUENCES = 25
TUNING_SEQUENCES = 800  # enough, since the best penalty, like a prior, hardly depends on their number
VALIDATION = 0.25  # share of the training sequences, or of the TUNING_SEQUENCES, that judges a penalty
FIELD_PENALTY = 0.01
PENALTY = 0.01  # times (C - 1)(L - 1); for proteins 0.2 (L - 1), the default of CCMpred and EVcouplings
PENALTY_MULTIPLES = (1.0, 4.0, 16.0, 64.0)  # multiples of that penalty


def training_sizes(n_training: int, n_sizes: int = SIZES) -> tuple[int, ...]:
    """Return sizes of training sets, each half of the next, up to all training sequences.

    None is below MIN_FOLD_SEQUENCES unless it is the only one.
    """
    halves = n_training / 2.0 ** np.arange(n_sizes)[::-1]
    return tuple(sorted({round(n) for n in halves if n >= MIN_FOLD_SEQUENCES} | {n_training}))


def tried_penalties(n_sites: int, n_colors: int) -> tuple[float, ...]:
    """Penalties of |J_ij|^2 from which the best is chosen, for a log-likelihood summed over sequences, ascending.

    The weakest is that of the programs that look for contacts; sequences that are not related want more.
    """
    return tuple(float(f"{factor * PENALTY * (n_colors - 1) * (n_sites - 1):.3g}") for factor in PENALTY_MULTIPLES)


def affordable_jobs(n_sites: int, n_colors: int, n_jobs: int) -> int:
    """Return how many fits at a time fit into memory, at most `n_jobs`.

    MemoryError, with both sizes, where not even one does.
    """
    needed = peak_bytes(n_sites, n_colors, symmetric=True)
    short = shortage(f"the pair model of {n_sites} sites and {n_colors} tokens", needed)
    if short is not None:
        raise MemoryError(f"{short}; take fewer columns, or merge tokens")
    return max(1, min(n_jobs, int(available_bytes() // needed)))
