"""Random features show double descent, with the peak at the separability threshold of the logistic loss."""

from collections.abc import Callable
from functools import cache, partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.random import Generator

from figures.core import NONE, Axes, Curve, DataFrame, Experiment, Panel, thinned
from figures.glm.observables import test_error
from simulate.core import stream
from simulate.glm import fit, measure
from simulate.glm.features import FeatureTask
from theory import glm
from theory.models import RandomFeatures

SAMPLES, ERROR = 3.0, "test error"  # n/d, and the name of what is measured
BUMP, REFERENCE = "the small bump of the logistic loss", 0.31  # p/n before the bump, where the error is least
AROUND = (0.24, 0.38, 0.45)  # p/n before, at and after the bump
TEST_SAMPLES = 6000
THRESHOLD = 0.3677  # p/n at which labels become separable, of the Gaussian projection
Projection = Literal["gaussian", "orthogonal"]
PROJECTIONS: tuple[Projection, ...] = ("gaussian", "orthogonal")
LAMS = {1e-4: "", 1e-2: r", $\lambda = 10^{-2}$"}
NEAR = np.unique(np.concatenate([np.geomspace(0.1, 3, 41), np.linspace(0.28, 0.5, 23), np.linspace(0.9, 1.12, 7)]))


def features(ratio: float, loss: str, projection: Projection, lam: float = 1e-4) -> RandomFeatures:
    """Make the model with p/n = ratio."""
    return glm.random_features(
        "sign", samples_per_input=SAMPLES, features_per_input=SAMPLES * ratio, loss=loss, lam=lam, projection=projection
    )


def threshold(projection: Projection) -> list[float]:
    return [glm.random_features_threshold(features(1.0, "logistic", projection)) / SAMPLES]


def measured(asked: "RandomFeatures | Rise", d: int, rng: Generator) -> dict[str, float]:
    return measured_rise(asked, d, rng) if isinstance(asked, Rise) else {ERROR: measure(asked, d, rng).test_error}


def predicted(asked: "RandomFeatures | Rise") -> dict[str, float]:
    if isinstance(asked, Rise):
        return asked.errors(logistic_error)
    return {ERROR: test_error(asked)}


@cache
def logistic_error(ratio: float, lam: float) -> float:
    return test_error(features(ratio, "logistic", "gaussian", lam))


CURVES = {
    f"{projection.capitalize()} projection{label}": (projection, lam)
    for lam, label in LAMS.items()
    for projection in (PROJECTIONS if lam == 1e-4 else PROJECTIONS[:1])
}
SETTINGS = {
    f"{projection}/{loss}/{lam}": partial(features, loss=loss, projection=projection, lam=lam)
    for projection, lam in CURVES.values()
    for loss in ("logistic", "square")
}


class Rise(NamedTuple):
    """Asks for what the error at p/n = ratio has more than at REFERENCE, by the ridge."""

    ratio: float

    def errors(self, error: Callable[[float, float], float]) -> dict[str, float]:
        """Return the rise at each ridge, of an error that is a function of p/n and the ridge."""
        return {rise(lam): error(self.ratio, lam) - error(REFERENCE, lam) for lam in LAMS}


def rise(lam: float) -> str:
    return f"rise at {lam:g}"


def measured_rise(asked: Rise, d: int, rng: Generator) -> dict[str, float]:
    """Measure the rise of the logistic loss on one sample, of which a fit with fewer features takes the first ones."""
    task = FeatureTask(features(AROUND[-1], "logistic", "gaussian"), d, rng)
    n = round(SAMPLES * d)
    (X, y), (fresh, labels) = task.draw(n, rng), task.draw(TEST_SAMPLES, rng)

    def error(ratio: float, lam: float) -> float:
        p = round(ratio * n)
        return float(np.mean(labels * (fresh[:, :p] @ fit(X[:, :p], y, "logistic", lam).weights[0]) < 0))

    return asked.errors(error)


def samples(setting: str, ratio: float) -> str:
    """Name the samples, which are the same for all losses and ridges, and where differences are shown for all x."""
    return setting if setting == BUMP else f"{setting.partition('/')[0]}, {ratio:.3g}"


def draws(seed: int, setting: str, ratio: float, d: int, replicate: int) -> Generator:
    return stream(seed, "random features", samples(setting, ratio), d, replicate)


def curves(loss: str) -> dict[str, Curve]:
    shown = {
        name: Curve(number=ERROR, setting=f"{projection}/{loss}/{lam}") for name, (projection, lam) in CURVES.items()
    }
    if loss == "square":
        return shown
    stars = {
        f"_star, {projection.capitalize()} projection": Curve(
            model=partial(features, loss=loss, projection=projection),
            theory=test_error,
            points=partial(threshold, projection),
            line=(),
            replicate=NONE,
            color=position,
        )
        for position, projection in enumerate(PROJECTIONS)
    }
    return shown | stars


def mark_transitions(axes: Axes, rows: DataFrame) -> None:
    """Mark where labels become separable (logistic loss) or are interpolated (square loss), clear of the legends."""
    for position, projection in enumerate(PROJECTIONS):
        for x in rows.loc[rows["curve"] == f"_star, {projection.capitalize()} projection", "x"]:
            axes.axvline(x, color=f"C{position}", linewidth=0.8, linestyle=":", ymax=0.65, zorder=0)
    for line in list(axes.lines):
        if line.get_marker() == "*":
            line.remove()  # the dotted lines mark the same, and hide no marker of a simulation
    panel = rows["panel"].iloc[0]
    if panel == BUMP:
        axes.axvline(THRESHOLD, color="C0", linewidth=0.8, linestyle=":", zorder=0)
        axes.axhline(0.0, color="0.6", linewidth=0.8, zorder=0)
    if panel == "square loss":
        axes.axvline(1.0, color="0.6", linewidth=0.8, linestyle=":", ymin=0.3, zorder=0)


EXPERIMENT = Experiment(
    title="Two losses peak at different numbers of random features",
    papers={
        "arXiv:2002.09339": "The published settings were not readable; these are our own. The error of the logistic "
        "loss peaks at the threshold of separability.",
    },
    panels=[
        Panel(title="logistic loss", curves=curves("logistic")),
        Panel(title="square loss", curves=curves("square")),
        Panel(
            title=BUMP,
            curves={
                f"_Gaussian projection{label}": Curve(number=rise(lam), setting=BUMP, color=color, style=style)
                for (lam, label), color, style in zip(LAMS.items(), (0, 2), ("-", ":"), strict=True)
            },
            line=np.unique([*np.linspace(0.2, 0.5, 31), REFERENCE, *np.linspace(0.36, 0.375, 7)]),
            points=AROUND,
            d=300,
            extrapolate=False,
            replicates=20,
            judged_where=lambda ratio: ratio != AROUND[1],
            unjudged="where labels become separable the limit of many inputs is reached slowly",
            ylabel=f"test error above that at $p/n = {REFERENCE}$",
            xscale="linear",
            ylim=(-0.03, 0.025),
        ),
    ],
    measure=measured,
    theory=predicted,
    settings={**SETTINGS, BUMP: Rise},
    streams=draws,
    together=samples,
    line=NEAR,
    points=(0.1, 0.2, 1 / 3, 0.37, 0.5, 1.0, 1.5),
    d=40,
    replicates=20,
    xlabel="features per sample $p/n$",
    ylabel="test error (share of wrong signs)",
    xscale="log",
    ylim=(0.18, 0.52),
    draw=mark_transitions,
    caption="Almost without a ridge, the error of the logistic loss has a small bump where the training set "
    "becomes separable (for the orthogonal projection by theory), the square loss a peak at interpolation. Labels are "
    "sign(theta.c) of Gaussian inputs c; the classifier reads p features sign(F c), n/d = 3, lambda = 0.0001 unless "
    "stated. Lines are the theory for d = infinity; markers are fits to the nonlinear features at d = 40 and 80, "
    "extrapolated, the same samples for all losses and ridges. Dotted lines mark separability and p = n. "
    "(c) Errors less those at p/n = 0.31, for d = 300 and the same samples everywhere; a ridge of 0.01 removes the "
    "bump.",
    draft=thinned,
)
