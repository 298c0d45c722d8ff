"""Every state of a small system with its exact probability."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from theory.models import Potts, checks
from theory.models.arrays import Array

MAX_STATES = 2**20


@dataclass(frozen=True, eq=False)
class Enumeration:
    """All N = C^L states in lexicographic order, site 0 slowest: `states` (N, L), `scores` S (N,).

    `log_probabilities` and `probabilities` (N,); `log_partition_function` = log sum_s exp(beta S(s)).
    """

    model: Potts
    states: NDArray[np.integer[Any]] = field(repr=False)
    scores: Array = field(repr=False)
    log_probabilities: Array = field(repr=False)
    log_partition_function: float

    @cached_property
    def probabilities(self) -> Array:
        """P(s), (N,)."""
        return np.asarray(np.exp(self.log_probabilities))

    @property
    def joint(self) -> Array:
        """P(s) with an axis for every site, (C,) * L."""
        return self.probabilities.reshape((self.model.n_colors,) * self.model.n_sites)

    @property
    def mean_score(self) -> float:
        """<S>, minus the mean energy."""
        return float(self.probabilities @ self.scores)

    @property
    def score_variance(self) -> float:
        """<S^2> - <S>^2 = d^2 log Z / d beta^2: the heat capacity over beta^2."""
        return float(self.probabilities @ (self.scores - self.mean_score) ** 2)

    @property
    def entropy(self) -> float:
        """-sum_s P log P in nats."""
        possible = self.probabilities > 0
        return float(-(self.probabilities[possible] @ self.log_probabilities[possible]))

    def mean(self, observable: Any) -> Any:
        """The mean of an observable given at every state, (N, ...) -> (...)."""
        values = np.asarray(observable)
        if values.shape[:1] != (len(self.states),):
            raise ValueError(f"observable must have a value for each of {len(self.states)} states, got {values.shape}")
        return np.tensordot(self.probabilities, values, axes=(0, 0))

    def marginals(self, sites: int | Sequence[int]) -> Array:
        """P of the colors of k distinct sites, axes in their order, (C,) * k; one site as a number: (C,)."""
        chosen = np.atleast_1d(np.asarray(sites))
        n_sites, n_colors = self.model.n_sites, self.model.n_colors
        if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or len(set(chosen.tolist())) < chosen.size:
            raise ValueError(f"sites must be distinct integers, got {sites!r}")
        if chosen.size == 0 or chosen.min() < 0 or chosen.max() >= n_sites:
            raise ValueError(f"sites must be one or more of 0 to {n_sites - 1}, got {sites!r}")
        index = np.zeros(len(self.states), dtype=np.int64)
        for site in chosen:
            index = n_colors * index + self.states[:, site]
        counted = np.bincount(index, weights=self.probabilities, minlength=n_colors**chosen.size)
        return np.asarray(counted, dtype=float).reshape((n_colors,) * chosen.size)

    @cached_property
    def covariance(self) -> Array:
        """Cov(x_ia, x_jb) of the one-hot variables, (L C, L C), index i C + a; singular, as colors sum to one."""
        n_sites, n_colors = self.model.n_sites, self.model.n_colors
        mean = np.concatenate([self.marginals(i) for i in range(n_sites)])
        second = np.diag(mean).reshape(n_sites, n_colors, n_sites, n_colors)
        for i in range(n_sites):
            for j in range(i):
                second[i, :, j] = self.marginals((i, j))
                second[j, :, i] = second[i, :, j].T
        return np.asarray(second.reshape(mean.size, mean.size) - np.outer(mean, mean))


def enumerate_states(model: Potts, max_states: int = MAX_STATES) -> Enumeration:
    """All states of `model` and their probabilities; ValueError, before any work, if they exceed `max_states`."""
    checks.record("model", model, Potts)
    most = int(checks.dimension(max_states, name="max_states"))
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
    """`model` itself if it is an enumeration already, else its enumeration."""
    return model if isinstance(model, Enumeration) else enumerate_states(model)


def _rounded(count: int) -> str:
    """A large integer as one reads it; it may exceed the largest float."""
    return str(count) if count < 10**9 else f"10^{math.log10(count):.1f}"
