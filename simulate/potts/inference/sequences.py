"""Checks sequences with their weights, and holds them in the layout that the compiled sums read."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.potts.inference.codes import Chunk, chunks
from theory.core import Array, checks
from theory.models.potts.batches import checked_samples, normalized_weights


@dataclass(frozen=True, eq=False)
class Sequences:
    """Holds M checked sequences of L sites and C colors, with weights that sum to one.

    `columns` (L, M) has the smallest unsigned type that holds all colors, one row for each site.
    """

    columns: NDArray[Any]
    weights: Array  # (M,)
    n_colors: int

    @classmethod
    def of(cls, states: Any, n_colors: Any, weights: Any = None) -> "Sequences":
        """Check states (M, L) and weights (M,), equal where None; ValueError for anything else, and for M = 0."""
        n_colors = checks.count("n_colors", n_colors, least=2)
        checked = checked_samples("states", states, n_colors)
        what = f"frequencies of {checked.shape[1]} sites and {n_colors} colors"
        checks.fits_in_memory(what, 3 * float(n_colors) * checked.shape[1])
        small = np.uint8 if n_colors <= 256 else np.uint32
        columns = np.ascontiguousarray(checked.T, dtype=small)
        return cls(columns, normalized_weights(weights, len(checked)), n_colors)

    def merged(self) -> "Sequences":
        """Return the sequences that differ, each with the weight of all that equal it, in the order of their first.

        Sums over sequences are the same. Where all differ these sequences themselves are returned.
        """
        rows = np.ascontiguousarray(self.columns.T)
        whole = rows.view(np.dtype((np.void, rows.dtype.itemsize * self.n_sites))).ravel()
        _, first, place = np.unique(whole, return_index=True, return_inverse=True)
        if len(first) == self.n_samples:
            return self
        order = np.argsort(first)
        weights = np.asarray(np.bincount(place.ravel(), self.weights)[order], dtype=float)
        return Sequences(np.ascontiguousarray(self.columns[:, first[order]]), weights, self.n_colors)

    @property
    def n_sites(self) -> int:
        """The number L of sites."""
        return len(self.columns)

    @property
    def n_samples(self) -> int:
        """The number M of samples."""
        return len(self.weights)

    @cached_property
    def chunks(self) -> list[Chunk]:
        """The samples in chunks, with codes of several sites, as sums over samples read them."""
        return list(chunks(self.columns, self.n_colors))

    def frequencies(self) -> Array:
        """Return f_i(a), (L, C), the weighted shares of the colors at every site."""
        return np.array([np.bincount(column, self.weights, self.n_colors) for column in self.columns])

    def pair_frequencies(self, i: int, j: int) -> Array:
        """Return f_ij(a, b), (C, C), the weighted shares of the pairs of colors at sites i and j."""
        C = self.n_colors
        codes = self.columns[i].astype(np.intp) * C + self.columns[j]
        return np.asarray(np.bincount(codes, self.weights, C * C).reshape(C, C), dtype=float)
