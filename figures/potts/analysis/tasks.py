"""The fits, each a task of its own: one for each training size, and one of all sequences for the map."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from figures.potts.analysis.held_out import clustered_mean, sequence_losses
from figures.potts.analysis.scores import average_product_corrected, interaction_scores, strongest_colors
from simulate.core import Estimate
from simulate.potts import pseudo_likelihood, sequence_weights, site_independent

Array = NDArray[np.float64]
States = NDArray[np.uint8]

PSEUDOCOUNT = 0.5  # of every color at every site, where sites stand alone, for the effective number of sequences


@dataclass(frozen=True)
class Settings:
    """How every fit is done."""

    n_colors: int
    identity: float | None  # None: every sequence counts as one
    l2: float  # of |J_ij|^2, each pair once, for the log-likelihood summed over the effective number of sequences
    field_l2: float  # of |h|^2
    max_iter: int
    tol: float

    def weights(self, states: States) -> Array:
        """(M,) of the sequences by themselves."""
        return np.ones(len(states)) if self.identity is None else sequence_weights(states, self.identity)


def pair_fit(states: States, weights: Array, settings: Settings):  # type: ignore[no-untyped-def]
    """The pair model of these sequences, converged or not."""
    effective_number = weights.sum()
    return pseudo_likelihood(
        states,
        settings.n_colors,
        l2=settings.l2 / effective_number,
        field_l2=settings.field_l2 / effective_number,
        weights=weights,
        max_iter=settings.max_iter,
        tol=settings.tol,
        check=False,
    )


def learning_task(
    training: States, held_out: States, weights: Array, clusters: NDArray[np.int64], settings: Settings
) -> Array:
    """(10,): mean, standard error and number of clusters of three quantities, and whether the fit converged.

    They are the held-out losses of the pair model and of sites alone, and their difference, sequence by sequence.

    `weights` and `clusters` are those of the held-out sequences.
    """
    own = settings.weights(training)
    fit = pair_fit(training, own, settings)
    alone = site_independent(training, settings.n_colors, PSEUDOCOUNT * len(own) / own.sum(), weights=own)
    losses = [sequence_losses(model, held_out) for model in (fit.model, alone)]
    found = [clustered_mean(values, weights, clusters) for values in (*losses, losses[1] - losses[0])]
    return np.array([*(number for each in found for number in (each.mean, each.stderr, each.n)), fit.converged], float)


def as_estimates(values: Array) -> tuple[Estimate, Estimate, Estimate]:
    """Loss of the pair model, loss of sites alone and what pairs gain, from a `learning_task`."""
    pair, alone, gain = (Estimate(mean, stderr, int(n)) for mean, stderr, n in values[:9].reshape(3, 3).tolist())
    return pair, alone, gain


def map_task(states: States, weights: Array, gap: int | None, settings: Settings) -> Array:
    """(5, L, L): corrected score, norm, the two most favorable colors, and everywhere whether the fit converged."""
    fit = pair_fit(states, weights, settings)
    norms = interaction_scores(fit.couplings, gap=gap)
    colors = strongest_colors(fit.couplings, gap=gap).transpose(2, 0, 1)
    return np.stack([average_product_corrected(norms), norms, *colors, np.full(norms.shape, float(fit.converged))])
