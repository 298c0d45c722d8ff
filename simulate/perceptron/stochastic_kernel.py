"""The compiled kernel of the Gibbs sampler of stochastic weights: moves of pairs and signs at a fixed norm."""

import math

import numpy as np
from scipy.special import log_ndtr

from simulate.core.kernels import cached_njit
from theory.core.arrays import Array

MIN_TABLE_FIELD, MAX_TABLE_FIELD = -40.0, 9.0  # below, the asymptotic series has all digits; above, log Phi is zero
NODES_PER_UNIT = 512.0  # nodes of the table: linear interpolation is then off by less than 5e-7
LOG_PHI = log_ndtr(np.arange(MIN_TABLE_FIELD * NODES_PER_UNIT, MAX_TABLE_FIELD * NODES_PER_UNIT + 2) / NODES_PER_UNIT)
FLIP_SHARE, FAR_ROTATION_SHARE = 0.3, 0.1  # shares of flips of one sign, and of rotations by any angle
# Acceptance of near rotations, to which their largest angle is adapted while the chain is annealed.
TARGET_ACCEPTANCE = 0.4


compiled = cached_njit(error_model="numpy")


@compiled
def log_phi(x: float, table: Array) -> float:
    """Return the logarithm of the Gaussian distribution function at x, by the table."""
    if x >= MAX_TABLE_FIELD:
        return 0.0
    if x < MIN_TABLE_FIELD:
        return -0.5 * x * x - math.log(-x) - 0.9189385332046727 - 1.0 / (x * x)
    place = (x - MIN_TABLE_FIELD) * NODES_PER_UNIT
    k = int(place)
    return float(table[k] + (place - k) * (table[k + 1] - table[k]))


@compiled
def sweep(
    rng: np.random.Generator,
    m: Array,
    x: Array,
    xi: Array,
    trial: Array,
    energy: float,
    beta: float,
    angle: float,
    table: Array,
) -> tuple[float, int, int]:
    """Make N moves in place and return (energy, near rotations, accepted ones).

    m: (N,) means, x: (P,) fields in units of their width, xi: (N, P) patterns in the same units, trial: (P,) work
    space. A move rotates a random pair of means by an angle, small or any, or flips the sign of one: both keep the
    norm, and are as likely as the moves back. A rotation that leaves the cube is refused. Flips are what relaxes
    means near +-1, from where a small rotation leads out of the cube.
    """
    N, P = xi.shape
    near, accepted = 0, 0
    for _ in range(N):
        # Pair and kind are drawn without a look at the means, so that a move is as likely as the one back.
        i = int(rng.random() * N)
        j = int(rng.random() * (N - 1))
        if j >= i:
            j += 1
        kind = rng.random()
        small = kind >= FLIP_SHARE + FAR_ROTATION_SHARE
        if kind < FLIP_SHARE:
            a, b = -m[i], m[j]
        else:
            theta = (2.0 * rng.random() - 1.0) * (angle if small else math.pi)
            c, s = math.cos(theta), math.sin(theta)
            a, b = c * m[i] - s * m[j], s * m[i] + c * m[j]
        if small:
            near += 1
        # Refused, since a mean cut off at the face of the cube would leave the norm.
        if abs(a) > 1.0 or abs(b) > 1.0:
            continue
        # Fields follow the two means that change: P operations for each of them instead of N P.
        da, db = a - m[i], b - m[j]
        total = 0.0
        for k in range(P):
            trial[k] = x[k] + da * xi[i, k] + db * xi[j, k]
            total -= log_phi(trial[k], table)
        if rng.random() < math.exp(min(0.0, beta * (energy - total))):
            m[i], m[j], energy = a, b, total
            # A loop, since an array that is assigned to a slice has the message of another shape compiled with it.
            for k in range(P):
                x[k] = trial[k]
            if small:
                accepted += 1
    return energy, near, accepted


@compiled
def run(
    rng: np.random.Generator,
    m: Array,
    patterns: Array,
    width: float,
    beta: float,
    angle: float,
    n_anneal: int,
    every: int,
    table: Array,
    losses: Array,
    errors: Array,
    means: Array,
) -> tuple[float, float]:
    """Anneal over `n_anneal` sweeps, then record every `every` sweeps; return (acceptance while recording, angle).

    m: (N,) means, changed in place, patterns: (N, P), width: the standard deviation sqrt(1 - |m|^2/N) of a field;
    losses and errors: (records,) and means: (records, N) are filled. The temperature falls during the first half of
    the annealing, and the largest angle of near rotations is adapted during all of it.
    """
    N, P = patterns.shape
    xi = patterns / (math.sqrt(N) * width)
    x, trial = np.empty(P), np.empty(P)
    n_accepted, n_tried = 0, 0
    norm = math.sqrt(np.sum(m * m))
    for step in range(n_anneal + every * len(losses)):
        # Once a sweep the rounding errors of many moves are removed.
        m *= norm / math.sqrt(np.sum(m * m))
        x[:] = 0.0
        for i in range(N):
            for k in range(P):
                x[k] += m[i] * xi[i, k]
        energy = 0.0
        for k in range(P):
            energy -= log_phi(x[k], table)
        # From high temperatures downwards: at the last one a chain could stay in the first valley that it meets.
        now = beta * min(1.0, (2.0 * step + 1.0) / max(1, n_anneal)) if step < n_anneal else beta
        energy, near, accepted = sweep(rng, m, x, xi, trial, energy, now, angle, table)
        # The angle adapts before anything is recorded: a move that depends on the past would not keep the law.
        if step < n_anneal:
            angle = min(math.pi, angle * math.exp(0.1 * (accepted / max(1, near) - TARGET_ACCEPTANCE)))
            continue
        n_accepted += accepted
        n_tried += near
        past = step - n_anneal + 1
        if past % every == 0:
            record = past // every - 1
            losses[record] = energy / N
            wrong = 0
            for k in range(P):
                field = 0.0
                for i in range(N):
                    field += patterns[i, k] if m[i] > 0.0 else -patterns[i, k]
                if field < 0.0:
                    wrong += 1
            errors[record] = wrong / P
            means[record] = m
    return n_accepted / max(1, n_tried), angle
