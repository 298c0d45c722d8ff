"""Predicts the memory that a fit holds at its peak, before anything is allocated."""

import os

from simulate.potts.inference.descent import SINGLE_PRECISION_GRADIENT
from simulate.potts.inference.objective import ROW_NUMBERS
from simulate.potts.inference.sequences import Sequences
from simulate.potts.inference.vector_passes import HISTORY_PAIRS

# All of these count arrays of (L C)^2 doubles. A vector of all couplings, each pair once, has half as many numbers.
# While a symmetric fit evaluates there are its point, a new gradient, and the pairs in single precision, of which the
# last are the step and the old gradient; in double precision these two are vectors of their own.
MINIMIZER_VECTORS = 2
# The couplings of a fit, the copy that the model makes, and the point in single precision.
MODEL_ARRAYS = 2.25
# Arrays of L C ROW_NUMBERS doubles while the gradient of a group of sites is taken, and while such a group is fitted
# alone, in single and in double precision.
GRADIENT_ARRAYS = 6
GROUP_ARRAYS, GROUP_ARRAYS_DOUBLE = 9, 12


def peak_bytes(
    n_sites: int, n_colors: int, *, symmetric: bool, n_threads: int = 1, tol: float = SINGLE_PRECISION_GRADIENT
) -> float:
    """Return the bytes that a pseudo-likelihood fit of L sites and C colors holds beside the sequences themselves.

    Tolerances below 1e-4, the default, are reached in double precision, which takes half as much memory again.
    """
    variables = float(n_sites) * n_colors
    row, single = variables * max(ROW_NUMBERS, n_colors) * n_threads, tol >= SINGLE_PRECISION_GRADIENT
    if symmetric:
        minimization = HISTORY_PAIRS / 2 + (MINIMIZER_VECTORS / 4 if single else (MINIMIZER_VECTORS + 2) / 2)
        return 8 * (max(minimization, MODEL_ARRAYS) * variables**2 + GRADIENT_ARRAYS * row)
    return 8 * max(MODEL_ARRAYS * variables**2, variables**2 + (GROUP_ARRAYS if single else GROUP_ARRAYS_DOUBLE) * row)


def refuse_too_large(data: Sequences, symmetric: bool, memory_limit: float | None, n_threads: int, tol: float) -> None:
    """Raise MemoryError, with the sizes and a way out, if the fit needs more than `memory_limit` bytes."""
    limit = memory_limit or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    L, C = data.n_sites, data.n_colors
    needed = peak_bytes(L, C, symmetric=symmetric, n_threads=n_threads, tol=tol)
    if needed <= limit:
        return
    other = peak_bytes(L, C, symmetric=False, n_threads=n_threads, tol=tol)
    advice = f"; symmetric=False needs {other / 1e9:.3g} GB" if symmetric and other <= limit else ""
    raise MemoryError(
        f"pseudo-likelihood of {L} sites and {C} colors needs {needed / 1e9:.3g} GB, {limit / 1e9:.3g} GB are allowed"
        f"{advice}; fewer sites or colors, or factored_attention, need less"
    )
