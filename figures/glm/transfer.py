"""A first layer trained on one task and frozen for another: error against the correlations of the two tasks."""

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from figures.core import Curve, Experiment, Panel
from simulate.core import stream
from simulate.glm import draw_task, random_network, scratch_error, test_error, train
from theory import glm
from theory.models import HiddenManifold, TransferModel

LATENT, INPUTS, HIDDEN, SOURCE_SAMPLES = 60, 120, 90, 1200
ALPHA, LAM = 1.0, 0.01
INSTANCES = 2  # sources, targets and first layers drawn; everything shown is their mean
Array = NDArray[np.float64]
Instances = tuple[TransferModel, ...]


@lru_cache(maxsize=INSTANCES)
def source(number: int) -> tuple[HiddenManifold, Array, Array]:
    """A source task, the first layer that was trained on it, and that layer before."""
    rng = stream(0, "transfer", "source", number)
    task = HiddenManifold.random(INPUTS, LATENT, rng)
    start = random_network(HIDDEN, INPUTS, rng)
    return task, train(start, *draw_task(task, SOURCE_SAMPLES, rng)).first_layer, start.first_layer


def targets(features: float, teacher: float, trained: bool, alpha: float = ALPHA) -> Instances:
    models = []
    for number in range(INSTANCES):
        task, after, before = source(number)
        own = task.correlated(features, teacher, stream(0, "transfer", "target", number))
        models.append(TransferModel(task=own, first_layer=after if trained else before, alpha=alpha, lam=LAM))
    return tuple(models)


def along_features(correlation: float, trained: bool) -> Instances:
    return targets(correlation, 1.0, trained)


def along_teacher(correlation: float, trained: bool) -> Instances:
    return targets(1.0, correlation, trained)


def along_samples(alpha: float, trained: bool) -> Instances:
    return targets(0.9, 0.9, trained, alpha)


def frozen(models: Instances) -> float:
    return float(np.mean([glm.solve(model).test_error for model in models]))


def frozen_error(models: Instances, d: int, rng: np.random.Generator) -> float:
    return float(np.mean([test_error(model, d, rng) for model in models]))


def error_from_scratch(models: Instances, d: int, rng: np.random.Generator) -> float:
    return float(np.mean([scratch_error(model, d, rng) for model in models]))


def curves(at: Callable[..., Instances]) -> dict[str, Curve]:
    return {
        "transferred features": Curve(model=partial(at, trained=True)),
        "random features": Curve(model=partial(at, trained=False)),
    }


def no_theory(models: Instances) -> None:
    """Feature learning is not in it."""


def scratch() -> Curve:
    """Both layers trained on the target samples alone: simulated, there is no theory."""
    return Curve(
        model=partial(along_samples, trained=False),
        theory=no_theory,
        replicate=error_from_scratch,
        line=(),
        points=(0.3, 1.0, 3.0),
        replicates=3,
    )


EXPERIMENT = Experiment(
    title=rf"Transfer of erf features between hidden manifolds, $p = {HIDDEN}$, logistic loss, $\lambda = {LAM}$",
    panels=[
        Panel(title=r"$\alpha = 1$, same teacher", curves=curves(along_features), xlabel="correlation of inputs $r_F$"),
        Panel(title=r"$\alpha = 1$, same inputs", curves=curves(along_teacher), xlabel="correlation of teachers $r_T$"),
        Panel(
            title="$r_F = r_T = 0.9$",
            curves=curves(along_samples) | {"trained from scratch": scratch()},
            line=np.geomspace(0.25, 8, 13),
            points=(0.3, 1.0, 3.0, 8.0),
            xlabel=r"target samples per feature $\alpha = n/p$",
            xscale="log",
        ),
    ],
    theory=frozen,
    replicate=frozen_error,
    line=np.linspace(0, 1, 13),
    points=(0.0, 0.3, 0.6, 0.8, 1.0),
    d=HIDDEN,
    extrapolate=False,
    replicates=8,
    judged=lambda model: False,
    ylabel="test error (share of wrong signs)",
    ylim=(0.1, 0.42),
    caption="A first layer (90 x 120) trained by gradient descent on 1200 source samples, or left as drawn, is frozen "
    "and read out on the target task (latent dimension 60); means over 2 draws of everything. Lines: its Gaussian "
    "equivalent by the arcsine law; markers: the networks themselves at their own size. No z: for trained features "
    "the equivalent is only approximate, too pessimistic by 4 percent on average and up to 7 (random features: 2), "
    "since the first layer lies along the source teacher and responds nonlinearly. Features help from a correlation of "
    "about 0.3 on; with many target samples training both layers from scratch does better.",
)
