"""Hinge loss with a trained bias: a large ridge leaves it to a few samples, and the best ridge is in between."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from figures.core import NONE, Axes, Curve, DataFrame, Experiment, Panel, level
from simulate.core import stream
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
BEST = 3.78  # the ridge of least error, by `glm.optimal_ridge`
COUNTED, OPEN, DRAWN = "label counts fixed", "biases that fit equally well", "labels drawn one by one"
SHOWN = {COUNTED: f"{COUNTED}, $n = 2000$", OPEN: "range of equally good fits, $n = 300$", DRAWN: f"{DRAWN}, $n = 300$"}
POINTS = {COUNTED: (2.0, BEST, 5.5, 7.0), OPEN: (8.0, 14.0, 30.0), DRAWN: (1.0, 2.0, 5.0, 8.0, 14.0)}
ERROR, BIAS, RISE = "test error", "bias", "above the best ridge"
ENDS: dict[str, Callable[[NDArray[np.float64]], Any]] = {"least": np.min, "largest": np.max}
IMBALANCED = "labels that are drawn one by one do not balance, which the theory of infinitely many does not know"
TRIED = 31  # biases between both ends
SMALL = 150  # of what does not follow the theory


def problem(lam: float) -> GeneralizedLinearModel:
    return GeneralizedLinearModel(modes=MODES, clusters=CLUSTERS, alpha=2.0, loss="hinge", lam=lam, bias=True)


class Asked(NamedTuple):
    """Asks for one of the three measurements, named by `kind`, at a ridge."""

    lam: float
    kind: str


class Set(NamedTuple):
    """Holds a training set of a population, and what is known of fits to it."""

    source: Population
    X: NDArray[np.float64]
    y: NDArray[np.float64]

    @classmethod
    def of(cls, source: Population, counts: NDArray[np.int64], rng: Generator) -> "Set":
        """Draw so many samples of each group."""
        parts = [draw_group(group, int(count), rng) for group, count in zip(source.groups, counts, strict=True)]
        return cls(source, np.vstack([part[0] for part in parts]), np.concatenate([part[1] for part in parts]))

    def fit(self, lam: float) -> LinearFit:
        return fit(self.X, self.y, "hinge", lam, bias=True)

    def error(self, found: LinearFit) -> float:
        return sum(group.share * respond(group, found, "hinge").error for group in self.source.groups)

    def equally_good(self, found: LinearFit) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return biases from the least to the largest that have the loss of the fit, and the test errors with them.

        A sample leaves or enters the loss at the bias y - h, h its field without one. Below all of these places the
        loss falls by one per sample of the label +1, and at each of them the slope rises by one: it is zero between the
        places of this rank and the next.
        """
        places = np.sort(self.y - found.fields(self.X) + found.bias[0])
        rank = int(np.count_nonzero(self.y > 0))
        biases = np.linspace(places[rank - 1], places[rank], TRIED)
        return biases, np.array([self.error(replace(found, bias=np.array([bias]))) for bias in biases])


def measured(asked: Asked, d: int, rng: Generator) -> dict[str, float]:
    """Measure fits to samples whose labels have the counts of the model, or are drawn one by one."""
    source = population(problem(asked.lam), d)
    shares, n = np.array([group.share for group in source.groups]), round(source.alpha * d)
    if asked.kind == DRAWN:
        one = Set.of(source, rng.multinomial(n, shares / shares.sum()), rng)
        found = one.fit(asked.lam)
        return {ERROR: one.error(found), BIAS: float(found.bias[0])}
    one = Set.of(source, apportion(shares, n), rng)
    found = one.fit(asked.lam)
    if asked.kind == OPEN:
        biases, errors = one.equally_good(found)
        ends = {(name, end): float(pick(values)) for name, values in ((BIAS, biases), (ERROR, errors))
                for end, pick in ENDS.items()}  # fmt: skip
        return {f"{name}, {end}": value for (name, end), value in ends.items()}
    error = one.error(found)
    best = found if asked.lam == BEST else one.fit(BEST)
    return {ERROR: error, BIAS: float(found.bias[0]), RISE: error - one.error(best)}


def draws(seed: int, kind: str, _lam: float, d: int, replicate: int) -> Generator:
    """Name the samples, which are the same for all ridges."""
    return stream(seed, "hinge bias", kind, d, replicate)


@cache
def solved(lam: float) -> glm.SaddlePoint:
    return glm.solve(problem(lam))


def predicted(asked: Asked) -> dict[str, float]:
    """Predict fits with label counts fixed; whatever else is measured has no theory."""
    if asked.kind != COUNTED:
        return {}
    point = solved(asked.lam)
    error = point.test_error
    return {ERROR: error, BIAS: float(point.bias[0]), RISE: error - solved(BEST).test_error}


def limit_of_error() -> float:
    return glm.infinite_ridge(problem(1.0)).test_error


def limit_of_bias(lam: float) -> float:
    """Return the leading order of the bias as lam -> infinity."""
    return float(glm.infinite_ridge(problem(1.0)).bias[0]) / lam


def curves(name: str, limit: Curve) -> dict[str, Curve]:
    counted = Curve(number=name, setting=COUNTED, points=POINTS[COUNTED], color=0)
    ends = {
        label: Curve(number=f"{name}, {end}", setting=OPEN, line=(), points=POINTS[OPEN], color=3, d=SMALL)
        for label, end in zip((SHOWN[OPEN], f"_{SHOWN[OPEN]}"), ENDS, strict=True)
    }
    drawn = Curve(
        number=name, setting=DRAWN, line=(), points=POINTS[DRAWN], replicates=5, color=1, unjudged=IMBALANCED, d=SMALL
    )
    return {SHOWN[COUNTED]: counted, SHOWN[DRAWN]: drawn, r"limit $\lambda \to \infty$": limit, **ends}


def draw(axes: Axes, rows: DataFrame) -> None:
    """Mark the best ridge, and join the ends of what fits equally well."""
    ends = [
        rows[(rows["curve"] == name) & rows["stderr"].notna()].sort_values("x")
        for name in (SHOWN[OPEN], f"_{SHOWN[OPEN]}")
    ]
    if len(ends[0]):
        axes.vlines(ends[0]["x"], ends[0]["simulation"], ends[1]["simulation"], color="C3", linewidth=3, alpha=0.3)
    axes.axvline(BEST, color="0.6", linewidth=0.8, linestyle=":", zorder=0)


NEAR = np.geomspace(1.5, 8, 29)
EXPERIMENT = Experiment(
    title="With a large ridge only few samples decide on the bias of a hinge fit, and its error rises",
    panels=[
        Panel(
            title="test error",
            curves=curves(ERROR, level(limit_of_error, (RIDGES[0], RIDGES[-1]), "reference", style="--", color=6)),
            ylabel="test error",
        ),
        Panel(
            title="bias",
            curves=curves(
                BIAS,
                Curve(
                    model=float,
                    theory=limit_of_bias,
                    replicate=NONE,
                    points=(),
                    line=RIDGES[RIDGES > 12],
                    style="--",
                    color=6,
                ),
            ),
            ylabel="bias",
        ),
        Panel(
            title="error above that of the best ridge",
            curves={
                f"_{RISE}": Curve(
                    number=RISE, setting=COUNTED, color=0, points=[x for x in POINTS[COUNTED] if x != BEST]
                )
            },
            line=NEAR,
            ylabel="difference of the test errors",
        ),
    ],
    measure=measured,
    theory=predicted,
    settings={kind: partial(Asked, kind=kind) for kind in POINTS},
    streams=draws,
    together=lambda kind, _lam: kind,
    line=RIDGES,
    d=1000,
    replicates=24,
    extrapolate=False,
    xlabel=r"ridge $\lambda$",
    xscale="log",
    draw=draw,
    caption="With hinge loss a large ridge leaves the bias to few samples, and by theory the error rises from 0.20 at "
    "the best ridge (dotted) to 0.31. Clusters have opposite means and unequal covariances; a twentieth of the labels "
    "is flipped. Lines are the theory of infinitely many samples, of which one in 270 decides on the bias at ridge 7, "
    "one in 10^10 at 14. Circles are fits of 2000 samples with fixed label counts; (c) subtracts the best ridge's. Of "
    "300 samples hardly any decides: triangles, joined by bands, are the least and largest bias and error of equally "
    "good fits. Labels of squares, drawn one by one, do not balance. Triangles and squares have no theory.",
)
