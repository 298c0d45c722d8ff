"""Samples of any Potts model, with the evidence that they are draws from it; refused where chains have not mixed."""

import hashlib
import os
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from simulate.core import stream
from simulate.core.diagnostics import Diagnosis, verdict
from simulate.core.mixing import MixingError
from simulate.potts.chains import Chains
from simulate.potts.checkpoint import Checkpoint
from simulate.potts.dynamics import Method, make_dynamics
from simulate.potts.observables import Observables, color_symmetry
from simulate.potts.progress import sweep_bar
from simulate.potts.recording import Watch
from simulate.potts.run import Plan, Run
from simulate.potts.starts import States, separated_starts
from simulate.potts.tempering import TemperedDynamics, checked_ladder, swap_advice, temper_ladder
from theory.core import Array, Count, NonNegativeCount, checked, checks
from theory.models import Potts

Path = str | os.PathLike[str]

CAUTION_ONE_START = "all chains started from one state: R-hat cannot tell whether they would leave it for others"
MIN_CHAINS = 4  # chains: two of them start from states of one color, of different colors
CAUTION_FEW_CHAINS = "fewer than four chains: all of them may start on one side of two phases, and then they agree"
ADVICE = "raise max_sweeps, or use parallel tempering (betas='auto')"


@checked
def sample(
    model: Potts,
    n_samples: Count,
    *,
    seed: int,
    method: Literal["auto", "heat_bath", "metropolis", "colored"] = "auto",
    n_chains: Count | None = None,
    burn_in: NonNegativeCount | None = None,
    thin: Count | None = None,
    betas: Array | Literal["auto"] | None = None,
    start: NDArray[np.integer[Any]] | None = None,
    n_threads: int = 1,
    max_sweeps: Count = 300_000,
    progress: bool = False,
    checkpoint: Path | None = None,
    check: bool = True,
) -> Chains:
    """Draw `n_samples` states from the law P(s) = exp(beta S(s))/Z of a Potts model, with evidence that it did.

    The result has `.states` (n_samples, L), colors from 0 to C - 1, from `n_chains` independent Markov chains, and
    within each chain they are two autocorrelation times apart. `method` "heat_bath", which is also "auto", draws each
    color from its conditional law; "metropolis" proposes another color; "colored" is the heat bath with sites that do
    not interact updated together. All numbers of sweeps count sweeps of one chain, of L updates.

    **How it is decided that the chains have mixed.** Half of the chains start from random states and half from states
    of one color, unless `start`, (L,) or (n_chains, L), is given. The colors are 0, 1, 2 and so on. Before the run a
    probe of 32 sweeps tries states of the other colors that score better, and states that no change of one site
    improves; those that hold, while no chain from the ordinary starts comes near, take the places of the ordered starts
    of the lowest score (`simulate.potts.starts`). After a burn-in, rounds of doubling length are run.
    A round is accepted if split R-hat is below 1.01 for everything that is watched, if the means of the chains agree
    within their errors, and if no site is slower than the slowest observable. The samples follow the accepted round
    and are judged in the same way together with it. Watched are the score S; two random projections of the states; the
    squared overlaps with two states that chains have reached, which see order that only correlations of pairs of sites
    show; in models that are symmetric under permutations of the colors the share of the commonest color and the mean
    color; with tempering the score at every temperature. The frequency of every color at every site is counted in every
    chain: sites whose frequencies differ between the chains, or between times, by more than the autocorrelation time
    explains (chi-square, at a level of 1e-5 for all sites and colors together) become observables of the next round,
    so that their own time is measured and sets the distance between samples.

    **What cannot be seen.** A phase that neither a start nor the probe reaches leaves no trace in any chain, and more
    phases than half of the chains cannot all be started from; of two equal phases that random
    starts fall into, n chains all reach the same one with the probability 2^(1 - n), 1/128 for the usual eight. A phase
    of small weight that every chain has left in the burn-in, and to which none has come back, is missed as well: of a
    pair of sites with the shares .95 and .05, coupled so that it leaves the second state once in about a thousand
    sweeps, half of all runs are certified without that state. Order that shows only in correlations of three or more
    sites, or in the pair correlations of a few pairs among very many sites, is not watched; nor is order in two phases
    whose pair correlations differ by less than about a half. A site that is slower than the observables by less than a
    factor of about two may pass as equally fast.

    `burn_in` and `thin`, in sweeps, overrule what is measured. `betas`, increasing and with the model's own among them,
    turn each chain into a ladder of parallel tempering; "auto" finds them. Fewer than four chains, or one start for all
    chains, can stay in one of several modes and look mixed: `check=False` is demanded for them. `check=False` returns
    chains that have not mixed, with `.converged` False and the cause in `.reason`. With `checkpoint`, the path of a
    file, the run is kept there and goes on from there when it is called again, also with a larger `max_sweeps`. The
    numbers depend on the seed, and neither on `n_threads` nor on interruptions.

    Raises MixingError if the chains have not mixed within `max_sweeps` sweeps each, in which the samples themselves do
    not count; CheckpointError if the file belongs to another run; ValueError for a bad argument; MemoryError if the
    states would not fit.

    >>> from theory.models import SquareLatticePotts
    >>> chains = sample(SquareLatticePotts(4, 4, n_colors=3, beta=0.5), n_samples=100, seed=1)
    >>> chains.states.shape, chains.converged
    ((100, 16), True)
    """
    # Before anything is run: a run of hours must not end for want of memory.
    checks.fits_in_memory(f"{n_samples} samples of {model.n_sites} sites", n_samples * model.n_sites / 4)
    if model.n_colors == 1:
        return _only_state(model, n_samples)
    rng, moves = stream(seed, "sample"), "heat_bath" if method == "auto" else method
    ladder = _ladder(model, betas, seed, moves, n_threads)
    chains = n_chains or _number_of_chains(n_samples, ladder)
    plan = plan_of(-(-n_samples // chains), burn_in, thin, max_sweeps)
    first = _starts(model, start, chains, rng, seed)
    reason = (
        CAUTION_ONE_START
        if _is_one_start(start, first)
        else CAUTION_FEW_CHAINS
        if start is None and chains < MIN_CHAINS
        else ""
    )
    if check and reason:
        raise ValueError(
            f"n_chains must be at least {MIN_CHAINS}, and a given start differ between chains, (n_chains, L), got "
            f"{reason}; check=False samples nevertheless"
        )
    kept = _checkpoint(checkpoint, model, first, ladder, plan, seed=seed, method=moves)
    dynamics = _dynamics(model, chains, rng, ladder, method=moves, start=first, n_threads=n_threads)
    observables = Observables(model, stream(seed, "projection"))
    with sweep_bar(progress) as bar:
        run = Run(dynamics, Watch(dynamics, observables, model.n_colors), plan, bar, kept)
        run.execute(check)
    return chains_of(run, observables, n_samples, check, reason)


def _ladder(
    model: Potts, betas: Array | Literal["auto"] | None, seed: int, method: Method, n_threads: int
) -> Array | None:
    if betas is None:
        return None
    if isinstance(betas, str):
        return temper_ladder(model, seed=seed, method=method, n_threads=n_threads).betas
    return checked_ladder(betas, model.beta)


def _number_of_chains(n_samples: int, ladder: Array | None) -> int:
    """Choose enough chains for R-hat, and so few that burning them in costs no more than the samples."""
    return int(np.clip(n_samples // 512, 8, 128 if ladder is None else 16))


def plan_of(n_each: int, burn_in: int | None, thin: int | None, max_sweeps: int) -> Plan:
    """Return the numbers of sweeps and samples that were asked for; ValueError where they do not fit together."""
    plan = Plan(n_each, burn_in, thin, max_sweeps)
    if plan.max_sweeps < plan.least_sweeps:
        raise ValueError(
            f"max_sweeps must be at least {plan.least_sweeps}, burn_in and the first round after it, "
            f"got {plan.max_sweeps}"
        )
    if plan.thin is not None and plan.thin > plan.max_sweeps:
        raise ValueError(f"thin must be at most max_sweeps = {plan.max_sweeps}, got {plan.thin}")
    return plan


def _starts(model: Potts, start: States | None, n_chains: int, rng: np.random.Generator, seed: int) -> States:
    checks.fits_in_memory(
        f"{n_chains} chains of {model.n_sites} sites", n_chains * model.n_sites * (3.0 + model.n_colors)
    )
    if start is None:
        # The probe has a stream of its own: what it draws shifts no number of the chains.
        return separated_starts(model, n_chains, rng, stream(seed, "starts"))
    states = checks.colors("start", start, model.n_colors, model.n_sites)
    if states.shape not in ((model.n_sites,), (n_chains, model.n_sites)):
        allowed = f"({model.n_sites},) or (n_chains, L) = {(n_chains, model.n_sites)}"
        raise ValueError(f"start must have shape {allowed}, got {states.shape}")
    return np.array(np.broadcast_to(states, (n_chains, model.n_sites)))


def _checkpoint(
    path: str | os.PathLike[str] | None,
    model: Potts,
    first: States,
    ladder: Array | None,
    plan: Plan,
    **asked: int | str,
) -> Checkpoint | None:
    """Open the file of this run, told by all that changes its numbers; `max_sweeps` only ends a run that can go on."""
    if path is None:
        return None
    asked |= {"n_chains": len(first), "n_samples per chain": plan.n_each}
    asked |= {"start": hashlib.sha256(first.tobytes()).hexdigest()[:16]}
    found: dict[str, Any] = {"burn_in": plan.burn_in, "thin": plan.thin}
    return Checkpoint(path, model, asked | found | {"betas": None if ladder is None else ladder.tolist()})


def _is_one_start(start: States | None, first: States) -> bool:
    """Say whether R-hat has nothing to compare, because of one chain alone or one given start for all."""
    return len(first) == 1 or (start is not None and bool(np.all(first == first[0])))


def _only_state(model: Potts, n_samples: int) -> Chains:
    """Return the only state of a model with one color, where nothing is random."""
    states = np.zeros((n_samples, model.n_sites), dtype=np.int16)
    scores = np.full(n_samples, float(model.score(states[0])))
    evidence = {"score": Diagnosis(float(scores[0]), 0.0, 0.5, float(n_samples), 1.0, "")}
    return Chains.of(
        "", states=states, scores=scores, diagnoses=evidence, n_chains=n_samples, thin=1, burn_in=0, sweeps=0,
        acceptance=1.0, betas=np.empty(0), swap_rates=np.empty(0), effective_sample_size=float(n_samples),
    )  # fmt: skip


def _dynamics(model: Potts, n_chains: int, rng: np.random.Generator, ladder: Array | None, **options: Any) -> Any:
    if ladder is None:
        return make_dynamics(model, n_chains, rng, **options)
    return TemperedDynamics(model, n_chains, rng, betas=ladder, **options)


def chains_of(run: Run, observables: Observables, n_samples: int, check: bool, reason: str) -> Chains:
    """Return the result of a run that has ended, or MixingError; `reason` is what is known against it beforehand."""
    dynamics, diagnoses = run.dynamics, run.diagnoses()
    slow = "; ".join(map(str, run.slow_sites(diagnoses)))
    ladder = dynamics if isinstance(dynamics, TemperedDynamics) else None
    advice = ADVICE if ladder is None else swap_advice(ladder.swap_rates)
    if not run.is_sampling:
        raise MixingError("; ".join(filter(None, (verdict(diagnoses), slow))), diagnoses, run.sweeps, advice)
    states = run.kept.reshape(-1, run.kept.shape[2])[:n_samples]
    size = n_samples / run.thinned_variance()
    reason = "; ".join(filter(None, (reason, verdict(diagnoses), slow)))
    # In a symmetric model all colors are equally frequent: chains that agree with each other may still show that they
    # are not.
    if not reason and observables.symmetric:
        reason = color_symmetry(states, observables.n_colors, size)
    if check and reason:
        raise MixingError(reason, diagnoses, run.sweeps, advice)
    return Chains.of(
        reason,
        states=states,
        scores=run.sampled_series()[:, 0].reshape(-1)[:n_samples],
        diagnoses=diagnoses,
        n_chains=run.kept.shape[1],
        thin=run.thin,
        burn_in=run.burn_in,
        sweeps=run.sweeps,
        acceptance=dynamics.acceptance,
        betas=np.empty(0) if ladder is None else ladder.betas,
        swap_rates=np.empty(0) if ladder is None else ladder.swap_rates,
        effective_sample_size=size,
    )
