"""A training run of a stack: its data, its optimizer, what is measured, and all that the next step depends on."""

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from simulate.core.divergence import DivergenceError
from simulate.nets.history import StackTraining
from simulate.nets.orders import measured_orders
from simulate.nets.population import MaskedContexts, sampled_contexts
from simulate.nets.stack_gradient import NUMBERS, Batch, Precision, Weights, stack_loss
from simulate.nets.stack_steps import NO_MOMENTS, descend, is_wide
from theory.core.arrays import Array
from theory.models import FactoredStack
from theory.models.potts.batches import States

Optimizer = Literal["gradient_descent", "adam"]
NUMBERS_AT_ONCE = 10**6  # that a few milliseconds of steps compute in each array of a pass


class Data(Protocol):
    """What a run learns from and is tested on."""

    arrays: list[NDArray[Any]]  # that tell these data from others

    @property
    def generator_state(self) -> str:
        """The state of the random numbers as JSON."""

    @property
    def settings(self) -> dict[str, Any]:
        """Plain numbers that a reader of an error would know these data by."""

    def next_batches(self, most: int, n_layers: int) -> tuple[Batch, int, int]:
        """Return the contexts of the next steps, how many steps these are, and how many contexts each of them has."""

    def test_loss(self, weights: Weights) -> float:
        """The loss that is recorded."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to be saved."""

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what `state` gave."""


class PopulationData:
    """All contexts at every step."""

    def __init__(self, contexts: MaskedContexts) -> None:
        self._batch, self.generator_state = Batch.of(contexts), ""
        self.arrays = [contexts.states, contexts.sites, contexts.weights, contexts.targets]
        self.settings: dict[str, Any] = {"data": "population"}

    def next_batches(self, most: int, n_layers: int) -> tuple[Batch, int, int]:
        """All contexts, which all steps share."""
        numbers = n_layers * self._batch.states.size * self._batch.targets.shape[1]
        return self._batch, min(most, max(1, NUMBERS_AT_ONCE // numbers)), len(self._batch.sites)

    def test_loss(self, weights: Weights) -> float:
        """The loss that is descended."""
        return stack_loss(weights, self._batch)

    def state(self) -> dict[str, NDArray[Any]]:
        """Nothing changes along the run."""
        return {}

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Nothing changes along the run."""


class SequenceData:
    """Mini-batches of sequences in random order, one hidden site in each, and test sequences with every site hidden."""

    def __init__(
        self, states: States, test_states: States, n_colors: int, batch: int, rng: np.random.Generator
    ) -> None:
        self.arrays = [states, test_states]
        self._states = states.astype(np.min_scalar_type(n_colors - 1))  # rows that are drawn are then in less memory
        self.settings: dict[str, Any] = {"data": "sequences", "batch_size": batch}
        self._n_colors, self._size, self._rng = n_colors, batch, rng
        self._tests = Batch.of(sampled_contexts(test_states, n_colors))
        self._order, self._place = np.empty(0, dtype=np.int64), 0

    @property
    def generator_state(self) -> str:
        """The state of the random numbers as JSON; some generators, such as MT19937, hold arrays."""
        return json.dumps(self._rng.bit_generator.state, default=lambda array: array.tolist())

    def next_batches(self, most: int, n_layers: int) -> tuple[Batch, int, int]:
        """Return the next sequences of this epoch, or the first ones of the next."""
        states = self._states
        if self._place + self._size > len(self._order):
            self._order, self._place = self._rng.permutation(len(states)), 0
        L = states.shape[1]
        at_once = max(1, NUMBERS_AT_ONCE // (n_layers * self._size * L * self._n_colors))
        count = min(most, at_once, (len(self._order) - self._place) // self._size)
        end = self._place + count * self._size
        chosen = states[self._order[self._place : end]].astype(np.int64)
        self._place = end
        # Drawn at once these are the same sites as drawn for one step after another.
        sites = self._rng.integers(L, size=len(chosen))
        return Batch.unchecked(chosen, sites, self._n_colors, self._size), count, self._size

    def test_loss(self, weights: Weights) -> float:
        """The loss of the test sequences."""
        return stack_loss(weights, self._tests)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the generator and the rest of the epoch."""
        return {"generator": np.array(self.generator_state), "order": self._order, "place": np.array(self._place)}

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what `state` gave."""
        self._rng.bit_generator.state = json.loads(str(saved["generator"]))
        self._order, self._place = saved["order"], int(saved["place"])


class Run:
    """Holds a run between two steps: `advance` makes one, `measure` records, `state` and `restore` save and go on."""

    def __init__(
        self,
        weights: Weights,
        data: Data,
        n_steps: int,
        recorded: Sequence[int],
        rate: float,
        optimizer: Optimizer,
        precision: Precision,
        *,
        orders: bool,
    ) -> None:
        self.weights, self.data, self.step, self.n_steps = weights, data, 0, n_steps
        self.recorded = sorted(recorded)  # the steps that are measured
        self.settings = {"rate": rate, "optimizer": optimizer, "orders": orders, **data.settings}
        if precision != "float64":  # so that checkpoints of before there was a choice are still ours
            self.settings["precision"] = precision
        self._rate, self._orders, self._precision = rate, orders, precision
        self._start = [array.copy() for array in weights.arrays]
        moments = 2 if optimizer == "adam" else 0
        self._moments = [np.zeros_like(array) for array in weights.arrays for _ in range(moments)]
        A, V, h = weights.layers
        self._found = np.empty_like(A), np.empty_like(V), np.empty_like(h)  # the derivatives of the last step
        self._squares = np.zeros((2, len(weights.attentions)))  # of all steps so far, of attentions and values
        self._measured: dict[str, list[Any]] = {
            name: [] for name in ("steps", "losses", "norms", "squares", "displacements", "orders")
        }

    def advance(self) -> None:
        """Make the next few steps, up to one that is measured; DivergenceError where a loss is not finite."""
        ahead = bisect_right(self.recorded, self.step)
        until = self.recorded[ahead] if ahead < len(self.recorded) else self.n_steps
        batch, count, size = self.data.next_batches(until - self.step, len(self.weights.attentions))
        moments = (*self._moments, *NO_MOMENTS[len(self._moments) :])
        layers, found, number = self.weights.layers, self._found, NUMBERS[self._precision]
        made, _ = descend(
            count, size, batch.arrays, layers, number, self.weights.skip, True, False, found, self._rate, moments,
            self.step, self._squares, is_wide(*self.weights[:2]),
        )  # fmt: skip
        self.step += made
        if made < count:
            failed = batch.part(made * size % len(batch.sites), size)
            raise self._diverged(f"the loss is {stack_loss(self.weights, failed, self._precision)}")

    def measure(self) -> None:
        """Record the present weights at a step that is to be measured, unless that was done before."""
        kept = self._measured
        place = bisect_right(self.recorded, self.step)
        if self.recorded[:place][-1:] != [self.step] or self.step in kept["steps"][-1:]:
            return
        with np.errstate(over="ignore", invalid="ignore"):
            loss = self.data.test_loss(self.weights)
            self._require_finite(loss)
            A, V = self.weights[:2]
            moved = _squared(A - self._start[0]) / A.shape[1] + _squared(V - self._start[1]) / V.shape[1]
            norms = np.array([_squared(A), _squared(V)])
        kept["steps"].append(self.step)
        kept["losses"].append(loss)
        kept["norms"].append(norms)
        kept["squares"].append(self._squares.copy())
        kept["displacements"].append(moved)
        if self._orders:
            kept["orders"].append(measured_orders(self._stack()))

    def finished(self) -> StackTraining:
        """Return the course of the run."""
        kept = {name: np.array(values) for name, values in self._measured.items()}
        return StackTraining(
            stack=self._stack(),
            steps=kept["steps"],
            losses=kept["losses"],
            attention_norms=kept["norms"][:, 0],
            value_norms=kept["norms"][:, 1],
            attention_steps=kept["squares"][:, 0],
            value_steps=kept["squares"][:, 1],
            displacements=kept["displacements"],
            orders=kept["orders"] if self._orders else None,
            iterations=self.step,
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to be saved."""
        arrays = {f"weights_{k}": array for k, array in enumerate(self.weights.arrays)}
        moments = {f"moment_{k}": array for k, array in enumerate(self._moments)}
        measured = {f"measured_{name}": np.array(values) for name, values in self._measured.items()}
        own = {"step": np.array(self.step), "squares": self._squares}
        return {**own, **arrays, **moments, **measured, **{f"data_{k}": v for k, v in self.data.state().items()}}

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what `state` gave."""
        self.step, self._squares = int(saved["step"]), saved["squares"].copy()
        for kind, arrays in (("weights", self.weights.arrays), ("moment", self._moments)):
            for k, array in enumerate(arrays):
                array[:] = saved[f"{kind}_{k}"]
        self._measured = {name: list(saved[f"measured_{name}"]) for name in self._measured}
        self.data.restore({name.removeprefix("data_"): value for name, value in saved.items() if name[:5] == "data_"})

    def _require_finite(self, loss: float) -> None:
        if not np.isfinite(loss):
            raise self._diverged(f"the loss is {loss}")

    def _stack(self) -> FactoredStack:
        try:
            return self.weights.stack
        except ValueError as refused:
            raise self._diverged(str(refused)) from None

    def _diverged(self, why: str) -> DivergenceError:
        return DivergenceError(f"training diverged at step {self.step}: {why}; rate = {self._rate:g} is too large")


def _squared(arrays: Array) -> Array:
    """Return the squared norms of the layers, (N,)."""
    return np.asarray(np.einsum("nij,nij->n", arrays, arrays))
