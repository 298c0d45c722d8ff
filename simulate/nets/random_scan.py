"""Samples from a layered network: its conditional distributions, applied to sites in random order."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from simulate.core import stream
from simulate.nets.clones import Clone, compared
from simulate.potts.chains import Chains
from simulate.potts.inference.sequences import Sequences
from simulate.potts.observables import Observables
from simulate.potts.progress import sweep_bar
from simulate.potts.recording import Watch
from simulate.potts.run import Run
from simulate.potts.sampling import chains_of, plan_of
from simulate.potts.starts import ordered_and_random
from theory.core import Array, Count, NonNegativeCount, Several, checked, checks
from theory.models import FactoredStack, Interaction, ManyBodyPottsModel
from theory.models.potts.base import one_hot


class StackChains:
    """Independent chains whose sites are drawn, one at a time in random order, from what a stack predicts for them.

    A sweep is L updates of a chain. `scores` are sum_i log P(s_i | rest), the negative log pseudo-likelihood with its
    sign changed: a network without a joint law has no energy.
    """

    acceptance = 1.0

    def __init__(self, stack: FactoredStack, start: NDArray[np.integer[Any]], rng: np.random.Generator) -> None:
        self.stack, self.rng = stack, rng
        self.betas: NDArray[np.float64] = np.ones(len(start))
        self._states = np.array(start, dtype=np.int16)

    @property
    def states(self) -> NDArray[np.int16]:
        """A copy of the present states, (n_chains, L)."""
        return self._states.copy()

    def run(self, n_sweeps: int) -> None:
        """Advance every chain by `n_sweeps` sweeps of L updates."""
        n, L = self._states.shape
        chains = np.arange(n)
        for _ in range(n_sweeps * L):
            sites, uniform = self.rng.integers(L, size=n), self.rng.random(n)
            x = one_hot(self._states, self.stack.n_colors)
            x[chains, sites] = 0.0
            logits = self.stack.logits(x)[chains, sites]
            share = np.cumsum(np.exp(logits - logits.max(axis=1, keepdims=True)), axis=1)
            self._states[chains, sites] = (share < (uniform * share[:, -1])[:, None]).sum(axis=1)

    def scores(self) -> Array:
        """Return the sums sum_i log P(s_i | rest) of the present states, (n_chains,)."""
        total = np.zeros(len(self._states))
        for site in range(self._states.shape[1]):
            x = one_hot(self._states, self.stack.n_colors)
            x[:, site] = 0.0
            logs = log_softmax(self.stack.logits(x)[:, site], axis=1)
            total += logs[np.arange(len(logs)), self._states[:, site]]
        return total

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Return a copy of the states; the run of a stack is not kept on disk."""
        return {"states": self.states}

    def restore(self, snapshot: dict[str, NDArray[Any]]) -> None:
        """Go back to the states of `snapshot`."""
        self._states = snapshot["states"].copy()


@checked
def clone_of_stack(
    stack: FactoredStack,
    states: Any,
    *,
    seed: NonNegativeCount,
    n_samples: Count | None = None,
    weights: Any = None,
    n_chains: Several = 16,
    max_sweeps: Count = 20_000,
    check: bool = True,
) -> Clone:
    """Make a clone of sequences from a stack of attention layers that was trained on them (arXiv:2410.19637).

    The stack predicts each site from the others, with interactions of at most `stack.max_order` sites. Its predictions
    are in general not the conditional distributions of one joint law: sites are therefore updated in random order, and
    the result says so (`has_joint_law` is False). What the chains converge to depends on that order of updates.

    `states` (M, L), with `weights` (M,), are the original, with which the marginals are compared; `n_samples` states, M
    where None, are drawn from `n_chains` chains, of which half start from one color and half at random, with the
    evidence of `simulate.potts.sample`. MixingError where the chains have not mixed within `max_sweeps` sweeps; with
    `check=False` the clone is returned nevertheless. ValueError for sequences that do not fit the stack.

    >>> original = np.random.default_rng(0).integers(0, 3, (200, 4))
    >>> found = clone_of_stack(FactoredStack.deterministic(2, 4, 3, scale=0.5), original, seed=0)
    >>> found.has_joint_law, found.order, found.states.shape
    (False, 3, (200, 4))
    """
    data = Sequences.of(states, stack.n_colors, weights)
    if data.n_sites != stack.n_sites:
        raise ValueError(f"states must have {stack.n_sites} sites, as the stack, got {data.n_sites}")
    if data.n_sites < 2:
        raise ValueError("states must have at least 2 sites, got 1")
    count = n_samples or data.n_samples
    checks.fits_in_memory(f"{count} samples of {data.n_sites} sites", count * data.n_sites / 4)
    checks.fits_in_memory(f"{n_chains} chains", 4.0 * n_chains * data.n_sites * stack.n_colors)
    rng = stream(seed, "stack")
    start = ordered_and_random(n_chains, data.n_sites, stack.n_colors, rng)
    found = _sampled(
        StackChains(stack, start, rng), count, plan_of(-(-count // n_chains), None, None, max_sweeps), check
    )
    return compared(data, found, order=stack.max_order, kind="stack", model=None, seed=seed)


def _sampled(dynamics: StackChains, count: int, plan: Any, check: bool) -> Chains:
    L, C = dynamics.stack.n_sites, dynamics.stack.n_colors
    # The observables need sizes, and whether permutations of the colors change nothing: models of many bodies say no.
    sizes = ManyBodyPottsModel(L, [Interaction([[0, 1]], [0.0], np.zeros((C, C)))])
    observables = Observables(sizes, stream(0, "projection"))
    with sweep_bar(False) as bar:
        run = Run(dynamics, Watch(dynamics, observables, C), plan, bar, None)
        run.execute(check)
    return chains_of(run, observables, count, check, "")
