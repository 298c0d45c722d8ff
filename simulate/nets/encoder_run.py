"""A run of the training of an encoder: compiled steps, what is measured along the way, and how it is saved."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core import DivergenceError, stream
from simulate.core.checkpoint import Checkpoint, digest_of
from simulate.core.training import carry_out
from simulate.nets.encoder_steps import compiled
from simulate.nets.network import build
from simulate.nets.orders import orders_of_logits, visible_colors
from simulate.nets.population import MaskedContexts
from theory.core.arrays import Array
from theory.models import VanillaEncoder

FORMAT = "simulate.nets.encoder, 1"
CHUNK = 64  # steps whose batches are drawn at a time
BLOCK = 4096  # contexts whose losses are measured at a time


@dataclass(frozen=True, eq=False)
class Problem:
    """What is trained on what: all `contexts` at every step, or batches of `batch_size` of the `states` (M, L)."""

    settings: VanillaEncoder
    rate: float
    measured: Mapping[str, MaskedContexts]
    precision: str
    contexts: MaskedContexts | None = None
    states: NDArray[np.int32] | None = None
    batch_size: int = 0
    orders: bool = False  # whether the shares of the interaction orders in the logits are measured too

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """All data, for the digest of a checkpoint."""
        own = [] if self.states is None else [self.states]
        every = [*self.measured.values(), *([] if self.contexts is None else [self.contexts])]
        return own + [array for each in every for array in (each.states, each.sites, each.weights, each.targets)]


class Run:
    """Trains one network; `measured` has the losses, then any shares of orders, of each recorded step so far."""

    def __init__(
        self,
        problem: Problem,
        seed: int,
        total: int,
        recorded: Sequence[int],
        checkpoint: str | os.PathLike[str] | None,
    ) -> None:
        self.problem, self.total, self.recorded = problem, total, list(recorded)
        self.step, self.measured = 0, list[list[float]]()
        self._rng = stream(seed, "encoder batches")
        self._drawn: Any = None  # the batches of the present chunk of steps
        self._before = json.dumps(self._rng.bit_generator.state)  # of the generator, when they were drawn
        with _precision(problem.precision):
            self._start(int(stream(seed, "encoder").integers(2**31)))
        self._file = None if checkpoint is None else Checkpoint(
            checkpoint, self._header(seed), of="train_encoder", digests=("digest",)
        )  # fmt: skip

    def execute(self, progress: str | None, save_seconds: float) -> None:
        """Run to the end; DivergenceError where the loss is no longer finite."""
        with _precision(self.problem.precision):
            carry_out(self, self.total, self._file, save_seconds, progress)

    def measure(self) -> None:
        """Record the losses at a step that is to be measured, unless that was done before."""
        if self.step in self.recorded and self.recorded.index(self.step) == len(self.measured):
            losses = [self._loss(each) for each in self.problem.measured.values()]
            self.measured.append(losses + (self._orders() if self.problem.orders else []))

    def weights(self) -> tuple[NDArray[Any], ...]:
        """Return copies of the arrays of the network, in the order of its tree."""
        import jax

        return tuple(np.array(leaf) for leaf in jax.tree.leaves(self._parameters))

    def _start(self, seed: int) -> None:
        """Draw the first weights, and puts the data where JAX has them."""
        import equinox as eqx
        import jax.numpy as jnp

        self._functions = compiled(self.problem.settings)
        self._parameters = eqx.filter(build(self.problem.settings, seed), eqx.is_array)
        self._memory = self._functions.first_memory(self._parameters)
        contexts, states = self.problem.contexts, self.problem.states
        self._data = (jnp.asarray(states),) if contexts is None else _arrays(contexts)

    def advance(self) -> None:
        """Make steps up to the next one that is measured or the end of the chunk.

        The batches of a whole chunk are drawn at once, so that they do not depend on what is measured.
        """
        place = self.step % CHUNK
        ahead = [step for step in self.recorded if step > self.step]
        count = min(CHUNK - place, (ahead[0] if ahead else self.total) - self.step)
        if self.problem.states is not None and (place == 0 or self._drawn is None):
            shape = CHUNK, self.problem.batch_size
            M, L = self.problem.states.shape
            self._before = json.dumps(self._rng.bit_generator.state)
            self._drawn = (
                self._rng.integers(M, size=shape, dtype=np.int32),
                self._rng.integers(L, size=shape, dtype=np.int32),
            )
        self._parameters, self._memory, value = self._functions.steps(
            self._parameters, self._memory, self.problem.rate, self._data, self._drawn, place, count
        )
        self.step += count
        self._require_finite(float(value))

    def _loss(self, contexts: MaskedContexts) -> float:
        """Return the masked loss on these contexts, added up over blocks in double precision."""
        total = 0.0
        for block in _padded(contexts):
            total += float(self._functions.loss(self._parameters, *block))
        self._require_finite(total)
        return total

    def _orders(self) -> list[float]:
        """Return the shares of the interaction orders in the logits at all contexts, which weigh alike."""
        L, C = self.problem.settings.n_sites, self.problem.settings.n_colors
        visible, tables, logits = visible_colors(L, C).astype(np.int32), [], self._functions.logits
        for site in range(L):
            tokens, sites = np.insert(visible, site, C, axis=1), np.full(len(visible), site, dtype=np.int32)
            parts = [slice(first, first + BLOCK) for first in range(0, len(tokens), BLOCK)]
            found = [np.asarray(logits(self._parameters, tokens[part], sites[part])) for part in parts]
            tables.append(np.concatenate(found).astype(float))
        return [float(share) for share in orders_of_logits("settings", np.stack(tables))]

    def _require_finite(self, loss: float) -> None:
        if not np.isfinite(loss):
            raise DivergenceError(
                f"training diverged by step {self.step}: the loss is {loss}; rate = {self.problem.rate:g} is too large"
            )

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to be saved."""
        import jax

        leaves = jax.tree.leaves((self._parameters, self._memory))
        own = {f"leaf_{k}": np.asarray(leaf) for k, leaf in enumerate(leaves)}
        inside = self.step % CHUNK > 0  # then the present chunk is drawn again
        generator = np.array(self._before if inside else json.dumps(self._rng.bit_generator.state))
        return {"step": np.array(self.step), "measured": np.array(self.measured), "generator": generator, **own}

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what `state` gave."""
        import jax
        import jax.numpy as jnp

        tree = jax.tree.structure((self._parameters, self._memory))
        leaves = [jnp.asarray(saved[f"leaf_{k}"]) for k in range(tree.num_leaves)]
        self._parameters, self._memory = jax.tree.unflatten(tree, leaves)
        self.step, self.measured = int(saved["step"]), saved["measured"].tolist()
        self._rng.bit_generator.state = json.loads(str(saved["generator"]))

    def _header(self, seed: int) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "settings": repr(self.problem.settings),
            "data": "population" if self.problem.contexts is not None else "sequences",
            "n_steps": self.total,
            "seed": seed,
            "rate": self.problem.rate,
            "batch_size": self.problem.batch_size,
            "precision": self.problem.precision,
            "measured": [*self.problem.measured, *(["orders"] if self.problem.orders else [])],
            "digest": digest_of((*self.problem.arrays, np.array(self.recorded))),
        }


def logits_of(
    settings: VanillaEncoder, weights: Sequence[NDArray[Any]], states: NDArray[Any], sites: NDArray[Any]
) -> Array:
    """Return the logits (R, C) that a network with these weights gives to the hidden sites of states (R, L)."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    with _precision(str(weights[0].dtype)):
        tree = jax.tree.structure(eqx.filter(build(settings, 0), eqx.is_array))
        parameters = jax.tree.unflatten(tree, [jnp.asarray(each) for each in weights])
        tokens = np.array(states, dtype=np.int32)
        tokens[np.arange(len(tokens)), sites] = settings.n_colors
        found = compiled(settings).logits(parameters, tokens, np.asarray(sites, dtype=np.int32))
        return np.asarray(found, dtype=float)


def _precision(precision: str) -> Any:
    """Return the context in which JAX makes arrays of this precision; outside of it nothing is changed."""
    import jax

    return jax.enable_x64(precision == "float64")


def _arrays(contexts: MaskedContexts) -> tuple[Any, ...]:
    import jax.numpy as jnp

    integers = jnp.asarray(contexts.states, dtype=jnp.int32), jnp.asarray(contexts.sites, dtype=jnp.int32)
    return (*integers, jnp.asarray(contexts.weights, dtype=float), jnp.asarray(contexts.targets, dtype=float))


def _padded(contexts: MaskedContexts) -> list[tuple[Any, ...]]:
    """Return blocks of equal size, a power of two, so that one compiled function measures many data.

    What fills the last block has no weight.
    """
    size = min(BLOCK, 1 << (len(contexts.states) - 1).bit_length())
    arrays = _arrays(contexts)
    found = []
    for start in range(0, len(contexts.states), size):
        rows = np.arange(start, start + size)
        inside = rows < len(contexts.states)
        states, sites, weights, targets = (array[np.where(inside, rows, 0)] for array in arrays)
        found.append((states, sites, weights * inside, targets))
    return found
