"""The samplers: the chains of `IndependentChains` advanced by a kernel each."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.potts.kernels.dense import dense_scores, dense_sweeps, single_precision
from simulate.potts.kernels.independent import Array, IndependentChains
from simulate.potts.kernels.lattice import lattice_scores, lattice_sweeps
from simulate.potts.kernels.lists import coloring, groups_of, padded
from simulate.potts.kernels.structured import group_scores, group_sweeps, product_scores, product_sweeps
from theory.models import DensePottsModel, ManyBodyPottsModel, PottsModel, SquareLatticePotts

BLOCK = 64  # chains of a block: their fields and one J[i, j] fit into the innermost cache
LARGEST = 1e30  # logits of single precision


class DenseChains(IndependentChains):
    """Couplings J_ij(a, b) in single precision, sites in their order."""

    def __init__(self, model: DensePottsModel, *arguments: Any, **options: Any) -> None:
        super().__init__(model, *arguments, **options)
        size = float(abs(model.couplings).max(axis=(2, 3)).sum(axis=1).max() + abs(model.fields).max())
        if size * self.betas.max() > LARGEST:
            raise ValueError(f"beta * couplings must stay below {LARGEST:g} in sum, got {size * self.betas.max():g}")
        self._exact, self._fields = (
            (np.ascontiguousarray(model.couplings), model.fields),
            model.fields.astype(np.float32),
        )
        self._couplings = single_precision(model.couplings)
        self._blocks = -(-self.n_chains // BLOCK)

    def _run(self, n_sweeps: int) -> None:
        states, keys, betas = self._state_blocks(), self._in_blocks(self._keys), self._in_blocks(self.betas)
        betas, accepted = betas.astype(np.float32), self._in_blocks(self._accepted)
        start, stop = self._sweeps, self._sweeps + n_sweeps

        def work(part: slice) -> None:
            blocks = betas[part], keys[part], states[part], accepted[part]
            dense_sweeps(self._couplings, self._fields, *blocks, start, stop, self.metropolis)

        self._in_threads(work, self._parts(self._blocks))
        self._states = np.ascontiguousarray(
            states.transpose(0, 2, 1).reshape(-1, states.shape[1])[self._chains, : self.n_sites]
        )
        self._accepted = accepted.reshape(-1)[self._chains].copy()

    def scores(self) -> Array:
        """S(s) of the present states, (n_chains,), added up anew in double precision."""
        states = self._state_blocks()
        scores = np.empty(states.shape[::2])

        def work(part: slice) -> None:
            dense_scores(*self._exact, states[part], scores[part])

        self._in_threads(work, self._parts(self._blocks))
        return scores.reshape(-1)[self._chains]

    @property
    def _chains(self) -> slice:
        return slice(0, self.n_chains)

    def _in_blocks(self, values: NDArray[Any]) -> NDArray[Any]:
        """(n_chains, ...) as (n_blocks, B, ...), zeros behind the last chain."""
        size = -(-self.n_chains // self._blocks)
        full = np.zeros((self._blocks * size, *values.shape[1:]), values.dtype)
        full[: self.n_chains] = values
        return full.reshape(self._blocks, size, *values.shape[1:])

    def _state_blocks(self) -> NDArray[np.int16]:
        wide = np.pad(self._states, ((0, 0), (0, -self.n_sites % 4)))
        return np.ascontiguousarray(self._in_blocks(wide).transpose(0, 2, 1))


class ProductChains(IndependentChains):
    """Couplings J_ij U_ab with a dense J, sites in their order."""

    def __init__(self, model: PottsModel, *arguments: Any, **options: Any) -> None:
        super().__init__(model, *arguments, **options)
        J = model.site_couplings if isinstance(model.site_couplings, np.ndarray) else model.site_couplings.toarray()
        self._arrays = np.array(J, order="C"), padded(model.color_couplings, 4), padded(model.fields, 4)

    def _run(self, n_sweeps: int) -> None:
        def work(part: slice) -> None:
            chains = self.betas[part], self._keys[part], self._states[part], self._accepted[part]
            product_sweeps(*self._arrays, *chains, self._sweeps, self._sweeps + n_sweeps, self.metropolis)

        self._in_threads(work, self._parts(self.n_chains))

    def scores(self) -> Array:
        """S(s) of the present states, (n_chains,), added up anew in double precision."""
        scores = np.empty(self.n_chains)
        self._in_threads(
            lambda part: product_scores(*self._arrays, self._states[part], scores[part]), self._parts(self.n_chains)
        )
        return scores


class GroupChains(IndependentChains):
    """Sparse pair models and interactions of any number of sites, sites in their order or one class after another."""

    def __init__(
        self, model: PottsModel | ManyBodyPottsModel, *arguments: Any, colored: bool = False, **options: Any
    ) -> None:
        super().__init__(model, *arguments, **options)
        self._groups, self._fields = groups_of(model), padded(model.fields, 4)
        self.classes = coloring(self._groups) if colored else []
        self._order = np.concatenate(self.classes) if colored else np.arange(self.n_sites)

    def _run(self, n_sweeps: int) -> None:
        start, stop = self._sweeps, self._sweeps + n_sweeps
        if self.n_chains >= self.n_threads or not self.classes:

            def work(part: slice) -> None:
                self._accepted[part] += self._sweep(self._order, part, start, stop)

            self._in_threads(work, self._parts(self.n_chains))
            return
        for sweep in range(start, stop):
            for sites in self.classes:  # few chains: threads share the sites of a class
                work = partial(self._sweep_sites, sites, sweep)
                self._in_threads(work, self._parts(len(sites)))

    def _sweep_sites(self, sites: NDArray[np.int64], sweep: int, part: slice) -> None:
        self._accepted += self._sweep(sites[part], slice(0, self.n_chains), sweep, sweep + 1)

    def _sweep(self, sites: NDArray[np.int64], part: slice, start: int, stop: int) -> NDArray[np.int64]:
        accepted = np.zeros_like(self._accepted[part])
        chains = self.betas[part], self._keys[part], self._states[part], accepted
        group_sweeps(sites, self._groups, self._fields, *chains, start, stop, self.metropolis, self.n_colors)
        return accepted

    def scores(self) -> Array:
        """S(s) of the present states, (n_chains,), added up anew in double precision."""
        scores = np.empty(self.n_chains)
        group_scores(self._groups, self._fields, self._states, scores, self.n_colors)
        return scores


class LatticeChains(IndependentChains):
    """The ferromagnet on a square lattice: heat bath, even sites before odd ones."""

    def __init__(self, model: SquareLatticePotts, *arguments: Any, **options: Any) -> None:
        super().__init__(model, *arguments, **options)
        self._sides = model.rows, model.columns

    def _run(self, n_sweeps: int) -> None:
        def work(part: slice) -> None:
            chains = self._states, self._keys, self.betas
            lattice_sweeps(*chains, *self._sides, self.n_colors, n_sweeps, part.start, part.stop)

        self._in_threads(work, self._parts(self.n_chains))

    def scores(self) -> Array:
        """S(s) of the present states, (n_chains,): the number of bonds between equal colors."""
        return np.asarray(lattice_scores(self._states, *self._sides))
