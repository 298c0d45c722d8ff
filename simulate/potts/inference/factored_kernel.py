"""Computes the pseudo-likelihood of factored attention and its gradient, without writing out J_ij(a, b)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit
from simulate.core.threads import in_threads
from theory.models.arrays import Array
from theory.models.potts.batches import blocks

MANY_COLORS = 16  # from here on products of matrices are faster than compiled sums, which have no vectorized exp
ENTRIES = 65536  # number of entries of the logits of a block of samples, so that they stay in the cache
BLOCKS = 16  # blocks of samples, summed in order, so that the number of threads does not change the rounding
LEAST = 1024  # least samples of a block: fewer would take less time than the arrays of their gradients


@dataclass(frozen=True, eq=False)
class FactoredObjective:
    """The loss -sum_mu w_mu sum_i log softmax(z_i)[s_i] of factored attention on given sequences.

    The logits are z_i = V N_i + h_i, where N_i[b] = sum_{j != i} A_ij [s_j = b] is what site i attends to. The
    sequences are `states` (M, L) of type int32, with `weights` (M,). One evaluation costs M L (L + C^2) operations.
    """

    states: NDArray[np.int32]
    weights: Array
    n_threads: int = 1

    def __call__(self, A: Array, V: Array, h: Array) -> tuple[float, Array, Array, Array]:
        """Returns the loss and its derivatives by A (L, L), V (C, C) and h (L, C); those by A_ii are zero."""
        transposed = np.array(A.T, order="C")
        np.fill_diagonal(transposed, 0.0)
        # Copies are made because the kernel would be compiled once more for a read-only array.
        arguments = transposed, np.array(V, order="C"), np.array(h.T, order="C")
        parts = blocks(len(self.states), 1, most=max(LEAST, -(-len(self.states) // BLOCKS)))

        def part(rows: slice) -> Any:
            gradients = tuple(np.zeros_like(each) for each in arguments)
            method = _loss if len(V) < MANY_COLORS else _loss_by_products
            return method(self.states[rows], self.weights[rows], *arguments, *gradients), *gradients

        value, dA, dV, dh = (sum(each) for each in zip(*in_threads(part, parts, self.n_threads), strict=True))
        np.fill_diagonal(dA, 0.0)
        return float(value), dA.T, dV, dh.T


@cached_njit(fastmath={"reassoc", "contract"})  # sums over sites vectorize: twice as fast
def _loss(states: Any, weights: Any, A: Any, V: Any, h: Any, dA: Any, dV: Any, dh: Any) -> Any:
    """Computes the loss of some samples, and adds gradients to the last three arguments.

    A and h are transposed: A[j, i] acts on site i.

    Sites are the last axis everywhere: the inner loops run over contiguous memory.
    """
    n_colors, n_sites = h.shape
    N, z, top, total = np.empty_like(h), np.empty_like(h), np.empty(n_sites), np.empty(n_sites)
    loss = 0.0
    for mu in range(len(states)):
        s, w = states[mu], weights[mu]
        N[:] = 0.0
        for j in range(n_sites):
            row, source = N[s[j]], A[j]
            for i in range(n_sites):
                row[i] += source[i]
        top[:] = -np.inf
        for a in range(n_colors):
            for i in range(n_sites):
                z[a, i] = h[a, i]
            for b in range(n_colors):
                for i in range(n_sites):
                    z[a, i] += V[a, b] * N[b, i]
            for i in range(n_sites):
                top[i] = max(top[i], z[a, i])
        total[:] = 0.0
        for i in range(n_sites):
            loss += w * (top[i] - z[s[i], i])
        for a in range(n_colors):
            for i in range(n_sites):
                z[a, i] = np.exp(z[a, i] - top[i])
                total[i] += z[a, i]
        for i in range(n_sites):
            loss += w * np.log(total[i])
            total[i] = w / total[i]
        for a in range(n_colors):  # from here on z is the residual w (P - x)
            for i in range(n_sites):
                z[a, i] *= total[i]
        for i in range(n_sites):
            z[s[i], i] -= w
        for a in range(n_colors):
            for i in range(n_sites):
                dh[a, i] += z[a, i]
            for b in range(n_colors):
                together = 0.0
                for i in range(n_sites):
                    together += z[a, i] * N[b, i]
                dV[a, b] += together
        N[:] = 0.0  # from here on the derivative with respect to N
        for a in range(n_colors):
            for b in range(n_colors):
                for i in range(n_sites):
                    N[b, i] += V[a, b] * z[a, i]
        for j in range(n_sites):
            row, target = N[s[j]], dA[j]
            for i in range(n_sites):
                target[i] += row[i]
    return loss


def _loss_by_products(
    states: Any, weights: Any, A: Array, V: Array, h: Array, dA: Array, dV: Array, dh: Array
) -> float:  # fmt: skip
    """Computes the same as `_loss` by products of V with matrices (C, samples x sites) of blocks of samples.

    Only the sums over the sites that show a color, which are not products of matrices, are compiled.
    """
    (C, L), loss = h.shape, 0.0
    for rows in blocks(len(states), C * L, most=ENTRIES):
        s, w = states[rows], weights[rows][:, None]
        shown = s, np.arange(len(s))[:, None], np.arange(L)
        N = np.zeros((C, len(s), L))
        _attend(s, A, N)
        flat = N.reshape(C, -1)
        z = (V @ flat).reshape(N.shape)
        z += h[:, None]
        z -= z.max(axis=0)
        loss -= float(np.sum(w * z[shown]))
        np.exp(z, out=z)
        total = z.sum(axis=0)
        loss += float(np.sum(w * np.log(total)))
        z *= w / total  # from here on z is the residual w (P - x)
        z[shown] -= w
        dh += z.sum(axis=1)
        dV += z.reshape(C, -1) @ flat.T
        np.matmul(V.T, z.reshape(C, -1), out=flat)  # from here on the derivative with respect to N
        _gather(s, N, dA)
    return loss


@cached_njit()
def _attend(states: Any, A: Any, N: Any) -> None:
    """Adds to N[b, mu, i] the attention A[j, i] to the sites j of sample mu that show the color b."""
    for mu in range(len(states)):
        for j in range(len(A)):
            row, source = N[states[mu, j], mu], A[j]
            for i in range(len(source)):
                row[i] += source[i]


@cached_njit()
def _gather(states: Any, dN: Any, dA: Any) -> None:
    """Adds the derivatives by N[s_j, mu, i] of all samples to those by A[j, i]."""
    for mu in range(len(states)):
        for j in range(len(dA)):
            row, target = dN[states[mu, j], mu], dA[j]
            for i in range(len(row)):
                target[i] += row[i]
