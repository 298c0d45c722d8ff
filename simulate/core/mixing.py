"""The error of Markov chains that have not mixed."""

import math
from collections.abc import Mapping
from typing import Any

from simulate.core.diagnostics import Diagnosis
from theory.core.errors import MaskedSSLError


class MixingError(MaskedSSLError, RuntimeError):
    """Markov chains have not mixed, so that their states are no draws from the model.

    `reason` tells what shows it, and `advice` what the caller can do. `diagnoses` holds the evidence of every
    observable by its name, and `sweeps` is the number of sweeps that every chain has made. Samplers that do not sweep
    name in `unit` what they count instead.
    """

    def __init__(
        self, reason: str, diagnoses: Mapping[str, Diagnosis], sweeps: int, advice: str, unit: str = "sweeps"
    ) -> None:
        self.reason, self.diagnoses, self.sweeps, self.advice, self.unit = reason, diagnoses, sweeps, advice, unit
        slowest = max(each.autocorrelation_time for each in moving(diagnoses).values())
        measured = "longer than they can measure" if math.isinf(slowest) else f"{slowest:.4g} {unit}"
        worst = max(each.r_hat for each in moving(diagnoses).values())
        super().__init__(
            f"the chains have not mixed after {sweeps} {unit}: {reason}. R-hat {worst:.4g}, autocorrelation time "
            f"{measured}; {advice}; check=False returns them as they are"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason, self.diagnoses, self.sweeps, self.advice, self.unit)


def moving(diagnoses: Mapping[str, Diagnosis]) -> Mapping[str, Diagnosis]:
    """Return the diagnoses of those observables that ever change, or of all where none does."""
    return {name: each for name, each in diagnoses.items() if not math.isnan(each.r_hat)} or diagnoses
