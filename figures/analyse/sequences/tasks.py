"""Runs the fits, each as a task of its own: one for each training size, and one of all sequences for the map."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.analyse.sequences.independent_sites import (
    color_frequencies,
    effective_field_penalties,
    penalized_log_frequencies,
    varying_sites,
)
from figures.analyse.sequences.residuals import SHORT_SITES, SIGNS, residual_dependence, signed_dependences
from figures.analyse.sequences.scores import average_product_corrected, interaction_scores, strongest_colors
from figures.analyse.sequences.whole_fit import keep_fit
from simulate.core import Estimate, stream
from simulate.potts import pseudo_likelihood, sequence_weights
from simulate.potts.inference.sequence_losses import sequence_losses
from theory.core.arrays import Array

States = NDArray[np.uint8]


@dataclass(frozen=True)
class Settings:
    """What all fits of an analysis have in common."""

    n_colors: int
    identity: float | None  # None: every sequence counts as one
    l2: float  # of |J_ij|^2, each pair once, for the log-likelihood summed over the effective number of sequences
    field_l2: float  # of |h|^2
    max_iter: int
    tol: float
    n_threads: int = 1  # of one fit; no number depends on it

    def weights(self, states: States) -> Array:
        """Return the weights (M,) of these sequences among themselves."""
        return np.ones(len(states)) if self.identity is None else sequence_weights(states, self.identity)


def pair_fit(states: States, weights: Array, settings: Settings):  # type: ignore[no-untyped-def]
    """Fit the pair model of these sequences, converged or not."""
    effective_number = weights.sum()
    return pseudo_likelihood(
        states,
        settings.n_colors,
        l2=settings.l2 / effective_number,
        field_l2=settings.field_l2 / effective_number,
        weights=weights,
        max_iter=settings.max_iter,
        tol=settings.tol,
        n_threads=settings.n_threads,
        gauge="none",  # neither conditional probabilities nor scores depend on it
        check=False,
    )


def learning_task(
    training: States, held_out: States, weights: Array, clusters: NDArray[np.int64], settings: Settings
) -> Array:
    """Return mean, standard error and number of clusters of three quantities, and whether the fit converged, (10,).

    They are the held-out losses of the pair model and of sites alone, and their difference, sequence by sequence. Sites
    that are constant in `training` are in no pair: both models predict them alone.

    `weights` and `clusters` are those of the held-out sequences.
    """
    own = settings.weights(training)
    varying = varying_sites(training)
    alone = _losses_alone(training, own, varying, held_out, settings)
    gains, converged = np.zeros(len(held_out)), True
    if varying.sum() > 1:
        fit = pair_fit(np.ascontiguousarray(training[:, varying]), own, settings)
        pair = sequence_losses(fit.model, held_out[:, varying])
        gains, converged = (alone[:, varying].mean(axis=1) - pair) * varying.mean(), fit.converged
    losses = alone.mean(axis=1)
    found = [clustered_mean(values, weights, clusters) for values in (losses - gains, losses, gains)]
    return np.array([*(number for each in found for number in (each.mean, each.stderr, each.n)), converged], float)


def _losses_alone(
    training: States, own: Array, varying: NDArray[np.bool_], held_out: States, settings: Settings
) -> Array:
    """Return -log p_i(s_i) of the held-out sequences, (M, L).

    p_i is estimated from the column, and shrunk as it is in the pair model.
    """
    frequencies = color_frequencies(training, own, settings.n_colors)
    penalties = effective_field_penalties(frequencies, varying, settings.l2, settings.field_l2) / own.sum()
    logs = penalized_log_frequencies(frequencies, penalties)
    return np.asarray(-logs[np.arange(len(logs)), held_out])


def as_estimates(values: Array) -> tuple[Estimate, Estimate, Estimate]:
    """Return the loss of the pair model, that of sites alone, and what pairs gain, from a `learning_task`."""
    pair, alone, gain = (Estimate(mean, stderr, int(n)) for mean, stderr, n in values[:9].reshape(3, 3).tolist())
    return pair, alone, gain


def map_task(
    states: States, weights: Array, gap: int | None, settings: Settings, seed: int = 0, keep: Path | None = None
) -> Array:
    """Return scores, norms, two favorable colors, dependence, that by chance, and convergence, (7, L, L) or more.

    The scores have the average-product correction, and the two colors are those that favor each other most. For short
    sequences the dependence is that of `residual_dependence`. That by chance is the largest of `signed_dependences`,
    which draw with this `seed` and are SIGNS further matrices before the last one; otherwise both are 0. Sites that are
    constant are in no pair: zeros. Whether the fit converged is the last matrix, the same everywhere. The fit itself is
    written into the file `keep` where one is given.
    """
    L, varying = states.shape[1], np.flatnonzero(varying_sites(states))
    found = np.zeros((7 if L > SHORT_SITES else 7 + SIGNS, L, L))
    found[-1] = 1.0
    if len(varying) > 1:
        own = np.ascontiguousarray(states[:, varying])
        fit = pair_fit(own, weights, settings)
        if keep is not None:
            keep_fit(keep, fit)
        norms = interaction_scores(fit.couplings, gap=gap)
        found[:6, varying[:, None], varying] = [
            average_product_corrected(norms),
            norms,
            *strongest_colors(fit.couplings, gap=gap).transpose(2, 0, 1),
            _dependence(fit, own, weights, gap, L),
            np.zeros_like(norms),
        ]
        if L <= SHORT_SITES:
            rng = stream(seed, "signs of products")
            trials = signed_dependences(fit.couplings, fit.fields, own, weights, gap, rng)
            found[5:-1, varying[:, None], varying] = [trials.max(axis=0), *trials]
        found[-1] = fit.converged
    return found


def pair_scores(states: States, weights: Array, gap: int | None, settings: Settings) -> tuple[Array, Array, bool]:
    """Return corrected scores and dependence (L, L), as `map_task` does, and whether the fit converged."""
    L, varying = states.shape[1], np.flatnonzero(varying_sites(states))
    found = np.zeros((2, L, L))
    if len(varying) < 2:
        return found[0], found[1], True
    own = np.ascontiguousarray(states[:, varying])
    fit = pair_fit(own, weights, settings)
    found[:, varying[:, None], varying] = [
        average_product_corrected(interaction_scores(fit.couplings, gap=gap)),
        _dependence(fit, own, weights, gap, L),
    ]
    return found[0], found[1], fit.converged


def _dependence(fit: Any, states: States, weights: Array, gap: int | None, n_sites: int) -> Array:
    if n_sites > SHORT_SITES:
        return np.zeros((states.shape[1],) * 2)
    return residual_dependence(fit.couplings, fit.fields, states, weights, gap)


def clustered_mean(values: Array, weights: Array, clusters: NDArray[np.int64]) -> Estimate:
    """Return the weighted mean of values (M,) with a standard error for errors that are independent between clusters.

    `n` is the number of clusters.
    """
    total = weights.sum()
    mean = float(weights @ values / total)
    _, labels = np.unique(clusters, return_inverse=True)
    residuals = np.bincount(labels, weights * (values - mean))
    n = len(residuals)
    return Estimate(mean, float(np.sqrt((residuals**2).sum() * n / (n - 1)) / total), n)
