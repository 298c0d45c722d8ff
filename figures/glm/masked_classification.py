"""Pseudo-likelihood of a spin glass learns a masked spin as if the data were a Gaussian mixture."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from figures.core import NONE, Axes, Curve, DataFrame, Experiment, Panel, level, numbered, thinned
from figures.core.experiment import Grid
from figures.core.names import write_name
from figures.core.ratios import MARKERS
from figures.glm.masked_classification_data import spin_glass_fits
from theory import glm
from theory.core.arrays import Array
from theory.glm.classification import (
    OptimalRidge,
    fresh_loss,
    mixture_floor,
    mixture_separability_threshold,
    optimal_ridge,
    spin_glass_site,
)

P = 80  # spins that predict; simulated at P and 2 P
SWEEPS = {0.3: 15, 0.6: 30, 0.9: 100}  # to forget the start, by beta
BETAS, MIDDLE = tuple(SWEEPS), 0.6
ALPHAS, SMALL, SMALLER = (0.5, 1.0, 2.0, 3.0), 0.01, 1e-4
LOSS, TRANSITION, EXCESS, RIDGE = "$\\lambda = 1$", "$\\lambda = 0.01$", "$\\beta = 0.6$", "$\\beta = 0.6$, ridge"
BEST, LAW, SHARPER = r"best $\lambda$", r"$1/(2\alpha)$", "at the smaller ridge"
TEST, ABOVE, TRAIN = 0, 1, 2  # columns of spin_glass_fits

RIDGES = {r"$\lambda = 0.01$": SMALL, r"$\lambda = 1$": 1.0}
LINE = np.concatenate([np.linspace(0.3, 3.4, 43), np.geomspace(3.5, 25, 12)])
SHORT, LAMS = LINE[LINE < 3.5], np.geomspace(0.005, 30, 37)
SCANNED, SCAN = {1.0: r"$\alpha = 1$", 3.0: r"$\alpha = 3$"}, (SMALL, 0.1, 1.0, 10.0)
Problem = tuple[float, float]  # alpha, lam


def alone(lam: float) -> Callable[[float], Problem]:
    """Say that x is alpha, at this ridge."""
    return lambda alpha: (alpha, lam)


def scanned(alpha: float) -> Callable[[float], Problem]:
    """Say that x is the ridge, at this alpha."""
    return lambda lam: (alpha, lam)


@cache
def best(alpha: float) -> OptimalRidge:
    return optimal_ridge(spin_glass_site(MIDDLE, alpha=alpha, lam=1.0))


# The column of each number, and the problem (alpha, lam) at each x.
NUMBERS: dict[str, tuple[int, Callable[[float], Problem]]] = {
    LOSS: (TEST, alone(1.0)),
    TRANSITION: (TRAIN, alone(SMALL)),
    SHARPER: (TRAIN, alone(SMALLER)),
    BEST: (ABOVE, lambda alpha: (alpha, best(alpha).lam)),
    **{f"excess, {name}": (ABOVE, alone(lam)) for name, lam in RIDGES.items()},
    **{name: (ABOVE, scanned(alpha)) for alpha, name in SCANNED.items()},
}


def fits(
    beta: float, points: dict[str, list[float]], p: int, replicate: int, sites: int = 3, sweeps: int | None = None
) -> dict[str, Array]:
    """Measure all numbers on one sample, where numbers may share a fit."""
    asked = {name: [NUMBERS[name][1](x) for x in xs] for name, xs in points.items()}
    problems = list(dict.fromkeys(one for own in asked.values() for one in own))
    found = spin_glass_fits(p, beta, problems, sites, sweeps or SWEEPS[beta], replicate)
    return {
        name: np.array([found[problems.index(one), NUMBERS[name][0]] for one in own]) for name, own in asked.items()
    }


def predicted(number: str, beta: float, xs: Sequence[float]) -> dict[str, Array]:
    column, problem = NUMBERS[number]
    return {number: predictions(beta, [problem(x) for x in xs])[column]}


def predictions(beta: float, problems: Sequence[Problem]) -> Array:
    """Predict the test loss, its excess over the floor, and the training loss, (3, problems).

    Where the ridge is the same in all problems, each is solved from its neighbor.
    """
    if len({lam for _, lam in problems}) == 1:
        site = spin_glass_site(beta, alpha=1.0, lam=problems[0][1])
        points = glm.learning_curve(site, [alpha for alpha, _ in problems]).points[0]
    else:
        points = tuple(glm.solve(spin_glass_site(beta, alpha=alpha, lam=lam)) for alpha, lam in problems)
    losses = np.array([fresh_loss(point) for point in points])
    return np.stack([losses, losses - floor(beta), [point.train_loss for point in points]])


def curve(number: str, beta: float, line: Grid, points: Grid, color: int, style: str = "-", marker: str = "") -> Curve:
    look: dict[str, Any] = {"color": color, "style": style, "marker": marker or MARKERS[color]}
    return Curve(
        number=number, setting=f"beta = {beta}", theory=partial(predicted, number), line=line, points=points, **look
    )


def by_warmth(number: str) -> dict[str, Curve]:
    return {rf"$\beta = {beta}$": curve(number, beta, SHORT, ALPHAS, k) for k, beta in enumerate(BETAS)}


def floors() -> dict[str, Curve]:
    """Declare the Bayes floors, without a legend, in the colors of the curves to which they belong."""
    return {
        f"_floor {beta}": level(partial(floor, beta), (SHORT[0], SHORT[-1]), style=":", color=k)
        for k, beta in enumerate(BETAS)
    }


def floor(beta: float) -> float:
    return mixture_floor(spin_glass_site(beta, alpha=1.0, lam=1.0))


def thresholds() -> dict[str, Curve]:
    """Declare the training losses at the smaller ridge, and upright lines where separability ends."""

    def upright(beta: float, color: int) -> Curve:
        at = cache(lambda: mixture_separability_threshold(spin_glass_site(beta, alpha=1.0, lam=1.0)))
        ends = [0.0, 0.12]
        return Curve(
            model=float, theory=lambda x: ends[x > at()], line=lambda: [at() * (1 - 1e-13), at() * (1 + 1e-13)],
            points=(), style=":", color=color,
        )  # fmt: skip

    return {
        name: line
        for k, beta in enumerate(BETAS)
        for name, line in (
            (f"_sharper {beta}", curve(SHARPER, beta, SHORT, (), k, "--")),
            (f"_threshold {beta}", upright(beta, k)),
        )
    }


def optimum(alpha: float, color: int) -> Curve:
    """Declare the star at the best ridge."""
    return Curve(
        model=float, theory=lambda _lam: best(alpha).loss - floor(MIDDLE), line=(), points=lambda: [best(alpha).lam],
        replicate=NONE, style="-", color=color,
    )  # fmt: skip


def draw(axes: Axes, rows: DataFrame) -> None:
    """Say what the lines are that have no entry in a legend."""
    panel = rows["panel"].iloc[0]
    if panel == LOSS:
        floors_at = (SHORT[-1], floor(BETAS[0]))
        write_name(axes, "Bayes floors", floors_at, (0.0, -2.5), across="right", along="top")
    if panel == TRANSITION:
        corner = axes.get_xlim()[0], axes.get_ylim()[1]
        said = "dashed: $\\lambda = 10^{-4}$\ndotted: separability ends"
        write_name(axes, said, corner, (6.0, -3.0), along="top")
    if panel == RIDGE:
        axes.plot([], [], "*", color="0.3", markersize=9, label=BEST)
        axes.legend()


RATIO, ABOVE_FLOOR = r"samples per spin $\alpha = n/p$", "excess over the Bayes floor"
EXPERIMENT = Experiment(
    title="A Gaussian mixture describes the pseudo-likelihood of one spin",
    measure=fits,
    by_point=True,
    by_number=True,
    settings={f"beta = {beta}": beta for beta in BETAS},
    streams=numbered,
    panels=(
        Panel(title=LOSS, curves=by_warmth(LOSS) | floors(), ordered=True, ylabel="cross entropy", xlabel=RATIO),
        Panel(
            title=TRANSITION,
            curves=by_warmth(TRANSITION) | thresholds(),
            ordered=True,
            ylabel="training loss",
            xlabel=RATIO,
        ),
        Panel(
            title=EXCESS,
            curves={
                name: curve(f"excess, {name}", MIDDLE, LINE, (*ALPHAS, 5.0), k, style, marker)
                for (k, style, marker), name in zip(((1, "-", "^"), (2, "--", "v")), RIDGES, strict=True)
            }
            | {
                BEST: curve(BEST, MIDDLE, LINE[::4], ALPHAS, 3, ":", "<"),
                LAW: Curve(
                    model=float,
                    theory=lambda alpha: 1 / (2 * alpha),
                    line=(3.0, 25.0),
                    points=(),
                    style="-.",
                    color="0.4",
                ),
            },
            ylabel=ABOVE_FLOOR,
            xlabel=RATIO,
            xscale="log",
            yscale="log",
        ),
        Panel(
            title=RIDGE,
            curves={
                name: curve(name, MIDDLE, LAMS, SCAN, k, "-", ">p"[k - 5])
                for k, name in enumerate(SCANNED.values(), start=5)
            }
            | {f"_best {alpha:g}": optimum(alpha, k) for k, alpha in enumerate(SCANNED, start=5)},
            ylabel=ABOVE_FLOOR,
            xlabel=r"ridge $\lambda$",
            xscale="log",
            yscale="log",
        ),
    ),
    d=P,
    toy_d=12,
    replicates=8,
    draft=lambda own: thinned(replace(own, measure=partial(fits, sites=1, sweeps=5)), line=2),
    draw=draw,
    caption="Logistic regression of one spin of the Sherrington-Kirkpatrick model on the p others has the errors of a "
    "mixture of two Gaussian clusters (means ±beta W J_i, covariance W). It minimizes losses + (lambda/2)|w|^2, with "
    "fields w.x/sqrt(p). Lines are theory for p = infinity; markers are fits at p = 80 and 160, extrapolated in 1/p; "
    "those of one beta share samples. (a) Test loss at lambda 1; dotted: Bayes floors. At beta 0.9 all markers lie "
    "1.1 to 1.8 standard errors low. (b) Training loss at lambda 0.01 (dashed: theory at 0.0001); separability ends "
    "by theory at dotted lines. (c, d) Excess of the test loss at beta 0.6, with the law p/(2n) (gray) and the "
    "optimum (star).",
)
