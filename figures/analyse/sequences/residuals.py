"""Which pairs of sites depend on each other beyond what all other sites explain: a test for short sequences."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.sparse import csr_array
from scipy.special import softmax

from theory.core.arrays import Array

# A site of a fold, a stem or a chain touches some six others: from 25 sites on fewer than a quarter of all pairs do.
SHORT_SITES = 24  # sites
# Sequences that are added to the number of those with a letter, so that two rare ones that meet are no proof.
PSEUDO_COUNT = 2.0
SPENT = 0.5  # share of the sequences that the regression on the other sites may use up
PASSES = 4  # of the regression where sequences with gaps are left out: each leaves the share of these
SIGNS = 19  # as many as there are permutations

Remainders = tuple[int, int, Array, Array, Array, float]


def residual_dependence(
    couplings: Array, fields: Array, states: NDArray[np.uint8], weights: Array, gap: int | None = None
) -> Array:
    """Return how much sites i and j depend on each other given all other sites, (L, L), in standard deviations.

    A pair model with `couplings` (L, L, C, C) and `fields` (L, C), fitted to states (M, L) with weights (M,), predicts
    the letter of i from all sites but j, and that of j from all but i, both by leaving J_ij out but for its mean. What
    remains, r_i and r_j (indicators of the letters less their probabilities), is uncorrelated where J_ij = 0, and an
    error of the other couplings changes that in second order only, since it multiplies a remainder of mean 0 (Shah and
    Peters, Annals of Statistics 48, 1514 (2020)). The penalty makes couplings too weak, all of them together: what r_i
    and r_j keep of a third site is then the same in all sequences, and many add it up. A linear regression of both on
    the letters of the other sites takes it off. Of sum w r_i r_j', whitened on both sides, this is the squared norm,
    less its mean and over its standard deviation where J_ij = 0. Without other sites it is Pearson's chi-square of the
    table of letters.

    Sequences with the color `gap` at i or j say nothing about this pair, and r_i is then of the other colors alone.
    """
    found = np.zeros((len(fields),) * 2)
    for i, j, first, second, weight, spent in _remainders(couplings, fields, states, weights, gap):
        found[i, j] = found[j, i] = _standardized(first, second, weight, spent=spent).item()
    return found


def signed_dependences(
    couplings: Array,
    fields: Array,
    states: NDArray[np.uint8],
    weights: Array,
    gap: int | None,
    rng: np.random.Generator,
) -> Array:
    """Return the dependence of each pair, (SIGNS, L, L), in SIGNS trials in which the products have random signs.

    Arguments are those of `residual_dependence`. Where i and j depend on each other through the other sites only, the
    product r_i r_j' has mean 0 in every sequence, and its sign is that of a coin. The trials keep how large the
    products are: where the other sites nearly determine both letters, a few sequences make up all of the sum, and
    chance reaches much higher than among columns that were permuted.
    """
    found = np.zeros((SIGNS, *(len(fields),) * 2))
    for i, j, first, second, weight, spent in _remainders(couplings, fields, states, weights, gap):
        # A state that stands for k sequences has the sum of k signs; its total is as variable as its weight says.
        times = np.maximum(1, np.rint(weight)).astype(np.int64)
        signs = (2 * rng.binomial(times, 0.5, (SIGNS, len(times))) - times) / np.sqrt(times * weight)
        found[:, i, j] = found[:, j, i] = _standardized(first, second, weight, signs, spent)
    return found


def _remainders(
    couplings: Array, fields: Array, states: NDArray[np.uint8], weights: Array, gap: int | None
) -> Iterator[Remainders]:
    """Yield i, j, r_i and r_j (states, C), the weights of these states, and how many sequences the regression used."""
    states, place = np.unique(states, axis=0, return_inverse=True)
    times = np.bincount(place.reshape(-1), weights).astype(float)
    L = len(fields)
    logits = [_logits(couplings[i], fields[i], states, i) for i in range(L)]
    others = _Others(states, times, len(fields[0]))
    for i, j in zip(*np.triu_indices(L, 1), strict=True):
        kept = np.ones(len(states), bool) if gap is None else (states[:, i] != gap) & (states[:, j] != gap)
        a, b = states[kept, i], states[kept, j]
        first = _remainder(logits[i][kept] - _interaction(couplings[i, j], b, times[kept]), a, gap)
        second = _remainder(logits[j][kept] - _interaction(couplings[j, i], a, times[kept]), b, gap)
        both, spent = others.taken_off(np.concatenate([first, second], axis=1), int(i), int(j), kept)
        yield int(i), int(j), *np.split(both, 2, axis=1), times[kept], spent


class _Others:
    """Regresses remainders of two sites on the indicators of the letters of all other sites, with a small ridge."""

    def __init__(self, states: NDArray[np.uint8], times: Array, n_colors: int) -> None:
        M, L = states.shape
        columns = (states + n_colors * np.arange(L)).ravel()
        self.indicators = csr_array((np.ones(M * L), columns, L * np.arange(M + 1)), shape=(M, L * n_colors))
        self.times, self.n_colors = times, n_colors
        gram = np.asarray((self.indicators.T @ self.indicators.multiply(times[:, None])).toarray())
        self.ridge = _ridge(np.linalg.eigvalsh(gram), (L - 2) / L, SPENT * float(times.sum()))
        self.inverse = np.linalg.inv(gram + self.ridge * np.eye(len(gram)))

    def taken_off(self, remainders: Array, i: int, j: int, kept: NDArray[np.bool_]) -> tuple[Array, float]:
        """Return what of the remainders (kept, 2 C) the other sites do not explain, and the trace of the regression.

        The inverse without the rows and columns of i and j comes from that with them. It is the one of all sequences;
        where some are left out, the regression of what is left is repeated.
        """
        C = self.n_colors
        own = np.concatenate([np.arange(C) + site * C for site in (i, j)])
        if len(own) == len(self.inverse):
            return remainders, 0.0
        columns = self.inverse[:, own]
        block = np.linalg.inv(columns[own])
        trace = float(np.trace(self.inverse) - np.sum(block * (columns.T @ columns)))
        Z, weights = self.indicators[kept], self.times[kept][:, None]
        for _ in range(1 if kept.all() else PASSES):
            sums = Z.T @ (weights * remainders)
            sums[own] = 0.0
            slopes = self.inverse @ sums
            remainders = remainders - Z @ (slopes - columns @ (block @ slopes[own]))
        return np.asarray(remainders), len(self.inverse) - len(own) - self.ridge * trace


def _ridge(eigenvalues: Array, part: float, most: float) -> float:
    """Return the least ridge, of one sequence or more, by which this part of a trace is at most `most` sequences."""
    eigenvalues = np.maximum(eigenvalues, 0.0)

    def excess(log_ridge: float) -> float:
        return part * float((eigenvalues / (eigenvalues + np.exp(log_ridge))).sum()) - most

    if excess(0.0) <= 0:
        return 1.0
    return float(np.exp(brentq(excess, 0.0, np.log(eigenvalues.sum() / most))))


def _logits(couplings: Array, field: Array, states: NDArray[np.uint8], i: int) -> NDArray[np.float32]:
    others = (couplings[j].T[states[:, j]] for j in range(states.shape[1]) if j != i)
    return np.asarray(field + sum(others), np.float32)  # those of all sites are in memory together


def _interaction(block: Array, colors: NDArray[np.uint8], weights: Array) -> Array:
    """Return J_ij(., s_j), (M, C), without its mean over the sequences, which is a part of the field of i."""
    shares = np.bincount(colors, weights, minlength=len(block)) / max(weights.sum(), 1e-300)
    return np.asarray((block - (block @ shares)[:, None]).T[colors])


def _remainder(logits: Array, colors: NDArray[np.uint8], gap: int | None) -> Array:
    """Return indicators of the colors less their probabilities, (M, C); those of a gap are 0."""
    if gap is not None:
        logits[:, gap] = -np.inf
    remainder = -softmax(logits, axis=1)
    remainder[np.arange(len(colors)), colors] += 1.0
    return np.asarray(remainder)


def _standardized(first: Array, second: Array, weights: Array, signs: Array | None = None, spent: float = 0.0) -> Array:
    """Return the squared norm of the whitened sum of products, less its mean and over its standard deviation, (K,).

    The products may have other `signs` (K, M), and a regression may have used up a number `spent` of the sequences. The
    norm is divided by how much larger its mean is than where the sizes of the two remainders are independent: both are
    large in the same few sequences where sites are nearly determined by others, and such products have long tails.
    """
    first, shares = _whitened(first, weights)
    second, of_other = _whitened(second, weights)
    mean, variance = shares.sum() * of_other.sum(), 2 * (shares**2).sum() * (of_other**2).sum()
    factors = weights[None] if signs is None else weights * signs
    if not variance > 0:
        return np.zeros(len(factors))
    norms = np.array([((first.T @ (each[:, None] * second)) ** 2).sum() for each in factors])
    expected = (weights * (first**2).sum(axis=1) * (second**2).sum(axis=1)).sum()
    independent = weights.sum() - spent
    total = independent / max(1.0, independent * expected / mean)
    return np.asarray((total * norms - mean) / np.sqrt(variance))


def _whitened(remainder: Array, weights: Array) -> tuple[Array, Array]:
    """Return r (S + c)^(-1/2), S = sum w r r' in its axes, (M, C), and S/(S + c)'s eigenvalues, c = PSEUDO_COUNT."""
    values, vectors = np.linalg.eigh(remainder.T @ (weights[:, None] * remainder))
    values = np.maximum(values, 0.0)
    return remainder @ vectors / np.sqrt(values + PSEUDO_COUNT), values / (values + PSEUDO_COUNT)
