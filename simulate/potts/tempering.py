"""Runs parallel tempering: replicas that exchange temperatures, and ladders on which they do so often."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcinv

from simulate.core import stream
from simulate.potts.dynamics import Method, make_dynamics
from theory.core import Array, AtLeast, Count, SolverResult, checked, checks
from theory.models import Potts

MIN_SWAP_RATE, MAX_SWAP_RATE = 0.2, 0.9  # below, replicas hardly pass; above, temperatures are wasted
TARGET_SWAP_RATE = 0.45  # swap rate between neighbors of a proposed ladder
MAX_TEMPERATURES = 100
MAX_TRIAL_SWEEPS = 10**8  # which would take days
MAX_TRIALS = 50  # so many trial runs bring rates into the range, or none will


class TemperedDynamics:
    """Advances `n_chains` independent ladders of replicas by parallel tempering.

    Each ladder has one replica of the system at each of the inverse temperatures `betas`, which increase and contain
    `model.beta`. After each sweep, neighbors k and k + 1 (k even, then odd, in turn) exchange their betas with
    probability min(1, exp((beta_k - beta_{k+1}) (S_{k+1} - S_k))), which leaves the joint law exp(sum_k beta_k S_k)
    stationary: replicas reach another phase through high temperatures. Seen from outside the ladders are `n_chains`
    chains at the inverse temperature of the model, with `states`, `scores`, `run`, `snapshot` and `restore` as
    `make_dynamics` gives them; `swap_rates` says how well neighbors exchange. `start` (n_chains, L) is the state of all
    replicas of a ladder, random if None. Raises ValueError for bad arguments.
    """

    @checked
    def __init__(
        self,
        model: Potts,
        n_chains: Count,
        rng: np.random.Generator,
        *,
        betas: Array,
        method: Method = "heat_bath",
        start: NDArray[np.integer[Any]] | None = None,
        n_threads: int = 1,
    ) -> None:
        self.betas = checked_ladder(betas, model.beta)
        checks.fits_in_memory(
            f"{n_chains} ladders of {model.n_sites} sites", 3.0 * n_chains * len(self.betas) * (model.n_sites + 1)
        )
        self.target = int(np.flatnonzero(self.betas == model.beta)[0])
        shape = (n_chains, len(self.betas))
        first = None if start is None else np.repeat(_checked_start(start, model, n_chains), len(self.betas), axis=0)
        options: Any = {"method": method, "start": first, "n_threads": n_threads}
        self._replicas = make_dynamics(
            model, n_chains * len(self.betas), rng, betas=np.tile(self.betas, n_chains), **options
        )
        self._scores = self._replicas.scores()  # of every replica, kept when it is exchanged
        self._at = np.arange(n_chains * len(self.betas)).reshape(shape)  # [ladder, k]: the replica that has betas[k]
        # A generator of its own, whose kind and state a snapshot can keep.
        self._rng = np.random.Generator(np.random.PCG64(int(rng.integers(2**63))))
        self._turn = 0
        self._tried, self._swapped = np.zeros((2, len(self.betas) - 1), dtype=np.int64)

    @property
    def states(self) -> NDArray[Any]:
        """The present states at the inverse temperature of the model, (n_chains, L)."""
        return np.asarray(self._replicas.states[self._at[:, self.target]])

    @property
    def acceptance(self) -> float:
        """The share of accepted proposals over all temperatures."""
        return float(self._replicas.acceptance)

    @property
    def swap_rates(self) -> Array:
        """The share of accepted exchanges of each pair of neighbors, (n_betas - 1,)."""
        return np.asarray(self._swapped / np.maximum(1, self._tried))

    def scores(self) -> Array:
        """Return the scores S at the inverse temperature of the model, (n_chains,)."""
        return np.asarray(self.all_scores()[:, self.target])

    def all_scores(self) -> Array:
        """Return the scores S at every inverse temperature, (n_chains, n_betas)."""
        return np.asarray(self._scores[self._at])

    def run(self, n_sweeps: int) -> None:
        """Advance every replica by `n_sweeps` sweeps of L updates, with exchanges after each sweep."""
        for _ in range(checks.count("n_sweeps", n_sweeps, least=0)):
            self._replicas.run(1)
            self._scores = self._replicas.scores()
            self._exchange()

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Return copies of all arrays that are needed to go on with the same numbers."""
        own = {"at": self._at, "turn": np.array(self._turn), "tried": self._tried, "swapped": self._swapped}
        own["exchanges"] = np.array(json.dumps(self._rng.bit_generator.state))
        return {f"ladder.{name}": np.array(value) for name, value in own.items()} | self._replicas.snapshot()

    def restore(self, snapshot: dict[str, NDArray[Any]]) -> None:
        """Go back to the moment of `snapshot`; ValueError, and nothing changed, where it is of other ladders."""
        kept = {name: np.array(value) for name, value in checks.mapping("snapshot", snapshot).items()}
        missing = {f"ladder.{name}" for name in ("at", "turn", "tried", "swapped", "exchanges")} - set(kept)
        if missing:
            raise ValueError(f"snapshot must be of parallel tempering, got no {sorted(missing)}")
        at, tried, swapped = (kept.pop(f"ladder.{name}") for name in ("at", "tried", "swapped"))
        turn, exchanges = int(kept.pop("ladder.turn")), str(kept.pop("ladder.exchanges"))
        if at.shape != self._at.shape or tried.shape != self._tried.shape or swapped.shape != tried.shape:
            raise ValueError(f"snapshot must be of ladders of shape {self._at.shape}, got {at.shape}")
        if turn not in (0, 1) or not np.array_equal(np.sort(at, axis=None), np.arange(at.size)):
            raise ValueError("snapshot must hold every replica once, got replicas that are missing or come twice")
        try:
            generator = np.random.PCG64()
            generator.state = json.loads(exchanges)
        except Exception:  # numpy and json raise many kinds here
            raise ValueError("snapshot must hold the state of a generator, got something else") from None
        self._replicas.restore(kept)
        self._at, self._tried, self._swapped, self._turn = at, tried, swapped, turn
        self._rng = np.random.Generator(generator)
        self._scores = self._replicas.scores()
        self._set_betas()

    def _exchange(self) -> None:
        # Pairs of one turn have no replica in common, so that all of them are exchanged at once.
        low = np.arange(self._turn, len(self.betas) - 1, 2)
        self._turn = 1 - self._turn
        scores = self.all_scores()
        gain = (self.betas[low] - self.betas[low + 1]) * (scores[:, low + 1] - scores[:, low])
        # In logarithms no gain overflows, and 1 - u is never zero.
        swap = np.log1p(-self._rng.random(gain.shape)) < gain
        self._tried[low] += len(swap)
        self._swapped[low] += swap.sum(axis=0)
        # Replicas exchange their betas and keep their states: two numbers move instead of 2 L.
        below, above = self._at[:, low], self._at[:, low + 1]
        self._at[:, low], self._at[:, low + 1] = np.where(swap, above, below), np.where(swap, below, above)
        self._set_betas()

    def _set_betas(self) -> None:
        self._replicas.betas[self._at] = self.betas


@dataclass(frozen=True, eq=False, repr=False)
class Ladder(SolverResult):
    """Inverse temperatures for parallel tempering, and how well neighbors exchanged them in a trial run.

    `betas` (n,) run from the hottest to that of the model, `swap_rates` (n - 1,) are the shares of accepted exchanges.
    `converged` says that all rates lie between 0.2 and 0.9; `reason` names those that do not and is empty otherwise;
    `residual` is the largest distance of a rate from that range, `iterations` the number of trial runs.
    """

    betas: Array
    swap_rates: Array
    reason: str


@checked
def temper_ladder(
    model: Potts,
    *,
    hottest: float = 0.0,
    seed: int = 0,
    n_chains: int = 16,
    n_sweeps: Annotated[int, AtLeast(1, most=MAX_TRIAL_SWEEPS)] = 300,
    rounds: Count = 6,
    method: Method = "heat_bath",
    n_threads: int = 1,
) -> Ladder:
    """Find inverse temperatures from `hottest` to `model.beta` whose neighbors exchange replicas at useful rates.

    Rates between 0.2 and 0.9 are wanted; where `rounds` trial runs, each of `n_sweeps` sweeps of `n_chains` ladders, do
    not find such betas, the result of the last one is returned, with `.reason`. If scores are Gaussian, neighbors
    exchange with probability erfc(sqrt(K)/2), where K = (beta' - beta)(<S>' - <S>) is the symmetrized Kullback-Leibler
    divergence of their laws. The trial runs measure <S>, and the next betas are spaced evenly in the sum of sqrt(K).
    Raises ValueError for bad arguments, and where more than 100 temperatures would be needed.
    """
    low = checks.between("hottest", hottest, 0.0, model.beta, closed=(True, False))
    betas, rng = np.linspace(low, model.beta, 6), stream(seed, "ladder")
    for trial in range(1, rounds + 1):
        dynamics = TemperedDynamics(model, n_chains, rng, betas=betas, method=method, n_threads=n_threads)
        scores, rates = _trial(dynamics, n_sweeps)
        reason, tried = _out_of_range(rates), betas
        if not reason or trial == MAX_TRIALS:
            break
        betas = _evenly(betas, scores)
    beyond = float(np.maximum(MIN_SWAP_RATE - rates, rates - MAX_SWAP_RATE).max())
    return Ladder(tried, rates, reason, residual=max(0.0, beyond), iterations=trial, converged=not reason)


def checked_ladder(betas: Any, beta: float) -> Array:
    """Return `betas` as a read-only array if they increase, are non-negative, two at least, and contain `beta`."""
    ladder = checks.finite_array("betas", betas, 1)
    if len(ladder) < 2 or ladder[0] < 0 or np.any(np.diff(ladder) <= 0):
        raise ValueError(f"betas must be two or more increasing numbers >= 0, got {ladder.tolist()}")
    if beta not in ladder:
        raise ValueError(f"betas must contain the model's beta = {beta!r}, got {ladder.tolist()}")
    return ladder


def _checked_start(start: Any, model: Potts, n_chains: int) -> NDArray[np.integer[Any]]:
    states = checks.colors("start", start, model.n_colors, model.n_sites)
    if states.shape != (n_chains, model.n_sites):
        raise ValueError(f"start must have shape (n_chains, L) = {(n_chains, model.n_sites)}, got {states.shape}")
    return states


def _trial(dynamics: TemperedDynamics, n_sweeps: int) -> tuple[Array, Array]:
    """Return the mean scores and swap rates at each temperature, the first half of the sweeps left out."""
    # Replicas begin at random states, whose exchanges say nothing of the rates in equilibrium.
    dynamics.run(n_sweeps // 2)
    tried, swapped = dynamics._tried.copy(), dynamics._swapped.copy()
    total = np.zeros(len(dynamics.betas))
    for _ in range(n_sweeps - n_sweeps // 2):
        dynamics.run(1)
        total += dynamics.all_scores().mean(axis=0)
    tried, swapped = dynamics._tried - tried, dynamics._swapped - swapped
    return total / (n_sweeps - n_sweeps // 2), swapped / np.maximum(1, tried)


def _evenly(betas: Array, scores: Array) -> Array:
    """Return new betas with the same ends, neighbors at the distance that gives the rate `TARGET_SWAP_RATE`."""
    # For small steps sqrt(K) is proportional to the step in beta, so that it adds up along the ladder. Measured means
    # may fall where scores hardly change; the floor keeps the length increasing there.
    steps = np.sqrt(np.maximum(np.diff(betas) * np.diff(scores), 1e-12))
    length = np.concatenate([[0.0], np.cumsum(steps)])
    count = 1 + max(1, math.ceil(length[-1] / (2 * erfcinv(TARGET_SWAP_RATE))))
    if count > MAX_TEMPERATURES:
        raise ValueError(
            f"hottest must be nearer to beta: the ladder needs {count} temperatures, more than {MAX_TEMPERATURES}"
        )
    spaced = np.interp(np.linspace(0, length[-1], count), length, betas)
    # Interpolation may miss the ends by rounding, and the model's own beta has to be found exactly.
    spaced[[0, -1]] = betas[[0, -1]]
    return np.asarray(spaced)


def _out_of_range(rates: Array) -> str:
    bad = [f"pair {k}: {rate:.2f}" for k, rate in enumerate(rates) if not MIN_SWAP_RATE <= rate <= MAX_SWAP_RATE]
    return f"swap rates outside {MIN_SWAP_RATE} to {MAX_SWAP_RATE}: {', '.join(bad)}" if bad else ""


def swap_advice(rates: Sequence[float] | Array) -> str:
    """Return what a user can do about a ladder that does not mix, by the rates at which its neighbors exchange."""
    if np.size(rates) and np.min(rates) < MIN_SWAP_RATE:
        k = int(np.argmin(rates))
        return f"the swap rate of betas {k} and {k + 1} is {np.min(rates):.2g}: put a temperature between them"
    return "raise max_sweeps, or begin the ladder at a smaller beta"
