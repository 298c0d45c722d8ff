"""A first layer that was trained on one task helps another if the two tasks are correlated enough."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

from figures.core import Axes, Curve, DataFrame, Experiment, Panel, thinned
from figures.core.names import write_name
from simulate.core import stream
from simulate.glm import draw_task, random_network, scratch_error, test_error, train
from theory import glm
from theory.core.arrays import Array
from theory.models import HiddenManifold, TransferModel

ALPHA, LAM = 1.0, 0.01
TRANSFERRED, RANDOM = "transferred features", "random features"
Instances = tuple[TransferModel, ...]


@dataclass(frozen=True)
class Sizes:
    latent: int
    inputs: int
    hidden: int
    source_samples: int
    instances: int  # sources, targets and first layers drawn; everything shown is their mean


FULL, TOY = Sizes(60, 120, 90, 1200, instances=2), Sizes(10, 20, 15, 200, instances=1)


@lru_cache(maxsize=FULL.instances)
def source(number: int, sizes: Sizes) -> tuple[HiddenManifold, Array, Array]:
    """Return a source task, the first layer that was trained on it, and that layer before."""
    rng = stream(0, "transfer", "source", number)
    task = HiddenManifold.random(sizes.inputs, sizes.latent, rng)
    start = random_network(sizes.hidden, sizes.inputs, rng)
    return task, train(start, *draw_task(task, sizes.source_samples, rng)).first_layer, start.first_layer


def targets(sizes: Sizes, features: float, teacher: float, trained: bool, alpha: float = ALPHA) -> Instances:
    models = []
    for number in range(sizes.instances):
        task, after, before = source(number, sizes)
        own = task.correlated(features, teacher, stream(0, "transfer", "target", number))
        models.append(TransferModel(task=own, first_layer=after if trained else before, alpha=alpha, lam=LAM))
    return tuple(models)


def along_features(correlation: float, trained: bool, sizes: Sizes) -> Instances:
    return targets(sizes, correlation, 1.0, trained)


def along_teacher(correlation: float, trained: bool, sizes: Sizes) -> Instances:
    return targets(sizes, 1.0, correlation, trained)


def along_samples(alpha: float, trained: bool, sizes: Sizes) -> Instances:
    return targets(sizes, 0.9, 0.9, trained, alpha)


def frozen(models: Instances) -> float:
    return float(np.mean([glm.solve(model).test_error for model in models]))


def frozen_error(models: Instances, d: int, rng: np.random.Generator) -> float:
    return float(np.mean([test_error(model, d, rng) for model in models]))


def error_from_scratch(models: Instances, d: int, rng: np.random.Generator) -> float:
    return float(np.mean([scratch_error(model, d, rng) for model in models]))


def curves(at: Callable[..., Instances], sizes: Sizes) -> dict[str, Curve]:
    return {
        TRANSFERRED: Curve(model=partial(at, trained=True, sizes=sizes)),
        RANDOM: Curve(model=partial(at, trained=False, sizes=sizes)),
    }


def no_theory(models: Instances) -> None:
    """Predict nothing: the theory is of frozen features only."""


def scratch(sizes: Sizes) -> Curve:
    """Declare both layers trained on the target samples alone, which is simulated without a theory."""
    return Curve(
        model=partial(along_samples, trained=False, sizes=sizes),
        theory=no_theory,
        replicate=error_from_scratch,
        line=(),
        points=(0.3, 1.0, 3.0),
        replicates=3,
    )


def panels(sizes: Sizes) -> list[Panel]:
    """Declare the three panels, and below each its networks over the theory of frozen features."""
    own = errors(sizes)
    return [*own, *(ratios(panel) for panel in own)]


def ratios(panel: Panel) -> Panel:
    return Panel(
        title=f"{panel.title}: over theory",
        ratio_of=panel.title,
        xlabel=panel.xlabel,
        xscale=panel.xscale,
        ylabel="networks/theory $-$ 1",
        ylim=(-0.12, 0.12),
    )


def errors(sizes: Sizes) -> list[Panel]:
    return [
        Panel(
            title=r"$\alpha = 1$, same teacher",
            curves=curves(along_features, sizes),
            xlabel="correlation of inputs $r_F$",
        ),
        Panel(
            title=r"$\alpha = 1$, same inputs",
            curves=curves(along_teacher, sizes),
            xlabel="correlation of teachers $r_T$",
        ),
        Panel(
            title="$r_F = r_T = 0.9$",
            curves=curves(along_samples, sizes) | {"trained from scratch": scratch(sizes)},
            line=np.geomspace(0.25, 8, 13),
            points=(0.3, 1.0, 3.0, 8.0),
            xlabel=r"target samples per feature $\alpha = n/p$",
            xscale="log",
        ),
    ]


def draw(axes: Axes, rows: DataFrame) -> None:
    """Mark the correlation from which on transferred features help by theory, between the points of its lines."""
    lines = rows[rows["size"].isna()].pivot_table(index="x", columns="curve", values="theory", sort=False)
    if not {TRANSFERRED, RANDOM} <= set(lines):
        return
    gain = (lines[RANDOM] - lines[TRANSFERRED]).sort_index()
    for k in np.flatnonzero((gain.to_numpy()[:-1] < 0) & (gain.to_numpy()[1:] >= 0)):
        x = float(np.interp(0.0, gain.iloc[k : k + 2], gain.index[k : k + 2]))
        axes.axvline(x, color="0.6", linewidth=0.7, zorder=0)
        write_name(axes, f"{x:.2f}", (x, 0.11), color="0.4")


EXPERIMENT = Experiment(
    title="By theory transferred features help from correlations of 0.2 (inputs) or 0.3 (teachers) on",
    papers={
        "arXiv:2106.05418": "The published settings were not readable; networks and tasks are our own. Transferred "
        "features help if the tasks are correlated enough.",
    },
    panels=panels(FULL),
    theory=frozen,
    replicate=frozen_error,
    line=np.linspace(0, 1, 13),
    points=(0.0, 0.3, 0.6, 0.8, 1.0),
    d=FULL.hidden,
    extrapolate=False,
    replicates=8,
    judged=lambda model: False,
    draw=draw,
    ylabel="test error (share of wrong signs)",
    ylim=(0.1, 0.42),
    unjudged="the theory of trained features is approximate",
    caption="Features of a frozen first layer, trained on a source task, help a target task by theory from a "
    "correlation of the inputs of about 0.2, or of the teachers of about 0.3, on (gray lines); networks "
    "clearly from 0.6. The layer (90 x 120) is trained on 1200 source samples or random; only the readout is "
    "learned. Lines are the theory, with Gaussian features of the same covariance (arcsine law); markers are "
    "the networks themselves. For trained features the predicted errors are too large, by 4 %, since the "
    "layer lies along the source teacher, so that no z is given. (c) From scratch, both layers learn the "
    "target samples alone. (d, e, f) Networks over theory.",
    draft=lambda own: thinned(replace(own, panels=panels(TOY), d=TOY.hidden)),
)
