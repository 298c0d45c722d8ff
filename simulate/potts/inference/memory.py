"""Predicts the memory that a fit holds at its peak, before anything is allocated."""

import os

from simulate.potts.inference.minimize import HISTORY
from simulate.potts.inference.objective import ROW
from simulate.potts.inference.sequences import Sequences
from theory.models import checks

# Arrays of (L C)^2 doubles of a symmetric fit: parameters, gradients and tables, and pairs of differences.
SYMMETRIC = 6 + HISTORY / 2
# Arrays of (L C)^2 doubles of an asymmetric fit: its couplings and their copy in the model.
ASYMMETRIC = 2.2
# Arrays of L C ROW doubles while a group of sites is fitted.
GROUP = 12 + HISTORY


def peak_bytes(n_sites: int, n_colors: int, *, symmetric: bool, n_threads: int = 1) -> float:
    """Returns the bytes that a pseudo-likelihood fit of L sites and C colors holds beside the sequences themselves."""
    variables = float(n_sites) * n_colors
    if symmetric:
        return 8 * SYMMETRIC * variables**2
    return 8 * (ASYMMETRIC * variables**2 + GROUP * variables * max(ROW, n_colors) * n_threads)


def refuse_too_large(data: Sequences, symmetric: bool, memory_limit: float | None, n_threads: int) -> None:
    """Raises MemoryError, with the sizes and a way out, if the fit needs more than `memory_limit` bytes."""
    limit = (
        checks.positive("memory_limit", memory_limit)
        if memory_limit is not None
        else os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    )
    L, C = data.n_sites, data.n_colors
    needed = peak_bytes(L, C, symmetric=symmetric, n_threads=n_threads)
    if needed <= limit:
        return
    other = peak_bytes(L, C, symmetric=False, n_threads=n_threads)
    advice = f"; symmetric=False needs {other / 1e9:.3g} GB" if symmetric and other <= limit else ""
    raise MemoryError(
        f"pseudo-likelihood of {L} sites and {C} colors needs {needed / 1e9:.3g} GB, {limit / 1e9:.3g} GB are allowed"
        f"{advice}; fewer sites or colors, or factored_attention, need less"
    )
