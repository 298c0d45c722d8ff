"""Site couplings of common graphs, as matrices J (L, L), and random color couplings."""

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from theory.core import Array, AtLeast, Count, Several, checked, checks


@checked
def ring_graph(n_sites: Annotated[int, AtLeast(3)]) -> Any:
    """Return the sparse site couplings J (L, L) of a ring of nearest neighbors, with at least three sites."""
    n = n_sites
    checks.fits_in_memory(f"a ring of {n} sites", 8 * float(n))
    step = sparse.eye_array(n, k=1) + sparse.eye_array(n, k=1 - n)
    return sparse.csr_array(step + step.T)


@checked
def torus_graph(rows: Several, columns: Several) -> Any:
    """Return the sparse site couplings of nearest neighbors on a periodic square lattice.

    A width of 2 has double bonds. Site (row, column) has the index row * columns + column.
    """
    L = float(rows) * columns
    checks.fits_in_memory(f"a torus of {L:.0f} sites", 8 * L)
    return sparse.csr_array(sparse.kronsum(_cycle("columns", columns), _cycle("rows", rows)))


@checked
def complete_graph(n_sites: Count) -> Array:
    """Return the dense site couplings J_ij = 1 for all i != j."""
    n = n_sites
    checks.fits_in_memory(f"a complete graph of {n} sites", 3 * float(n) ** 2)
    return np.ones((n, n)) - np.eye(n)


@checked
def random_graph(n_sites: Several, mean_degree: float, rng: np.random.Generator) -> Any:
    """Draw a sparse 0/1 contact map: each pair of sites independently, with probability mean_degree/(n_sites - 1).

    Time and memory are proportional to the number of contacts: their number is binomial, and given it all sets of as
    many pairs are equally probable.
    """
    n = n_sites
    if not 0 <= mean_degree <= n - 1:
        raise ValueError(f"mean_degree must lie in [0, n_sites - 1 = {n - 1}], got {mean_degree}")
    n_pairs = n * (n - 1) // 2
    if n_pairs > checks.MAX_INDEX:
        raise ValueError(f"n_sites must have at most 2^63 - 1 pairs, got {n}")
    # Beside the graph of two entries a contact stand its pair numbers, their sites, and work space of their sorting.
    checks.fits_in_memory(f"a graph of {n} sites of mean degree {mean_degree:g}", n * (1 + 8 * float(mean_degree)))
    i, j = _pairs(_distinct(n_pairs, int(rng.binomial(n_pairs, mean_degree / (n - 1))), rng))
    half = sparse.coo_array((np.ones(len(i)), (i, j)), shape=(n, n)).tocsr()
    return sparse.csr_array(half + half.T)


def _distinct(total: int, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw `count` distinct numbers below `total`, every set with the same probability, in ascending order."""
    if 2 * count > total:  # the rarer ones are drawn: those that are left out
        absent = _distinct(total, total - count, rng)
        return np.delete(np.arange(total), absent)
    found = np.zeros(0, dtype=np.int64)
    while len(found) < count:
        # The distinct ones among independent draws are a uniform set given their number, since no draw knows the value
        # of another; a uniform subset of them is one too.
        found = np.union1d(found, rng.integers(total, size=count - len(found) + count // 8 + 8))
    return np.delete(found, rng.choice(len(found), len(found) - count, replace=False))


def _pairs(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return sites i < j of pairs by their numbers j (j - 1)/2 + i."""
    j = ((1 + np.sqrt(1 + 8 * numbers.astype(float))) / 2).astype(np.int64)
    # The root of a large number is rounded, by at most one site.
    j -= numbers < j * (j - 1) // 2
    j += numbers >= j * (j + 1) // 2
    return numbers - j * (j - 1) // 2, j


@checked
def random_color_couplings(n_colors: Count, rng: np.random.Generator) -> Array:
    """Draw a symmetric U (C, C) with standard normal entries on and above the diagonal."""
    n = n_colors
    checks.fits_in_memory(f"couplings of {n} colors", 4 * float(n) ** 2)
    upper = np.triu(rng.standard_normal((n, n)))
    return np.asarray(upper + np.triu(upper, 1).T)


def _cycle(name: str, size: int) -> Any:
    n = int(checks.dimension(size, least=2, name=name))
    step = sparse.eye_array(n, k=1) + sparse.eye_array(n, k=1 - n)
    return step + step.T
