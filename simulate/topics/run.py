"""A training run between two steps: everything that the next ones depend on."""

import json
from dataclasses import asdict, astuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.topics.attention import attention_by_class, topic_gap
from simulate.topics.counts import Counts
from simulate.topics.documents import sample_topic_documents
from simulate.topics.history import Record, TrainingRun
from simulate.topics.layer import Batch, Layer, batch_of, layer_loss, loss_and_gradient
from simulate.topics.masking import mask_counts
from simulate.topics.optimizer import Optimizer
from simulate.topics.population import population_batch, topic_sets
from simulate.topics.settings import Training
from theory.models.topics import Masking, TopicModel


class Run:
    """`advance` makes a step, `state` and `restore` save it and go on from it."""

    def __init__(self, model: TopicModel, masking: Masking, training: Training, rng: np.random.Generator) -> None:
        self.model, self.masking, self.training, self.rng = model, masking, training, rng
        evaluation = np.random.Generator(np.random.PCG64(int(rng.integers(2**63))))
        self.layer = _initial(model, training, rng)
        self.optimizer = Optimizer(training.optimizer, training.rate, self.layer.arrays())
        self.step, self.history = 0, list[Record]()
        self.population: Batch | None = None
        if training.documents == "population":
            self.population = self.evaluated = population_batch(model, masking, training.keys)
            self.unmasked: NDArray[Any] = topic_sets(model)
        else:
            self.unmasked = self._documents(evaluation, training.evaluated)
            self.evaluated = batch_of(mask_counts(self.unmasked, masking, evaluation), training.keys)

    def advance(self) -> None:
        """One step, recorded first where it is due. FloatingPointError where the loss is no longer finite."""
        if self.step % self.training.record_every == 0:
            self.history.append(self._record())
        with np.errstate(over="ignore", invalid="ignore"):  # said below, with its reason
            value, gradient = loss_and_gradient(self.layer, self._batch(), self.training.loss)
            if not np.isfinite(value):
                raise FloatingPointError(
                    f"training diverged: loss {value} at step {self.step}; rate = {self.training.rate} is too large"
                )
            self.step += 1
            self.layer = Layer(**self.optimizer.advanced(self.layer.arrays(), gradient.arrays(), self.step))

    def finished(self) -> TrainingRun:
        """The result, its last record included."""
        if not self.history or self.history[-1].step < self.step:
            self.history.append(self._record())
        return TrainingRun(self.layer, tuple(self.history))

    def state(self) -> dict[str, NDArray[Any]]:
        """Arrays to be saved."""
        layer = {"layer_" + name: array for name, array in self.layer.arrays().items()}
        moments = {"moment_" + name: array for name, array in self.optimizer.moments.items()}
        history = np.array([astuple(record) for record in self.history])
        generator = np.array(json.dumps(self.rng.bit_generator.state))
        return {"step": np.array(self.step), "history": history, "generator": generator, **layer, **moments}

    def restore(self, saved: dict[str, NDArray[Any]]) -> None:
        """Go on from what `state` gave; the evaluated documents are those drawn at the start."""
        self.step = int(saved["step"])
        self.history = [Record(*map(float, row)) for row in saved["history"]]
        self.layer = Layer(**{name: saved["layer_" + name] for name in self.layer.arrays()})
        self.optimizer.moments = {name: saved["moment_" + name] for name in self.optimizer.moments}
        self.rng.bit_generator.state = json.loads(str(saved["generator"]))

    def _batch(self) -> Batch:
        if self.population is not None:
            return self.population
        documents = self._documents(self.rng, self.training.batch_size)
        return batch_of(mask_counts(documents, self.masking, self.rng), self.training.keys)

    def _documents(self, rng: np.random.Generator, n: int) -> Counts:
        length, concentration = self.training.length, self.training.concentration
        return sample_topic_documents(self.model, n, rng, length=length, concentration=concentration).counts

    def _record(self) -> Record:
        layer = self.layer
        return Record(
            step=float(self.step),
            loss=layer_loss(layer, self.evaluated, self.training.loss),
            key_norm=float(np.linalg.norm(layer.key)),
            query_norm=float(np.linalg.norm(layer.query)),
            value_norm=float(np.linalg.norm(layer.value)),
            gap=topic_gap(self.model, layer.value),
            **asdict(attention_by_class(self.model, layer, self.unmasked)),
        )


def _initial(model: TopicModel, training: Training, rng: np.random.Generator) -> Layer:
    D = model.n_tokens
    rows = training.attention_dimension or D
    key, query, value = (training.init_noise * rng.standard_normal((size, D)) for size in (rows, rows, D))
    return Layer(key, query, value, np.zeros(D))
