"""Defines the observables of a chain: score, projections, order of pairs and of colors, single slow sites."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from simulate.potts.kernels.records import project
from theory.core.arrays import Array
from theory.models import DensePottsModel, Potts, PottsModel, SquareLatticePotts

States = NDArray[np.integer[Any]]

N_PROJECTIONS = 2  # a single projection may happen to be blind to the slowest change
N_REFERENCES = 2  # states whose overlaps with the others are watched
FALSE_ALARM_RATE = 1e-6  # probability of a false alarm of the test of color symmetry, over all sites and colors


class Observables:
    """Functions of states (n_chains, L), each (n_chains,), which `values` stacks in the order of `names`.

    - The score S.
    - Two random projections sum_i g_i[s_i], with fixed standard normal g. Unlike the score they differ between ordered
      states that are equivalent, as long as those differ in the color frequencies of an extensive number of sites.
    - In color-symmetric models the share of the commonest color, and the mean color (1/L) sum_i s_i.
    - From the first `begin` on, "pair order": quadratic forms that see order of pairs of sites where all sites keep
      their color frequencies. A form with random coefficients would drown the order of L pairs in the noise of L^2
      pairs. Therefore its coefficients come from a state r that a chain has reached: with y = sum_i (1[s_i = r_i] -
      its mean), the form y^2/L has the mean 1 + (the products of correlations <s_i s_j> with those of r), which is
      of order one and differs between phases by as much as their pair correlations do.
    - Single sites that were put on the list by `watch`: whether site i has color a.
    """

    def __init__(self, model: Potts, rng: np.random.Generator) -> None:
        self.symmetric = is_color_symmetric(model)
        self.n_colors = model.n_colors
        self.watched: tuple[tuple[int, int], ...] = ()  # (site, color)
        self._random = rng.standard_normal((model.n_sites, model.n_colors, N_PROJECTIONS))
        self._weights = self._random  # (L, C, projections), then those of the references

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the observables, in the order of `values`."""
        order = ("commonest color", "mean color") if self.symmetric else ()
        pairs = (f"pair order {k + 1}" for k in range(self._weights.shape[2] - N_PROJECTIONS))
        sites = (f"site {site} has color {color}" for site, color in self.watched)
        return ("score", *(f"projection {k + 1}" for k in range(N_PROJECTIONS)), *pairs, *order, *sites)

    def begin(self, states: States) -> None:
        """Take the first of these states (n_chains, L) as references of the pair order."""
        shares = np.stack([(states == color).mean(axis=0) for color in range(self.n_colors)], axis=1)  # (L, C)
        same = np.stack([state[:, None] == np.arange(self.n_colors) for state in states[:N_REFERENCES]], axis=2)
        centered = same - shares[:, :, None]
        # The weights of a site have the mean zero under its present frequencies, so that y sees order and not
        # frequencies.
        centered -= np.einsum("ia,iak->ik", shares, centered)[:, None, :]
        self._weights = np.concatenate([self._random, centered], axis=2)

    def watch(self, sites: Sequence[tuple[int, int]]) -> None:
        """Add pairs (site, color) to the observables, each once."""
        self.watched += tuple(pair for pair in sites if pair not in self.watched)

    def values(self, states: States, scores: Array) -> Array:
        """Return all observables, (observables, n_chains), at `states` (n_chains, L) with these scores."""
        n_chains, n_sites = states.shape
        projections = np.zeros((n_chains, self._weights.shape[2]))
        histogram = np.zeros((n_chains, self.n_colors), dtype=np.int64)
        project(states, self._weights, projections, histogram)
        made = [scores, *projections.T[:N_PROJECTIONS], *projections.T[N_PROJECTIONS:] ** 2 / n_sites]
        if self.symmetric:
            made += [histogram.max(axis=1) / n_sites, histogram @ np.arange(self.n_colors) / n_sites]
        return np.stack([*made, *((states[:, site] == color).astype(float) for site, color in self.watched)])

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Return what is given neither by the model nor by the generator."""
        watched = np.array(self.watched, dtype=np.int64).reshape(-1, 2)
        return {"references": self._weights[:, :, N_PROJECTIONS:].copy(), "watched": watched}

    def restore(self, snapshot: Mapping[str, NDArray[Any]]) -> None:
        """Go back to the moment of `snapshot`."""
        self._weights = np.concatenate([self._random, snapshot["references"]], axis=2)
        self.watched = tuple((int(site), int(color)) for site, color in snapshot["watched"])


def largest_share(states: States, n_colors: int) -> Array:
    """Compute the share of the sites that have the commonest color, (n_chains,), of states (n_chains, L)."""
    counts = [(states == color).sum(axis=1) for color in range(n_colors)]
    return np.asarray(np.max(counts, axis=0) / states.shape[1])


def is_color_symmetric(model: Potts) -> bool:
    """Tell whether all permutations of the colors leave the model as it is; models of many bodies count as not."""
    if isinstance(model, SquareLatticePotts):
        return True
    if np.ptp(model.fields, axis=1).any():
        return False
    if isinstance(model, PottsModel):
        return _is_symmetric(model.color_couplings)
    return isinstance(model, DensePottsModel) and all(_is_symmetric(blocks) for blocks in model.couplings)


def color_symmetry(states: States, n_colors: int, effective_size: float) -> str:
    """Say why the states are no draws from a color-symmetric model, in which every color has the share 1/C; or ''.

    Among `effective_size` independent states the count of a color at a site is binomial. Its exact tails are used, with
    the union bound over all sites and colors, because where colors are many the counts are too small for a normal law.
    """
    shares = np.stack([(states == color).mean(axis=0) for color in range(n_colors)], axis=1)
    tails = _binomial_tails(shares, max(effective_size, 1.0), 1 / n_colors)
    site, color = (int(k) for k in np.unravel_index(tails.argmin(), tails.shape))
    bound = 2 * tails.size * tails[site, color]
    if bound >= FALSE_ALARM_RATE:
        return ""
    return (
        f"color symmetry: color {color} has a share of {shares[site, color]:.4g} at site {site}, not 1/{n_colors} "
        f"(by chance in less than {bound:.1g} of all cases)"
    )


def _binomial_tails(shares: Array, size: float, chance: float) -> Array:
    """Return the smaller of P(X <= k) and P(X >= k) for binomial X and k = shares * size, also if no integer."""
    k = shares * size
    # The incomplete beta function is a binomial tail, and takes numbers k that are no integers.
    above = np.where(k > 0, betainc(np.maximum(k, 1e-300), size - k + 1, chance), 1.0)
    below = np.where(k < size, betainc(np.maximum(size - k, 1e-300), k + 1, 1 - chance), 1.0)
    return np.asarray(np.minimum(above, below))


def _is_symmetric(blocks: Array) -> bool:
    """Say whether each of the blocks (..., C, C) has one number on its diagonal and one off it."""
    diagonal = np.eye(blocks.shape[-1], dtype=bool)
    return all(not np.ptp(blocks[..., mask], axis=-1).any() for mask in (diagonal, ~diagonal) if mask.any())
