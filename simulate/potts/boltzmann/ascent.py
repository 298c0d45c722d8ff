"""Climbs the likelihood of a Potts model, step by step, with persistent chains that measure the gradient."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.potts.boltzmann.agreement import Agreement, agreement
from simulate.potts.boltzmann.kernels import blend_shares, climb, set_fields
from simulate.potts.boltzmann.shares import pair_shares, require_covariances, share_rows, site_shares
from simulate.potts.inference.sequences import Sequences
from simulate.potts.kernels.samplers import DenseChains
from theory.core import FitError
from theory.models import DensePottsModel
from theory.models.potts import zero_sum


class LearningChains(DenseChains):
    """Chains whose couplings and fields are changed in place between sweeps."""

    @property
    def couplings(self) -> NDArray[np.float32]:
        """The couplings J[i, j, b, a] (L, L4, C, C8) that the next sweep reads, `a` the color of site i."""
        return np.asarray(self._arrays[0])

    @property
    def local_fields(self) -> NDArray[np.float32]:
        """The fields (L, C) that the next sweep reads."""
        return np.asarray(self._arrays[1])

    @property
    def columns(self) -> NDArray[np.int16]:
        """The present states as (L, n_chains)."""
        return np.ascontiguousarray(self._states.T)


class Ascent:
    """The state of Boltzmann learning: chains, the shares that they have shown of late, and the data's.

    One step makes `n_sweeps` sweeps of all chains, moves the shares of the model by `memory` towards those of the
    chains, and changes every parameter by `rate` times its gradient over the variance that it would have if sites were
    independent: the gradient of J_ij(a, b) over f_i(a) f_j(b) + `floor`. Rare pairs of colors, of which the chains
    tell little, are slowed down by `floor`. Couplings are changed with the fields at the mean of the data held, h_i +
    sum_j J_ij f_j; otherwise all L - 1 blocks of a site would move its frequencies together, and steps be L times
    smaller.
    """

    def __init__(
        self,
        data: Sequences,
        model: DensePottsModel,
        chains: LearningChains,
        *,
        l2: float,
        field_l2: float,
        floor: float,
        n_threads: int,
    ) -> None:
        self.chains, self._l2, self._field_l2, self._floor = chains, l2, field_l2, floor
        self._n_threads, self.n_sites = n_threads, data.n_sites
        self.target = pair_shares(data, n_threads)
        require_covariances(self.target, self.n_sites)
        self.f = data.frequencies()
        self._small_f = self.f.astype(np.float32)
        self._at_mean = model.fields + np.einsum("ijab,jb->ia", model.couplings, self.f)
        self.shares = np.zeros_like(self.target)
        self._blend(1.0)

    def step(self, n_sweeps: int, rate: float, memory: float) -> None:
        """Make one step with all of these; what is then too large for numbers is told by `model`."""
        with np.errstate(over="ignore", invalid="ignore"):
            self._step(n_sweeps, rate, memory)

    def _step(self, n_sweeps: int, rate: float, memory: float) -> None:
        self.chains.run(n_sweeps)
        self._blend(memory)
        J, h = self.chains.couplings, self.chains.local_fields
        by_field = self.f - site_shares(self.shares, self.n_sites) - 2 * self._field_l2 * h
        small = by_field.astype(np.float32)
        self._share_rows(
            lambda first, last: climb(
                J, self.target, self.shares, self._small_f, small, rate, self._l2, self._floor, first, last
            )
        )
        self._at_mean += rate * by_field / (self.f + self._floor)
        self._share_rows(lambda first, last: set_fields(J, self._at_mean, self._small_f, first, last, h), even=True)

    def agreement(self) -> Agreement:
        """Compare the shares that the chains have shown of late with those of the data."""
        return agreement(self.target, self.shares, self.n_sites, self._n_threads)

    def model(self) -> DensePottsModel:
        """Return the present model, in the zero-sum gauge; FitError where steps that were too large diverged."""
        L, C = self.f.shape
        J = self.chains.couplings[:, :L, :, :C].transpose(0, 1, 3, 2).astype(float)
        h = self.chains.local_fields.astype(float)
        if not (np.isfinite(J).all() and np.isfinite(h).all()):
            at = f"l2 = {self._l2:g}, field_l2 = {self._field_l2:g}"
            raise FitError(f"boltzmann_learning diverged at {at}: lower rate or the penalties, or take more sequences")
        return zero_sum(DensePottsModel(J, h))

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all that the next step depends on, beside what the ascent was made with."""
        chains = {f"chains_{name}": array for name, array in self.chains.snapshot().items()}
        own = {"couplings": self.chains.couplings, "fields": self.chains.local_fields}
        return {**own, "fields_at_mean": self._at_mean, "shares": self.shares, **chains}

    def restore(self, saved: dict[str, NDArray[Any]]) -> None:
        """Go on from what `state` gave."""
        self.chains.couplings[:], self.chains.local_fields[:] = saved["couplings"], saved["fields"]
        self._at_mean[:], self.shares[:] = saved["fields_at_mean"], saved["shares"]
        names = [name for name in saved if name.startswith("chains_")]
        self.chains.restore({name.removeprefix("chains_"): saved[name] for name in names})

    def _blend(self, rate: float) -> None:
        columns = self.chains.columns
        self._share_rows(lambda first, last: blend_shares(columns, rate, first, last, self.shares))

    def _share_rows(self, work: Callable[[int, int], Any], even: bool = False) -> None:
        share_rows(work, self.n_sites, self._n_threads, even=even)
