"""What is watched of a chain: the score, random projections, and in color-symmetric models the order of the colors."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from theory.models import DensePottsModel, Potts, PottsModel, SquareLatticePotts
from theory.models.arrays import Array

States = NDArray[np.integer[Any]]

PROJECTIONS = 2  # one alone may happen to be blind to the slowest change
FALSE_ALARM = 1e-6  # of the test of color symmetry, over all sites and colors


class Observables:
    """Functions of states (n_chains, L), each (n_chains,).

    Score and share of the commonest color do not see a chain that is stuck in one of several equivalent ordered states;
    the projections sum_i g_i[s_i], with fixed standard normal g, and the mean color (1/L) sum_i s_i do.
    """

    def __init__(self, model: Potts, rng: np.random.Generator) -> None:
        self.symmetric = is_color_symmetric(model)
        self.n_colors = model.n_colors
        self._weights = rng.standard_normal((model.n_sites, model.n_colors, PROJECTIONS))
        self._sites = np.arange(model.n_sites)

    @property
    def names(self) -> Sequence[str]:
        """In the order of `values`."""
        order = ("commonest color", "mean color") if self.symmetric else ()
        return ("score", *(f"projection {k + 1}" for k in range(PROJECTIONS)), *order)

    def values(self, states: States, scores: Array) -> Array:
        """(observables, n_chains)."""
        projections = self._weights[self._sites, states].sum(axis=1).T
        order = (largest_share(states, self.n_colors), states.mean(axis=1)) if self.symmetric else ()
        return np.stack([scores, *projections, *order])


def largest_share(states: States, n_colors: int) -> Array:
    """max_a x_a, the share of the sites that have the commonest color, (n_chains,)."""
    counts = [(states == color).sum(axis=1) for color in range(n_colors)]
    return np.asarray(np.max(counts, axis=0) / states.shape[1])


def is_color_symmetric(model: Potts) -> bool:
    """Whether all permutations of the colors leave the model as it is; models of many bodies count as not symmetric."""
    if isinstance(model, SquareLatticePotts):
        return True
    if np.ptp(model.fields, axis=1).any():
        return False
    if isinstance(model, PottsModel):
        return _is_symmetric(model.color_couplings)
    return isinstance(model, DensePottsModel) and all(_is_symmetric(blocks) for blocks in model.couplings)


def color_symmetry(states: States, n_colors: int, effective_size: float) -> str:
    """Why <x_ia> is not 1/C within errors, of `effective_size` independent states of a color-symmetric model; or ''.

    Counts of a color are binomial: exact tails, and the union bound over all of them, since the counts are too small
    for a normal law where colors are many.
    """
    shares = np.stack([(states == color).mean(axis=0) for color in range(n_colors)], axis=1)
    tails = _binomial_tails(shares, max(effective_size, 1.0), 1 / n_colors)
    site, color = (int(k) for k in np.unravel_index(tails.argmin(), tails.shape))
    bound = 2 * tails.size * tails[site, color]
    if bound >= FALSE_ALARM:
        return ""
    return (
        f"color symmetry: color {color} has a share of {shares[site, color]:.4g} at site {site}, not 1/{n_colors} "
        f"(by chance in less than {bound:.1g} of all cases)"
    )


def _binomial_tails(shares: Array, size: float, chance: float) -> Array:
    """The smaller of P(X <= k) and P(X >= k), X binomial and k = shares * size, which need not be integers."""
    k = shares * size
    above = np.where(k > 0, betainc(np.maximum(k, 1e-300), size - k + 1, chance), 1.0)
    below = np.where(k < size, betainc(np.maximum(size - k, 1e-300), k + 1, 1 - chance), 1.0)
    return np.asarray(np.minimum(above, below))


def _is_symmetric(blocks: Array) -> bool:
    """Of blocks (..., C, C): one number on every diagonal, one off it."""
    diagonal = np.eye(blocks.shape[-1], dtype=bool)
    return all(not np.ptp(blocks[..., mask], axis=-1).any() for mask in (diagonal, ~diagonal) if mask.any())
