"""Trains a layer of factored attention by stochastic gradients, in the way networks are trained."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from simulate.core.divergence import DivergenceError
from simulate.core.optimizers import SGD, Adam
from simulate.core.training import recorded_steps
from simulate.potts.attention import AttentionLayer, back_propagated
from simulate.potts.inference.factored_kernel import FactoredObjective
from theory.core import Array, Count, Positive, Result, checked, checks
from theory.models.potts.batches import States, checked_samples

Gradients = tuple[Array, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Training(Result):
    """The course of a training: the masked `losses` (T,) of test sequences after `steps` (T,) updates, in nats.

    `layer` is the layer after the last update. A training runs for a fixed number of updates and is not meant to end at
    a minimum, so it has no residual.
    """

    layer: AttentionLayer = field(repr=False)
    steps: NDArray[np.int64]
    losses: Array


MAX_STEPS = 10**7  # more would take days at any size
OPTIMIZERS: dict[str, type[Adam] | type[SGD]] = {"adam": Adam, "sgd": SGD}


@checked
def train(
    layer: AttentionLayer,
    states: Any,
    test_states: Any,
    *,
    n_steps: Count,
    rng: np.random.Generator,
    record: Sequence[int] | None = None,
    batch_size: Count = 256,
    learning_rate: Positive = 0.01,
    optimizer: Literal["adam", "sgd"] = "adam",
    masks: Literal["every", "random"] = "every",
    fields: bool = True,
) -> Training:
    """Train `layer` by `n_steps` updates on mini-batches of the sequences `states` (M, L).

    Each batch has `batch_size` sequences, drawn with replacement by `rng`. With `masks` "every" each site of each
    sequence of the batch is masked in turn, with "random" one site of each sequence, drawn anew. The learning rate
    falls to zero with the cosine of the step. `fields` says whether the fields are trained too. The loss on
    `test_states` is taken after the steps in `record`, by default about 60 that are spaced evenly in their logarithm.
    The given layer is not changed. ValueError for sequences that do not fit the layer and for steps outside 0 to
    n_steps; DivergenceError where weights or losses become too large for floating point numbers.
    """
    train_states = checked_samples("states", states, layer.n_colors, layer.n_sites)
    test = checked_samples("test_states", test_states, layer.n_colors, layer.n_sites)
    wanted = set(recorded_steps(record, n_steps, MAX_STEPS))
    checks.fits_in_memory(f"a batch of {batch_size} sequences", 3.0 * batch_size * layer.n_sites * layer.n_colors)
    update = OPTIMIZERS[optimizer](learning_rate)
    gradient = _every_site if masks == "every" else _random_site
    parameters = [np.array(each) for each in (layer.attention, layer.values, layer.fields)]
    objective, losses = _objective(test), []
    with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is refused
        for step in range(n_steps + 1):
            loss = objective(*parameters)[0] / layer.n_sites if step in wanted else 0.0
            if not np.isfinite([loss, *(each.sum() for each in parameters)]).all():
                what = "the weights or the loss are no finite numbers"
                raise DivergenceError(
                    f"training diverged by step {step}: {what}; learning_rate = {learning_rate:g} is too large"
                )
            if step in wanted:
                losses.append(loss)
            if step == n_steps:
                break
            update.learning_rate = learning_rate * 0.5 * (1 + np.cos(np.pi * step / n_steps))
            gradients = gradient(parameters, train_states[rng.integers(len(train_states), size=batch_size)], rng)
            kept = 3 if fields else 2
            update(parameters[:kept], gradients[:kept])
    return Training(AttentionLayer(*parameters), np.array(sorted(wanted)), np.array(losses), iterations=n_steps)


def _every_site(parameters: Sequence[Array], states: States, _rng: np.random.Generator) -> Gradients:
    """Return the gradient with every site masked in turn, from the compiled sums of the pseudo-likelihood."""
    _, *gradients = _objective(states)(*parameters)
    return tuple(each / states.shape[1] for each in gradients)


def _random_site(parameters: Sequence[Array], states: States, rng: np.random.Generator) -> Gradients:
    """Return the gradient with one randomly masked site in each sequence."""
    sites = rng.integers(states.shape[1], size=len(states))
    A, V, h = parameters
    return back_propagated(A, V, h, states.astype(np.intp), sites)[1:]


def _objective(states: States) -> FactoredObjective:
    return FactoredObjective(np.ascontiguousarray(states, dtype=np.int32), np.full(len(states), 1 / len(states)))
