"""Leads one run of many chains: burn-in, a pilot that measures how slow they are, then thinned samples.

Rounds of doubling length are run until the chains are mixed in one. That round is the pilot, and all before it was
burn-in. A burn-in that was asked for is kept, and the round after it is made longer until the chains are mixed.
All that changes is kept in checkpoints by `_save`, so that a run that goes on from one gives the same numbers.
"""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.diagnostics import R_HAT_LIMIT, Diagnosis, diagnose, is_constant, thinned_variance, verdict
from simulate.core.mixing import moving
from simulate.potts.checkpoint import Checkpoint
from simulate.potts.dynamics import Dynamics
from simulate.potts.progress import Bar
from simulate.potts.recording import Watch, part
from simulate.potts.site_counts import SlowSite
from simulate.potts.tempering import TemperedDynamics

Arrays = dict[str, NDArray[Any]]

FIRST_ROUND_SWEEPS = 256  # later rounds are twice, four times and so on as long
ROUND_RECORDS = 1024  # what changes faster than its 1024th part looks independent
FROZEN_AFTER_SWEEPS = 1024  # without any change, of any chain
SECONDS_BETWEEN_SAVES = 30.0  # of checkpoints: what an interruption can cost
BURN_IN, PILOT, SAMPLING = range(3)
STAGE_NAMES = ("burn-in", "pilot", "sampling")
SAVED_NUMBERS = ("stage", "sweeps", "burn_in", "stride", "thin", "done", "length")  # of a Run, kept in checkpoints


@dataclass(frozen=True)
class Plan:
    """The numbers of sweeps and samples that were asked for; what is None is found by the pilot."""

    n_each: int  # samples of each chain
    burn_in: int | None
    thin: int | None
    max_sweeps: int

    @property
    def is_fixed(self) -> bool:
        """Whether a pilot has nothing to find; then the second half of the burn-in is recorded in its place."""
        return self.burn_in is not None and self.thin is not None

    @property
    def least_sweeps(self) -> int:
        """The number of sweeps of burn-in and first pilot, which are made in any case."""
        return (FIRST_ROUND_SWEEPS if self.burn_in is None else self.burn_in) + (
            0 if self.is_fixed else FIRST_ROUND_SWEEPS
        )


class Run:
    """Leads the chains `dynamics` through all stages of a `plan`; `watch` records them, `bar` shows the progress."""

    def __init__(
        self, dynamics: Dynamics | TemperedDynamics, watch: Watch, plan: Plan, bar: Bar, checkpoint: Checkpoint | None
    ) -> None:
        self.dynamics, self.watch, self.plan = dynamics, watch, plan
        self._bar, self._checkpoint = bar, checkpoint
        self.stage, self.sweeps, self.burn_in, self.stride, self.thin = BURN_IN, 0, 0, 1, 0
        self.done, self.length = 0, 0  # records of this round, and its sweeps
        self.series: NDArray[np.float64] = np.zeros((0, len(watch.names), len(dynamics.states)))
        self.kept: NDArray[Any] = np.zeros((0, *dynamics.states.shape), dtype=dynamics.states.dtype)
        self._saved_at = time.monotonic()

    def execute(self, check: bool) -> None:
        """Run to the end or, if `check`, to where the pilot would have to be longer than max_sweeps allows."""
        self._resume()
        if self.stage == BURN_IN:
            self._burn_in()
        while True:
            self._record()
            diagnoses = {} if self.plan.is_fixed else self.diagnoses()
            slow = self.slow_sites(diagnoses)
            mixed = self.plan.is_fixed or not (slow or verdict(diagnoses))
            if not mixed and self._may_go_on():  # samples of chains that turn out not to have mixed are not kept
                if slow or self.plan.burn_in is None:  # what is watched from now on has no past
                    self.watch.add(slow)
                    self._begin_round(2 * self.length)
                else:
                    self._extend_round()
            elif self.is_sampling or (check and not mixed):
                break
            else:
                self._begin_sampling()
        self._save()

    def _may_go_on(self) -> bool:
        """Say whether a longer pilot is allowed, and is not useless because nothing has ever changed."""
        more = self.length if self.plan.burn_in is not None else 2 * self.length
        frozen = self.length >= FROZEN_AFTER_SWEEPS and not np.ptp(self.series[: self.done], axis=0).any()
        return self.sweeps + more <= self.plan.max_sweeps and not frozen

    @property
    def is_sampling(self) -> bool:
        """Whether burn-in and pilot are over."""
        return self.stage == SAMPLING

    def diagnoses(self) -> Mapping[str, Diagnosis]:
        """Return the evidence of every observable by its name, over the pilot and what followed it."""
        recorded = self.series[: self.done].transpose(1, 2, 0)
        return {name: diagnose(series, self.stride) for name, series in zip(self.watch.names, recorded, strict=True)}

    def slow_sites(self, diagnoses: Mapping[str, Diagnosis]) -> tuple[SlowSite, ...]:
        """Sites slower than the slowest observable; none where R-hat of the observables tells that nothing is mixed."""
        judged = moving(diagnoses).values()
        if not diagnoses or any(
            not each.r_hat < R_HAT_LIMIT or math.isinf(each.autocorrelation_time) for each in judged
        ):
            return ()
        return self.watch.slow_sites(self._slowest(diagnoses) / self.stride)

    def thinned_variance(self) -> float:
        """Return the variance of means over the samples, relative to independent draws, for the worst observable."""
        recorded = self.series[: self.done].transpose(1, 2, 0)
        moving = [series for series in recorded if not is_constant(series)]
        return max((thinned_variance(series, self.thin // self.stride) for series in moving), default=math.inf)

    def sampled_series(self) -> NDArray[np.float64]:
        """Return the observables of the samples, (n_each, observables, n_chains)."""
        # Records of the pilot come first; of those behind it one in `every` belongs to a sample.
        every = self.thin // self.stride
        return self.series[len(self.series) - self.plan.n_each * every :][every - 1 :: every]

    def _burn_in(self) -> None:
        wanted = FIRST_ROUND_SWEEPS if self.plan.burn_in is None else self.plan.burn_in
        unrecorded = wanted // 2 if self.plan.is_fixed else wanted
        self._bar.stage(STAGE_NAMES[BURN_IN], unrecorded, self.sweeps)
        while self.sweeps < unrecorded:
            self._advance(min(unrecorded - self.sweeps, max(1, unrecorded // 100)))
        self._begin_round(wanted - unrecorded if self.plan.is_fixed else FIRST_ROUND_SWEEPS)

    def _begin_round(self, length: int) -> None:
        self.stage, self.length, self.done, self.burn_in = PILOT, length, 0, self.sweeps
        self.stride = _stride(length, self.plan.thin)
        self.watch.begin(length // self.stride)
        self.series = np.zeros((length // self.stride, len(self.watch.names), self.series.shape[2]))

    def _extend_round(self) -> None:
        """Make the round twice as long. Strides are powers of two, so that old records at the new stride exist."""
        self.stage, self.length = PILOT, 2 * self.length
        every = _stride(self.length, None) // self.stride
        recorded = self.series[: self.done][every - 1 :: every]
        self.stride, self.done = self.stride * every, len(recorded)
        rest = self.length // self.stride - self.done
        self.series = np.concatenate([recorded, np.zeros((rest, *recorded.shape[1:]))])
        if every > 1:  # records are now further apart than those that were counted
            self.watch.count_anew(rest)

    def _begin_sampling(self) -> None:
        self.stage, self.thin = SAMPLING, self.plan.thin or self._thin()
        if self.plan.burn_in is not None:
            self.burn_in = self.plan.burn_in
        more = self.plan.n_each * (self.thin // self.stride)
        self.series = np.concatenate([self.series, np.zeros((more, *self.series.shape[1:]))])
        self.kept = np.zeros((self.plan.n_each, *self.kept.shape[1:]), dtype=self.kept.dtype)

    def _thin(self) -> int:
        """Return two autocorrelation times of the slowest observable, rounded up to a multiple of the stride."""
        return self.stride * math.ceil(2 * self._slowest(self.diagnoses()) / self.stride)

    def _slowest(self, diagnoses: Mapping[str, Diagnosis]) -> float:
        """Return the longest autocorrelation time that was measured, in sweeps."""
        times = [each.autocorrelation_time for each in diagnoses.values()]
        return max((time for time in times if math.isfinite(time)), default=float(self.stride))

    def _record(self) -> None:
        """Run and records what is left of this stage."""
        self._bar.stage(STAGE_NAMES[self.stage], len(self.series) * self.stride, self.done * self.stride)
        while self.done < len(self.series):
            self._advance(self.stride, record=True)

    def _advance(self, sweeps: int, record: bool = False) -> None:
        self.dynamics.run(sweeps)
        self.sweeps += sweeps
        if record:
            self.series[self.done] = self.watch.record()
            self.done += 1
            self._keep()
        self._bar.advance(sweeps)
        if time.monotonic() - self._saved_at >= SECONDS_BETWEEN_SAVES:
            self._save()

    def _keep(self) -> None:
        """Keep the present states where a sample is due."""
        if self.stage == SAMPLING:
            left, rest = divmod(len(self.series) - self.done, self.thin // self.stride)
            if rest == 0:
                self.kept[self.plan.n_each - 1 - left] = self.dynamics.states

    def _save(self) -> None:
        if self._checkpoint is not None:
            numbers = np.array([getattr(self, name) for name in SAVED_NUMBERS])
            snapshot = {f"dynamics.{name}": array for name, array in self.dynamics.snapshot().items()}
            snapshot |= {f"watch.{name}": array for name, array in self.watch.snapshot().items()}
            self._checkpoint.save({"numbers": numbers, "series": self.series, "kept": self.kept} | snapshot)
        self._saved_at = time.monotonic()

    def _resume(self) -> None:
        """Go on from the checkpoint where there is one; else writes it now, so that a bad path is found at once."""
        saved = None if self._checkpoint is None else self._checkpoint.load()
        if saved is None:
            self._save()
            return
        for name, number in zip(SAVED_NUMBERS, saved["numbers"], strict=True):
            setattr(self, name, int(number))
        self.series, self.kept = saved["series"], saved["kept"]
        self.watch.restore(part(saved, "watch."))
        self.dynamics.restore(part(saved, "dynamics."))


def _stride(length: int, thin: int | None) -> int:
    """Choose the sweeps between records, so that a round has about `ROUND_RECORDS` and `thin` is a multiple of it."""
    most = max(1, length // ROUND_RECORDS)
    return most if thin is None else max(k for k in range(1, most + 1) if thin % k == 0)
