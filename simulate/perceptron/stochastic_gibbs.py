"""Monte Carlo samples of the means of stochastic binary weights, from the Gibbs measure at a fixed norm."""

import math
from dataclasses import dataclass, field
from itertools import combinations
from typing import Annotated

import numpy as np

from simulate.core.diagnostics import diagnose
from simulate.core.mixing import MixingError
from simulate.perceptron.stochastic_kernel import LOG_PHI, run
from theory.core import Array, AtLeast, NonNegativeCount, Several, SolverResult, Within, checked, checks
from theory.models import StochasticPerceptron

SWEEPS_BETWEEN_RECORDS = 5  # sweeps between records
MIN_ACCEPTANCE = 0.01
# Of the squared norm: by so much the halves of one chain may overlap more than different chains do.
MAX_REMEMBERED_SHARE = 0.05
ADVICE = "raise n_sweeps or max_doublings, or take a smaller beta or squared_norm"


@dataclass(frozen=True, eq=False, repr=False)
class StochasticWeightSample(SolverResult):
    """Averages over Markov chains of the means m of stochastic weights, all with the same patterns.

    `loss` is L/N per weight, and `binarized_error` the fraction of the patterns that sign(m) misclassifies; both
    are averages over the last `n_sweeps` sweeps of every chain, of which each fifth was recorded, and `iterations`
    counts all sweeps that a chain made, with those of the annealing. `overlap` is m.m'/N between the time averages
    of independent chains, which is an unbiased estimate of the overlap of two samples. `self_overlap` is the
    overlap between both halves of a chain, and is larger where chains have not forgotten their first half. `r_hat`
    is the split R-hat of the loss, `residual` is R-hat - 1, and `acceptance` is the acceptance of small rotations.
    `means` (chains, N) are the last states, and `patterns` (P, N) the patterns.
    """

    model: StochasticPerceptron = field(repr=False)
    loss: float
    binarized_error: float
    overlap: float
    self_overlap: float
    acceptance: float
    r_hat: float
    n_sweeps: int
    means: Array = field(repr=False)
    patterns: Array = field(repr=False)


@checked
def sample_stochastic_weights(
    model: StochasticPerceptron,
    n_weights: Several,
    rng: np.random.Generator,
    *,
    n_chains: Several = 2,
    n_sweeps: Annotated[int, AtLeast(8 * SWEEPS_BETWEEN_RECORDS)] = 1000,
    r_hat_limit: Annotated[float, Within(1.0)] = 1.05,
    max_doublings: NonNegativeCount = 4,
    check: bool = True,
) -> StochasticWeightSample:
    """Draw round(alpha N) Gaussian patterns and sample the Gibbs measure of N = `n_weights` means on them.

    Every chain starts at random corners of the cube, shrunk to the norm, and is annealed from infinite temperature over
    `n_sweeps` sweeps of N moves (see `simulate.perceptron.stochastic_kernel`), before it records during as many. As
    long as the split R-hat of the loss is not below `r_hat_limit`, or the halves of a chain overlap by 5 % of the
    squared norm more than different chains do, all that was recorded is dropped and the chains go on for twice as many
    sweeps, at most `max_doublings` times. The second condition sees chains that are frozen in different places of the
    same loss. MixingError where one of them is then still not met, or less than one in a hundred small rotations was
    accepted; with check=False what there is comes back, and says so.
    ValueError for fewer than two weights, chains or 40 sweeps, and where there is no pattern.

    >>> from theory.models import StochasticPerceptron
    >>> model = StochasticPerceptron(alpha=0.4, squared_norm=0.5, beta=5)
    >>> sample = sample_stochastic_weights(model, 40, np.random.default_rng(0))
    >>> sample.converged, bool(abs(sample.overlap - sample.self_overlap) < 0.01)
    (True, True)
    """
    N, chains, sweeps = n_weights, n_chains, n_sweeps
    P = number_of_patterns(model.alpha, N)
    checks.fits_in_memory(
        f"{chains} chains of {N} means and {sweeps} sweeps",
        2.0 * N * P + 2.0 * chains * (N + 2.0) * sweeps / SWEEPS_BETWEEN_RECORDS,
    )
    # A row holds what one weight has in all patterns, which is what a move reads.
    patterns = rng.standard_normal((N, P))
    means = np.sqrt(model.squared_norm) * rng.choice([-1.0, 1.0], (chains, N))
    angles, anneal, width, total = np.full(chains, 1.0), sweeps, math.sqrt(1 - model.squared_norm), sweeps
    for doubling in range(min(max_doublings, 60) + 1):
        # All that was recorded before is dropped, since it was not from equilibrium.
        recorded = _Records(chains, sweeps * 2**doubling // SWEEPS_BETWEEN_RECORDS, N)
        for c in range(chains):
            arrays = (recorded.losses[c], recorded.errors[c], recorded.states[c])
            recorded.acceptances[c], angles[c] = run(
                rng, means[c], patterns, width, model.beta, angles[c], anneal, SWEEPS_BETWEEN_RECORDS, LOG_PHI, *arrays
            )
        anneal, total = 0, total + SWEEPS_BETWEEN_RECORDS * recorded.losses.shape[1]
        evidence = diagnose(recorded.losses, SWEEPS_BETWEEN_RECORDS)
        acceptance = float(recorded.acceptances.mean())
        overlap, self_overlap = recorded.overlaps()
        remembered = (self_overlap - overlap) / model.squared_norm
        mixed = evidence.r_hat < r_hat_limit and remembered < MAX_REMEMBERED_SHARE and acceptance >= MIN_ACCEPTANCE
        if mixed:
            break
    made = SWEEPS_BETWEEN_RECORDS * recorded.losses.shape[1]
    if check and not mixed:
        reason = (
            f"R-hat of the loss must be below {r_hat_limit:g}, what a chain remembers of its first half, "
            f"{remembered:.2g}, below {MAX_REMEMBERED_SHARE:g}, and the acceptance, {acceptance:.2g}, at least "
            f"{MIN_ACCEPTANCE:g}"
        )
        raise MixingError(reason, {"loss": evidence}, made, ADVICE)
    return StochasticWeightSample(
        model=model,
        loss=float(recorded.losses.mean()),
        binarized_error=float(recorded.errors.mean()),
        overlap=overlap,
        self_overlap=self_overlap,
        acceptance=acceptance,
        r_hat=evidence.r_hat,
        n_sweeps=made,
        means=means,
        patterns=patterns.T,
        residual=evidence.r_hat - 1,
        iterations=total,
        converged=mixed,
    )


def number_of_patterns(alpha: float, n_weights: int) -> int:
    """Return round(alpha N), the number of patterns; ValueError where there is none, MemoryError for too many."""
    checks.fits_in_memory(f"alpha N = {alpha * n_weights:.3g} patterns of {n_weights} weights", alpha * n_weights**2)
    P = round(alpha * n_weights)
    if P < 1:
        raise ValueError(f"n_weights must give at least one pattern, got {n_weights} with alpha = {alpha:g}")
    return P


class _Records:
    """What the chains have recorded: losses, errors (chains, records) and states (chains, records, N)."""

    def __init__(self, chains: int, records: int, n_weights: int) -> None:
        checks.fits_in_memory(f"{records} records of {n_weights} means", 1.0 * chains * records * n_weights)
        self.losses, self.errors = np.empty((chains, records)), np.empty((chains, records))
        self.states, self.acceptances = np.empty((chains, records, n_weights)), np.empty(chains)

    def overlaps(self) -> tuple[float, float]:
        """Return the overlaps of time averages, between different chains and between the halves of one."""
        half = self.states.shape[1] // 2
        whole, first, second = (
            part.mean(axis=1) for part in (self.states, self.states[:, :half], self.states[:, half:])
        )
        # Chains are independent given the patterns, so that the product of their averages has no bias.
        between = [np.mean(a * b) for a, b in combinations(whole, 2)]
        return float(np.mean(between)), float(np.mean(first * second))
