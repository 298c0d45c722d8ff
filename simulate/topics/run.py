"""Carries out a training run: the optimizer, what is recorded, and the state on which the next step depends."""

import json
from dataclasses import astuple, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.checkpoint import generator_state
from simulate.core.divergence import DivergenceError
from simulate.core.optimizers import adam_direction
from simulate.topics.attention import class_averages, gap_of
from simulate.topics.counts import Counts
from simulate.topics.documents import draw_documents
from simulate.topics.layer import Batch, Layer, Weights, gradient_of, loss_of, queries_of
from simulate.topics.masking import mask_counts
from simulate.topics.population import population_batch, topic_sets
from simulate.topics.settings import OptimizerName, Training
from theory.core import Array, DataFrame, checks, table
from theory.models.topics import Masking, TopicModel


@dataclass(frozen=True)
class Record:
    """Holds what was measured before step `step`, counted from 0; loss and attention of the evaluated documents.

    `key_norm`, `query_norm` and `value_norm` are Frobenius norms of W_K, W_Q and W_V; `gap` is that of W_V; attention
    is averaged by class on the unmasked documents, as `AttentionByClass`: 0.01 in each class where it is uniform.
    """

    step: float
    loss: float
    key_norm: float
    query_norm: float
    value_norm: float
    gap: float
    same_word: float
    same_topic: float
    different_topic: float


@dataclass(frozen=True)
class TrainingRun:
    """Holds the trained layer and its `history`: a record every so many steps, and one at the end.

    It claims no convergence: training ends after the steps that were asked for.
    """

    layer: Layer
    history: tuple[Record, ...]

    def column(self, name: str) -> NDArray[np.float64]:
        """Return one field of the records, (records,); ValueError for a name that is none."""
        checks.choice("name", name, [field.name for field in fields(Record)])
        return np.array([getattr(record, name) for record in self.history])

    def to_frame(self) -> DataFrame:
        """Make a table with a row for each record, its columns the fields of `Record`; needs pandas."""
        return table(**{field.name: self.column(field.name) for field in fields(Record)})


class Optimizer:
    """Makes steps of Adam (arXiv:1412.6980) or gradient descent on named arrays; `moments` is empty for the latter."""

    def __init__(self, name: OptimizerName, rate: float, like: dict[str, Array]) -> None:
        self.rate = rate
        names = [f"{array}_{moment}" for array in like for moment in (1, 2)] if name == "adam" else []
        self.moments = {each: np.zeros_like(like[each[:-2]]) for each in names}

    def advanced(self, arrays: dict[str, Array], gradient: dict[str, Array], step: int) -> dict[str, Array]:
        """Return new arrays after step `step`, counted from 1."""
        if not self.moments:
            return {name: array - self.rate * gradient[name] for name, array in arrays.items()}
        moved = {}
        for name, array in arrays.items():
            new = adam_direction(gradient[name], *self._moments_of(name), step)
            new *= -self.rate  # in place: the arrays are too large for the cache
            new += array
            moved[name] = new
        return moved

    def _moments_of(self, name: str) -> tuple[Array, Array]:
        return self.moments[name + "_1"], self.moments[name + "_2"]


class Run:
    """Holds a run between two steps: `advance` makes one, `state` and `restore` save it and go on from it."""

    def __init__(self, model: TopicModel, masking: Masking, training: Training, rng: np.random.Generator) -> None:
        self.model, self.masking, self.training, self.rng = model, masking, training, rng
        evaluation = np.random.Generator(np.random.PCG64(int(rng.integers(2**63))))
        start = _initial(model, training, rng).arrays()
        self.weights = Weights(**start)
        self.optimizer = Optimizer(training.optimizer, training.rate, start)
        self.step, self.history = 0, list[Record]()
        self.population: Batch | None = None
        if training.documents == "population":
            self.population = self.evaluated = population_batch(model, masking, training.keys)
            self.unmasked: NDArray[Any] = topic_sets(model)
        else:
            self.unmasked = self._documents(evaluation, training.evaluated)
            self.evaluated = queries_of(mask_counts(self.unmasked, masking, evaluation), training.keys)

    @property
    def layer(self) -> Layer:
        """The layer with its present weights."""
        return Layer(*self.weights)

    def measure(self) -> None:
        """Record the present layer where that is due, unless that was done before."""
        due = self.step % self.training.record_every == 0 or self.step == self.training.steps
        if due and not (self.history and self.history[-1].step == self.step):
            with np.errstate(over="ignore", invalid="ignore"):
                self.history.append(self._record())

    def advance(self) -> None:
        """Make one step; DivergenceError where the loss is no longer finite."""
        with np.errstate(over="ignore", invalid="ignore"):  # refused below, with its reason
            value, gradient = gradient_of(self.weights, self._batch(), self.training.loss)
            if not np.isfinite(value):
                raise DivergenceError(
                    f"training diverged: loss {value} at step {self.step}; rate = {self.training.rate} is too large"
                )
            self.step += 1
            moved = self.optimizer.advanced(self.weights._asdict(), gradient._asdict(), self.step)
            self.weights = Weights(**moved)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to be saved."""
        layer = {"layer_" + name: array for name, array in self.layer.arrays().items()}
        moments = {"moment_" + name: array for name, array in self.optimizer.moments.items()}
        history = np.array([astuple(record) for record in self.history])
        generator = np.array(generator_state(self.rng))
        return {"step": np.array(self.step), "history": history, "generator": generator, **layer, **moments}

    def restore(self, saved: dict[str, NDArray[Any]]) -> None:
        """Go on from what `state` gave; the evaluated documents are those drawn at the start."""
        self.step = int(saved["step"])
        self.history = [Record(*map(float, row)) for row in saved["history"]]
        self.weights = Weights(*(saved["layer_" + name] for name in Weights._fields))
        self.optimizer.moments = {name: saved["moment_" + name] for name in self.optimizer.moments}
        self.rng.bit_generator.state = json.loads(str(saved["generator"]))

    def _batch(self) -> Batch:
        if self.population is not None:
            return self.population
        documents = self._documents(self.rng, self.training.batch_size)
        return queries_of(mask_counts(documents, self.masking, self.rng), self.training.keys)

    def _documents(self, rng: np.random.Generator, n: int) -> Counts:
        return draw_documents(self.model, n, rng, self.training.length, self.training.concentration).counts

    def _record(self) -> Record:
        layer = self.layer
        averages = class_averages(self.model, layer, np.asarray(self.unmasked, dtype=float))
        return Record(
            step=float(self.step),
            loss=loss_of(layer, self.evaluated, self.training.loss),
            key_norm=float(np.linalg.norm(layer.key)),
            query_norm=float(np.linalg.norm(layer.query)),
            value_norm=float(np.linalg.norm(layer.value)),
            gap=gap_of(self.model, layer.value),
            same_word=averages.same_word,
            same_topic=averages.same_topic,
            different_topic=averages.different_topic,
        )


def _initial(model: TopicModel, training: Training, rng: np.random.Generator) -> Layer:
    D = model.n_tokens
    rows = training.attention_dimension or D
    checks.fits_in_memory("a layer of attention", 8 * (rows + D) * D)
    key, query, value = (training.init_noise * rng.standard_normal((size, D)) for size in (rows, rows, D))
    return Layer(key, query, value, np.zeros(D))
