"""The transfer matrix of a row of the square-lattice Potts ferromagnet, applied site by site instead of stored."""

import numpy as np
from numpy.typing import NDArray

from theory.core.arrays import Array


class RowTransfer:
    """The transfer matrix A = D K D of a periodic row of `width` sites, for the ferromagnet of q colors.

    D holds half of the weight of the bonds within a row and K that of the bonds between two rows, so A is symmetric and
    positive. It is in units of exp(width * log_unit), in which no entry exceeds one. Vectors have the shape (q^width,
    any number). `states` (q^width, width) lists the states of a row, and `matches` (q^width,) counts their equal
    neighbors.
    """

    def __init__(self, width: int, n_colors: int, beta: float) -> None:
        self.width, self.n_colors, self.beta = width, n_colors, beta
        self.n_states = n_colors**width
        places = np.unravel_index(np.arange(self.n_states), (n_colors,) * width)
        self.states = np.stack(places, axis=1).astype(np.int64)
        self.matches = (self.states == np.roll(self.states, 1, axis=1)).sum(axis=1).astype(float)
        self._half = np.exp(0.5 * beta * (self.matches - width))[:, None]
        # A bond between two rows is the matrix kept * identity + mixed, whose rows sum to one; the derivative of its
        # weight by beta is match * identity.
        self._match = 1 / (1 + (n_colors - 1) * np.exp(-beta))
        self._kept, self._mixed = -np.expm1(-beta) * self._match, np.exp(-beta) * self._match
        self.log_unit = 2 * beta - float(np.log(self._match))

    def apply(self, vectors: Array) -> Array:
        """Apply A to vectors."""
        return self._with_score(vectors)[0]

    def apply_score(self, vectors: Array) -> Array:
        """Apply B, the sum over the bonds between two rows of the derivative of A by the beta of that bond."""
        return self._with_score(vectors)[1]

    def _with_score(self, vectors: Array) -> tuple[Array, Array]:
        image = self._half * vectors
        score = np.zeros_like(image)
        for site in range(self.width):
            score = self._bond(score, site) + self._match * image
            image = self._bond(image, site)
        return self._half * image, self._half * score

    def _bond(self, vectors: Array, site: int) -> Array:
        shaped = vectors.reshape(self.n_colors**site, self.n_colors, -1)
        mixed = self._kept * shaped + self._mixed * shaped.sum(axis=1, keepdims=True)
        return np.asarray(mixed.reshape(vectors.shape))

    def orbits(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return one state, by its index, of each class of equivalent states, and the size of the class.

        States are equivalent if they differ by a shift, a reflection, or a permutation of the colors.
        """
        powers = self.n_colors ** np.arange(self.width)[::-1]
        smallest = np.full(self.n_states, self.n_states)
        for mirrored in (self.states, self.states[:, ::-1]):
            for shift in range(self.width):
                smallest = np.minimum(smallest, self._relabeled(np.roll(mirrored, shift, axis=1)) @ powers)
        representatives, sizes = np.unique(smallest, return_counts=True)
        return representatives, sizes

    def _relabeled(self, states: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the states with their colors numbered in the order in which they first occur."""
        everyone = np.arange(len(states))
        names = np.full((len(states), self.n_colors), -1)
        known = np.zeros(len(states), dtype=np.int64)
        relabeled = np.empty_like(states)
        for site in range(self.width):
            color = states[:, site]
            fresh = names[everyone, color] < 0
            names[everyone[fresh], color[fresh]] = known[fresh]
            known += fresh
            relabeled[:, site] = names[everyone, color]
        return relabeled
