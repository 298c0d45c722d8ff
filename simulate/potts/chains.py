"""Holds the result of sampling: states, with the evidence that they are draws from the model or are not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.diagnostics import Diagnosis
from simulate.core.mixing import moving
from theory.core import Array, DataFrame, SolverResult, checked, checks, table


@dataclass(frozen=True, eq=False, repr=False)
class Chains(SolverResult):
    """Draws from a Potts model by Markov chains, together with the evidence that they are draws.

    `states` (n_samples, L) hold colors from 0 to C - 1, and `scores` (n_samples,) their S. Sample number t n_chains + c
    is the state of chain c at time t; in each chain the samples are `thin` sweeps apart. `diagnoses` holds the evidence
    of every observable that was watched, by its name; `sample` says which observables these are. `converged` says that
    all of it is good, and `reason` is then empty; otherwise `reason` tells what is wrong. `residual` is the largest
    R-hat minus one, and `iterations` the number of sweeps.
    """

    states: NDArray[np.integer[Any]] = field(repr=False)
    scores: Array = field(repr=False)
    diagnoses: Mapping[str, Diagnosis] = field(repr=False)
    n_chains: int
    thin: int  # sweeps between samples of one chain
    burn_in: int  # sweeps before the round in which the autocorrelation times were measured; samples follow that round
    sweeps: int  # of every chain, in all
    acceptance: float  # share of accepted proposals, 1 for the heat bath
    betas: Array  # inverse temperatures of a ladder; empty without tempering
    swap_rates: Array  # shares of accepted exchanges between neighboring betas
    # So many independent states give equally precise means of the slowest observable: the variance of a mean of states
    # `thin` sweeps apart is 1 + 2 sum_k rho(k thin) times as large as for independent ones.
    effective_sample_size: float
    reason: str

    @classmethod
    @checked
    def of(cls, reason: str, *, diagnoses: Mapping[str, Diagnosis], sweeps: int, **values: Any) -> "Chains":
        """Chains with this verdict, '' for good ones; the rest of the evidence is taken from `values`."""
        for name, each in diagnoses.items():
            checks.record(f"diagnoses[{name!r}]", each, Diagnosis)
        worst = max(each.r_hat for each in moving(diagnoses).values())
        good, found = not reason, {"diagnoses": diagnoses, "sweeps": sweeps, **values}
        return cls(reason=reason, converged=good, residual=worst - 1, iterations=sweeps, **found)

    @property
    def autocorrelation_time(self) -> float:
        """The autocorrelation time of the slowest observable, in sweeps."""
        return max(each.autocorrelation_time for each in moving(self.diagnoses).values())

    @property
    def r_hat(self) -> float:
        """The split R-hat of the observable in which the chains differ most."""
        return max(each.r_hat for each in moving(self.diagnoses).values())

    def to_frame(self) -> DataFrame:
        """Make a table with one row for each observable: mean, standard error, and what they rest on."""
        names = ("mean", "stderr", "autocorrelation_time", "effective_sample_size", "r_hat", "reason")
        columns = {name: [getattr(each, name) for each in self.diagnoses.values()] for name in names}
        return table(observable=list(self.diagnoses), **columns)

    def __str__(self) -> str:
        verdict = "mixed" if self.converged else f"NOT MIXED ({self.reason})"
        return (
            f"{len(self.states)} states of {self.states.shape[1]} sites from {self.n_chains} chains: {verdict}; "
            f"autocorrelation time {self.autocorrelation_time:.3g} sweeps, thinned by {self.thin}, "
            f"effective sample size {self.effective_sample_size:.4g}, R-hat {self.r_hat:.4f}"
        )
