"""Training of a layer of factored attention by stochastic gradients, as a network is trained."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.potts.attention import AttentionLayer, loss_and_gradient
from simulate.potts.inference.factored_kernel import FactoredObjective
from theory.models import checks
from theory.models.arrays import Array
from theory.models.potts.batches import States, checked_samples

Gradients = tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class Training:
    """Masked loss along a training: `losses` (T,) of the test sequences after `steps` (T,) updates, and the layer."""

    layer: AttentionLayer = field(repr=False)  # after the last step
    steps: NDArray[np.int64]
    losses: Array


@dataclass
class Adam:
    """Adam (arXiv:1412.6980) with its usual decay rates 0.9 and 0.999."""

    learning_rate: float
    _moments: list[tuple[Array, Array]] = field(default_factory=list)
    _count: int = 0

    def __call__(self, parameters: Sequence[Array], gradients: Gradients) -> None:
        """One update, in place."""
        self._moments = self._moments or [(np.zeros_like(g), np.zeros_like(g)) for g in gradients]
        self._count += 1
        for x, g, (first, second) in zip(parameters, gradients, self._moments, strict=True):
            first += 0.1 * (g - first)
            second += 0.001 * (g**2 - second)
            mean, square = first / (1 - 0.9**self._count), second / (1 - 0.999**self._count)
            x -= self.learning_rate * mean / (np.sqrt(square) + 1e-8)


@dataclass
class SGD:
    """Plain stochastic gradient descent."""

    learning_rate: float

    def __call__(self, parameters: Sequence[Array], gradients: Gradients) -> None:
        """One update, in place."""
        for x, g in zip(parameters, gradients, strict=True):
            x -= self.learning_rate * g


OPTIMIZERS: dict[str, Callable[[float], Any]] = {"adam": Adam, "sgd": SGD}


def train(
    layer: AttentionLayer,
    states: Any,
    test_states: Any,
    *,
    n_steps: int,
    rng: np.random.Generator,
    record: Sequence[int] | None = None,
    batch_size: int = 256,
    learning_rate: float = 0.01,
    optimizer: str = "adam",
    masks: str = "every",
    fields: bool = True,
) -> Training:
    """`n_steps` updates of `layer` on mini-batches of `states` (M, L), drawn with replacement.

    `masks` = "every": each site of each sequence of the batch is masked in turn; "random": one site of each sequence,
    drawn anew. The learning rate falls to zero with the cosine of the step. `record`: the steps after which the loss
    on `test_states` is taken, by default about 60 spaced evenly in log(1 + step).
    """
    train_states = checked_samples("states", states, layer.n_colors, layer.n_sites)
    test = checked_samples("test_states", test_states, layer.n_colors, layer.n_sites)
    total = int(checks.dimension(n_steps, name="n_steps"))
    batch = int(checks.dimension(batch_size, name="batch_size"))
    update = _optimizer(optimizer, checks.positive("learning_rate", learning_rate))
    if masks not in ("every", "random"):
        raise ValueError(f"masks must be 'every' or 'random', got {masks!r}")
    gradient = _every_site if masks == "every" else _random_site
    peak, wanted = update.learning_rate, _recorded(record, total)
    parameters = [np.array(each) for each in (layer.attention, layer.values, layer.fields)]
    objective, losses = _objective(test), []
    for step in range(total + 1):
        if step in wanted:
            losses.append(objective(*parameters)[0] / layer.n_sites)
        if step == total:
            break
        update.learning_rate = peak * 0.5 * (1 + np.cos(np.pi * step / total))
        gradients = gradient(parameters, train_states[rng.integers(len(train_states), size=batch)], rng)
        kept = 3 if fields else 2
        update(parameters[:kept], gradients[:kept])
    return Training(AttentionLayer(*parameters), np.array(sorted(wanted)), np.array(losses))


def _every_site(parameters: Sequence[Array], states: States, rng: np.random.Generator) -> Gradients:
    """Gradient of the masked loss with every site masked in turn, by the compiled sums of the pseudo-likelihood."""
    _, *gradients = _objective(states)(*parameters)
    return tuple(each / states.shape[1] for each in gradients)


def _random_site(parameters: Sequence[Array], states: States, rng: np.random.Generator) -> Gradients:
    """Gradient with one masked site a sequence."""
    sites = rng.integers(states.shape[1], size=len(states))
    return loss_and_gradient(AttentionLayer(*parameters), states, sites)[1:]


def _objective(states: States) -> FactoredObjective:
    return FactoredObjective(np.ascontiguousarray(states, dtype=np.int32), np.full(len(states), 1 / len(states)))


def _optimizer(name: str, learning_rate: float) -> Any:
    if name not in OPTIMIZERS:
        raise ValueError(f"optimizer must be one of {', '.join(OPTIMIZERS)}, got {name!r}")
    return OPTIMIZERS[name](learning_rate)


def _recorded(record: Sequence[int] | None, total: int) -> set[int]:
    if record is None:
        return {0, *np.geomspace(1, total, 60).round().astype(int).tolist()}
    if not record or min(record) < 0 or max(record) > total:
        raise ValueError(f"record must name steps from 0 to n_steps = {total}, got {list(record)}")
    return set(record)
