"""Hinge loss with a trained bias: a large ridge leaves it to a few samples, and the best ridge is in between."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from figures.core import NONE, Curve, Experiment, Panel, level
from simulate.glm import LinearFit, fit, population
from simulate.glm.draw import draw_group
from simulate.glm.errors import respond
from simulate.glm.modes import apportion
from simulate.glm.population import Population
from theory import glm
from theory.models import Cluster, GeneralizedLinearModel, Modes

FLIPPED = 0.05
CLUSTERS = [
    Cluster(
        probability=share / 2,
        labels="cluster",
        label=int(side * flip),
        covariance=int(side < 0),
        mean_signal=0,
        mean_sign=float(side),
    )
    for side in (1, -1)
    for flip, share in ((1, 1 - FLIPPED), (-1, FLIPPED))
]
MODES = Modes(weights=[0.6, 0.4], covariances=[[0.5, 1.5], [0.8, 0.2]], gram=[[[0.6, 0.4]]])
RIDGES = np.geomspace(0.3, 300, 46)
MEASURED = (1.0, 2.0, 5.0, 8.0, 14.0)
DETERMINED = 5.0  # ridge up to which some ten samples decide on the bias at the size that is measured


def problem(lam: float) -> GeneralizedLinearModel:
    return GeneralizedLinearModel(modes=MODES, clusters=CLUSTERS, alpha=2.0, loss="hinge", lam=lam, bias=True)


def fitted(source: Population, counts: NDArray[np.int64], rng: Generator) -> tuple[float, float]:
    """Return the test error and the bias of a fit to so many samples of each group."""
    parts = [draw_group(group, int(count), rng) for group, count in zip(source.groups, counts, strict=True)]
    X, y = np.vstack([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    found: LinearFit = fit(X, y, "hinge", source.lam, bias=True)
    errors = [group.share * respond(group, found, "hinge").error for group in source.groups]
    return sum(errors), float(found.bias[0])


def counted_and_drawn(model: GeneralizedLinearModel, d: int, rng: Generator) -> dict[str, float]:
    """Measure fits to samples whose labels have the counts of the model, and whose labels are drawn one by one."""
    source = population(model, d)
    shares = np.array([group.share for group in source.groups])
    n = round(source.alpha * d)
    error, bias = fitted(source, apportion(shares, n), rng)
    drawn_error, drawn_bias = fitted(source, rng.multinomial(n, shares / shares.sum()), rng)
    return {"error": error, "bias": bias, "error, drawn": drawn_error, "bias, drawn": drawn_bias}


@cache
def solved(lam: float) -> glm.SaddlePoint:
    return glm.solve(problem(lam))


def predicted(model: GeneralizedLinearModel) -> dict[str, float]:
    point = solved(model.lam)
    return {"error": point.test_error, "bias": float(point.bias[0])}


def best_ridge() -> tuple[float]:
    return (glm.optimal_ridge(problem(1.0)).lam,)


def limit_of_error() -> float:
    return glm.infinite_ridge(problem(1.0)).test_error


def limit_of_bias(lam: float) -> float:
    """Return the leading order of the bias as lam -> infinity."""
    return float(glm.infinite_ridge(problem(1.0)).bias[0]) / lam


UNDETERMINED = "of terms of order 1/d, of imbalance, and of few samples that decide on the bias"
COUNTED, DRAWN = "label counts fixed; theory", "labels drawn"


def panel(
    title: str, name: str, limit: Curve, judged: Callable[[float], bool], stars: Any = None, **look: Any
) -> Panel:
    return Panel(
        title=title,
        curves={
            COUNTED: Curve(number=name, judged_where=judged, stars=stars),
            DRAWN: Curve(number=f"{name}, drawn", line=()),
            r"limit $\lambda \to \infty$": limit,
        },
        ylabel=title,
        **look,
    )


EXPERIMENT = Experiment(
    title="By theory a large ridge leaves the bias to few samples (hinge loss)",
    panels=[
        panel(
            "test error",
            "error",
            level(limit_of_error, (RIDGES[0], RIDGES[-1]), "reference", style="--"),
            judged=lambda _lam: False,
            stars=best_ridge,
        ),
        panel(
            "bias",
            "bias",
            Curve(model=float, theory=limit_of_bias, replicate=NONE, points=(), line=RIDGES[RIDGES > 12], style="--"),
            judged=lambda lam: lam <= DETERMINED,
            ylim=(-0.35, 0.25),
        ),
    ],
    measure=counted_and_drawn,
    theory=predicted,
    settings={"": problem},
    line=RIDGES,
    points=MEASURED,
    d=150,
    replicates=12,
    extrapolate=False,
    unjudged=UNDETERMINED,
    xlabel=r"ridge $\lambda$",
    xscale="log",
    caption="With hinge loss a large ridge leaves the bias to few samples, and the error rises: the best ridge is "
    "3.78. Clusters have opposite means and unequal covariances; a twentieth of the labels is flipped. Solid lines are "
    "the theory for infinitely many samples: at a ridge of 8 one in 1300 decides on the bias, at 14 one in 10^10. "
    "Dashed are the limits of a large ridge. Markers are fits of n = 2 d samples at d = {sizes}, with error bars. "
    "With fixed label counts they follow the theory while some samples decide; beyond, many biases are equally good. "
    "Labels drawn one by one do not balance: at large ridges nearly all samples get one label.",
)
