"""Pair models with a color matrix for every pair of sites, as they are fitted by direct-coupling analysis."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from theory.core import Array, NonNegative, checked_fields, checks
from theory.models.covariance import frozen, set_checked
from theory.models.potts.base import Potts, one_hot, require_finite_scores, site_fields
from theory.models.potts.batches import States
from theory.models.potts.factored import SYMMETRY, PottsModel, SquareLatticePotts, pair_score

FEW_STATES = 8  # states whose entries of the couplings are picked: a product would first copy the whole tensor


@dataclass(frozen=True, eq=False, repr=False)
class DensePottsModel(Potts):
    """A pair model with S(s) = sum_{i<j} J_ij(s_i, s_j) + sum_i h_i(s_i) and P(s) = exp(beta S)/Z.

    `couplings` (L, L, C, C) have J[i, j] = J[j, i].T and zero blocks J[i, i]; `fields` h (L, C) are zero where None.
    They are copied once, and kept as they are where they belong to a record already (read-only, not a part of another
    array). MemoryError with the size in GB, before anything is copied, where the couplings do not fit.
    """

    couplings: Any = field(repr=False)
    fields: Any = field(default=None, repr=False)
    beta: NonNegative = 1.0

    def __post_init__(self) -> None:
        checked_fields(self)
        couplings = _checked_couplings(self.couplings)
        n_sites, _, n_colors, _ = couplings.shape
        fields = site_fields(self.fields, n_sites, n_colors, "couplings")
        require_finite_scores("couplings", float(max(couplings.max(), -couplings.min())), n_sites, fields, self.beta)
        set_checked(self, couplings=couplings, fields=fields)

    @classmethod
    def of(cls, model: PottsModel | SquareLatticePotts) -> Self:
        """Return the same distribution with its couplings J_ij U_ab written out."""
        model = model.pair_model if isinstance(model, SquareLatticePotts) else checks.record("model", model, PottsModel)
        n_sites, n_colors = model.n_sites, model.n_colors
        checks.fits_in_memory(f"couplings of {n_sites} sites and {n_colors} colors", (n_sites * n_colors) ** 2)
        J = model.dense_site_couplings
        return cls(frozen(J[:, :, None, None] * model.color_couplings), model.fields, model.beta)

    @property
    def n_sites(self) -> int:  # type: ignore[override]
        """The number L of sites."""
        return int(self.couplings.shape[0])

    @property
    def n_colors(self) -> int:  # type: ignore[override]
        """The number C of colors."""
        return int(self.couplings.shape[2])

    def at(self, beta: float) -> Self:
        """Return the same model at another inverse temperature."""
        return type(self)(self.couplings, self.fields, beta)

    def _local_scores(self, states: States) -> Array:
        if len(states) <= FEW_STATES:
            i, j = np.ogrid[: self.n_sites, : self.n_sites]
            return np.array([self.couplings[i, j, :, state[None, :]].sum(axis=1) for state in states])
        x = one_hot(states, self.n_colors)
        return np.asarray(np.tensordot(x, self.couplings, axes=((1, 2), (1, 3))))

    def _interaction_score(self, states: States) -> Array:
        return pair_score(states, self._local_scores(states))


def _checked_couplings(value: Any) -> Array:
    shape = checks.real_array("couplings", value).shape
    if len(shape) != 4 or shape[0] != shape[1] or shape[2] != shape[3]:
        raise ValueError(f"couplings must have shape (sites, sites, colors, colors), got {shape}")
    checks.fits_in_memory(f"couplings of {shape[0]} sites and {shape[2]} colors", float(np.prod(shape, dtype=float)))
    if 0 in shape:
        raise ValueError(f"couplings must be a non-empty array with 4 axes, got shape {shape}")
    couplings = _held_once(value)
    # One site at a time, so that no check needs a second tensor.
    for i, block in enumerate(couplings):
        if not np.isfinite(block).all():
            j, a, b = (int(k) for k in np.argwhere(~np.isfinite(block))[0])
            raise ValueError(f"couplings must be finite, got {block[j, a, b]} at index {(i, j, a, b)}")
    gap = max(abs(couplings[i, i:] - couplings[i:, i].transpose(0, 2, 1)).max() for i in range(shape[0]))
    if gap > SYMMETRY * max(couplings.max(), -couplings.min()):  # without a copy of them all
        raise ValueError(f"couplings must satisfy J[i, j] = J[j, i].T, got a difference of {gap}")
    for i in range(shape[0]):
        if np.any(couplings[i, i]):
            raise ValueError(f"couplings must have zero blocks J[i, i], got {abs(couplings[i, i]).max()} at i = {i}")
    return couplings


def _held_once(value: Any) -> Array:
    """Return the couplings as a read-only array: a copy, or `value` itself where nobody else can write to it."""
    if type(value) is np.ndarray and value.dtype == float and not value.flags.writeable and value.base is None:
        return value
    return frozen(np.array(checks.real_array("couplings", value)))
