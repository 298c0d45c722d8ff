"""Site couplings of common graphs, as matrices J (L, L), and random color couplings."""

from typing import Any

import numpy as np
from scipy import sparse

from theory.models import checks
from theory.models.arrays import Array


def ring_graph(n_sites: int) -> Any:
    """Nearest neighbors on a ring, sparse; at least three sites, so that no bond is counted twice."""
    n = int(checks.dimension(n_sites, least=3, name="n_sites"))
    step = sparse.eye_array(n, k=1) + sparse.eye_array(n, k=1 - n)
    return sparse.csr_array(step + step.T)


def torus_graph(rows: int, columns: int) -> Any:
    """Nearest neighbors on a periodic square lattice, sparse; a width of 2 has double bonds."""
    return sparse.csr_array(sparse.kronsum(_cycle("columns", columns), _cycle("rows", rows)))


def complete_graph(n_sites: int) -> Array:
    """J_ij = 1 for all i != j, dense."""
    n = int(checks.dimension(n_sites, name="n_sites"))
    checks.fits_in_memory(f"a complete graph of {n} sites", 3 * float(n) ** 2)
    return np.ones((n, n)) - np.eye(n)


def random_graph(n_sites: int, mean_degree: float, rng: np.random.Generator) -> Any:
    """A 0/1 contact map, sparse: each pair of sites independently with probability mean_degree/(n_sites - 1)."""
    n = int(checks.dimension(n_sites, least=2, name="n_sites"))
    chance = checks.between("mean_degree", mean_degree, 0, n - 1, closed=(True, True)) / (n - 1)
    _require_generator(rng)
    i, j = np.triu_indices(n, 1)
    kept = rng.random(len(i)) < chance
    half = sparse.coo_array((np.ones(int(kept.sum())), (i[kept], j[kept])), shape=(n, n)).tocsr()
    return sparse.csr_array(half + half.T)


def random_color_couplings(n_colors: int, rng: np.random.Generator) -> Array:
    """A symmetric U (C, C) with standard normal entries on and above the diagonal."""
    n = int(checks.dimension(n_colors, name="n_colors"))
    _require_generator(rng)
    upper = np.triu(rng.standard_normal((n, n)))
    return np.asarray(upper + np.triu(upper, 1).T)


def _require_generator(rng: Any) -> None:
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng must be a numpy Generator, as of np.random.default_rng(seed), got {rng!r}")


def _cycle(name: str, size: int) -> Any:
    n = int(checks.dimension(size, least=2, name=name))
    step = sparse.eye_array(n, k=1) + sparse.eye_array(n, k=1 - n)
    return step + step.T
