"""Draws new sequences from a pair model of a family, and the clone of order 2 from the one of Boltzmann learning."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.analyse.sequences.generation.comparison import Comparison, compared
from figures.analyse.sequences.split import split_clusters
from figures.analyse.sequences.unlearned import unlearned, unmixed
from simulate.core import stream
from simulate.core.diagnostics import R_HAT_LIMIT
from simulate.nets import Clone
from simulate.nets.clones import compared as compared_clone
from simulate.potts import BoltzmannFit, Chains, FitError, MixingError, sample
from simulate.potts.boltzmann.fresh_chains import both_starts
from simulate.potts.inference.sequences import Sequences
from theory.core import Array
from theory.models import DensePottsModel

N_CHAINS = 128
BURN_IN_SWEEPS = (2048, 8192)  # of which the second is tried where chains do not agree after the first
MIN_COMPARED = 10_000  # sequences that are drawn to be compared, of which only those asked for are written
MAX_NEAREST = 1000  # sequences whose nearest natural one is looked for
LEAST_SWEEPS, MOST_SWEEPS = (
    10,
    200,
)  # between two samples of a chain; twice the autocorrelation time, where it lies between these


@dataclass(frozen=True, eq=False, repr=False)
class Generation:
    """New `states` (N, L) of a pair model, the evidence that they are draws from it, and how they compare."""

    states: NDArray[np.integer] = field(repr=False)
    fit: BoltzmannFit | None  # None: the model is that of penalized pseudo-likelihood
    r_hat: float
    n_compared: int  # sequences of the model that were compared with the family
    comparisons: tuple[Comparison, ...] = field(repr=False)
    nearest: Array = field(repr=False)  # share of sites at which new sequences agree with the nearest natural one
    natural: Array = field(repr=False)  # the same for natural sequences and the nearest other one


def generated(
    colors: NDArray[np.uint8],
    weights: Array,
    clusters: NDArray[np.int64],
    n_colors: int,
    model: DensePottsModel | None,
    count: int,
    learn: Callable[[], BoltzmannFit] | None,
    seed: int,
    n_threads: int,
) -> tuple[Generation | None, tuple[str, ...]]:
    """Return `count` new sequences of the pair model, and notes; none where the model cannot be had or sampled.

    The model is that of `learn`, or where it is None the `model` of penalized pseudo-likelihood.
    """
    try:
        fit = None if learn is None else learn()
        known = model if fit is None else fit.model
        assert known is not None  # one of the two is given
        chains = drawn(known, colors, n_colors, weights, max(count, MIN_COMPARED), fit, seed, n_threads)
    except (FitError, MemoryError, ValueError) as error:
        return None, (f"no sequences were generated: {unlearned(error)}",)
    except MixingError as error:
        return None, (f"no sequences were generated: {unmixed(error, learned=learn is not None)}",)
    comparisons = compared(colors, weights, chains.states, n_colors, _halves(clusters, weights, seed), seed)
    states = chains.states[:count]
    rng = stream(seed, "sequences whose nearest is looked for")
    some = rng.permutation(len(colors))[:MAX_NEAREST]
    return Generation(
        states=states,
        fit=fit,
        r_hat=chains.r_hat,
        n_compared=len(chains.states),
        comparisons=comparisons,
        nearest=nearest_identity(states[:MAX_NEAREST], colors),
        natural=nearest_identity(colors[some], colors, besides=some),
    ), ()


def drawn(
    model: DensePottsModel,
    colors: NDArray[np.uint8],
    n_colors: int,
    weights: Array,
    count: int,
    fit: BoltzmannFit | None,
    seed: int,
    n_threads: int,
) -> Chains:
    """Draw states of the model by chains of which half start from the family and half from independent sites.

    MixingError where R-hat of the chains is not below 1.01 after the longest burn-in either.
    """
    start = both_starts(Sequences.of(colors, n_colors, weights), N_CHAINS, stream(seed, "starts of new sequences"))
    apart = 2 * LEAST_SWEEPS if fit is None else 2 * fit.autocorrelation_time
    for burn_in in BURN_IN_SWEEPS:
        thin = int(np.clip(apart, LEAST_SWEEPS, MOST_SWEEPS))
        options: dict[str, Any] = {"n_chains": N_CHAINS, "burn_in": burn_in, "thin": thin, "max_sweeps": 2 * burn_in}
        chains = sample(model, count, seed=seed, start=start, n_threads=n_threads, check=False, **options)
        if chains.r_hat < R_HAT_LIMIT:
            return chains
        apart = 2 * chains.autocorrelation_time
    raise MixingError(chains.reason, chains.diagnoses, chains.sweeps, "take fewer columns, or a stronger penalty")


def pair_clone(
    colors: NDArray[np.uint8], n_colors: int, weights: Array, fit: BoltzmannFit, seed: int, n_threads: int
) -> Clone:
    """Return the clone of order 2: as many sequences as there are, from the model of Boltzmann learning."""
    data = Sequences.of(colors, n_colors, weights)
    chains = drawn(fit.model, colors, n_colors, weights, max(len(colors), N_CHAINS), fit, seed, n_threads)
    chains = replace(chains, states=chains.states[: len(colors)])
    return compared_clone(data, chains, order=2, kind="pairs", model=fit.model, seed=seed)


def nearest_identity(
    states: NDArray[np.integer], natural: NDArray[np.uint8], besides: NDArray[np.int64] | None = None
) -> Array:
    """Return the largest share of equal sites with a natural sequence, (N,); `besides` names each one's own place."""
    found = np.empty(len(states))
    for k, state in enumerate(states.astype(np.uint8)):
        same = (natural == state).sum(axis=1)
        if besides is not None:
            same[besides[k]] = -1
        found[k] = same.max() / natural.shape[1]
    return found


def _halves(
    clusters: NDArray[np.int64], weights: Array, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    try:
        split = split_clusters(clusters, weights, 0.5, stream(seed, "halves of the family"))
    except ValueError:  # too few clusters
        return None
    return split.training, split.held_out
