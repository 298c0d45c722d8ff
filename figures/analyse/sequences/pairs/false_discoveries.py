"""The share of pairs that stand out by chance alone: a q-value for each ranked pair, from the fits that set the limit.

The limit of `evidence` bounds the chance that any pair at all is named wrongly. Who can follow up a list in which one
pair of ten is wrong is told more by the q-value: of the pairs whose q-value is at most .1, a tenth is expected to be
noise. Both come from the same fits to permuted columns, and no further ones.
"""

import numpy as np

from theory.core.arrays import Array

FALSE_DISCOVERIES = 0.1  # share of them in the list that the report counts
# Scores of one permutation that are kept, the highest: all of them up to 447 sites. Only pairs lower than most of noise
# would need the others, and their q-value is near 1 in any case.
MOST_KEPT_SCORES = 100_000


def kept_scores(scores: Array) -> Array:
    """Return the number of scores, followed by the highest of them, at most MOST_KEPT_SCORES."""
    kept = scores if len(scores) <= MOST_KEPT_SCORES else -np.partition(-scores, MOST_KEPT_SCORES)[:MOST_KEPT_SCORES]
    return np.concatenate([[len(scores)], kept])


def p_values(strengths: Array, noise: list[Array]) -> Array:
    """Return (1 + b)/(1 + B) for each of the strengths (n,): b of the B scores of noise are at least as high.

    Each entry of `noise` is a number of scores followed by the highest of them, as `kept_scores` returns it; the scores
    of all pairs of all permutations are one sample. The score of noise is distributed differently from pair to pair, so
    that a single one of these numbers is no error rate of its own pair. Their sum over all pairs is: b is the number of
    pairs that noise lifts as high, times the number of permutations, whichever pairs these are. The q-values need no
    more. Scores that were not kept count as higher than a pair that is below the least kept one of their permutation.
    """
    above = np.zeros(len(strengths))
    for total, *scores in noise:
        kept = np.sort(scores)
        above += len(kept) - np.searchsorted(kept, strengths, side="left")
        if len(kept) < total:
            above += (total - len(kept)) * (strengths < kept[0])
    return np.asarray((1 + above) / (1 + sum(int(each[0]) for each in noise)))


def q_values(p: Array) -> Array:
    """Return the q-values (n,) of p-values (n,): the least false discovery rate of a list that holds the pair.

    These are the adjusted p-values of Benjamini and Hochberg, Journal of the Royal Statistical Society B 57, 289
    (1995): min over the pairs k with p_k >= p_i of n p_k / (number of p-values that are at most p_k). The share of
    pairs that do not interact is taken as 1, which is nearly right among many sites, and too careful among few.

    >>> q_values(np.array([0.01, 0.5, 0.02, 0.9])).round(3).tolist()
    [0.04, 0.667, 0.04, 0.9]
    """
    n = len(p)
    order = np.argsort(p, kind="stable")
    adjusted = n * p[order] / np.arange(1, n + 1)
    found = np.empty(n)
    found[order] = np.minimum(1.0, np.minimum.accumulate(adjusted[::-1])[::-1])
    return found
