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
COLORS_PER_SITE = 1.25  # where there are more, values are the first factor: then products of matrices are smaller
MAX_BLOCKS = 16  # blocks of samples, summed in order, so that the number of threads does not change the rounding
MIN_BLOCK_SAMPLES = 1024  # least samples of a block: fewer would take less time than the arrays of their gradients


@dataclass(frozen=True, eq=False)
class FactoredObjective:
    """The loss -sum_mu w_mu sum_i log softmax(z_i)[s_i] of factored attention on given sequences.

    The logits are z_i = V N_i + h_i, where N_i[b] = sum_{j != i} A_ij [s_j = b] is what site i attends to. The
    sequences are `states` (M, L) of type int32, with `weights` (M,). Where there are more colors than sites, the rows
    of V for the colors of a sequence are multiplied by A instead: one evaluation costs M L C min(L, C) operations.
    Logits are of type `dtype`, and so are sums over the sequences of a block; the loss and sums of blocks are double.
    """

    states: NDArray[np.int32]
    weights: Array
    n_threads: int = 1
    dtype: type[np.floating[Any]] = np.float64

    def __call__(self, A: Array, V: Array, h: Array) -> tuple[float, Array, Array, Array]:
        """Return the loss and its derivatives by A (L, L), V (C, C) and h (L, C); those by A_ii are zero."""
        # Copies are made because the kernels would be compiled once more for a read-only array.
        arguments = tuple(np.array(each, self.dtype, order="C") for each in (A, V, h))
        np.fill_diagonal(arguments[0], 0.0)
        weights = self.weights.astype(self.dtype)
        parts = blocks(len(self.states), 1, most=max(MIN_BLOCK_SAMPLES, -(-len(self.states) // MAX_BLOCKS)))
        loss = values_first if len(V) > COLORS_PER_SITE * len(A) else attention_first

        def part(rows: slice) -> tuple[float, Array, Array, Array]:
            return loss(self.states[rows], weights[rows], *arguments)

        value, dA, dV, dh = (sum(each) for each in zip(*in_threads(part, parts, self.n_threads), strict=True))
        np.fill_diagonal(dA, 0.0)
        return float(value), dA, dV, dh


def attention_first(states: Any, weights: Any, A: Array, V: Array, h: Array) -> tuple[float, Array, Array, Array]:
    """Compute the loss of some samples and its gradients from what sites attend to, by products with V.

    Sites of samples are the last axis everywhere, (C, samples x sites): products with V are those of matrices,
    exponentials are numpy's, which fill vector units, and the rest is compiled. There A[j, i] acts on site i.
    """
    A, across, h = (np.array(each.T, order="C") for each in (A, V, h))
    (C, L), loss, dA, dV, dh = h.shape, 0.0, np.zeros_like(A), np.zeros(V.shape), np.zeros(h.shape)
    for rows in blocks(len(states), C * L, most=BLOCK_LOGITS):
        s, w = states[rows], weights[rows]
        N = np.zeros((C, s.size), V.dtype)
        _attend(s, A, N)
        z = V @ N
        loss += _logits(s, w, h, z)
        np.exp(z, out=z)
        loss += _residuals(s, w, z, dh)
        dV += z @ N.T
        np.matmul(across, z, out=N)  # from here on the derivative with respect to N
        _gather(s, N, dA)
    return loss, dA.T.astype(float), dV, dh.T


def values_first(states: Any, weights: Any, A: Array, V: Array, h: Array) -> tuple[float, Array, Array, Array]:
    """Compute the loss of some samples and its gradients from the values of their colors, by products with A.

    Sites are the first axis everywhere, (L, samples x C), so that the colors of a site are neighbors.
    """
    (L, C), loss, by_color = h.shape, 0.0, np.array(V.T, order="C")
    dA, dV, dh = np.zeros(A.shape), np.zeros_like(V), np.zeros(h.shape)
    for rows in blocks(len(states), C * L, most=BLOCK_LOGITS):
        columns, w = np.ascontiguousarray(states[rows].T), weights[rows]
        values = np.take(by_color, columns, axis=0).reshape(L, -1)
        z = A @ values
        by_site = z.reshape(L, len(w), C)
        loss += _site_logits(columns, w, h, by_site)
        np.exp(z, out=z)
        loss += _site_residuals(columns, w, by_site, dh)
        dA += z @ values.T
        np.matmul(A.T, z, out=values)  # from here on the derivative with respect to the values
        _add_colors(columns, values.reshape(by_site.shape), dV)
    return loss, dA, dV.T.astype(float), dh


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
    top, loss = np.full(z.shape[1], z.dtype.type(-np.inf)), 0.0
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
    total, loss = np.zeros(z.shape[1], z.dtype), 0.0
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


@cached_njit()
def _site_logits(columns: Any, weights: Any, h: Any, z: Any) -> Any:
    """Add h to z (L, samples, C) and take the maximum of each site off; return -sum_mu w_mu sum_i z_i[s_i]."""
    n_colors, loss = h.shape[1], 0.0
    for i in range(len(z)):
        fields = h[i]
        for mu in range(z.shape[1]):
            row = z[i, mu]
            for k in range(n_colors):
                row[k] += fields[k]
            # Four maxima side by side, of which none waits for the other.
            a = b = c = d = row[0]
            for k in range(0, n_colors - 3, 4):
                a, b, c, d = max(a, row[k]), max(b, row[k + 1]), max(c, row[k + 2]), max(d, row[k + 3])
            for k in range(n_colors - n_colors % 4, n_colors):
                a = max(a, row[k])
            top = max(max(a, b), max(c, d))
            for k in range(n_colors):
                row[k] -= top
            loss -= weights[mu] * row[columns[i, mu]]
    return loss


@cached_njit(fastmath={"reassoc", "contract"})  # sums over colors vectorize
def _site_residuals(columns: Any, weights: Any, z: Any, dh: Any) -> Any:
    """Turn exp(logits) in z into w (P - x), which is added to dh; return sum_mu w_mu sum_i log(normalization)."""
    n_colors, loss = dh.shape[1], 0.0
    for i in range(len(z)):
        total = dh[i]
        for mu in range(z.shape[1]):
            row, weight = z[i, mu], weights[mu]
            normalization = z.dtype.type(0)
            for k in range(n_colors):
                normalization += row[k]
            loss += weight * np.log(normalization)
            factor = weight / normalization
            for k in range(n_colors):
                row[k] *= factor
            row[columns[i, mu]] -= weight
            for k in range(n_colors):
                total[k] += row[k]
    return loss


@cached_njit()
def _add_colors(columns: Any, added: Any, gradient: Any) -> None:
    """Add added[i, mu] (L, samples, C) to the row of the gradient (C, C) of the color of site i in sample mu."""
    for i in range(len(added)):
        for mu in range(added.shape[1]):
            row, target = added[i, mu], gradient[columns[i, mu]]
            for k in range(len(target)):
                target[k] += row[k]
