"""What sampling gives: states with the evidence that they are draws from the model, or the reason why they are not."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simulate.potts.diagnostics import Diagnosis
from theory.models.errors import MaskedSSLError
from theory.models.frames import table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Chains:
    """Draws from a Potts model by `n_chains` Markov chains, and what was recorded of them.

    `states` (n_samples, L) and their `scores` S (n_samples,), `thin` sweeps apart in each chain, all chains of one time
    beside each other. `diagnoses` of the observables: the score, two fixed random projections of the one-hot states, in
    color-symmetric models the share of the commonest and the mean color, and the score at every beta of a ladder.
    """

    states: NDArray[np.integer[Any]] = field(repr=False)
    scores: NDArray[np.float64] = field(repr=False)
    diagnoses: Mapping[str, Diagnosis] = field(repr=False)
    n_chains: int
    thin: int
    burn_in: int  # sweeps before the pilot, the round that measured tau; the samples follow the pilot
    sweeps: int  # of every chain, in all
    acceptance: float  # share of accepted proposals, 1 for heat bath
    betas: NDArray[np.float64]  # of a ladder; empty without tempering
    swap_rates: NDArray[np.float64]  # of neighboring betas
    reason: str  # why the chains have not mixed; empty where they have

    @property
    def converged(self) -> bool:
        """Whether every observable has R-hat below 1.01, among chains of different starts, and a measured tau."""
        return not self.reason

    @property
    def autocorrelation_time(self) -> float:
        """Of the slowest observable, in sweeps."""
        return max(each.autocorrelation_time for each in moving(self.diagnoses).values())

    @property
    def r_hat(self) -> float:
        """Of the worst observable."""
        return max(each.r_hat for each in moving(self.diagnoses).values())

    @property
    def effective_sample_size(self) -> float:
        """Of the returned states: n_samples thin/(2 tau), at most n_samples."""
        return len(self.states) * min(1.0, self.thin / (2 * self.autocorrelation_time))

    def to_frame(self) -> "pd.DataFrame":
        """One row an observable."""
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


class MixingError(MaskedSSLError, RuntimeError):
    """The chains have not mixed: `.diagnoses` of every observable, after `.sweeps` of every chain."""

    def __init__(self, reason: str, diagnoses: Mapping[str, Diagnosis], sweeps: int, advice: str) -> None:
        self.reason, self.diagnoses, self.sweeps, self.advice = reason, diagnoses, sweeps, advice
        slowest = max(each.autocorrelation_time for each in moving(diagnoses).values())
        measured = "longer than they can measure" if math.isinf(slowest) else f"{slowest:.4g} sweeps"
        worst = max(each.r_hat for each in moving(diagnoses).values())
        super().__init__(
            f"the chains have not mixed after {sweeps} sweeps: {reason}. R-hat {worst:.4g}, autocorrelation time "
            f"{measured}; {advice}; check=False returns them as they are"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason, self.diagnoses, self.sweeps, self.advice)


def moving(diagnoses: Mapping[str, Diagnosis]) -> Mapping[str, Diagnosis]:
    """Without the observables that are constant, unless all are."""
    return {name: each for name, each in diagnoses.items() if not math.isnan(each.r_hat)} or diagnoses
