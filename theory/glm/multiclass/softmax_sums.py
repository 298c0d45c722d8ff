"""Sums over nodes of what softmax does to one cluster: nodes are minimized, differentiated and added in lockstep.

Coordinates and objective are those of `prox_kernel`. The last axis of every work array has the nodes that are treated
together, so that each line of the algebra is one loop over neighboring numbers, which compilers turn into vector
instructions. A node that has reached its minimum waits for the others with steps of length zero.
"""

from typing import Any

import numpy as np

from theory.core.kernels import cached_njit
from theory.glm.multiclass.prox_kernel import DECREMENT, MAX_HALVINGS, NEWTON_STEPS

LANES = 16  # nodes in lockstep: 8 and 32 take as long


@cached_njit(error_model="numpy")
def softmax_sums(
    z: Any, weights: Any, mean: Any, root: Any, inverse: Any, label: int, prox: Any, force: Any, square: Any,
    response: Any,
) -> Any:  # fmt: skip
    """Add averages over h = mean + root z to `force` (D,), `square` and `response` (D, D), at nodes z (N, D).

    At each node the prox is the minimum over t of (t - h)^T V^-1 (t - h)/2 plus the cross entropy, with `inverse`
    V^-1; it is searched from the row of `prox` (N, D), or from h where that is not a number, and written to that row.
    The force is f = e_label - p, and its slope S (1 + V S)^-1 with S = diag p - p p^T. Returns the mean loss and the
    number of evaluations of the objective.
    """
    D, N = len(mean), len(z)
    h, x, p, gradient, step, new, away = np.empty((7, D, LANES))
    H, room = np.empty((2, D, D, LANES))
    best, value, entropy, scale, weight, decrement, top, total = np.empty((8, LANES))
    open_, unmet = np.empty((2, LANES), np.bool_)
    forces, losses, squares, slopes = (
        np.zeros((D, LANES)),
        np.zeros(LANES),
        np.zeros((D, D, LANES)),
        np.zeros((D, D, LANES)),
    )
    evaluations = 0
    for begin in range(0, N, LANES):
        for lane in range(LANES):
            n = min(begin + lane, N - 1)  # beyond the last node it is repeated, without weight
            weight[lane] = weights[n] if begin + lane < N else 0.0
            for i in range(D):
                entry = mean[i]
                for j in range(D):
                    entry += root[i, j] * z[n, j]
                h[i, lane] = entry
                x[i, lane] = prox[n, i]
        _objectives(x, h, inverse, label, p, best, entropy, away, top, total)
        lost = False
        for lane in range(LANES):
            open_[lane] = True
            if not np.isfinite(best[lane]):
                lost = True
                for i in range(D):
                    x[i, lane] = h[i, lane]
        evaluations += LANES
        if lost:
            _objectives(x, h, inverse, label, p, best, entropy, away, top, total)
            evaluations += LANES
        for _ in range(NEWTON_STEPS):
            for i in range(D):
                for lane in range(LANES):
                    gradient[i, lane] = p[i, lane] + away[i, lane]
            if label < D:
                for lane in range(LANES):
                    gradient[label, lane] -= 1.0
            _factorize(p, inverse, H)
            for i in range(D):
                for lane in range(LANES):
                    step[i, lane] = gradient[i, lane]
            _solve(H, step)
            decrement[:] = 0.0
            for i in range(D):
                for lane in range(LANES):
                    decrement[lane] += gradient[i, lane] * step[i, lane]
            left = 0
            for lane in range(LANES):
                if open_[lane] and not decrement[lane] >= DECREMENT:
                    open_[lane] = False
                unmet[lane] = open_[lane]
                scale[lane] = 1.0 if open_[lane] else 0.0
                left += open_[lane]
            if left == 0:
                break
            for _ in range(MAX_HALVINGS):
                for i in range(D):
                    for lane in range(LANES):
                        new[i, lane] = x[i, lane] - scale[lane] * step[i, lane]
                _objectives(new, h, inverse, label, p, value, entropy, away, top, total)
                evaluations += left
                left = 0
                for lane in range(LANES):
                    if unmet[lane]:
                        if value[lane] <= best[lane] - 1e-4 * scale[lane] * decrement[lane] + 1e-14 * (
                            1 + abs(best[lane])
                        ):
                            unmet[lane] = False
                            best[lane] = value[lane]
                            for i in range(D):
                                x[i, lane] = new[i, lane]
                            scale[lane] = 0.0
                        else:
                            scale[lane] /= 2
                            left += 1
                if left == 0:
                    break
            if left:  # even the shortest step does not lower the objective: rounding hides what is left of its fall
                for lane in range(LANES):
                    if unmet[lane]:
                        open_[lane] = False
                _objectives(x, h, inverse, label, p, value, entropy, away, top, total)
        _inverses(H, p, room, away)
        for lane in range(LANES):
            losses[lane] += weight[lane] * entropy[lane]
        for i in range(D):
            for j in range(D):
                for lane in range(LANES):
                    slopes[i, j, lane] += weight[lane] * p[i, lane] * (room[i, j, lane] - away[j, lane])
        if label < D:
            for lane in range(LANES):
                p[label, lane] -= 1.0
        for i in range(D):
            for lane in range(LANES):
                forces[i, lane] -= weight[lane] * p[i, lane]
            for j in range(i + 1):
                for lane in range(LANES):
                    squares[i, j, lane] += weight[lane] * p[i, lane] * p[j, lane]
        for lane in range(min(LANES, N - begin)):
            for i in range(D):
                prox[begin + lane, i] = x[i, lane]
    total_slope = np.zeros((D, D))
    for i in range(D):
        force[i] += forces[i].sum()
        for j in range(D):
            total_slope[i, j] = slopes[i, j].sum()
            square[i, j] += squares[max(i, j), min(i, j)].sum()
    for i in range(D):
        for j in range(D):
            for k in range(D):
                response[i, j] += total_slope[i, k] * inverse[k, j]
    return losses.sum(), evaluations


@cached_njit(error_model="numpy")
def _objectives(
    x: Any, h: Any, inverse: Any, label: int, p: Any, value: Any, entropy: Any, away: Any, top: Any, total: Any
) -> None:
    """Write objective and cross entropy at x (D, LANES), the probabilities p and V^-1 (x - h) to `away`."""
    D = len(x)
    top[:] = 0.0
    for i in range(D):
        for lane in range(LANES):
            top[lane] = max(top[lane], x[i, lane])
    for lane in range(LANES):
        total[lane] = np.exp(-top[lane])
    for i in range(D):
        for lane in range(LANES):
            p[i, lane] = np.exp(x[i, lane] - top[lane])
            total[lane] += p[i, lane]
    for lane in range(LANES):
        entropy[lane] = top[lane] + np.log(total[lane])
        total[lane] = 1 / total[lane]
    for i in range(D):
        for lane in range(LANES):
            p[i, lane] *= total[lane]
    if label < D:
        for lane in range(LANES):
            entropy[lane] -= x[label, lane]
    away[:] = 0.0
    for j in range(D):
        for lane in range(LANES):
            total[lane] = x[j, lane] - h[j, lane]
        for i in range(D):
            factor = inverse[i, j]
            for lane in range(LANES):
                away[i, lane] += factor * total[lane]
    for lane in range(LANES):
        value[lane] = entropy[lane]
    for i in range(D):
        for lane in range(LANES):
            value[lane] += 0.5 * away[i, lane] * (x[i, lane] - h[i, lane])


@cached_njit(error_model="numpy")
def _factorize(p: Any, inverse: Any, H: Any) -> None:
    """Write Cholesky's factor of V^-1 + diag p - p p^T to the lower triangle of H, with inverse pivots."""
    D = len(p)
    for j in range(D):
        for i in range(j, D):
            row = H[i, j]
            fixed = inverse[i, j]
            for lane in range(LANES):
                row[lane] = fixed - p[i, lane] * p[j, lane]
            if i == j:
                for lane in range(LANES):
                    row[lane] += p[i, lane]
            for k in range(j):
                one, other = H[i, k], H[j, k]
                for lane in range(LANES):
                    row[lane] -= one[lane] * other[lane]
            pivot = H[j, j]
            if i == j:
                for lane in range(LANES):
                    row[lane] = 1 / np.sqrt(row[lane])
            else:
                for lane in range(LANES):
                    row[lane] *= pivot[lane]


@cached_njit(error_model="numpy")
def _solve(H: Any, x: Any) -> None:
    D = len(x)
    for i in range(D):
        row = x[i]
        for k in range(i):
            one, other = H[i, k], x[k]
            for lane in range(LANES):
                row[lane] -= one[lane] * other[lane]
        pivot = H[i, i]
        for lane in range(LANES):
            row[lane] *= pivot[lane]
    for i in range(D - 1, -1, -1):
        row = x[i]
        for k in range(i + 1, D):
            one, other = H[k, i], x[k]
            for lane in range(LANES):
                row[lane] -= one[lane] * other[lane]
        pivot = H[i, i]
        for lane in range(LANES):
            row[lane] *= pivot[lane]


@cached_njit(error_model="numpy")
def _inverses(H: Any, p: Any, room: Any, along: Any) -> None:
    """Write the inverse of A = V^-1 + S, of which H has the factor, to `room`, and p^T A^-1 to `along` (D, LANES)."""
    D = len(p)
    for j in range(D):
        pivot = room[j, j]
        for lane in range(LANES):
            pivot[lane] = H[j, j, lane]
        for i in range(j + 1, D):
            entry = room[i, j]
            entry[:] = 0.0
            for k in range(j, i):
                one, other = H[i, k], room[k, j]
                for lane in range(LANES):
                    entry[lane] -= one[lane] * other[lane]
            for lane in range(LANES):
                entry[lane] *= H[i, i, lane]
    along[:] = 0.0
    for j in range(D):
        for i in range(j + 1):
            entry = room[i, j]
            for lane in range(LANES):
                entry[lane] = entry[lane] * entry[lane] if i == j else room[j, i, lane] * room[j, j, lane]
            for k in range(j + 1, D):
                one, other = room[k, i], room[k, j]
                for lane in range(LANES):
                    entry[lane] += one[lane] * other[lane]
    for j in range(D):
        for i in range(j):
            room[j, i] = room[i, j]
    for i in range(D):
        for j in range(D):
            for lane in range(LANES):
                along[j, lane] += p[i, lane] * room[i, j, lane]
