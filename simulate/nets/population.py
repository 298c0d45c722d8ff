"""Masked contexts with their weights and targets: the exact population of a small model, or the counts of samples."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from theory.core import Array, Count, Matrix, Vector, checked, checked_fields, checks
from theory.core.read_only import KeepsReadOnly
from theory.models import FactoredStack, Potts, VanillaEncoder
from theory.models.covariance import set_checked
from theory.models.potts.batches import checked_samples, normalized_weights

MAX_STATES = 2**20
NORMALIZED = 1e-9  # how far sums of probabilities may be from one


@dataclass(frozen=True, eq=False, repr=False)
class MaskedContexts(KeepsReadOnly):
    """R contexts in which one site is hidden, and the law of its color: all that a masked loss depends on.

    Row r hides site `sites[r]` of the state `states[r]` (states (R, L), whose own color at that site says nothing);
    `targets[r]` (R, C) are the probabilities of the colors there and `weights` (R,), which sum to one, say how much the
    row counts. The masked loss of predictions p is -sum_r weights_r sum_a targets_ra log p_ra, a mean over sites in
    nats. ValueError for shapes that do not fit, colors and sites that are not there, and sums that are not one.
    """

    states: Any = field(repr=False)
    sites: Any = field(repr=False)
    weights: Vector = field(repr=False)
    targets: Matrix = field(repr=False)

    def __post_init__(self) -> None:
        checked_fields(self)
        targets, weights = self.targets, self.weights
        states = np.array(checked_samples("states", self.states, np.iinfo(np.int64).max))
        if states.max() >= targets.shape[1]:
            raise ValueError(
                f"states must be colors below {targets.shape[1]}, the number of columns of targets, got {states.max()}"
            )
        sites = np.array(checks.integer_array("sites", self.sites))
        rows = (len(states),)
        for name, found in (("sites", sites.shape), ("weights", weights.shape), ("targets", targets.shape[:1])):
            if found != rows:
                raise ValueError(f"{name} must have one row for each of {rows[0]} states, got shape {found}")
        if sites.min() < 0 or sites.max() >= states.shape[1]:
            raise ValueError(f"sites must be from 0 to {states.shape[1] - 1}, got {sites.min()} to {sites.max()}")
        for name, total in (("weights", weights.sum()), ("targets", targets.sum(axis=1))):
            if np.any(abs(total - 1) > NORMALIZED):
                raise ValueError(f"{name} must sum to one, got {checks.shown(total)}")
        for name, values in (("weights", weights), ("targets", targets)):
            if values.min() < 0:
                raise ValueError(f"{name} must be >= 0, got {values.min()}")
        states.setflags(write=False)
        sites.setflags(write=False)
        set_checked(self, states=states, sites=sites)

    def __repr__(self) -> str:
        return f"MaskedContexts({len(self.states)} contexts, n_sites={self.n_sites}, n_colors={self.n_colors})"

    @property
    def n_sites(self) -> int:
        """The number L of sites."""
        return int(self.states.shape[1])

    @property
    def n_colors(self) -> int:
        """The number C of colors."""
        return int(self.targets.shape[1])

    @property
    def floor(self) -> float:
        """The mean entropy of the targets in nats, below which no predictions can push the masked loss."""
        return float(-self.weights @ xlogy(self.targets, self.targets).sum(axis=1))


def require_fit(network: FactoredStack | VanillaEncoder, contexts: MaskedContexts, name: str = "contexts") -> None:
    """Raise ValueError for contexts of other sites or colors than the network, a stack or an encoder, has."""
    if (contexts.n_sites, contexts.n_colors) != (network.n_sites, network.n_colors):
        given = "stack" if isinstance(network, FactoredStack) else "settings"
        raise ValueError(
            f"{name} must have {network.n_sites} sites and {network.n_colors} colors as {given} has, got "
            f"{contexts.n_sites} and {contexts.n_colors}"
        )


@checked
def enumerated_contexts(model: Potts, max_states: Count = MAX_STATES) -> MaskedContexts:
    """List all L C^(L-1) masked contexts of a small Potts model, with their exact weights and conditional laws.

    A network trained on them follows the gradient of the population: there is no sampling noise. ValueError, before any
    work is done, where the C^L states are more than `max_states`.

    >>> from theory.models import PottsModel
    >>> pair = PottsModel(site_couplings=[[0, 1], [1, 0]], color_couplings=[[1, 0], [0, 1]], beta=1.0)
    >>> contexts = enumerated_contexts(pair)
    >>> contexts
    MaskedContexts(4 contexts, n_sites=2, n_colors=2)
    >>> contexts.targets[0].round(4).tolist()  # e/(e + 1) for the color of the neighbor
    [0.7311, 0.2689]
    """
    L, C = model.n_sites, model.n_colors
    if max_states < C**L:
        raise ValueError(
            f"model must have at most max_states = {max_states} states to be enumerated, got {C}^{L}; "
            "contexts of a larger one come from samples (sampled_contexts)"
        )
    states = np.indices((C,) * L).reshape(L, -1).T
    log_weights = model.beta * model.score(states)
    weights = np.exp(log_weights - log_weights.max())
    return _contexts(states, C, weights / weights.sum())


@checked
def sampled_contexts(states: NDArray[np.integer[Any]], n_colors: Count, weights: Array | None = None) -> MaskedContexts:
    """Count the masked contexts of samples `states` (M, L): each site of each sample is hidden in turn.

    Equal contexts become one row, with the observed frequencies of the hidden color as its targets, so that a gradient
    costs no more with many samples of a small system than with few. `weights` (M,) of the samples are equal where None.
    ValueError for states that are not colors from 0 to n_colors - 1.

    >>> sampled_contexts([[0, 0], [0, 1], [1, 1]], 2).targets.round(3).tolist()
    [[1.0, 0.0], [0.5, 0.5], [0.5, 0.5], [0.0, 1.0]]
    """
    checks.fits_in_memory(f"contexts with {n_colors} colors each", 2.0 * states.size * n_colors)
    samples: NDArray[np.int64] = checked_samples("states", states, n_colors).astype(np.int64)
    return _contexts(samples, n_colors, normalized_weights(weights, len(samples)))


def _contexts(states: NDArray[np.int64], n_colors: int, probabilities: Array) -> MaskedContexts:
    """Hide every site of every one of `states` (M, L) with `probabilities` (M,); equal contexts become one row."""
    contexts, sites, joint = [], [], []
    # Rows are compared as bytes, of which the highest one of a number comes first, so that they are ordered as numbers.
    digits = states.astype(np.min_scalar_type(n_colors - 1).newbyteorder(">"))
    for site in range(states.shape[1]):
        hidden, hidden_digits = states.copy(), digits.copy()
        hidden[:, site], hidden_digits[:, site] = 0, 0
        keys = hidden_digits.view(f"V{hidden_digits.strides[0]}").reshape(-1)
        _, first, row = np.unique(keys, return_index=True, return_inverse=True)
        each = hidden[first]
        counts = np.zeros((len(each), n_colors))
        np.add.at(counts, (row.reshape(-1), states[:, site]), probabilities)
        possible = counts.sum(axis=1) > 0  # probabilities may underflow to zero
        contexts.append(each[possible])
        sites.append(np.full(int(possible.sum()), site))
        joint.append(counts[possible])
    rows = np.concatenate(joint)
    weights = rows.sum(axis=1)
    return MaskedContexts(
        np.concatenate(contexts), np.concatenate(sites), weights / weights.sum(), rows / weights[:, None]
    )
