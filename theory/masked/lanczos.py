"""Quadratic forms of functions of a large symmetric matrix, by Lanczos steps from many vectors at once."""

from collections.abc import Callable

import numpy as np

from theory.core.arrays import Array
from theory.core.blocks import blocks

ROWS = 2**15  # numbers of an array that are worked on at a time: a quarter of a megabyte
# A new direction below this share of the largest Ritz value is rounding: the space is exhausted.
ROUNDING_DIRECTION = 1e-13


class Lanczos:
    """The three-term recursions of a positive semi-definite Sigma from the columns of `start` (d, m), one for each.

    v^T f(Sigma) v/|v|^2 is a sum of f at the eigenvalues of the tridiagonal matrix of a column, weighted by the squares
    of the first components of its eigenvectors (Gauss quadrature; Golub and Meurant, Matrices, Moments and Quadrature,
    2010). Vectors are not orthogonalized again: copies of eigenvalues that appear then share their weights.
    """

    def __init__(self, product: Callable[[Array], Array], start: Array) -> None:
        self._product = product
        self._now = start / np.linalg.norm(start, axis=0)
        self._before = np.zeros_like(self._now)
        self.on, self.beside = list[Array](), list[Array]()  # entries of the tridiagonal matrices, (m,) each

    def step(self) -> None:
        """Take one step: one product for each column."""
        new = self._product(self._now)
        on = np.einsum("km,km->m", self._now, new)
        last = self.beside[-1] if self.beside else np.zeros_like(on)
        squares = np.zeros_like(on)
        # The next vectors are written over those before the present ones, a few rows at a time: whole arrays would be
        # fetched from memory for each operation. What the product returned is left alone, since it may keep it.
        for rows in blocks(len(new), len(on), ROWS):
            rest, next_ = on * self._now[rows], self._before[rows]
            np.subtract(new[rows], rest, out=rest)
            next_ *= last
            np.subtract(rest, next_, out=next_)
            squares += np.einsum("km,km->m", next_, next_)
        beside = np.sqrt(squares)
        self.on.append(on)
        scale = np.max([*np.abs(self.on), *self.beside], axis=0)
        beside = np.where(beside > ROUNDING_DIRECTION * scale, beside, 0.0)
        self.beside.append(beside)
        self._before *= np.divide(1.0, beside, out=np.zeros_like(beside), where=beside > 0)
        self._before, self._now = self._now, self._before

    def gauss(self) -> tuple[Array, Array]:
        """Return nodes and weights of the quadrature, (m, steps) each."""
        return _nodes(np.array(self.on), np.array(self.beside[:-1]))

    def radau(self) -> tuple[Array, Array]:
        """Return the quadrature with a further node at 0, the lower end of the spectrum, (m, steps + 1) each.

        For 1/(x + kappa), whose derivatives alternate in sign, it gives an upper and `gauss` a lower bound.
        """
        on, beside = np.array(self.on), np.array(self.beside)
        pivot = on[0]
        for one, before in zip(on[1:], beside[:-1], strict=True):
            pivot = one - np.divide(before**2, pivot, out=np.zeros_like(one), where=pivot > 0)
        last = np.divide(beside[-1] ** 2, pivot, out=np.zeros_like(pivot), where=pivot > 0)
        return _nodes(np.vstack([on, last]), beside)


def _nodes(on: Array, beside: Array) -> tuple[Array, Array]:
    """Decompose tridiagonal matrices of entries (steps, m) and (steps - 1, m)."""
    steps, m = on.shape
    matrices = np.zeros((m, steps, steps))
    k = np.arange(steps)
    matrices[:, k, k] = on.T
    matrices[:, k[1:], k[:-1]] = beside.T
    nodes, vectors = np.linalg.eigh(matrices)  # it reads the lower triangle
    return nodes, vectors[:, 0] ** 2
