"""Search for discrete weights that store all patterns: annealed copies that attract each other, or a single chain."""

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from simulate.perceptron.search_kernel import anneal
from simulate.perceptron.stochastic_gibbs import number_of_patterns
from theory.core import Array, AtLeast, Count, NonNegative, Positive, Several, SolverResult, checked, checks
from theory.models import DiscretePerceptron

FIRST_BETA = 0.05  # the inverse temperature of the first sweep: every move is accepted


@dataclass(frozen=True, eq=False, repr=False)
class CopySearch(SolverResult):
    """The end of one search: `solved` says whether a copy stores all patterns, and `weights` (N,) are the best copy.

    `errors` counts the patterns that it does not store, and `work` the sweeps over N weights that were made, those of
    all copies together. `distance` is the mean of |W - W'|^2/(4 Q N) over pairs of copies at the end, Q being their
    mean square: the fraction of weights that differ, for binary weights; NaN for a single one. `converged` is the same
    as `solved`, and `residual` is the share of patterns that are not stored.
    """

    solved: bool
    errors: int
    work: int
    distance: float
    weights: Array = field(repr=False)


@checked
def search_with_copies(
    model: DiscretePerceptron, n_weights: Several, rng: np.random.Generator, *,
    copies: Annotated[int, AtLeast(1, most=100)] = 5, n_sweeps: Count = 1000, beta: Positive = 1.0,
    attraction: NonNegative = 3.0,
) -> CopySearch:  # fmt: skip
    """Anneal y = `copies` weight vectors that attract each other on one set of round(alpha N) patterns of random signs.

    This is the replicated search that dense regions suggest (arXiv:1602.04129): y copies draw from the weight

        exp(-beta sum_a E(W^a) - (gamma/2) sum_a |W^a - mean W|^2),

    where E sums over the patterns that are not stored what x.W lacks to sqrt(N) margin, plus one, and the largest level
    is 1. A move takes one weight to a neighboring level, by the rule of Metropolis. Beta rises linearly from 0.05 to
    `beta`, gamma from 0 to `attraction`. `n_sweeps` is the work, in sweeps over N weights, that the copies share: each
    makes n_sweeps // y of them, so that searches with other numbers of copies are compared at equal work; copies=1 is
    plain annealing. The search ends with the first copy that stores all patterns. An odd N avoids ties of +-1 weights.

    ValueError where there is no pattern, or less than one sweep for each copy.

    >>> model = DiscretePerceptron(levels=(-1, 1), alpha=0.5)
    >>> found = search_with_copies(model, 101, np.random.default_rng(0))
    >>> found.solved, found.errors
    (True, 0)
    """
    N, P, y = n_weights, number_of_patterns(model.alpha, n_weights), copies
    if n_sweeps < y:
        raise ValueError(f"n_sweeps must be at least one for each of the {y} copies, got {n_sweeps}")
    unit = max(abs(one) for one in model.levels)
    levels = np.asarray(model.levels) / unit
    threshold = model.margin / unit * float(np.sqrt(N))
    patterns = rng.choice([-1.0, 1.0], (N, P))
    places = rng.integers(model.n_levels, size=(y, N))
    checks.fits_in_memory(f"the attraction in each of {n_sweeps // y} sweeps", n_sweeps // y)
    rise = np.linspace(0, 1, n_sweeps // y)
    betas = FIRST_BETA + (beta - FIRST_BETA) * rise
    winner, sweeps = anneal(rng, places, levels, patterns, threshold, betas, attraction * rise)
    weights = levels[places]
    missed = np.count_nonzero(weights @ patterns <= threshold, axis=1)
    best = int(np.argmin(missed)) if winner < 0 else winner
    errors = int(missed[best])
    return CopySearch(
        errors == 0, errors, sweeps * y, _distance(weights), unit * weights[best],
        residual=errors / P, iterations=sweeps, converged=errors == 0,
    )  # fmt: skip


def _distance(weights: Array) -> float:
    """Return the mean squared distance of pairs of copies (y, N) in units of four times their mean square."""
    y = len(weights)
    square = float((weights**2).mean())
    if y == 1 or square == 0:
        return float("nan")
    # The mean of the squared distances of all pairs is twice the variance over copies with y - 1.
    return float(2 * weights.var(axis=0, ddof=1).mean() / (4 * square))
