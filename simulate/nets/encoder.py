"""Training of a vanilla encoder on masked sites: on the exact population of a small model, or on sequences.

JAX, Equinox and Optax come with the extra `nets`, and are imported when a training starts.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from simulate.core.training import recorded_steps
from simulate.nets.encoder_run import CHUNK, Problem, Run, logits_of
from simulate.nets.network import require_packages
from simulate.nets.orders import require_orders
from simulate.nets.population import MaskedContexts, require_fit, sampled_contexts
from theory.core import Array, Count, DataFrame, NonNegative, NonNegativeCount, Positive, Result, checked, checks, table
from theory.models import VanillaEncoder
from theory.models.potts.batches import checked_samples

MAX_STEPS = 10**7
Precision = Literal["float32", "float64"]
TEST = "test"


@dataclass(frozen=True, eq=False, repr=False)
class EncoderTraining(Result):
    """The course of the training of an encoder with these `settings`, measured after `steps` (T,) steps of Adam.

    `losses` (T,) are masked losses in nats, the mean over hidden sites; `other_losses` has those on further data by
    name, (T,) each. `orders` (T, L) are the shares of interactions with 0, 1, ... other sites in the logits, or None
    where they were not asked for. `weights` are the arrays of the network at the end, in the order of its tree. A
    training runs for the steps that were asked for and is not meant to end at a minimum, so it has no residual.
    """

    settings: VanillaEncoder
    steps: NDArray[np.int64]
    losses: Array
    other_losses: Mapping[str, Array] = field(repr=False)
    weights: tuple[NDArray[Any], ...] = field(repr=False)
    orders: Array | None = field(default=None, repr=False, kw_only=True)

    def logits(self, states: Any, sites: Any) -> Array:
        """Compute the logits (R, C) of the hidden `sites` (R,) of states (R, L), in the precision of the training."""
        colors = checked_samples("states", states, self.settings.n_colors, self.settings.n_sites)
        hidden = checks.integer_array("sites", sites)
        if hidden.shape != (len(colors),) or hidden.min() < 0 or hidden.max() >= self.settings.n_sites:
            raise ValueError(
                f"sites must be {len(colors)} integers from 0 to {self.settings.n_sites - 1}, one for each state, got "
                f"{checks.shown(sites)}"
            )
        require_packages()
        return logits_of(self.settings, self.weights, colors, hidden)

    def to_frame(self) -> DataFrame:
        """Return a table with a row for each measurement; needs pandas."""
        shares = {} if self.orders is None else {f"order_{k}": share for k, share in enumerate(self.orders.T)}
        return table(step=self.steps, loss=self.losses, **self.other_losses, **shares)


@checked
def train_encoder_on_population(
    settings: VanillaEncoder,
    contexts: MaskedContexts,
    *,
    n_steps: Count,
    seed: NonNegativeCount,
    rate: Positive = 3e-3,
    record: Sequence[int] | None = None,
    others: Mapping[str, Any] | None = None,
    precision: Literal["float32", "float64"] = "float32",
    progress: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    save_seconds: NonNegative = 30.0,
    orders: bool = False,
) -> EncoderTraining:
    """Train an encoder by `n_steps` steps of Adam along the exact gradient of the masked loss on all `contexts`.

    The first weights are drawn by `seed`; nothing else is random. The steps in `record`, by default about 60 that are
    spaced evenly in their logarithm, are measured: the loss on the contexts, and that on each of `others`, contexts or
    states (M, L) by name; `orders` adds the shares of the interaction orders in the logits, as `measured_orders` has
    them for a stack. With a `checkpoint` (a file) the run is saved every `save_seconds` and at its end; called
    again with the same arguments it goes on from there, to the same bits.

    Raises ImportError where the extra `nets` is missing; DivergenceError with the step where the rate is too large for
    a finite loss; CheckpointError where the file is another run's; ValueError for contexts that do not fit the encoder,
    and where orders are asked for but there are more than 2^18 masked contexts, or all logits are equal.
    """
    require_fit(settings, contexts)
    if orders:
        require_orders("settings", settings.n_sites, settings.n_colors)
    measured = _contexts(settings, contexts, others)
    problem = Problem(settings, rate, measured, precision, contexts=contexts, orders=orders)
    return _trained(problem, n_steps, seed, record, progress, checkpoint, save_seconds)


@checked
def train_encoder_on_sequences(
    settings: VanillaEncoder,
    states: NDArray[np.integer[Any]],
    test_states: NDArray[np.integer[Any]],
    *,
    n_steps: Count,
    seed: NonNegativeCount,
    rate: Positive = 3e-3,
    batch_size: Count = 256,
    record: Sequence[int] | None = None,
    others: Mapping[str, Any] | None = None,
    precision: Literal["float32", "float64"] = "float32",
    progress: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    save_seconds: NonNegative = 30.0,
) -> EncoderTraining:
    """Train an encoder by `n_steps` steps of Adam on mini-batches of the sequences `states` (M, L).

    Each batch has `batch_size` sequences, drawn with replacement, in each of which one site, drawn anew, is hidden. The
    losses are those of `test_states` (M', L) with every site hidden in turn. `seed` draws the first weights and the
    batches. Everything else is as in `train_encoder_on_population`. ValueError also for a batch that is larger than M.
    """
    L, C = settings.n_sites, settings.n_colors
    train = checked_samples("states", states, C, L).astype(np.int32)
    test = sampled_contexts(checked_samples("test_states", test_states, C, L), C)
    if batch_size > len(train):
        raise ValueError(f"batch_size must be at most the number of sequences, {len(train)}, got {batch_size}")
    checks.fits_in_memory(f"{CHUNK} batches of {batch_size} sequences", 2.0 * CHUNK * batch_size)
    checks.fits_in_memory(
        f"a batch of {batch_size} sequences", 16.0 * settings.n_layers * batch_size * L * settings.width
    )
    measured = _contexts(settings, test, others)
    problem = Problem(settings, rate, measured, precision, states=train, batch_size=batch_size)
    return _trained(problem, n_steps, seed, record, progress, checkpoint, save_seconds)


def _contexts(settings: VanillaEncoder, test: MaskedContexts, others: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the contexts of everything that is measured, by name."""
    found = {TEST: test}
    for name, data in (others or {}).items():
        if not isinstance(name, str) or name in (TEST, "step", "loss"):
            raise ValueError(f"others must have names that are text, and none of test, step and loss, got {name!r}")
        if not isinstance(data, MaskedContexts):
            colors = checked_samples(f"others {name}", data, settings.n_colors, settings.n_sites)
            data = sampled_contexts(colors, settings.n_colors)
        require_fit(settings, data, f"others {name}")
        found[name] = data
    return found


def _trained(
    problem: Problem,
    n_steps: int,
    seed: int,
    record: Sequence[int] | None,
    progress: str | None,
    checkpoint: str | os.PathLike[str] | None,
    save_seconds: float,
) -> EncoderTraining:
    recorded = recorded_steps(record, n_steps, MAX_STEPS)
    checks.fits_in_memory("an encoder", 16.0 * problem.settings.n_parameters)
    require_packages()
    run = Run(problem, seed, n_steps, recorded, checkpoint)
    run.execute(progress, save_seconds)
    measured, n_losses = np.array(run.measured).T, len(problem.measured)
    return EncoderTraining(
        settings=problem.settings,
        steps=np.array(recorded),
        losses=measured[0],
        other_losses=dict(zip(list(problem.measured)[1:], measured[1:n_losses], strict=True)),
        weights=run.weights(),
        iterations=n_steps,
        orders=measured[n_losses:].T if problem.orders else None,
    )
