"""Computes the pseudo-likelihood of factored attention and its gradient, without writing out J_ij(a, b)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit
from simulate.core.threads import in_threads
from theory.core.arrays import Array
from theory.models.potts.batches import blocks

BLOCK_LOGITS = 32768  # number of entries of the logits of a block of samples, so that they stay in the cache
MAX_BLOCKS = 16  # blocks of samples, summed in order, so that the number of threads does not change the rounding
MIN_BLOCK_SAMPLES = 1024  # least samples of a block: fewer would take less time than the arrays of their gradients


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
        """Return the loss and its derivatives by A (L, L), V (C, C) and h (L, C); those by A_ii are zero."""
        transposed = np.array(A.T, order="C")
        np.fill_diagonal(transposed, 0.0)
        # Copies are made because the kernel would be compiled once more for a read-only array.
        arguments = transposed, np.array(V, order="C"), np.array(h.T, order="C")
        parts = blocks(len(self.states), 1, most=max(MIN_BLOCK_SAMPLES, -(-len(self.states) // MAX_BLOCKS)))

        def part(rows: slice) -> Any:
            gradients = tuple(np.zeros_like(each) for each in arguments)
            return _loss(self.states[rows], self.weights[rows], *arguments, *gradients), *gradients

        value, dA, dV, dh = (sum(each) for each in zip(*in_threads(part, parts, self.n_threads), strict=True))
        np.fill_diagonal(dA, 0.0)
        return float(value), dA.T, dV, dh.T


def _loss(
    states: Any, weights: Any, A: Array, V: Array, h: Array, dA: Array, dV: Array, dh: Array
) -> float:  # fmt: skip
    """Compute the loss of some samples, and add gradients to the last three arguments.

    A and h are transposed: A[j, i] acts on site i. Sites of samples are the last axis everywhere, (C, samples x sites):
    products with V are those of matrices, exponentials are numpy's, which fill vector units, and the rest is compiled.
    """
    (C, L), loss, across = h.shape, 0.0, np.array(V.T, order="C")
    for rows in blocks(len(states), C * L, most=BLOCK_LOGITS):
        s, w = states[rows], weights[rows]
        N = np.zeros((C, s.size))
        _attend(s, A, N)
        z = V @ N
        loss += _logits(s, w, h, z)
        np.exp(z, out=z)
        loss += _residuals(s, w, z, dh)
        dV += z @ N.T
        np.matmul(across, z, out=N)  # from here on the derivative with respect to N
        _gather(s, N, dA)
    return loss


@cached_njit()
def _attend(states: Any, A: Any, N: Any) -> None:
    """Add to N[b] the attention A[j, i] to the sites j of each sample that show the color b."""
    n_sites = len(A)
    for mu in range(len(states)):
        for j in range(n_sites):
            row, source = N[states[mu, j], mu * n_sites : (mu + 1) * n_sites], A[j]
            for i in range(n_sites):
                row[i] += source[i]


@cached_njit(fastmath={"reassoc", "contract"})  # sums over sites vectorize
def _logits(states: Any, weights: Any, h: Any, z: Any) -> Any:
    """Add h to z and take the maximum of each site off; return -sum_mu w_mu sum_i z_i[s_i]."""
    n_colors, n_sites = h.shape
    top, loss = np.full(z.shape[1], -np.inf), 0.0
    for a in range(n_colors):
        row, source = z[a], h[a]
        for mu in range(len(states)):
            for i in range(n_sites):
                row[mu * n_sites + i] += source[i]
        for k in range(len(top)):
            top[k] = max(top[k], row[k])
    for a in range(n_colors):
        row = z[a]
        for k in range(len(top)):
            row[k] -= top[k]
    for mu in range(len(states)):
        own = 0.0  # sums of sums lose fewer digits
        for i in range(n_sites):
            own += z[states[mu, i], mu * n_sites + i]
        loss -= weights[mu] * own
    return loss


@cached_njit(fastmath={"reassoc", "contract"})
def _residuals(states: Any, weights: Any, z: Any, dh: Any) -> Any:
    """Turn exp(logits) in z into w (P - x), which is added to dh; return sum_mu w_mu sum_i log(normalization)."""
    n_colors, n_sites = dh.shape
    total, loss = np.zeros(z.shape[1]), 0.0
    for a in range(n_colors):
        row = z[a]
        for k in range(len(total)):
            total[k] += row[k]
    for mu in range(len(states)):
        logs = 0.0
        for k in range(mu * n_sites, (mu + 1) * n_sites):
            logs += np.log(total[k])
            total[k] = weights[mu] / total[k]
        loss += weights[mu] * logs
    for a in range(n_colors):
        row = z[a]
        for k in range(len(total)):
            row[k] *= total[k]
    for mu in range(len(states)):
        for i in range(n_sites):
            z[states[mu, i], mu * n_sites + i] -= weights[mu]
    for a in range(n_colors):
        row, target = z[a], dh[a]
        for mu in range(len(states)):
            for i in range(n_sites):
                target[i] += row[mu * n_sites + i]
    return loss


@cached_njit()
def _gather(states: Any, dN: Any, dA: Any) -> None:
    """Add the derivatives by N[s_j] of all samples to those by A[j, i]."""
    n_sites = len(dA)
    for mu in range(len(states)):
        for j in range(n_sites):
            row, target = dN[states[mu, j], mu * n_sites : (mu + 1) * n_sites], dA[j]
            for i in range(n_sites):
                target[i] += row[i]
