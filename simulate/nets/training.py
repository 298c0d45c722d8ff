"""Training of factored stacks in steps: on the exact population, or on sequences with one masked site each."""

import os
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from simulate.core.checkpoint import Checkpoint, digest_of
from simulate.core.training import carry_out, recorded_steps
from simulate.nets.history import StackTraining
from simulate.nets.population import MaskedContexts, require_fit
from simulate.nets.run import PopulationData, Run, SequenceData
from simulate.nets.stack_gradient import Weights
from theory.core import Count, NonNegative, Positive, checked, checks
from theory.models import FactoredStack
from theory.models.potts.batches import checked_samples

FORMAT = "simulate.nets.training, 1"
MOST_STEPS = 10**8  # more would take days at any size


@checked
def train_on_population(
    stack: FactoredStack,
    contexts: MaskedContexts,
    *,
    n_steps: Count,
    rate: Positive = 0.1,
    optimizer: Literal["gradient_descent", "adam"] = "gradient_descent",
    precision: Literal["float32", "float64"] = "float64",
    record: Sequence[int] | None = None,
    orders: bool = False,
    progress: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    save_seconds: NonNegative = 30.0,
) -> StackTraining:
    """Train `stack` by `n_steps` steps along the exact gradient of the masked loss on `contexts`.

    Nothing is random. The steps in `record`, by default about 60 that are spaced evenly in their logarithm, are
    measured; `orders` adds the shares of the interaction orders in the logits, at a cost of a few gradients each.
    `progress` labels a bar. With `precision` "float32" gradients are computed in single precision, while weights,
    steps and recorded losses stay double: gradients were off by 5e-8 to 1.4e-6 of their norm with up to four layers and
    a hundred sites. A step of three layers on fifty sites then takes 0.6 of the time, one on five sites hardly less.
    With a `checkpoint` (a file) the run is saved every `save_seconds` and at its end; called again with the same
    arguments it goes on from there, to the same bits.

    Raises DivergenceError (a FloatingPointError) with the step where the rate is too large for a finite loss;
    CheckpointError where the file is another run's; ValueError for bad arguments.

    >>> from theory.models import PottsModel
    >>> from simulate.nets import enumerated_contexts
    >>> contexts = enumerated_contexts(PottsModel([[0, 1], [1, 0]], [[1, 0], [0, 1]]))
    >>> trained = train_on_population(FactoredStack.deterministic(1, 2, 2), contexts, n_steps=3000, rate=1.0)
    >>> bool(trained.losses[-1] - contexts.floor < 1e-9)
    True
    """
    require_fit(stack, contexts)
    recorded = recorded_steps(record, n_steps, MOST_STEPS)
    run = Run(Weights.of(stack), PopulationData(contexts), n_steps, recorded, rate, optimizer, precision, orders=orders)
    return _trained(run, progress, checkpoint, save_seconds)


@checked
def train_on_sequences(
    stack: FactoredStack,
    states: NDArray[np.integer[Any]],
    test_states: NDArray[np.integer[Any]],
    *,
    n_steps: Count,
    rng: np.random.Generator,
    rate: Positive = 0.1,
    batch_size: Count = 256,
    optimizer: Literal["gradient_descent", "adam"] = "gradient_descent",
    precision: Literal["float32", "float64"] = "float64",
    record: Sequence[int] | None = None,
    orders: bool = False,
    progress: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    save_seconds: NonNegative = 30.0,
) -> StackTraining:
    """Train `stack` by `n_steps` steps on mini-batches of the sequences `states` (M, L), one hidden site in each.

    Batches of `batch_size` sequences go through all sequences in a random order, drawn anew by `rng` for each of these
    epochs of M // batch_size steps; sequences left over at the end of an epoch wait for the next one. The site that is
    hidden in a sequence is drawn anew at every visit. The losses are those of `test_states`, with every site hidden in
    turn. Everything else is as in `train_on_population`. ValueError also for a batch that is larger than M.

    >>> states = np.random.default_rng(0).integers(2, size=(200, 3))
    >>> states[:, 1] = states[:, 0]
    >>> trained = train_on_sequences(FactoredStack.deterministic(1, 3, 2), states, states, n_steps=400, rate=1.0,
    ...                              batch_size=50, rng=np.random.default_rng(1))
    >>> bool(trained.losses[-1] < 0.4 < trained.losses[0])
    True
    """
    L, C = stack.n_sites, stack.n_colors
    train = checked_samples("states", states, C, L).astype(np.int64, copy=False)
    test = checked_samples("test_states", test_states, C, L).astype(np.int64, copy=False)
    if batch_size > len(train):
        raise ValueError(f"batch_size must be at most the number of sequences, {len(train)}, got {batch_size}")
    checks.fits_in_memory(f"a batch of {batch_size} sequences", 8.0 * stack.n_layers * batch_size * L * C)
    recorded = recorded_steps(record, n_steps, MOST_STEPS)
    data = SequenceData(train, test, C, batch_size, rng)
    run = Run(Weights.of(stack), data, n_steps, recorded, rate, optimizer, precision, orders=orders)
    return _trained(run, progress, checkpoint, save_seconds)


def _trained(
    run: Run,
    progress: str | None,
    checkpoint: str | os.PathLike[str] | None,
    save_seconds: float,
) -> StackTraining:
    """Make the steps of a run, measure those in `record`, and keep it on disk."""
    file = None
    if checkpoint is not None:
        of = f"train_on_{run.settings['data']}"
        file = Checkpoint(checkpoint, _header(run), of=of, digests=("digest",))
    carry_out(run, run.n_steps, file, save_seconds, progress)
    return run.finished()


def _header(run: Run) -> dict[str, Any]:
    """Return what makes two runs the same: the arguments, and a digest of all numbers that they start from."""
    arrays = (*run.weights.arrays, *run.data.arrays, np.array(run.recorded))
    digest = digest_of(arrays, run.data.generator_state + ("skip" if run.weights.skip else ""))
    return {"format": FORMAT, "n_steps": run.n_steps, **run.settings, "digest": digest}
