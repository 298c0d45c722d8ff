"""Holds the base of all samplers: checked arguments, random numbers, snapshots and threads."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.threads import share
from theory.core import Array, checks
from theory.models import Potts

States = NDArray[np.int16]
MAX_COLORS = np.iinfo(np.int16).max


class IndependentChains(ABC):
    """Holds `n_chains` independent chains of `model`, whose `betas` (n_chains,) may be changed between runs.

    Every chain has two random 64-bit keys, and number n of its stream of random numbers belongs to one sweep and one
    site. Therefore results depend neither on threads, nor on where a run was cut, nor, but for rounding, on the other
    chains.
    """

    def __init__(
        self,
        model: Potts,
        n_chains: int,
        rng: np.random.Generator,
        *,
        metropolis: bool,
        betas: Any,
        start: Any,
        n_threads: int,
    ) -> None:
        self.n_chains = checks.count("n_chains", n_chains)
        self.n_sites, self.n_colors, self.metropolis = model.n_sites, model.n_colors, metropolis
        if self.n_colors > MAX_COLORS:
            raise ValueError(f"n_colors must be at most {MAX_COLORS}, got {self.n_colors}")
        self.n_threads = checks.count("n_threads", n_threads)
        checks.fits_in_memory(
            f"{self.n_chains} chains of {self.n_sites} sites", 3.0 * self.n_chains * (self.n_sites + 1)
        )
        self.betas = _checked_betas(model.beta if betas is None else betas, self.n_chains)
        # Drawn before a random start, the keys are the same with a start that is given.
        self._keys = rng.integers(2**64, size=(self.n_chains, 2), dtype=np.uint64)
        self._sweeps = 0
        self._accepted = np.zeros(self.n_chains, dtype=np.int64)
        self._states = self._checked_start(rng.integers(self.n_colors, size=self._shape) if start is None else start)

    @abstractmethod
    def _run(self, n_sweeps: int) -> None:
        """Advance `_states` by `n_sweeps` sweeps and count in `_accepted` what was accepted."""

    @abstractmethod
    def scores(self) -> Array:
        """Return the scores S(s) of the present states, (n_chains,), added up anew in double precision."""

    @property
    def states(self) -> States:
        """A copy of the present states, (n_chains, L)."""
        return self._states.copy()

    @property
    def acceptance(self) -> float:
        """The share of accepted proposals over all chains and sweeps, 1.0 for the heat bath.

        With two colors the proposal to stay counts, and is always accepted.
        """
        proposed = self._sweeps * self.n_sites * self.n_chains
        return float(self._accepted.sum() / proposed) if self.metropolis and proposed else 1.0

    def run(self, n_sweeps: int) -> None:
        """Advance every chain by `n_sweeps` sweeps of L updates."""
        count = checks.count("n_sweeps", n_sweeps, least=0)
        self._run(count)
        self._sweeps += count

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Return copies of all arrays that are needed to go on with the same numbers."""
        return {
            "states": self.states,
            "keys": self._keys.copy(),
            "betas": self.betas.copy(),
            "accepted": self._accepted.copy(),
            "sweeps": np.array(self._sweeps),
        }

    def restore(self, snapshot: dict[str, NDArray[Any]]) -> None:
        """Go back to the moment of `snapshot`; ValueError, and nothing changed, where it is of other chains."""
        missing = {"states", "keys", "betas", "accepted", "sweeps"} - set(checks.mapping("snapshot", snapshot))
        if missing:
            raise ValueError(f"snapshot must have states, keys, betas, accepted and sweeps, got no {sorted(missing)}")
        states, betas = self._checked_start(snapshot["states"]), _checked_betas(snapshot["betas"], self.n_chains)
        keys = np.array(checks.integer_array("snapshot['keys']", snapshot["keys"]), np.uint64)
        accepted = np.array(checks.integer_array("snapshot['accepted']", snapshot["accepted"]), np.int64)
        sweeps = checks.count("snapshot['sweeps']", snapshot["sweeps"], least=0)
        if keys.shape != self._keys.shape or accepted.shape != self._accepted.shape:
            raise ValueError(f"snapshot must be of {self.n_chains} chains, got keys of shape {keys.shape}")
        # Everything has been checked here: a snapshot that is refused leaves the chains as they were.
        self._states, self.betas, self._keys, self._accepted = states, betas, keys, accepted
        self._sweeps = sweeps

    def _in_threads(self, work: Callable[[slice], None], count: int) -> None:
        """Do `work` on `count` things, in as many slices as there are threads."""
        if self.n_threads == 1:  # a sweep of a small model takes no longer than the bounds of slices
            work(slice(0, count))
            return
        ends = np.linspace(0, count, min(self.n_threads, count) + 1).astype(int).tolist()
        share(work, [slice(first, last) for first, last in pairwise(ends)])

    @property
    def _shape(self) -> tuple[int, int]:
        return self.n_chains, self.n_sites

    def _checked_start(self, start: Any) -> States:
        states = checks.colors("start", start, self.n_colors, self.n_sites)
        if states.shape != self._shape:
            raise ValueError(f"start must have shape (n_chains, L) = {self._shape}, got {states.shape}")
        return states.astype(np.int16)


def _checked_betas(betas: Any, n_chains: int) -> Array:
    checked = np.array(checks.finite_array("betas", np.atleast_1d(betas), 1))
    if checked.shape not in ((1,), (n_chains,)) or np.any(checked < 0):
        raise ValueError(
            f"betas must be one number >= 0, or one for each of n_chains = {n_chains}, got {checks.shown(checked)}"
        )
    return np.full(n_chains, checked) if checked.shape == (1,) else checked
