"""Chooses the penalty of the couplings that predicts best, within the training sequences."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from figures.analyse.sequences.plan import TUNING_SEQUENCES, VALIDATION, tried_penalties
from figures.analyse.sequences.reweighting import Reweighting
from figures.analyse.sequences.split import Indices, split_clusters
from figures.analyse.sequences.tasks import Settings, as_estimates, learning_task
from figures.analyse.splits import Sweep
from simulate.core import Task

TUNING_TOL = 2e-2  # changes losses by less than the penalties do


def tuned(
    states: NDArray[np.uint8],
    own: Reweighting,
    training: Indices,
    settings: Settings,
    n_sites: int,
    rng: np.random.Generator,
    run: Sweep,
) -> tuple[Settings, str]:
    """Return `settings` with the penalty of least loss on held-out training sequences, and a note.

    `n_sites` of them are in pairs: those that are not constant.
    """
    chosen = training[:TUNING_SEQUENCES]
    split = split_clusters(own.clusters[chosen], own.weights[chosen], VALIDATION, rng)
    fitted, left_out = chosen[split.training], chosen[split.held_out]
    rough = replace(settings, tol=max(settings.tol, TUNING_TOL))
    test = (states[left_out], own.weights[left_out], own.clusters[left_out])
    tried = tried_penalties(n_sites, settings.n_colors)
    values = run(
        [Task(f"penalty/{l2:g}", learning_task, (states[fitted], *test, replace(rough, l2=l2))) for l2 in tried]
    )
    losses = [as_estimates(values[f"penalty/{l2:g}"])[0].mean for l2 in tried]
    best = int(np.argmin(losses))
    edge = {0: ", the weakest", len(tried) - 1: ", the strongest"}.get(best, "")
    note = (
        f"the penalty of the couplings is {tried[best]:g}, the best{edge} of {', '.join(f'{l2:g}' for l2 in tried)} "
        f"for {len(left_out)} sequences that were left out of {len(chosen)} training sequences"
    )
    return replace(settings, l2=tried[best]), note
