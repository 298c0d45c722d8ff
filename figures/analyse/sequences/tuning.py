"""Chooses the penalty of the couplings that predicts best, within the training sequences."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from figures.analyse.sequences.plan import TUNING_SEQUENCES, VALIDATION, tried_penalties
from figures.analyse.sequences.reweighting import Reweighting
from figures.analyse.sequences.split import Indices, split_clusters
from figures.analyse.sequences.tasks import Settings, States, as_estimates, learning_task
from figures.analyse.splits import Sweep
from simulate.core import Task
from theory.core.arrays import Array

TUNING_TOL = 2e-2  # changes losses by less than the penalties do
SEARCH = "penalty"  # key of the task


@dataclass(frozen=True, eq=False)
class Validation:
    """The sequences that the penalty is chosen by: those `fitted`, and those `left_out` (M, L) to measure the loss."""

    fitted: States
    left_out: States
    weights: Array  # (M,) of those left out
    clusters: NDArray[np.int64]  # (M,)


def tuned(
    states: States,
    own: Reweighting,
    training: Indices,
    settings: Settings,
    n_sites: int,
    rng: np.random.Generator,
    run: Sweep,
    n_threads: int = 1,
) -> tuple[Settings, str]:
    """Return `settings` with the penalty of least loss on held-out training sequences, and a note.

    `n_sites` of them are in pairs: those that are not constant. The fits follow each other, so that each may use
    `n_threads`; the result does not depend on their number.
    """
    chosen = training[:TUNING_SEQUENCES]
    try:
        split = split_clusters(own.clusters[chosen], own.weights[chosen], VALIDATION, rng)
    except ValueError as error:
        raise ValueError(f"to choose the penalty of the couplings {error}, or set that penalty (--l2)") from None
    left_out = chosen[split.held_out]
    data = Validation(states[chosen[split.training]], states[left_out], own.weights[left_out], own.clusters[left_out])
    rough = replace(settings, tol=max(settings.tol, TUNING_TOL), n_threads=n_threads)
    penalties = tried_penalties(n_sites, settings.n_colors)
    losses = run([Task(SEARCH, search_task, (data, penalties, rough))])[SEARCH]
    best = int(np.argmin(losses))
    return replace(settings, l2=penalties[best]), _note(penalties, best, len(losses), len(left_out), len(chosen))


def search_task(data: Validation, penalties: tuple[float, ...], settings: Settings) -> Array:
    """Return the losses on the sequences left out for ascending penalties, up to the first one that raises the loss.

    The loss falls and then rises with the penalty, from couplings that follow the noise to couplings that are too weak.
    """
    losses: list[float] = []
    for l2 in penalties:
        test = (data.left_out, data.weights, data.clusters)
        losses.append(as_estimates(learning_task(data.fitted, *test, replace(settings, l2=l2)))[0].mean)
        if losses[-1] > min(losses):
            break
    return np.array(losses)


def _note(penalties: tuple[float, ...], best: int, tried: int, left_out: int, chosen: int) -> str:
    edge = {
        0: ", the weakest of those tried, so that a weaker one may be better",
        len(penalties) - 1: ", the strongest of those tried, so that a stronger one may be better",
    }.get(best, "")
    until = "" if tried == len(penalties) else "; stronger ones were not tried, since the last one predicts worse"
    return (
        f"the penalty of the couplings is {penalties[best]:g}{edge}. It predicts best the "
        f"{left_out} sequences that were left out of {chosen} training sequences for this choice "
        f"(tried: {', '.join(f'{l2:g}' for l2 in penalties[:tried])}{until})"
    )
