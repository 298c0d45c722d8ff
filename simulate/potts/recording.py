"""Records a run: the observables of its chains, and counts of every site that tell what to watch next."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.potts.dynamics import Dynamics
from simulate.potts.observables import Observables
from simulate.potts.site_counts import N_BATCHES, SiteCounts, SlowSite
from simulate.potts.tempering import TemperedDynamics
from theory.core.arrays import Array

Arrays = dict[str, NDArray[Any]]


class Watch:
    """Records the chains `dynamics`: their `observables`, with tempering the scores at every beta, and their sites."""

    def __init__(self, dynamics: Dynamics | TemperedDynamics, observables: Observables, n_colors: int) -> None:
        self._dynamics, self._observables = dynamics, observables
        n_chains, n_sites = dynamics.states.shape
        self._sites = SiteCounts(n_chains, n_sites, n_colors)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the observables, in the order of `record`."""
        return (*self._observables.names, *self._ladder_names())

    def begin(self, records: int) -> None:
        """Begin a round of so many records: count sites from zero and take the present states as references."""
        self._observables.begin(self._dynamics.states)
        self.count_anew(records)

    def count_anew(self, records: int) -> None:
        """Begin to count sites from zero, for so many records."""
        self._sites.begin(records // N_BATCHES)

    def record(self) -> Array:
        """Return the present values of all observables, (observables, n_chains), and counts the sites."""
        states = self._dynamics.states
        self._sites.add(states)
        if not isinstance(self._dynamics, TemperedDynamics):
            return self._observables.values(states, self._dynamics.scores())
        scores = self._dynamics.all_scores()
        return np.concatenate([self._observables.values(states, scores[:, self._dynamics.target]), scores.T])

    def slow_sites(self, time: float) -> tuple[SlowSite, ...]:
        """Return the slowest sites whose autocorrelation time is above `time`, in records, beyond doubt."""
        return self._sites.slow_sites(time)

    def add(self, slow: tuple[SlowSite, ...]) -> None:
        """Make these sites observables from the next round on."""
        self._observables.watch([(each.site, each.color) for each in slow])

    def snapshot(self) -> Arrays:
        """Return copies of all arrays that are needed to go on with the same numbers."""
        sites = {f"sites.{name}": array for name, array in self._sites.snapshot().items()}
        return sites | {f"observables.{name}": array for name, array in self._observables.snapshot().items()}

    def restore(self, snapshot: Mapping[str, NDArray[Any]]) -> None:
        """Go back to the moment of `snapshot`."""
        self._observables.restore(part(snapshot, "observables."))
        self._sites.restore(part(snapshot, "sites."))

    def _ladder_names(self) -> tuple[str, ...]:
        ladder = self._dynamics.betas if isinstance(self._dynamics, TemperedDynamics) else ()
        return tuple(f"score at beta = {beta:.6g}" for beta in ladder)


def part(snapshot: Mapping[str, NDArray[Any]], prefix: str) -> Arrays:
    """Return the arrays whose names begin with `prefix`, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in snapshot.items() if name.startswith(prefix)}
