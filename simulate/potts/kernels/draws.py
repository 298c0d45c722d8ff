"""Draws the next color of one site in every chain of a block, from the logits of its colors.

A random number belongs to a chain, a sweep and a site: it is number `place` of the stream that the keys of the chain
name. Therefore a draw depends neither on the order in which chains are looked at nor on where a run was cut.
"""

from typing import Any

import numpy as np

from simulate.potts.kernels.compiled import compiled

GOLDEN_STEP = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio, by which the states of splitmix64 advance
FIRST_MULTIPLIER, SECOND_MULTIPLIER = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)  # of its mixing
MIN_EXPONENT = np.float32(-87.0)  # exp of less underflows in single precision


@compiled
def redraw(
    logits: Any, betas: Any, keys: Any, place: Any, colors: Any, accepted: Any, metropolis: bool, weights: Any,
    bits: Any, total: Any,
) -> None:  # fmt: skip
    """Draw the next color of one site in every chain from its conditional law, weights exp(beta logits) (C, B)."""
    if metropolis:
        _propose(logits, betas, keys, place, colors, accepted)
    else:
        # In three passes, each of which is one loop over chains without branches.
        _exponents(logits, betas, weights)
        _exponentials(weights, bits)
        _draw(weights, total, keys, place, colors)


@compiled
def _exponents(logits: Any, betas: Any, weights: Any) -> None:
    """Set weights[a, c] = beta_c (logits[a, c] - their maximum over a), and at least `MIN_EXPONENT`."""
    # Less the largest logit nothing overflows, and the largest weight is exactly one.
    top = logits[0].copy()
    for a in range(1, len(logits)):
        for c in range(len(betas)):
            top[c] = max(top[c], logits[a, c])
    for a in range(len(logits)):
        for c in range(len(betas)):
            # The lower bound keeps n >= -126 in `_exponentials`, so that 2^n is a normal number.
            weights[a, c] = max(np.float32(betas[c] * (logits[a, c] - top[c])), MIN_EXPONENT)


@compiled
def _exponentials(x: Any, bits: Any) -> None:
    """Replace x <= 0 by exp(x), to a relative 1e-7, as 2^n times a polynomial on |r| <= ln(2)/2 (expf of Cephes)."""
    powers = bits.view(np.float32)
    for a in range(len(x)):
        row = x[a]
        for c in range(len(row)):
            y = row[c]
            n = np.floor(y * np.float32(1.44269504088896341) + np.float32(0.5))
            # ln(2) comes in two parts, of which the first times n is exact: so r keeps its digits.
            r = (y - n * np.float32(0.693359375)) - n * np.float32(-2.12194440e-4)
            p = np.float32(1.9875691500e-4) * r + np.float32(1.3981999507e-3)
            p = ((p * r + np.float32(8.3334519073e-3)) * r + np.float32(4.1665795894e-2)) * r
            p = (p + np.float32(1.6666665459e-1)) * r + np.float32(5.0000001201e-1)
            row[c] = p * r * r + r + np.float32(1)
            # These bits are 2^n when they are read as a number in single precision.
            bits[c] = (np.int32(n) + np.int32(127)) << np.int32(23)
        for c in range(len(row)):
            row[c] *= powers[c]


@compiled
def _draw(weights: Any, total: Any, keys: Any, place: Any, colors: Any) -> None:
    """Replace the color of every chain by one drawn with these weights (C, B)."""
    n_colors = len(weights)
    # The total is in double precision: in single, weights below 6e-8 would be rounded away.
    total[:] = 0
    for a in range(n_colors):
        for c in range(len(colors)):
            total[c] += weights[a, c]
    for c in range(len(colors)):
        total[c] *= _uniform(keys[c, 0], keys[c, 1], place)
        colors[c] = 0
    # Counting the weights that are passed needs no branch, which a random number would make unpredictable. The last
    # color takes what rounding leaves over.
    for a in range(n_colors - 1):
        for c in range(len(colors)):
            total[c] -= weights[a, c]
            colors[c] += total[c] >= 0


@compiled
def _propose(logits: Any, betas: Any, keys: Any, place: Any, colors: Any, accepted: Any) -> None:
    """Propose another color, all equally likely, and accepts it with probability min(1, ratio of weights).

    Of two colors either is proposed, since with the other one alone a free site would alternate for ever.
    """
    n_colors = len(logits)
    for c in range(len(colors)):
        old, u = colors[c], _uniform(keys[c, 0], keys[c, 1], place)
        # A proposal and its reverse are equally likely, so that the ratio of weights decides alone.
        step = int(2 * u) if n_colors == 2 else 1 + int(u * (n_colors - 1))
        new = (old + step) % n_colors
        change = np.float64(betas[c]) * (np.float64(logits[new, c]) - np.float64(logits[old, c]))
        if change >= 0 or _uniform(keys[c, 0], keys[c, 1], place + np.uint64(1)) < np.exp(change):
            colors[c] = new
            accepted[c] += n_colors == 2 or new != old


@compiled
def _uniform(key: Any, other: Any, place: Any) -> Any:
    """Return number `place` in [0, 1) of a chain's stream, by splitmix64 mixed once more with a second key."""
    # With one key all chains would walk along the same cycle of numbers from different places, and two could overlap.
    # The second key makes their numbers differ even then.
    return np.float64(_mixed(_mixed(key + place * GOLDEN_STEP) ^ other) >> np.uint64(11)) * 2.0**-53


@compiled
def _mixed(x: Any) -> Any:
    x = (x ^ (x >> np.uint64(30))) * FIRST_MULTIPLIER
    x = (x ^ (x >> np.uint64(27))) * SECOND_MULTIPLIER
    return x ^ (x >> np.uint64(31))
