"""Judges a learned model by chains that took no part in learning it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.diagnostics import R_HAT_LIMIT
from simulate.potts.boltzmann.agreement import Agreement, agreement, distance_noise
from simulate.potts.boltzmann.shares import Shares, pair_shares
from simulate.potts.chains import Chains
from simulate.potts.inference.sequences import Sequences
from simulate.potts.sampling import sample
from theory.models import DensePottsModel

N_CHAINS = 128  # fresh chains, two blocks of the sampler's kernel
BURN_IN_SWEEPS = (1024, 4096)  # of fresh chains; the second where they do not agree after the first
SWEEPS_BETWEEN_SAMPLES = 10


@dataclass(frozen=True)
class Judgment:
    """Fresh samples against the data, the distance that noise alone would make, and whether the chains agreed."""

    found: Agreement
    noise: float
    chains: Chains

    @property
    def is_mixed(self) -> bool:
        """Whether split R-hat of everything that was watched is below its limit."""
        return self.chains.r_hat < R_HAT_LIMIT

    @property
    def mismatch(self) -> float:
        """The distance of the joint distributions of two sites from those of the data, in units of the noise."""
        return self.found.distance / self.noise if self.noise > 0 else float(self.found.distance > 0)


def judged(
    model: DensePottsModel,
    data: Sequences,
    target: Shares,
    n_samples: int,
    rng: np.random.Generator,
    n_threads: int,
) -> Judgment:
    """Sample the model with fresh chains, and compare the shares of pairs in the samples with the `target` shares.

    Half of the chains start from sequences of the data and half from independent sites: they agree only where both
    have come to the same law, so that a model which keeps chains near the data, but has its weight elsewhere, is seen.
    """
    start, seed = both_starts(data, N_CHAINS, rng), int(rng.integers(2**63))
    for burn_in in BURN_IN_SWEEPS:
        options: dict[str, Any] = {"n_chains": N_CHAINS, "burn_in": burn_in, "thin": SWEEPS_BETWEEN_SAMPLES}
        options |= {"max_sweeps": 2 * burn_in, "n_threads": n_threads, "check": False}
        chains = sample(model, n_samples, seed=seed, start=start, **options)
        if chains.r_hat < R_HAT_LIMIT:
            break
    shares = pair_shares(Sequences.of(chains.states, data.n_colors), n_threads)
    effective = 1 / float(np.sum(data.weights**2))
    noise = distance_noise(target, shares, data.n_sites, effective, len(chains.states), n_threads)
    return Judgment(agreement(target, shares, data.n_sites, n_threads), noise, chains)


def both_starts(data: Sequences, n_chains: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return states (n_chains, L): in turn a sequence of the data, and one of independent sites."""
    states = independent_states(data, n_chains, rng)
    own = rng.choice(data.n_samples, len(states[::2]), p=data.weights)
    states[::2] = data.columns[:, own].T
    return states


def independent_states(data: Sequences, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw states (n, L) whose sites are independent and have the frequencies of the data."""
    return np.stack([rng.choice(data.n_colors, n, p=f / f.sum()) for f in data.frequencies()], axis=1)
