"""Defines the samplers, one for each kind of couplings, each with its own compiled kernel."""

from abc import abstractmethod
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.potts.kernels.independent import IndependentChains
from simulate.potts.kernels.lattice import fastest_sweeps, lattice_scores
from simulate.potts.kernels.lists import coloring, groups_of
from simulate.potts.kernels.many_chains import many_chain_sweeps
from simulate.potts.kernels.rows_of_eight import single_precision
from simulate.potts.kernels.scores import dense_scores, group_scores, product_scores
from simulate.potts.kernels.sweeps import (
    CACHED_NUMBERS,
    dense_sweeps,
    few_color_sweeps,
    group_sweeps,
    product_sweeps,
)
from theory.core.arrays import Array
from theory.models import DensePottsModel, ManyBodyPottsModel, PottsModel, SquareLatticePotts

Chains = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]  # betas, keys, states, accepted, in blocks

MAX_LOGIT = 1e30  # bound on logits, far below the overflow of single precision at 3e38
MIN_BLOCK_CHAINS = 16  # chains in a block: with fewer, loops over them would not fill vector units
NUMBERS_PER_VECTOR = 8  # in single precision, in a vector unit of 256 bits


class BlockChains(IndependentChains):
    """Chains that are handed to their kernel in blocks of about `block` chains, with logits of this `precision`."""

    # In single precision couplings take half the memory, and a vector holds twice as many. A logit is then off by about
    # 1e-7 of its terms, and as small a share of the draws may differ.
    block: int
    precision: type[np.floating[Any]] = np.float32
    # States lie in blocks from one run to the next: a single sweep of a sparse model takes not much longer than the way
    # from rows to blocks and back, which no other thread could share.
    _blocks: NDArray[np.int16] | None = None
    _rows: NDArray[np.int16] | None = None

    @property
    def _states(self) -> NDArray[np.int16]:
        if self._rows is None:
            assert self._blocks is not None
            rows = self._blocks.transpose(0, 2, 1).reshape(-1, self._blocks.shape[1])
            self._rows = rows[: self.n_chains, : self.n_sites].copy()
        return self._rows

    @_states.setter
    def _states(self, states: NDArray[np.int16]) -> None:
        self._rows, self._blocks = states, None

    @abstractmethod
    def _sweep(self, chains: Chains, start: int, stop: int) -> None:
        """Advance some of the blocks of chains by the sweeps number `start` to `stop` - 1."""

    def _run(self, n_sweeps: int) -> None:
        chains = self._chains()
        betas, keys, states, accepted = chains

        def work(part: slice) -> None:
            some = betas[part], keys[part], states[part], accepted[part]
            self._sweep(some, self._sweeps, self._sweeps + n_sweeps)

        self._in_threads(work, len(betas))
        self._store(chains)

    def _chains(self) -> Chains:
        betas, keys = self._in_blocks(self.betas.astype(self.precision)), self._in_blocks(self._keys)
        # A copy, so that a run which is interrupted leaves the states as they were.
        return betas, keys, self._state_blocks().copy(), np.zeros(betas.shape, dtype=np.int64)

    def _store(self, chains: Chains) -> None:
        self._rows, self._blocks = None, chains[2]
        self._accepted += chains[3].reshape(-1)[: self.n_chains]

    def _check_size(self, largest: float) -> None:
        """Raise ValueError where sums in single precision would overflow; `largest` bounds the logits of a site."""
        if largest * max(1.0, self.betas.max()) > MAX_LOGIT:
            raise ValueError(
                f"couplings and fields of a site must add up to less than {MAX_LOGIT:g}, also times beta, "
                f"got {largest:g}"
            )

    def _state_blocks(self) -> NDArray[np.int16]:
        """Return the states as an array (n_blocks, L4, B), where L4 is L rounded up to a multiple of 4."""
        if self._blocks is None:
            wide = np.zeros((self.n_chains, self.n_sites + -self.n_sites % 4), np.int16)
            wide[:, : self.n_sites] = self._states
            self._blocks = np.ascontiguousarray(self._in_blocks(wide).transpose(0, 2, 1))
        return self._blocks

    def _in_blocks(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values (n_chains, ...) as an array (n_blocks, B, ...), with zeros behind the last chain.

        There is a block for every thread, unless it would have fewer than `MIN_BLOCK_CHAINS` chains.
        """
        count = max(-(-self.n_chains // self.block), min(self.n_threads, -(-self.n_chains // MIN_BLOCK_CHAINS)))
        size = -(-self.n_chains // count)
        # Whole vector units: at most seven chains more in each block, and so maybe fewer blocks.
        if size > MIN_BLOCK_CHAINS:
            size += -size % NUMBERS_PER_VECTOR
            count = -(-self.n_chains // size)
        full = np.zeros((count * size, *values.shape[1:]), values.dtype)
        full[: self.n_chains] = values
        return full.reshape(count, size, *values.shape[1:])


class DenseChains(BlockChains):
    """Samples models with couplings J_ij(a, b), whose sites are updated in their order."""

    block = 64  # so many that one J[i, j] and the logits of a block fit into the innermost cache

    def __init__(self, model: DensePottsModel, *arguments: Any, **options: Any) -> None:
        super().__init__(model, *arguments, **options)
        self._check_size(float(abs(model.couplings).max(axis=(2, 3)).sum(axis=1).max() + abs(model.fields).max()))
        self._exact = np.ascontiguousarray(model.couplings), model.fields
        self._arrays = single_precision(model.couplings), model.fields.astype(np.float32)

    def _sweep(self, chains: Chains, start: int, stop: int) -> None:
        # So many chains need most rows of J, and it pays to read all of them in the order of memory.
        many = chains[0].size >= max(MIN_BLOCK_CHAINS, self.n_colors / 2)
        (many_chain_sweeps if many else dense_sweeps)(*self._arrays, *chains, start, stop, self.metropolis)

    def scores(self) -> Array:
        """Return the scores S(s) of the present states, (n_chains,), added up anew in double precision."""
        states = self._state_blocks()
        scores = np.empty(states.shape[::2])
        self._in_threads(lambda part: dense_scores(*self._exact, states[part], scores[part]), len(states))
        return scores.reshape(-1)[: self.n_chains]


class ProductChains(BlockChains):
    """Samples models with couplings J_ij U_ab and dense J, whose sites are updated in their order.

    Many chains of few colors have a kernel of their own. It adds the local scores up in another order, in single
    precision, so that about one draw in ten million may differ from that of the same chain among few.
    """

    block = 128  # or fewer, so that what is kept for every site fits into the second cache
    few_colors, many_chains = 4, 32

    def __init__(self, model: PottsModel, *arguments: Any, **options: Any) -> None:
        super().__init__(model, *arguments, **options)
        J = model.dense_site_couplings
        U = model.color_couplings
        self._check_size(float(abs(J).sum(axis=1).max() * abs(U).max() + abs(model.fields).max()))
        self._exact = np.array(J, order="C"), np.array(U, order="C"), model.fields
        # Zeros fill U up to groups of four rows and eight columns, which are what `add_eight` adds.
        filled = np.pad(U, ((0, -len(U) % 4), (0, -len(U) % 8))).astype(np.float32)
        self._arrays = self._exact[0].astype(np.float32), filled, model.fields.astype(np.float32)
        self.block = min(self.block, max(MIN_BLOCK_CHAINS, CACHED_NUMBERS // (len(filled) * model.n_sites)))

    def _sweep(self, chains: Chains, start: int, stop: int) -> None:
        # Summing all sites anew costs more than moving counts, unless vectors over many chains do it for few colors.
        abreast = self.n_colors <= self.few_colors and self.n_chains >= self.many_chains
        (few_color_sweeps if abreast else product_sweeps)(*self._arrays, *chains, start, stop, self.metropolis)

    def scores(self) -> Array:
        """Return the scores S(s) of the present states, (n_chains,), added up anew in double precision."""
        scores, states = np.empty(self.n_chains), self._states
        self._in_threads(lambda part: product_scores(*self._exact, states[part], scores[part]), self.n_chains)
        return scores


class GroupChains(BlockChains):
    """Samples sparse pair models and interactions of many sites, in the order of the sites or class after class."""

    block, precision = 128, np.float64

    def __init__(
        self, model: PottsModel | ManyBodyPottsModel, *arguments: Any, colored: bool = False, **options: Any
    ) -> None:
        super().__init__(model, *arguments, **options)
        self._groups, self._fields = groups_of(model), model.fields
        self.classes = coloring(self._groups) if colored else []
        self.order = np.concatenate(self.classes) if colored else np.arange(self.n_sites)

    def _sweep(self, chains: Chains, start: int, stop: int) -> None:
        group_sweeps(self.order, self._groups, self._fields, *chains, start, stop, self.metropolis)

    def _run(self, n_sweeps: int) -> None:
        chains = self._chains()
        if not self.classes or len(chains[0]) >= self.n_threads:
            super()._run(n_sweeps)
            return
        # There are too few chains for all threads, so that these share the sites of a class.
        for sweep in range(self._sweeps, self._sweeps + n_sweeps):
            for sites in self.classes:
                self._in_threads(partial(self._sweep_sites, chains, sites, sweep), len(sites))
        self._store(chains)

    def _sweep_sites(self, chains: Chains, sites: NDArray[np.int64], sweep: int, part: slice) -> None:
        group_sweeps(sites[part], self._groups, self._fields, *chains, sweep, sweep + 1, self.metropolis)

    def scores(self) -> Array:
        """Return the scores S(s) of the present states, (n_chains,), added up anew in double precision."""
        scores, states, arrays = np.empty(self.n_chains), self._states, (self._groups, self._fields)
        self._in_threads(lambda part: group_scores(*arrays, states[part], scores[part]), self.n_chains)
        return scores


class LatticeChains(IndependentChains):
    """Samples the ferromagnet on a square lattice by the heat bath, even sites before odd ones."""

    def __init__(self, model: SquareLatticePotts, *arguments: Any, **options: Any) -> None:
        super().__init__(model, *arguments, **options)
        self._sides = model.rows, model.columns

    def _run(self, n_sweeps: int) -> None:
        def work(part: slice) -> None:
            # Each thread chooses by the number of its own chains; both kernels give the same bits.
            sweeps = fastest_sweeps(part.stop - part.start)
            sweeps(self._states, self._keys, self.betas, *self._sides, self.n_colors, n_sweeps, part.start, part.stop)

        self._in_threads(work, self.n_chains)

    def scores(self) -> Array:
        """Count the bonds between equal colors, which are the scores S(s) of the present states, (n_chains,)."""
        return np.asarray(lattice_scores(self._states, *self._sides))
