"""Parallel tempering: replicas that exchange their temperatures, and ladders of temperatures that let them."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcinv

from simulate.core import stream
from simulate.potts.dynamics import make_dynamics
from theory.models import Potts, checks
from theory.models.arrays import Array

LOWEST_RATE, HIGHEST_RATE = 0.2, 0.9
AIM = 0.45  # swap rate between neighbors of a proposed ladder
MOST_TEMPERATURES = 100


class TemperedDynamics:
    """`n_chains` independent ladders of replicas; to its user the chains at the inverse temperature of the model.

    After each sweep neighbors k, k + 1 (k even, then odd, in turn) exchange their betas with probability
    min(1, exp((beta_k - beta_{k+1}) (S_{k+1} - S_k))). `betas` increase and contain `model.beta`.
    """

    def __init__(
        self,
        model: Potts,
        n_chains: int,
        rng: np.random.Generator,
        *,
        betas: Any,
        method: str = "heat_bath",
        start: Any = None,
        n_threads: int = 1,
    ) -> None:
        self.betas = checked_ladder(betas, model.beta)
        self.target = int(np.flatnonzero(self.betas == model.beta)[0])
        shape = (n_chains, len(self.betas))
        first = None if start is None else np.repeat(start, len(self.betas), axis=0)
        options: Any = {"method": method, "start": first, "n_threads": n_threads}
        self._replicas = make_dynamics(
            model, n_chains * len(self.betas), rng, betas=np.tile(self.betas, n_chains), **options
        )
        self._scores = self._replicas.scores()  # of every replica; exchanges leave them as they are
        self._at = np.arange(n_chains * len(self.betas)).reshape(shape)  # [ladder, k]: the replica that has betas[k]
        self._rng = np.random.Generator(np.random.PCG64(int(rng.integers(2**63))))
        self._turn = 0
        self._tried, self._swapped = np.zeros((2, len(self.betas) - 1), dtype=np.int64)

    @property
    def states(self) -> NDArray[Any]:
        """At the target temperature, (n_chains, L)."""
        return np.asarray(self._replicas.states[self._at[:, self.target]])

    @property
    def acceptance(self) -> float:
        """Share of accepted proposals, over all temperatures."""
        return float(self._replicas.acceptance)

    @property
    def swap_rates(self) -> Array:
        """Share of accepted exchanges of each pair of neighbors."""
        return np.asarray(self._swapped / np.maximum(1, self._tried))

    def scores(self) -> Array:
        """At the target temperature, (n_chains,)."""
        return np.asarray(self.all_scores()[:, self.target])

    def all_scores(self) -> Array:
        """At every temperature, (n_chains, n_betas)."""
        return np.asarray(self._scores[self._at])

    def run(self, n_sweeps: int) -> None:
        """Every replica by `n_sweeps` sweeps, exchanges after each."""
        for _ in range(n_sweeps):
            self._replicas.run(1)
            self._scores = self._replicas.scores()
            self._exchange()

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """All that is needed to go on with the same numbers."""
        own = {"at": self._at, "turn": np.array(self._turn), "tried": self._tried, "swapped": self._swapped}
        own["exchanges"] = np.array(json.dumps(self._rng.bit_generator.state))
        return {f"ladder.{name}": np.array(value) for name, value in own.items()} | self._replicas.snapshot()

    def restore(self, snapshot: dict[str, NDArray[Any]]) -> None:
        """To the moment of `snapshot`."""
        kept = dict(snapshot)
        self._at, self._tried, self._swapped = (kept.pop(f"ladder.{name}") for name in ("at", "tried", "swapped"))
        self._turn = int(kept.pop("ladder.turn"))
        self._rng.bit_generator.state = json.loads(str(kept.pop("ladder.exchanges")))
        self._replicas.restore(kept)
        self._scores = self._replicas.scores()
        self._set_betas()

    def _exchange(self) -> None:
        low = np.arange(self._turn, len(self.betas) - 1, 2)
        self._turn = 1 - self._turn
        scores = self.all_scores()
        gain = (self.betas[low] - self.betas[low + 1]) * (scores[:, low + 1] - scores[:, low])
        swap = np.log1p(-self._rng.random(gain.shape)) < gain
        self._tried[low] += len(swap)
        self._swapped[low] += swap.sum(axis=0)
        below, above = self._at[:, low], self._at[:, low + 1]
        self._at[:, low], self._at[:, low + 1] = np.where(swap, above, below), np.where(swap, below, above)
        self._set_betas()

    def _set_betas(self) -> None:
        self._replicas.betas[self._at] = self.betas


@dataclass(frozen=True, eq=False)
class Ladder:
    """Inverse temperatures from the hottest to that of the model, and the swap rates of neighbors in a trial run."""

    betas: Array
    swap_rates: Array
    reason: str  # which rates lie outside 0.2 to 0.9; empty where none does


def temper_ladder(
    model: Potts,
    *,
    hottest: float = 0.0,
    seed: int = 0,
    n_chains: int = 16,
    n_sweeps: int = 300,
    rounds: int = 6,
    method: str = "heat_bath",
    n_threads: int = 1,
) -> Ladder:
    """A ladder from `hottest` to `model.beta` whose neighbors exchange with rates between 0.2 and 0.9, if it is found.

    Neighbors exchange with probability erfc(sqrt(K)/2) if scores are Gaussian, K = (beta' - beta)(<S>' - <S>) being the
    symmetrized Kullback-Leibler divergence. Trial runs measure <S>; the betas are spaced evenly in the sum of sqrt(K).
    """
    low = checks.between("hottest", hottest, 0.0, model.beta, closed=(True, False))
    betas, rng = np.linspace(low, model.beta, 6), stream(seed, "ladder")
    for _ in range(int(checks.dimension(rounds, name="rounds"))):
        dynamics = TemperedDynamics(model, n_chains, rng, betas=betas, method=method, n_threads=n_threads)
        scores, rates = _trial(dynamics, n_sweeps)
        reason = _out_of_range(rates)
        if not reason:
            break
        found, betas = betas, _evenly(betas, scores)
    else:
        betas = found
    return Ladder(betas, rates, reason)


def checked_ladder(betas: Any, beta: float) -> Array:
    """Increasing non-negative betas, two at least, that contain `beta`; else ValueError."""
    ladder = checks.finite_array("betas", betas, 1)
    if len(ladder) < 2 or ladder[0] < 0 or np.any(np.diff(ladder) <= 0):
        raise ValueError(f"betas must be two or more increasing numbers >= 0, got {ladder.tolist()}")
    if beta not in ladder:
        raise ValueError(f"betas must contain the model's beta = {beta!r}, got {ladder.tolist()}")
    return ladder


def _trial(dynamics: TemperedDynamics, n_sweeps: int) -> tuple[Array, Array]:
    """Mean scores and swap rates at each temperature, the first half of the sweeps left out."""
    dynamics.run(n_sweeps // 2)
    tried, swapped = dynamics._tried.copy(), dynamics._swapped.copy()
    total = np.zeros(len(dynamics.betas))
    for _ in range(n_sweeps - n_sweeps // 2):
        dynamics.run(1)
        total += dynamics.all_scores().mean(axis=0)
    tried, swapped = dynamics._tried - tried, dynamics._swapped - swapped
    return total / (n_sweeps - n_sweeps // 2), swapped / np.maximum(1, tried)


def _evenly(betas: Array, scores: Array) -> Array:
    """New betas with the same ends, neighbors at the distance that gives the rate `AIM`."""
    steps = np.sqrt(np.maximum(np.diff(betas) * np.diff(scores), 1e-12))
    length = np.concatenate([[0.0], np.cumsum(steps)])
    count = 1 + max(1, math.ceil(length[-1] / (2 * erfcinv(AIM))))
    if count > MOST_TEMPERATURES:
        raise ValueError(
            f"hottest must be nearer to beta: the ladder needs {count} temperatures, more than {MOST_TEMPERATURES}"
        )
    made = np.interp(np.linspace(0, length[-1], count), length, betas)
    made[[0, -1]] = betas[[0, -1]]
    return np.asarray(made)


def _out_of_range(rates: Array) -> str:
    bad = [f"pair {k}: {rate:.2f}" for k, rate in enumerate(rates) if not LOWEST_RATE <= rate <= HIGHEST_RATE]
    return f"swap rates outside {LOWEST_RATE} to {HIGHEST_RATE}: {', '.join(bad)}" if bad else ""


def swap_advice(rates: Sequence[float] | Array) -> str:
    """What the rates say about a ladder that does not mix."""
    if np.size(rates) and np.min(rates) < LOWEST_RATE:
        k = int(np.argmin(rates))
        return f"the swap rate of betas {k} and {k + 1} is {np.min(rates):.2g}: put a temperature between them"
    return "raise max_sweeps, or begin the ladder at a smaller beta"
