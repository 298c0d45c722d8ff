"""Models with interactions of any number of sites."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from theory.core import Array, Count, NonNegative, Vector, checked_fields, checks
from theory.core.read_only import KeepsReadOnly
from theory.models.covariance import set_checked
from theory.models.potts.base import Potts, require_finite_scores, site_fields
from theory.models.potts.batches import States
from theory.models.potts.factored import SYMMETRY


@dataclass(frozen=True, eq=False, repr=False)
class Interaction(KeepsReadOnly):
    """A term sum_t strengths[t] W[s_i, s_j, ...] of a score, over T groups of k >= 2 distinct sites.

    `sites` (T, k) lists the groups, `strengths` (T,) their factors. `colors` W, an array with k axes of length C, is
    symmetric under every permutation of its arguments.

    A product of three spins, where color 0 is the spin +1 and color 1 is the spin -1:

    >>> import numpy as np
    >>> from theory.models import Interaction
    >>> spin = np.array([1.0, -1.0])
    >>> product = np.einsum("a,b,c->abc", spin, spin, spin)
    >>> Interaction(sites=[[0, 1, 2], [1, 2, 3]], strengths=[0.5, -0.5], colors=product)
    Interaction(order=3, groups=2, n_colors=2)
    """

    sites: Any = field(repr=False)
    strengths: Vector = field(repr=False)
    colors: Any = field(repr=False)

    def __post_init__(self) -> None:
        checked_fields(self)
        sites = _groups(self.sites)
        strengths = self.strengths
        if len(strengths) != len(sites):
            raise ValueError(
                f"strengths must have one number for each of the {len(sites)} groups of sites, got {len(strengths)}"
            )
        set_checked(self, sites=sites, colors=_symmetric_tensor(self.colors, sites.shape[1]))

    @property
    def order(self) -> int:
        """The number k of bodies."""
        return int(self.sites.shape[1])

    def __repr__(self) -> str:
        return f"Interaction(order={self.order}, groups={len(self.sites)}, n_colors={len(self.colors)})"


@dataclass(frozen=True, eq=False, repr=False)
class GroupInteraction(KeepsReadOnly):
    """A term sum_t W_t[s_i, s_j, ...] of a score, in which each of T groups of k >= 2 distinct sites has its own W_t.

    `sites` (T, k) lists the groups, `colors` (T, C, ..., C) their tensors with k axes of colors each, which need not be
    symmetric: axis number p belongs to the site number p of the group.
    """

    sites: Any = field(repr=False)
    colors: Any = field(repr=False)

    def __post_init__(self) -> None:
        given = _groups(self.sites, in_order=False)
        shape = checks.real_array("colors", self.colors).shape
        if len(shape) != 1 + given.shape[1] or len(set(shape[1:])) > 1 or shape[0] != len(given):
            raise ValueError(
                f"colors must have shape ({len(given)}, C, ..., C) with {given.shape[1]} axes of colors, one tensor "
                f"for each group of sites, got {shape}"
            )
        checks.fits_in_memory(f"tensors of {shape[0]} groups of sites", float(np.prod(shape, dtype=float)))
        colors = checks.finite_array("colors", self.colors, len(shape))
        set_checked(self, sites=given, colors=colors)

    @property
    def order(self) -> int:
        """The number k of bodies."""
        return int(self.sites.shape[1])

    @property
    def strengths(self) -> Array:
        """The factors of the groups, (T,), which are ones."""
        return np.ones(len(self.sites))

    def __repr__(self) -> str:
        return f"GroupInteraction(order={self.order}, groups={len(self.sites)}, n_colors={self.colors.shape[1]})"


@dataclass(frozen=True, eq=False, repr=False)
class ManyBodyPottsModel(Potts):
    """A model with S(s) = sum of `interactions` + sum_i h_i[s_i] and P(s) = exp(beta S)/Z; orders may be mixed.

    An interaction is an `Interaction`, whose groups of sites share one symmetric tensor of colors, or a
    `GroupInteraction`, in which every group has its own. A tensor that is not zero-sum in each argument also contains
    interactions of fewer bodies.
    """

    n_sites: Count
    interactions: Sequence[Interaction | GroupInteraction] = field(repr=False)
    fields: Any = field(default=None, repr=False)
    beta: NonNegative = 1.0

    def __post_init__(self) -> None:
        checked_fields(self)
        interactions = tuple(self.interactions)
        if not interactions:
            raise ValueError("interactions must have at least one Interaction, got none")
        n_colors = {each.colors.shape[-1] for each in interactions}
        if len(n_colors) > 1:
            raise ValueError(f"interactions must have the same number of colors, got {sorted(n_colors)}")
        most = max(int(each.sites.max()) for each in interactions)
        if most >= self.n_sites:
            raise ValueError(f"interactions must name sites below n_sites = {self.n_sites}, got {most}")
        fields = site_fields(self.fields, self.n_sites, n_colors.pop(), "n_sites and interactions")
        beta = self.beta
        with np.errstate(over="ignore"):
            coupling = max(float(abs(each.strengths).max() * abs(each.colors).max()) for each in interactions)
        require_finite_scores("interactions", coupling, sum(len(each.sites) for each in interactions), fields, beta)
        set_checked(self, interactions=interactions, fields=fields)

    @property
    def n_colors(self) -> int:  # type: ignore[override]
        """The number C of colors."""
        return int(self.interactions[0].colors.shape[-1])

    @property
    def order(self) -> int:
        """The largest number of bodies of an interaction."""
        return max(each.order for each in self.interactions)

    def at(self, beta: float) -> Self:
        """Return the same model at another inverse temperature."""
        return type(self)(self.n_sites, self.interactions, self.fields, beta)

    def _local_scores(self, states: States) -> Array:
        z = np.zeros((len(states), self.n_sites, self.n_colors))
        for each in self.interactions:
            for t, (sites, strength) in enumerate(zip(each.sites, each.strengths, strict=True)):
                W = tensor_of(each, t)
                for place, site in enumerate(sites):
                    others = np.delete(sites, place)
                    own = np.moveaxis(W, place, -1)
                    z[:, site] += strength * own[tuple(states[:, other] for other in others)]
        return z

    def _interaction_score(self, states: States) -> Array:
        total = np.zeros(len(states))
        for each in self.interactions:
            for t, (sites, strength) in enumerate(zip(each.sites, each.strengths, strict=True)):
                total += strength * tensor_of(each, t)[tuple(states[:, site] for site in sites)]
        return total


def tensor_of(interaction: Interaction | GroupInteraction, group: int) -> Array:
    """Return the tensor of colors W, with an axis for each site, of one group of sites."""
    shared = isinstance(interaction, Interaction)
    return np.asarray(interaction.colors if shared else interaction.colors[group])


def _groups(sites: Any, in_order: bool = True) -> NDArray[np.int64]:
    """Return checked groups; their sites in ascending order, or as they are given unless `in_order`."""
    groups = checks.integer_array("sites", sites)
    if groups.ndim != 2 or groups.size == 0 or groups.shape[1] < 2:
        raise ValueError(
            f"sites must be integers of shape (groups, bodies), two bodies or more, got {groups.shape} {groups.dtype}"
        )
    if groups.min() < 0:
        raise ValueError(f"sites must be >= 0, got {groups.min()}")
    ordered = np.sort(groups, axis=1)
    if np.any(ordered[:, 1:] == ordered[:, :-1]):
        where = int(np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))[0])
        raise ValueError(f"sites must be distinct within a group, got {groups[where].tolist()} at {where}")
    made = (ordered if in_order else groups).astype(np.int64)
    made.setflags(write=False)
    return made


def _symmetric_tensor(colors: Any, order: int) -> Array:
    tensor = checks.finite_array("colors", colors, order)
    if len(set(tensor.shape)) > 1:
        raise ValueError(f"colors must have {order} axes of the same length, got shape {tensor.shape}")
    # Exchanges of neighboring axes generate all permutations.
    gap = max(float(abs(tensor - tensor.swapaxes(axis, axis + 1)).max()) for axis in range(order - 1))
    if gap > SYMMETRY * abs(tensor).max():
        raise ValueError(f"colors must be symmetric under permutations of its axes, got a difference of {gap}")
    return tensor
