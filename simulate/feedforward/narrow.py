"""Errors of students of narrow networks, measured on samples of their posterior."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Annotated, Literal

import numpy as np

from simulate.core.diagnostics import diagnose
from simulate.core.mixing import MixingError
from simulate.feedforward.narrow_chains import Chains
from simulate.feedforward.narrow_task import Task, activation_and_slope
from theory.core import Array, AtLeast, Count, Several, SolverResult, Within, checked, checks
from theory.models import NarrowNetwork

R_HAT_LIMIT = 1.1  # of chains of some hundred trajectories, whose R-hat itself scatters by a few hundredths
MAX_TRAJECTORIES = 1_000_000
MAX_CHAINS = 64
MAX_UNITS = 1_000_000
MAX_DOUBLINGS = 3  # of the trajectories, where chains have not mixed
MIN_ACCEPTANCE = 0.2  # far below the 0.8 that the step adapts to: chains hardly move
BURN_IN_RATIO = 0.5  # trajectories before recording, per recorded one
MAX_SEPARATION = 0.05  # of the self-overlap: by so much, or by the scatter of N K weights, overlaps may still fall


@dataclass(frozen=True, eq=False, repr=False)
class NarrowSample(SolverResult):
    """Holds the errors of one student, measured along Markov chains that sample its weights.

    Risks compare with the output s* of the teacher on fresh inputs, without the noise of labels. `gibbs_risk` is the
    mean over samples of the weights of (s - s*)^2, for signs the share of wrong ones. `mean_risk` is the error of the
    mean output: the mean of (s_1 - s*)(s_2 - s*), where s_1 and s_2 are means over two different chains, averaged over
    pairs. Unlike the square for one chain it has no positive bias from chains that are short, provided that they are
    independent of each other. For signs it is the share of wrong signs of the mean over all chains. `train_error` is
    the mean of (y - s)^2, or the share of wrong signs, on the training samples, noise included. `self_overlap` is
    |w|^2/N of a unit and `teacher_overlap` that of each unit with the teacher's unit of the same number: it says
    nothing where units were exchanged or, with "quadratic", rotated. With K units it is of order 1/K for units that
    have not specialized, since the sum of all units is known.

    `chain_overlap` is the mean product of weights of different chains at the same time, which is q of
    `theory.feedforward.tempered_orders` where the units of all chains kept their order. `separation` is its mean over
    the first half of what was recorded minus that over the second, in units of `self_overlap`.

    `acceptance` is that of the trajectories, `r_hat` the larger split R-hat of Gibbs risk and training error over all
    chains, `n_samples` the trajectories recorded of each chain and `iterations` the evaluations of the gradient;
    `residual` is R-hat - 1, and `start` where the chains began. `converged` says that R-hat was below its limit and the
    acceptance was not small. That chains agree says that they are in equilibrium only if they began at different
    points, at "random". From "teacher" all of them begin at one point, and R-hat shows only that none drifts: what is
    asked in addition is that they no longer move away from each other, `separation` below 0.05 or 1/sqrt(N K). So
    `converged` means there that the chains are stationary in the state of the teacher, and never that this state is the
    one of largest weight. (The teacher of a Bayes-optimal student is itself one sample of the posterior.)
    """

    gibbs_risk: float
    mean_risk: float
    train_error: float
    self_overlap: float
    teacher_overlap: float
    acceptance: float
    r_hat: float
    n_samples: int
    chain_overlap: float
    separation: float
    start: Literal["teacher", "random"]
    gibbs_series: Array = field(repr=False)  # (chains, n_samples)
    train_series: Array = field(repr=False)


@checked
def sample_narrow(
    model: NarrowNetwork,
    n_inputs: Count,
    n_units: Several,
    rng: np.random.Generator,
    *,
    start: Literal["teacher", "random"] = "teacher",
    beta: float | None = None,
    lam: Annotated[float, Within(1e-12, 1e12)] = 1.0,
    derivative: Callable[[Array], Array] | None = None,
    n_chains: Several = 2,
    n_samples: Annotated[int, AtLeast(4)] = 120,
    n_test: Several = 2000,
    r_hat_limit: Annotated[float, Within(1.0, 1e6)] = R_HAT_LIMIT,
    check: bool = True,
) -> NarrowSample:
    """Draw a narrow teacher with its training set, sample students by Hamiltonian Monte Carlo, and measure them.

    The teacher has N = `n_inputs` inputs and K = `n_units` hidden units, an even number with balanced signs, whose
    weights are scaled to |w|^2 = N. With an equal readout each output has its mean over the samples subtracted.
    Students have the energy beta/2 sum (y - s)^2 + lam/2 |W|^2; `beta` None stands for 1/noise, which with lam = 1 is
    the posterior of the Bayes-optimal student. For signs the energy is that of the probit, and beta must be None.
    Chains start at the teacher, or at independent random weights: where two states coexist they stay in that of their
    start, as long as the system is large. Momenta have the mean curvature of the energy as their mass.
    `n_samples` trajectories are recorded after half as many; where R-hat of the Gibbs risk or of the training error is
    not below `r_hat_limit`, or chains from the teacher still move apart, they are discarded, and twice as many are
    made, up to eight times as many. What `converged` means with either start is said in `NarrowSample`.

    The theory is that of 1 << K << N. Errors deviate from it by several percent at K = 6 and N = 60, and several times
    where the linear component is not learned yet, at alpha K of order 1, which the theory with `hidden_units` knows.
    "quadratic" units are the most sensitive: they rotate into each other, which lowers the number of their parameters
    to N K - K^2/2, and only K of at least 10 with K/N below 0.05 compares with the limit.

    ValueError for odd K with balanced signs, for a model with other `hidden_units`, for an equal readout with signs as
    labels, for a model without noise and
    without `beta`, for signs without noise, and for an activation without gradient: "sign", or a function without its
    `derivative`. MixingError where the chains have not mixed even then, or hardly ever move; `check` False returns them
    as they are.

    >>> model = NarrowNetwork(alpha=3.0, activation="erf", noise=0.1)
    >>> found = sample_narrow(model, 20, 2, np.random.default_rng(0), n_test=200)
    >>> found.converged, found.r_hat < 1.1, found.acceptance > 0.5
    (True, True, True)
    """
    functions = activation_and_slope(model, derivative)
    N, K, C = n_inputs, n_units, n_chains
    if K % 2 and model.readout == "balanced":
        raise ValueError(f"n_units must be even, since half of the units have the sign -1, got {K}")
    if model.hidden_units not in (None, K):
        raise ValueError(f"n_units must be the hidden_units of the model, {model.hidden_units}, got {K}")
    if model.readout != "balanced" and model.labels == "sign":
        raise ValueError(f"model must have a balanced readout for signs as labels, got {model.readout!r}")
    if C > MAX_CHAINS:
        raise ValueError(f"n_chains must be at most {MAX_CHAINS}, got {C}")
    if n_samples > MAX_TRAJECTORIES:
        raise ValueError(f"n_samples must be at most {MAX_TRAJECTORIES}, got {n_samples}")
    _require_energy(model, beta)
    size = max(1.0, model.alpha * N * K)
    checks.fits_in_memory(f"a sample of {size:.3g} inputs of {N} numbers", (size + n_test) * (N + 6.0 * C * K))
    task = Task.draw(model, (N, K, n_test), beta, lam, functions, rng)
    # Drawn for either start, so that trajectories see the same numbers afterwards.
    at_random = rng.standard_normal((N, C, K)) / np.sqrt(lam)
    chains = Chains(task, np.repeat(task.teacher[:, None, :], C, axis=1) if start == "teacher" else at_random, rng)
    chains.burn_in(max(20, int(BURN_IN_RATIO * n_samples)))
    # What was recorded before chains had mixed is dropped, not averaged in.
    for doubling in range(MAX_DOUBLINGS + 1):
        found = _recorded(chains, n_samples << doubling, r_hat_limit, start)
        if found.converged:
            return found
    if check:
        raise _not_mixed(found, chains.gradients)
    return found


@checked
def narrow_risk(model: NarrowNetwork, d: Several, rng: np.random.Generator) -> float:
    """Measure the error of the posterior mean of a Bayes-optimal student of `d` hidden units, started at the teacher.

    d must be even; there are 5 d^2/3 inputs, rounded, so that 1/K and K/N, in which theory is of leading order, fall
    together. See `sample_narrow`.
    """
    if d % 2 or d > MAX_UNITS:
        raise ValueError(f"d must be even and at most {MAX_UNITS}, got {d}")
    return sample_narrow(model, round(5 * d * d / 3), d, rng).mean_risk


def _require_energy(model: NarrowNetwork, beta: float | None) -> None:
    """Refuse models whose posterior has no energy that is smooth."""
    if model.labels == "sign":
        if beta is not None:
            raise ValueError(f"beta must be None for signs, whose energy is that of the probit, got {beta:g}")
        if model.noise == 0:
            raise ValueError("model must have positive noise for signs: without it the energy is a step")
    elif beta is not None:
        checks.between("beta", beta, 1e-12, 1e12)
    elif model.noise == 0:
        raise ValueError("model must have positive noise, or beta must be given")


def _not_mixed(found: NarrowSample, gradients: int) -> MixingError:
    diagnoses = {"Gibbs risk": diagnose(found.gibbs_series), "training error": diagnose(found.train_series)}
    reason = (
        f"R-hat {found.r_hat:.4g}, acceptance {found.acceptance:.2g}, separation {found.separation:.2g}, after "
        f"{gradients} gradients"
    )
    advice = "raise n_samples, or take another model: near a transition chains may be on their way to another state"
    return MixingError(reason, diagnoses, found.n_samples, advice, unit="trajectories")


def _recorded(chains: Chains, count: int, limit: float, start: Literal["teacher", "random"]) -> NarrowSample:
    task = chains.task
    C = chains.weights.shape[1]
    gibbs, train = np.empty((C, count)), np.empty((C, count))
    total, sizes, overlaps, accepted = np.zeros((len(task.test_outputs), C)), 0.0, 0.0, 0.0
    between = np.empty(count)
    for t in range(count):
        accepted += float(chains.trajectory().mean())
        s = task.outputs(task.test_inputs, chains.weights)
        total += s
        gibbs[:, t], train[:, t] = _distance(task, s), chains.losses
        size = float((chains.weights**2).mean())
        sizes += size
        # The square of the sum over chains holds all pairs, and the squares of each.
        between[t] = (float((chains.weights.sum(axis=1) ** 2).mean()) - C * size) / (C * (C - 1))
        overlaps += float((chains.weights * task.teacher[:, None, :]).mean())
    means = total / count
    if task.signs:
        mean_risk = float(_distance(task, means.mean(axis=1, keepdims=True))[0])
    else:
        gaps = means - task.test_outputs[:, None]
        mean_risk = float(np.mean([np.mean(gaps[:, a] * gaps[:, b]) for a, b in combinations(range(C), 2)]))
    # Training errors of signs may be zero throughout, and then say nothing.
    r_hat = max(diagnose(series).residual + 1 for series in (gibbs, train) if np.ptp(series) > 0 or series is gibbs)
    acceptance = accepted / count
    separation = float(between[: count // 2].mean() - between[count // 2 :].mean()) / (sizes / count)
    settled = start == "random" or separation < max(MAX_SEPARATION, 1 / math.sqrt(task.teacher.size))
    return NarrowSample(
        gibbs_risk=float(gibbs.mean()),
        mean_risk=mean_risk,
        train_error=float(train.mean()),
        self_overlap=sizes / count,
        teacher_overlap=overlaps / count,
        acceptance=acceptance,
        r_hat=r_hat,
        n_samples=count,
        chain_overlap=float(between.mean()),
        separation=separation,
        start=start,
        gibbs_series=gibbs,
        train_series=train,
        residual=r_hat - 1,
        iterations=chains.gradients,
        converged=bool(r_hat < limit and acceptance >= MIN_ACCEPTANCE and settled),
    )


def _distance(task: Task, outputs: Array) -> Array:
    """Return the risk of outputs (samples, chains) on the test inputs, (chains,)."""
    truth = task.test_outputs[:, None]
    if task.signs:
        return np.asarray(((outputs > 0) != (truth > 0)).mean(axis=0))
    return np.asarray(((outputs - truth) ** 2).mean(axis=0))
