"""The compiled kernel of the search for discrete weights: annealing of copies that attract each other."""

import math

import numpy as np
from numpy.typing import NDArray

from simulate.core.kernels import cached_njit
from theory.core.arrays import Array

compiled = cached_njit(error_model="numpy", fastmath=True)


@compiled
def moved_energy(fields: Array, column: Array, change: float, threshold: float) -> float:
    """Return the energy after one weight of all patterns' fields (P,) has changed, `column` (P,) being its inputs.

    The energy is the sum over the patterns that are not stored of what their field lacks to the threshold, plus one.
    """
    total = 0.0
    for k in range(len(fields)):
        lack = threshold - (fields[k] + change * column[k])
        total += lack + 1.0 if lack >= 0.0 else 0.0
    return total


@compiled
def anneal(
    rng: np.random.Generator,
    places: NDArray[np.int64],
    levels: Array,
    patterns: Array,
    threshold: float,
    betas: Array,
    attractions: Array,
) -> tuple[int, int]:
    """Anneal all copies in place until one of them stores all patterns; return (that copy or -1, sweeps made).

    places: (y, N) positions of the weights in the ascending `levels`, patterns: (N, P); one sweep over all y N weights
    is made at each of `betas` and `attractions`. A move takes a weight to a neighboring level. It is accepted with the
    probability of Metropolis for the weight exp(-beta sum_a E(W^a) - (attraction/2) sum_a |W^a - mean W|^2).
    """
    y, N = places.shape
    P = patterns.shape[1]
    fields, energies, sums = np.zeros((y, P)), np.zeros(y), np.zeros(N)
    for a in range(y):
        for i in range(N):
            w = levels[places[a, i]]
            sums[i] += w
            for k in range(P):
                fields[a, k] += w * patterns[i, k]
        energies[a] = moved_energy(fields[a], patterns[0], 0.0, threshold)
        if energies[a] == 0.0:
            return a, 0
    for step in range(len(betas)):
        beta, attraction = betas[step], attractions[step]
        for _ in range(N * y):
            a, i = int(rng.random() * y), int(rng.random() * N)
            place = places[a, i] + (1 if rng.random() < 0.5 else -1)
            if len(levels) == 2:  # the only other level
                place = 1 - places[a, i]
            elif place < 0 or place == len(levels):
                continue
            old, new = levels[places[a, i]], levels[place]
            change = new - old
            energy = moved_energy(fields[a], patterns[i], change, threshold)
            pull = new * new - old * old - ((sums[i] + change) ** 2 - sums[i] ** 2) / y
            exponent = beta * (energies[a] - energy) - attraction / 2.0 * pull
            if exponent >= 0.0 or rng.random() < math.exp(exponent):
                places[a, i], energies[a] = place, energy
                sums[i] += change
                for k in range(P):
                    fields[a, k] += change * patterns[i, k]
                if energy == 0.0:
                    return a, step + 1
    return -1, len(betas)
