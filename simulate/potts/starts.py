"""Chooses the states that chains start from: random ones, ordered ones, and phases that none of these would reach.

Chains can only tell of phases that one of them has been in. Which color orders is not known beforehand, and phases need
not be of one color. Therefore other states of high score are tried in a short probe: the states of one color that score
best, and states that no change of a single site improves. Where one of them holds in the probe, while chains from the
ordinary starts are not found near it, it takes the place of an ordered start that scores less.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.potts.dynamics import Dynamics, make_dynamics
from theory.core.arrays import Array
from theory.models import Potts, SquareLatticePotts

States = NDArray[np.integer[Any]]

N_ORDINARY_STARTS = 4  # ordered starts, and as many random ones, with which a state is compared in the probe
MAX_TRIED_STATES = 8  # most states that are tried; with the ordinary ones these are 16 chains, one block of the kernels
COLD_BETA_RATIO = 64.0  # times beta: there the heat bath does nothing but improve the score of one site after the other
QUENCH_SWEEPS, PROBE_SWEEPS = 8, 32
SWEEPS_BETWEEN_RECORDS = 4  # sweeps between the records of the second half of the probe
EQUAL_SITES_SHARE = 0.95  # share of equal sites of states that count as one
# A state holds if its own chain stays nearer to it by so much, and by so many standard deviations of the others.
HOLDING_MARGINS = (0.1, 3.0)


def ordered_and_random(n_chains: int, n_sites: int, n_colors: int, rng: np.random.Generator) -> States:
    """Make states (n_chains, L) far from each other: one of one color, each color in turn, one random, and so on."""
    states = rng.integers(n_colors, size=(n_chains, n_sites))
    ordered = states[::2]
    ordered[:] = (np.arange(len(ordered)) % n_colors)[:, None]
    return states


def separated_starts(model: Potts, n_chains: int, rng: np.random.Generator, probe_rng: np.random.Generator) -> States:
    """Make the states of `ordered_and_random`, some ordered ones exchanged for phases that would else be missed.

    The colors of the ordered states are 0, 1, 2 and so on, as many as there are chains for. In a probe of 32 sweeps,
    with numbers of `probe_rng`, up to eight other states are compared with them and with the random ones: states of
    one color that score better than the worst of them, and states that no change of one site improves. A state that
    holds there, in that a chain from it stays nearer to it than any other chain is, replaces the ordered start of the
    lowest score, if its own is higher or as high within its fluctuations. Where no state holds, as where a model has a
    single phase or the ordinary starts reach all, the starts are those of `ordered_and_random`.
    """
    states = ordered_and_random(n_chains, model.n_sites, model.n_colors, rng)
    # On the square lattice, where equal neighbors attract, states of one color have the highest score of all.
    if n_chains < 2 or model.beta == 0 or isinstance(model, SquareLatticePotts):
        return states
    slots = np.arange(0, n_chains, 2)
    slots = slots[np.argsort(_scores(model, states[slots], probe_rng), kind="stable")]  # the lowest first
    tried = _candidates(model, states[slots], probe_rng)
    if len(tried) == 0:
        return states
    ordered = slots[::-1][:N_ORDINARY_STARTS][::-1]
    probe = _Probe(model, tried, np.concatenate([states[ordered], states[1::2][:N_ORDINARY_STARTS]]), probe_rng)
    for slot, candidate in zip(slots.tolist(), probe.holding(), strict=False):
        place = np.flatnonzero(ordered == slot)
        if len(place) and not probe.is_as_good(candidate, int(place[0])):
            break
        states[slot] = tried[candidate]
    return states


class _Probe:
    """A short run of chains from the states `tried` (n, L) and from `ordinary` starts, and where they were."""

    def __init__(self, model: Potts, tried: States, ordinary: States, rng: np.random.Generator) -> None:
        self._n, self._beta = len(tried), model.beta
        chains = make_dynamics(model, len(tried) + len(ordinary), rng, start=np.concatenate([tried, ordinary]))
        chains.run(PROBE_SWEEPS // 2)
        scores, near = [], []
        for _ in range(PROBE_SWEEPS // 2 // SWEEPS_BETWEEN_RECORDS):
            chains.run(SWEEPS_BETWEEN_RECORDS)
            scores.append(chains.scores())
            near.append((chains.states[:, None, :] == tried).mean(axis=2))
        self._scores, self._spread = np.mean(scores, axis=0), np.std(scores, axis=0)
        self._near: Array = np.mean(near, axis=0)  # [c, k]: the share of sites at which chain c is as state k
        least, deviations = HOLDING_MARGINS
        self._margin = np.maximum(least, deviations * self._near[self._n :].std(axis=0, ddof=1))

    def holding(self) -> list[int]:
        """Return the states that hold, each phase once, those of the highest score first."""
        found: list[int] = []
        own = np.diag(self._near[: self._n])
        holds = own > self._near[self._n :].max(axis=0) + self._margin
        for k in np.argsort(-self._scores[: self._n], kind="stable").tolist():
            if holds[k] and all(self._near[k, other] < own[other] - self._margin[other] for other in found):
                found.append(k)
        return found

    def is_as_good(self, k: int, ordinary: int) -> bool:
        """Say whether the chain from state k scores no less than that of an ordinary start, within fluctuations."""
        here, there = self._scores[k], self._scores[self._n + ordinary]
        return bool(here > there - 2 * (self._spread[k] + self._spread[self._n + ordinary]) - 2 / self._beta)


def _candidates(model: Potts, ordered: States, rng: np.random.Generator) -> States:
    """Return the states to try, (at most MAX_TRIED_STATES, L), without those that are nearly another or an ordered one.

    `ordered` are the ordered starts, those of the lowest score first.
    """
    L, C = model.n_sites, model.n_colors
    others = np.setdiff1d(np.arange(C), ordered[:, 0])
    uniform = np.repeat(np.concatenate([ordered[:1, 0], others])[:, None], L, axis=1)
    scores = _scores(model, uniform, rng)
    better = np.flatnonzero(scores > scores[0] + 1e-9 * abs(scores).max())
    uniform = uniform[better[np.argsort(-scores[better], kind="stable")][: MAX_TRIED_STATES // 2]]
    # Half of what is improved begins at random, since a maximum need not be near to a state of one color.
    ends = ordered[::-1][: MAX_TRIED_STATES // 2]
    improved = _improved(model, np.concatenate([uniform, ends, rng.integers(C, size=(MAX_TRIED_STATES // 2, L))]), rng)
    pool = np.concatenate([uniform, improved])
    best = np.argsort(-_scores(model, improved, rng), kind="stable") + len(uniform)
    kept: list[int] = []
    for k in (*range(len(uniform)), *best.tolist()):
        known = np.concatenate([pool[kept], ordered])
        if len(kept) < MAX_TRIED_STATES and (known == pool[k]).mean(axis=1).max() < EQUAL_SITES_SHARE:
            kept.append(k)
    return np.asarray(pool[kept])


def _improved(model: Potts, states: States, rng: np.random.Generator) -> States:
    """Return states (n, L) after sweeps in which every site takes the color of the highest score, given the others."""
    try:
        chains = make_dynamics(model, len(states), rng, betas=np.array([COLD_BETA_RATIO * model.beta]), start=states)
    except ValueError:  # couplings so large that beta itself is as cold as single precision allows
        chains = make_dynamics(model, len(states), rng, start=states)
    chains.run(QUENCH_SWEEPS)
    return np.asarray(chains.states)


def _scores(model: Potts, states: States, rng: np.random.Generator) -> Array:
    """Return the scores (n,) of states (n, L), in parts whose chains fit into memory as those of a run do."""
    size = max(1, math.ceil(2**22 / model.n_sites))
    parts = (states[start : start + size] for start in range(0, len(states), size))
    chains: list[Dynamics] = [make_dynamics(model, len(part), rng, start=part) for part in parts]
    return np.concatenate([each.scores() for each in chains])
