"""The proximal operator of softmax at single nodes, and its slopes.

The outputs of K classes are here D = K - 1 differences t_i = u_i - u_K to the output of the last class, in which the
cross entropy log(1 + sum_i exp t_i) - t_label has the gradient p - e_label and the slope diag p - p p^T without any
change of basis. t_K = 0 is left out: a `label` of D stands for the last class.
"""

from typing import Any

import numpy as np

from theory.core.kernels import cached_njit

NEWTON_STEPS = 200
MAX_HALVINGS = 40
DECREMENT = 1e-26  # of the convex objective: twice what another Newton step would gain, the square of its length


@cached_njit(error_model="numpy")
def softmax_slopes(prox: Any, inverse: Any, slopes: Any) -> None:
    """Write the slope S (1 + V S)^-1 of the force at each prox (N, D) to `slopes` (N, D, D)."""
    D = len(inverse)
    work, H = np.empty((4, D)), np.empty((D, D))
    for n in range(len(prox)):
        _cross_entropy(prox[n], 0, work[0])
        _factorize(work[0], inverse, H)
        _slope(work[0], H, inverse, slopes[n])


@cached_njit(error_model="numpy")
def softmax_prox_rows(h: Any, inverse: Any, label: int, prox: Any) -> Any:
    """Write the prox of every row of h (N, D) to `prox`, where it starts, and return how often it was evaluated."""
    D = len(inverse)
    work, H = np.empty((4, D)), np.empty((D, D))
    evaluations = 0
    for n in range(len(h)):
        evaluations += _minimize(prox[n], h[n], inverse, label, H, work)
    return evaluations


@cached_njit(error_model="numpy")
def _minimize(x: Any, h: Any, inverse: Any, label: int, H: Any, work: Any) -> int:
    """Move x to the minimum of the objective by Newton steps that are halved; H is left factorized at the end."""
    D = len(h)
    p, gradient, step, new = work
    best, evaluations = _objective(x, h, inverse, label, p), 1
    if not np.isfinite(best):  # also where the row is not a number
        _copy(h, x)
        best = _cross_entropy(x, label, p)
        evaluations += 1
    for _ in range(NEWTON_STEPS):
        for i in range(D):
            gradient[i] = p[i]
            for j in range(D):
                gradient[i] += inverse[i, j] * (x[j] - h[j])
        if label < D:
            gradient[label] -= 1.0
        _factorize(p, inverse, H)
        _copy(gradient, step)
        _solve(H, step)
        decrement = 0.0
        for i in range(D):
            decrement += gradient[i] * step[i]
        if not decrement >= DECREMENT:
            break
        scale = 1.0
        for _ in range(MAX_HALVINGS):
            for i in range(D):
                new[i] = x[i] - scale * step[i]
            value = _objective(new, h, inverse, label, p)
            evaluations += 1
            if value <= best - 1e-4 * scale * decrement + 1e-14 * (1 + abs(best)):
                break
            scale /= 2
        else:  # even the shortest step does not lower the objective: rounding hides what is left of its fall
            _cross_entropy(x, label, p)
            break
        _copy(new, x)
        best = value
    return evaluations


@cached_njit()
def _copy(x: Any, found: Any) -> None:
    # A loop, since an array that is assigned to a slice has the message of another shape compiled with it, for seconds.
    for i in range(len(x)):
        found[i] = x[i]


@cached_njit(error_model="numpy")
def _objective(x: Any, h: Any, inverse: Any, label: int, p: Any) -> Any:
    """Return the objective at x and leave the probabilities of the first D classes in p."""
    value = _cross_entropy(x, label, p)
    for i in range(len(x)):
        pull = 0.0
        for j in range(len(x)):
            pull += inverse[i, j] * (x[j] - h[j])
        value += 0.5 * pull * (x[i] - h[i])
    return value


@cached_njit(error_model="numpy")
def _cross_entropy(x: Any, label: int, p: Any) -> Any:
    top = 0.0
    for i in range(len(x)):
        top = max(top, x[i])
    total = np.exp(-top)
    for i in range(len(x)):
        p[i] = np.exp(x[i] - top)
        total += p[i]
    for i in range(len(x)):
        p[i] /= total
    value = top + np.log(total)
    return value - x[label] if label < len(x) else value


@cached_njit(error_model="numpy")
def _factorize(p: Any, inverse: Any, H: Any) -> None:
    """Write Cholesky's factor of V^-1 + diag p - p p^T to the lower triangle of H, with inverse pivots."""
    D = len(p)
    for j in range(D):
        for i in range(j, D):
            entry = inverse[i, j] - p[i] * p[j]
            if i == j:
                entry += p[i]
            for k in range(j):
                entry -= H[i, k] * H[j, k]
            H[i, j] = entry * H[j, j] if i > j else 1 / np.sqrt(entry)


@cached_njit(error_model="numpy")
def _solve(H: Any, x: Any) -> None:
    D = len(x)
    for i in range(D):
        for k in range(i):
            x[i] -= H[i, k] * x[k]
        x[i] *= H[i, i]
    for i in range(D - 1, -1, -1):
        for k in range(i + 1, D):
            x[i] -= H[k, i] * x[k]
        x[i] *= H[i, i]


@cached_njit(error_model="numpy")
def _slope(p: Any, H: Any, inverse: Any, slope: Any) -> None:
    """Write S (1 + V S)^-1 = S (V^-1 + S)^-1 V^-1: without a difference that cancels where V is small."""
    D = len(p)
    for i in range(D):
        _copy(inverse[i], slope[i])
    for i in range(D):  # (V^-1 + S)^-1 V^-1, all columns together
        for k in range(i):
            for j in range(D):
                slope[i, j] -= H[i, k] * slope[k, j]
        for j in range(D):
            slope[i, j] *= H[i, i]
    for i in range(D - 1, -1, -1):
        for k in range(i + 1, D):
            for j in range(D):
                slope[i, j] -= H[k, i] * slope[k, j]
        for j in range(D):
            slope[i, j] *= H[i, i]
    mean = np.zeros(D)
    for i in range(D):
        for j in range(D):
            mean[j] += p[i] * slope[i, j]
    for i in range(D):
        for j in range(D):
            slope[i, j] = p[i] * (slope[i, j] - mean[j])
