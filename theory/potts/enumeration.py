"""Every state of a small system with its exact probability."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from theory.core import Array, Count, Result, checked, checks
from theory.models import Potts

MAX_STATES = 2**20


@dataclass(frozen=True, eq=False, repr=False)
class Enumeration(Result):
    """All N = C^L states of a small model with their exact probabilities.

    `states` (N, L) are in lexicographic order, the color of site 0 changing slowest; `scores` (N,) are their S(s) and
    `log_probabilities` (N,) the natural logarithms of P(s) = exp(beta S(s))/Z. `log_partition_function` is log Z.
    """

    model: Potts
    states: NDArray[np.integer[Any]] = field(repr=False)
    scores: Array = field(repr=False)
    log_probabilities: Array = field(repr=False)
    log_partition_function: float

    @cached_property
    def probabilities(self) -> Array:
        """Probabilities P(s) of the states, (N,)."""
        return np.asarray(np.exp(self.log_probabilities))

    @property
    def joint(self) -> Array:
        """Probabilities P(s) as an array with an axis of length C for every site, (C,) * L."""
        return self.probabilities.reshape((self.model.n_colors,) * self.model.n_sites)

    @property
    def mean_score(self) -> float:
        """The mean score <S>, which is minus the mean energy."""
        return float(self.probabilities @ self.scores)

    @property
    def score_variance(self) -> float:
        """The variance <S^2> - <S>^2 = d^2 log Z / d beta^2; beta^2 times it is the heat capacity."""
        return float(self.probabilities @ (self.scores - self.mean_score) ** 2)

    @property
    def entropy(self) -> float:
        """The entropy -sum_s P(s) log P(s) in nats."""
        possible = self.probabilities > 0
        return float(-(self.probabilities[possible] @ self.log_probabilities[possible]))

    def mean(self, observable: Any) -> Any:
        """Average an observable, given by its values at all states: an array (N, ...) becomes (...)."""
        values = checks.real_array("observable", observable)
        if values.shape[:1] != (len(self.states),):
            raise ValueError(f"observable must have a value for each of {len(self.states)} states, got {values.shape}")
        return np.tensordot(self.probabilities, values, axes=(0, 0))

    def marginals(self, sites: int | Sequence[int]) -> Array:
        """Return the joint probabilities of the colors of k distinct `sites`, (C,) * k with axes in their order.

        A single site may be given as a number. ValueError for sites that are not there or occur twice.
        """
        chosen = np.atleast_1d(checks.integer_array("sites", sites))
        n_sites, n_colors = self.model.n_sites, self.model.n_colors
        if chosen.ndim != 1 or len(set(chosen.tolist())) < chosen.size:
            raise ValueError(f"sites must be distinct integers, got {checks.shown(sites)}")
        if chosen.size == 0 or chosen.min() < 0 or chosen.max() >= n_sites:
            raise ValueError(f"sites must be one or more of 0 to {n_sites - 1}, got {checks.shown(sites)}")
        index = np.zeros(len(self.states), dtype=np.int64)
        for site in chosen:
            index = n_colors * index + self.states[:, site]
        counted = np.bincount(index, weights=self.probabilities, minlength=n_colors**chosen.size)
        return np.asarray(counted, dtype=float).reshape((n_colors,) * chosen.size)

    @cached_property
    def covariance(self) -> Array:
        """The covariance of the one-hot variables x_ia = [s_i = a], (L C, L C), with the index i C + a.

        It is singular, because the one-hot variables of a site sum to one.
        """
        n_sites, n_colors = self.model.n_sites, self.model.n_colors
        mean = np.concatenate([self.marginals(i) for i in range(n_sites)])
        second = np.diag(mean).reshape(n_sites, n_colors, n_sites, n_colors)
        for i in range(n_sites):
            for j in range(i):
                second[i, :, j] = self.marginals((i, j))
                second[j, :, i] = second[i, :, j].T
        return np.asarray(second.reshape(mean.size, mean.size) - np.outer(mean, mean))


@checked
def enumerate_states(model: Potts, max_states: Count = MAX_STATES) -> Enumeration:
    """List all states of a small model and compute their exact probabilities.

    Source: the definition of the model, P(s) = exp(beta S)/Z, summed term by term. ValueError, before any work is done,
    where the C^L states are more than `max_states`.

    >>> from theory.models import PottsModel
    >>> pair = PottsModel(site_couplings=[[0, 1], [1, 0]], color_couplings=[[1, 0], [0, 1]], beta=1.0)
    >>> states = enumerate_states(pair)
    >>> states.states.tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> round(states.log_partition_function, 6)  # log(2 e + 2)
    2.006409
    >>> states.marginals(0).round(6).tolist()
    [0.5, 0.5]
    """
    most = max_states
    count = model.n_colors**model.n_sites
    if count > most:
        raise ValueError(
            f"model has {model.n_colors}^{model.n_sites} = {_rounded(count)} states, more than max_states = {most}; "
            "averages of a system of this size are estimated from samples (simulate.potts.sample)"
        )
    smallest = np.min_scalar_type(model.n_colors - 1)
    places = np.unravel_index(np.arange(count), (model.n_colors,) * model.n_sites) if model.n_colors > 1 else ()
    states = np.stack(places, axis=1).astype(smallest) if places else np.zeros((1, model.n_sites), smallest)
    scores = model.score(states)
    log_weights = model.beta * scores
    log_partition_function = float(logsumexp(log_weights))
    return Enumeration(model, states, scores, log_weights - log_partition_function, log_partition_function)


def enumeration_of(model: Potts | Enumeration) -> Enumeration:
    """Return `model` itself if it is an enumeration already, and else its enumeration."""
    return model if isinstance(model, Enumeration) else enumerate_states(model)


def _rounded(count: int) -> str:
    """Write a large integer as a power of ten; it may exceed the largest float."""
    return str(count) if count < 10**9 else f"10^{math.log10(count):.1f}"
