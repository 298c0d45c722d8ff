"""Transfer between two tasks that deep random teachers label: how many layers of a trained network to keep."""

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from simulate.feedforward.multilayer import Multilayer, Numbers, TrainedMultilayer, train_multilayer
from theory.core import Array, Count, Result, checked, checks
from theory.models import NetworkTransfer

Protocol = Literal["fresh", "warm"]
N_MEDIAN_INPUTS = 20_000  # inputs of which the median of a teacher's outputs is taken


@dataclass(frozen=True, eq=False, repr=False)
class Teacher(Result):
    """A network that labels inputs by whether its output exceeds `threshold`, the median over inputs."""

    network: Multilayer = field(repr=False)
    threshold: float

    @checked
    def labels(self, inputs: Numbers) -> Array:
        """Return +1 or -1 for each of `inputs` (samples, n_inputs)."""
        return np.where(self.network.outputs(inputs) > self.threshold, 1.0, -1.0)

    @checked
    def samples(self, n_samples: Count, rng: np.random.Generator) -> tuple[Array, Array]:
        """Draw `n_samples` inputs N(0, 1), (n_samples, n_inputs), and return them with their labels."""
        n, size = n_samples, self.network.n_inputs
        checks.fits_in_memory(f"n_samples = {n} of {size} inputs", 4.0 * n * max(size, self.network.layers[0].shape[1]))
        inputs = rng.standard_normal((n, size))
        return inputs, self.labels(inputs)


@checked
def draw_teachers(task: NetworkTransfer, rng: np.random.Generator) -> tuple[Teacher, Teacher]:
    """Draw the teachers of the source task and of the target task.

    >>> source, target = draw_teachers(NetworkTransfer(), np.random.default_rng(0))
    >>> inputs, labels = source.samples(1000, np.random.default_rng(1))
    >>> round(abs(labels.mean()), 1), 0.1 < np.mean(labels != target.labels(inputs)) < 0.5
    (np.float64(0.0), np.True_)
    """
    source, fresh = (Multilayer.random(task.sizes, rng, task.weight_variance) for _ in range(2))
    overlaps = zip(source.layers, fresh.layers, task.layer_overlaps, strict=True)
    target = Multilayer(tuple(r * old + math.sqrt(1 - r * r) * new for old, new, r in overlaps))
    inputs = rng.standard_normal((N_MEDIAN_INPUTS, task.n_inputs))
    found = [Teacher(network, float(np.median(network.outputs(inputs)))) for network in (source, target)]
    return found[0], found[1]


@checked
def transfer_network(
    source: Multilayer,
    n_kept: int,
    inputs: Numbers,
    labels: Numbers,
    rng: np.random.Generator,
    *,
    protocol: Protocol,
    n_steps: int,
    batch: int = 128,
    patience: int | None = None,
) -> TrainedMultilayer:
    """Train a network on the target task whose first `n_kept` layers are those of the `source` network, frozen.

    The other layers start anew, with Gaussian weights of variance one over their number of inputs (`protocol` "fresh"),
    or from those of the source network (`protocol` "warm"), and are trained as in `train_multilayer`, with `patience`
    as there. With all layers kept nothing is trained. ValueError for more kept layers than there are.
    """
    kept = int(checks.between("n_kept", n_kept, 0, len(source.layers), closed=(True, True)))
    start = source
    if protocol == "fresh":
        sizes = (source.n_inputs, *[layer.shape[1] for layer in source.layers])
        start = Multilayer((*source.layers[:kept], *Multilayer.random(sizes, rng).layers[kept:]))
    return train_multilayer(start, inputs, labels, rng, n_steps=n_steps, n_frozen=kept, batch=batch, patience=patience)
