"""Draws from any Potts model, with the evidence that they are draws; refused where the chains have not mixed."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core import stream
from simulate.potts.chains import Chains, MixingError
from simulate.potts.checkpoint import Checkpoint
from simulate.potts.diagnostics import Diagnosis, verdict
from simulate.potts.dynamics import make_dynamics
from simulate.potts.observables import Observables, color_symmetry
from simulate.potts.progress import sweep_bar
from simulate.potts.run import Plan, Run
from simulate.potts.tempering import TemperedDynamics, checked_ladder, swap_advice, temper_ladder
from theory.models import Potts, checks
from theory.models.arrays import Array

States = NDArray[np.integer[Any]]

ONE_START = "all chains started from one state: R-hat cannot tell whether they would leave it for others"
ADVICE = "raise max_sweeps, or use parallel tempering (betas='auto')"


def sample(
    model: Potts,
    n_samples: int,
    *,
    seed: int,
    method: str = "auto",
    n_chains: int | None = None,
    burn_in: int | None = None,
    thin: int | None = None,
    betas: Any = None,
    start: Any = None,
    n_threads: int = 1,
    max_sweeps: int = 300_000,
    progress: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    check: bool = True,
) -> Chains:
    """`n_samples` states of `model`, two autocorrelation times apart, from `n_chains` independent chains.

    Half the chains start from random states, half from states of one color, unless `start`, (L,) or (n_chains, L), is
    given. Rounds of doubling length are burned until split R-hat of every observable is below 1.01; MixingError where
    that takes more than `max_sweeps` of each chain, samples not counted, or where nothing ever changes. `betas`,
    increasing and with the model's own, or "auto", turns each chain into a ladder of parallel tempering. `burn_in` and
    `thin`, in sweeps, overrule what is measured; without `thin` a pilot that measures it follows the burn-in. One
    chain, or one start for all, can stay in one of several modes and look mixed: `check=False` is demanded for them.

    With `checkpoint` the run is kept in that file, and goes on from there when it is called again, after MixingError
    with a larger `max_sweeps` too; the results are those of the uninterrupted run. They depend on the seed, not on
    `n_threads`. `check=False` returns chains that have not mixed, with `.converged` False and `.reason`.
    """
    count = int(checks.dimension(n_samples, name="n_samples"))
    checks.record("model", model, Potts)
    checks.fits_in_memory(f"{count} samples of {model.n_sites} sites", count * model.n_sites / 4)
    _require_truth(progress=progress, check=check)
    if model.n_colors == 1:
        return _only_state(model, count)
    rng, method = stream(seed, "sample"), "heat_bath" if method == "auto" else method
    ladder = _ladder(model, betas, seed, method, n_threads)
    chains = _number_of_chains(n_chains, count, ladder, model.n_sites)
    plan = _plan(-(-count // chains), burn_in, thin, max_sweeps)
    first = _starts(model, start, chains, rng)
    reason = ONE_START if _is_one_start(start, first) else ""
    if check and reason:
        raise ValueError(
            f"start must differ between chains, (n_chains, L), and n_chains be at least 2, got {reason}; check=False "
            "samples nevertheless"
        )
    kept = _checkpoint(checkpoint, model, first, ladder, plan, seed=int(seed), method=method)
    dynamics = _dynamics(model, chains, rng, ladder, method=method, start=first, n_threads=n_threads)
    observables = Observables(model, stream(seed, "projection"))
    with sweep_bar(progress) as bar:
        run = Run(dynamics, *_watched(dynamics, observables), plan, bar, kept)
        run.execute(check)
    return _chains(run, observables, count, check, reason)


def ordered_and_random(n_chains: int, n_sites: int, n_colors: int, rng: np.random.Generator) -> States:
    """Starts far from each other, (n_chains, L): one of one color (each color in turn), one random, and so on."""
    states = rng.integers(n_colors, size=(n_chains, n_sites))
    ordered = states[::2]
    ordered[:] = (np.arange(len(ordered)) % n_colors)[:, None]
    return states


def _ladder(model: Potts, betas: Any, seed: int, method: str, n_threads: int) -> Array | None:
    if betas is None:
        return None
    if not isinstance(betas, str):
        return checked_ladder(betas, model.beta)
    if betas != "auto":
        raise ValueError(f"betas must be None, 'auto' or increasing numbers, got {betas!r}")
    return temper_ladder(model, seed=seed, method=method, n_threads=n_threads).betas


def _number_of_chains(n_chains: int | None, n_samples: int, ladder: Array | None, n_sites: int) -> int:
    """Many enough for R-hat, few enough that burning them in costs no more than the samples."""
    if n_chains is not None:
        count = int(checks.dimension(n_chains, name="n_chains"))
        checks.fits_in_memory(f"{count} chains of {n_sites} sites", 3.0 * count * n_sites)
        return count
    return int(np.clip(n_samples // 512, 8, 128 if ladder is None else 16))


def _plan(n_each: int, burn_in: int | None, thin: int | None, max_sweeps: int) -> Plan:
    plan = Plan(
        n_each=n_each,
        burn_in=None if burn_in is None else int(checks.dimension(burn_in, least=0, name="burn_in")),
        thin=None if thin is None else int(checks.dimension(thin, name="thin")),
        max_sweeps=int(checks.dimension(max_sweeps, name="max_sweeps")),
    )
    if plan.max_sweeps < plan.least_sweeps:
        raise ValueError(
            f"max_sweeps must be at least {plan.least_sweeps}, burn-in and first pilot, got {plan.max_sweeps}"
        )
    return plan


def _starts(model: Potts, start: Any, n_chains: int, rng: np.random.Generator) -> States:
    if start is None:
        return ordered_and_random(n_chains, model.n_sites, model.n_colors, rng)
    states = checks.colors("start", start, model.n_colors, model.n_sites)
    if states.shape not in ((model.n_sites,), (n_chains, model.n_sites)):
        raise ValueError(f"start must have shape ({model.n_sites},) or {(n_chains, model.n_sites)}, got {states.shape}")
    return np.array(np.broadcast_to(states, (n_chains, model.n_sites)))


def _checkpoint(
    path: Any, model: Potts, first: States, ladder: Array | None, plan: Plan, **asked: int | str
) -> Checkpoint | None:
    """What changes the numbers is part of it; `max_sweeps` only ends a run that can go on."""
    if path is None:
        return None
    asked |= {"n_chains": len(first), "n_samples per chain": plan.n_each}
    asked |= {"start": hashlib.sha256(first.tobytes()).hexdigest()[:16]}
    found: dict[str, Any] = {"burn_in": plan.burn_in, "thin": plan.thin}
    return Checkpoint(path, model, asked | found | {"betas": None if ladder is None else ladder.tolist()})


def _is_one_start(start: Any, first: States) -> bool:
    """Whether R-hat compares nothing: one chain, or one given state for all."""
    return len(first) == 1 or (start is not None and bool(np.all(first == first[0])))


def _require_truth(**flags: Any) -> None:
    for name, value in flags.items():
        if not isinstance(value, bool | np.bool_):
            raise ValueError(f"{name} must be True or False, got {value!r}")


def _only_state(model: Potts, n_samples: int) -> Chains:
    """With one color nothing is random."""
    states = np.zeros((n_samples, model.n_sites), dtype=np.int16)
    scores = np.full(n_samples, float(model.score(states[0])))
    evidence = {"score": Diagnosis(float(scores[0]), 0.0, 0.5, float(n_samples), 1.0, "")}
    return Chains(states, scores, evidence, n_samples, 1, 0, 0, 1.0, np.empty(0), np.empty(0), "")


def _dynamics(model: Potts, n_chains: int, rng: np.random.Generator, ladder: Array | None, **options: Any) -> Any:
    if ladder is None:
        return make_dynamics(model, n_chains, rng, **options)
    return TemperedDynamics(model, n_chains, rng, betas=ladder, **options)


def _watched(dynamics: Any, observables: Observables) -> tuple[tuple[str, ...], Callable[[], Array]]:
    """Names and present values of all observables, with the scores at every temperature of a ladder."""
    if not isinstance(dynamics, TemperedDynamics):
        return tuple(observables.names), lambda: observables.values(dynamics.states, dynamics.scores())

    def values() -> Array:
        scores = dynamics.all_scores()
        return np.concatenate([observables.values(dynamics.states, scores[:, dynamics.target]), scores.T])

    return (*observables.names, *(f"score at beta = {beta:.6g}" for beta in dynamics.betas)), values


def _chains(run: Run, observables: Observables, n_samples: int, check: bool, reason: str) -> Chains:
    """The result, or MixingError."""
    dynamics, diagnoses = run.dynamics, run.diagnoses()
    ladder = dynamics if isinstance(dynamics, TemperedDynamics) else None
    advice = ADVICE if ladder is None else swap_advice(ladder.swap_rates)
    if not run.is_sampling:
        raise MixingError(verdict(diagnoses), diagnoses, run.sweeps, advice)
    made = Chains(
        states=run.kept.reshape(-1, run.kept.shape[2])[:n_samples],
        scores=run.sampled_series()[:, 0].reshape(-1)[:n_samples],
        diagnoses=diagnoses,
        n_chains=run.kept.shape[1],
        thin=run.thin,
        burn_in=run.burn_in,
        sweeps=run.sweeps,
        acceptance=dynamics.acceptance,
        betas=np.empty(0) if ladder is None else ladder.betas,
        swap_rates=np.empty(0) if ladder is None else ladder.swap_rates,
        reason="; ".join(filter(None, (reason, verdict(diagnoses)))),
    )
    if not made.reason and observables.symmetric:
        made = replace(made, reason=color_symmetry(made.states, observables.n_colors, made.effective_sample_size))
    if check and made.reason:
        raise MixingError(made.reason, diagnoses, run.sweeps, advice)
    return made
