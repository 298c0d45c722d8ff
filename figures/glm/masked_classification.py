"""Pseudo-likelihood of a spin glass learns a masked spin as if the data were a Gaussian mixture."""

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from figures.core import Context, Curve, Experiment, Panel, Row, judged_together, row
from figures.glm.masked_classification_data import spin_glass_fits
from simulate.core import Estimate, Task, extrapolate
from theory import glm
from theory.core.arrays import Array
from theory.glm.classification import (
    BestRidge,
    best_ridge,
    fresh_loss,
    mixture_floor,
    mixture_separability_threshold,
    spin_glass_site,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

P = 80  # spins that predict; simulated at P and 2 P
SWEEPS = {0.3: 15, 0.6: 30, 0.9: 100}  # to forget the start, by beta
BETAS, MIDDLE = tuple(SWEEPS), 0.6
ALPHAS, SMALL, SMALLER = (0.5, 1.0, 2.0, 3.0), 0.01, 1e-4
LOSS, TRANSITION, EXCESS, RIDGE = "$\\lambda = 1$", "$\\lambda = 0.01$", "$\\beta = 0.6$", "$\\beta = 0.6$, ridge"
BEST, LAW = r"best $\lambda$", r"$1/(2\alpha)$"
TEST, ABOVE, TRAIN = 0, 1, 2  # columns of spin_glass_fits

LINE = np.concatenate([np.linspace(0.3, 3.4, 43), np.geomspace(3.5, 25, 12)])
LAMS = np.geomspace(0.005, 30, 37)
SCANNED, SCAN = (1.0, 3.0), (SMALL, 0.1, 1.0, 10.0)
STYLES = {LOSS: {":": "Bayes floor"}, TRANSITION: {"--": r"$\lambda = 10^{-4}$", ":": "separability ends"}}
Problem = tuple[float, float, float]  # beta, alpha, lam


def compute(context: Context) -> list[Row]:
    measured = Measured(context, best_at(context))
    rows = []
    for beta in measured.betas:
        rows += losses(context, measured, beta) + transition(context, measured, beta)
    rows += excesses(context, measured) + scan(context, measured)
    rows.sort(key=lambda each: str(each["curve"]).startswith("_"))  # equal curves of two panels get equal markers
    return rows + measured.joint_rows()


def best_at(context: Context) -> dict[float, float]:
    """Maps alpha to the ridge of the least test loss at beta = 0.6."""
    return {a: best(a).lam for a in context.thin(ALPHAS, 1)}


@lru_cache(maxsize=64)
def best(alpha: float) -> BestRidge:
    return best_ridge(spin_glass_site(MIDDLE, alpha=alpha, lam=1.0))


class Measured:
    """Holds fits to sampled spins for every problem of the figure, at both sizes."""

    def __init__(self, context: Context, best: dict[float, float]) -> None:
        self.best, self.p, self.replicates = best, context.size(P, 12), range(context.replicates(8))
        self.betas = (MIDDLE,) if context.is_draft else BETAS
        alphas = context.thin(ALPHAS, 2)
        self.problems = {beta: [(a, lam) for lam in (1.0, SMALL) for a in alphas] for beta in self.betas}
        self.problems[MIDDLE] += [(5.0, 1.0), (5.0, SMALL), *best.items()]
        self.problems[MIDDLE] += [(a, lam) for a in SCANNED for lam in SCAN if lam not in (1.0, SMALL)]
        sites = context.size(3, 1)
        tasks = [
            Task(
                f"{beta}/{p}/{r}",
                spin_glass_fits,
                (p, beta, self.problems[beta], sites, context.size(SWEEPS[beta], 5), r),
            )
            for p in (2 * self.p, self.p)
            for beta in self.betas
            for r in self.replicates
        ]
        self.found = context.sweep(tasks)
        self.judged: dict[float, list[tuple[Row, Array]]] = {beta: [] for beta in self.betas}

    def rows(self, curve: str, x: float, panel: str, problem: Problem, column: int, judged: bool = True) -> list[Row]:
        """Returns the rows of both sizes and of their extrapolation, against the theory of infinitely many spins."""
        beta, alpha, lam = problem
        place, predicted = self.problems[beta].index((alpha, lam)), predictions(*problem)[column]
        values = [
            np.array([np.asarray(self.found[f"{beta}/{p}/{r}"])[place, column] for r in self.replicates])
            for p in (self.p, 2 * self.p)
        ]
        small, large = map(Estimate.of, values)
        sizes = ((self.p, small, False), (2 * self.p, large, False), (math.inf, extrapolate(small, large), judged))
        rows = [row(curve, x, panel=panel, theory=predicted, d=d, estimate=e, judged=z) for d, e, z in sizes]
        self.judged[beta].append((rows[-1], 2 * values[1] - values[0]))
        return rows

    def joint_rows(self) -> list[Row]:
        """Judges all fits at one temperature together, because they are fits to the same samples."""
        found = []
        for beta, members in self.judged.items():
            made, values = [each for each, _ in members], np.transpose([own for _, own in members])
            found += judged_together(f"beta = {beta}", made, values)[len(made) :]
        return found


@lru_cache(maxsize=256)
def predictions(beta: float, alpha: float, lam: float) -> Array:
    """Predicts the test loss, its excess over the floor, and the training loss."""
    model = spin_glass_site(beta, alpha=alpha, lam=lam)
    point = glm.solve(model)
    loss = fresh_loss(point)
    return np.array([loss, loss - mixture_floor(model), point.train_loss])


def line(beta: float, alphas: list[float], lam: float) -> Array:
    """Returns `predictions` at every alpha, (alphas, 3), each solved from its neighbor."""
    model = spin_glass_site(beta, alpha=1.0, lam=lam)
    points = glm.learning_curve(model, alphas).points[0]
    return np.array([[fresh_loss(p), fresh_loss(p) - mixture_floor(model), p.train_loss] for p in points])


def losses(context: Context, measured: Measured, beta: float) -> list[Row]:
    alphas = context.thin(LINE[LINE < 3.5], 3)
    name, floor = rf"$\beta = {beta}$", mixture_floor(spin_glass_site(beta, alpha=1.0, lam=1.0))
    rows = [row(name, a, panel=LOSS, theory=v[TEST]) for a, v in zip(alphas, line(beta, alphas, 1.0), strict=True)]
    for a in context.thin(ALPHAS, 2):
        rows += measured.rows(name, a, LOSS, (beta, a, 1.0), TEST)
    return rows + [row(f"_floor {beta}", a, panel=LOSS, theory=floor) for a in (alphas[0], alphas[-1])]


def transition(context: Context, measured: Measured, beta: float) -> list[Row]:
    alphas, name = context.thin(LINE[LINE < 3.5], 3), rf"$\beta = {beta}$"
    values = line(beta, alphas, SMALL)[:, TRAIN]
    rows = [row(name, a, panel=TRANSITION, theory=v) for a, v in zip(alphas, values, strict=True)]
    sharper = line(beta, alphas, SMALLER)[:, TRAIN]
    rows += [row(f"_sharper {beta}", a, panel=TRANSITION, theory=v) for a, v in zip(alphas, sharper, strict=True)]
    threshold = mixture_separability_threshold(spin_glass_site(beta, alpha=1.0, lam=1.0))
    rows += [row(f"_threshold {beta}", threshold, panel=TRANSITION, theory=y) for y in (0.0, 0.12)]
    for a in context.thin(ALPHAS, 2):
        rows += measured.rows(name, a, TRANSITION, (beta, a, SMALL), TRAIN)
    return rows


def excesses(context: Context, measured: Measured) -> list[Row]:
    alphas, rows = context.thin(LINE, 3), []
    for name, lam in ((r"$\lambda = 0.01$", SMALL), (r"$\lambda = 1$", 1.0)):
        values = line(MIDDLE, alphas, lam)[:, ABOVE]
        rows += [row(name, a, panel=EXCESS, theory=v) for a, v in zip(alphas, values, strict=True)]
        for a in [*context.thin(ALPHAS, 2), 5.0]:
            rows += measured.rows(name, a, EXCESS, (MIDDLE, a, lam), ABOVE)
    floor = mixture_floor(spin_glass_site(MIDDLE, alpha=1.0, lam=1.0))
    rows += [row(BEST, a, panel=EXCESS, theory=best(a).loss - floor) for a in context.thin(LINE[::4], 1)]
    for a, lam in measured.best.items():
        rows += measured.rows(BEST, a, EXCESS, (MIDDLE, a, lam), ABOVE)
    return rows + [row(LAW, a, panel=EXCESS, theory=1 / (2 * a)) for a in (3.0, 25.0)]


def scan(context: Context, measured: Measured) -> list[Row]:
    lams, rows = context.thin(LAMS, 3), []
    for alpha in context.thin(SCANNED, 1):
        name = rf"$\alpha = {alpha:g}$"
        rows += [row(name, lam, panel=RIDGE, theory=predictions(MIDDLE, alpha, lam)[ABOVE]) for lam in lams]
        floor = mixture_floor(spin_glass_site(MIDDLE, alpha=alpha, lam=1.0))
        rows.append(row(f"_best {alpha:g}", best(alpha).lam, panel=RIDGE, theory=best(alpha).loss - floor, d=math.inf))
        for lam in SCAN:
            if (alpha, lam) in measured.problems[MIDDLE]:
                rows += measured.rows(name, lam, RIDGE, (MIDDLE, alpha, lam), ABOVE)
    return rows


def styled(name: str, keys: tuple[float, ...], style: str) -> dict[str, Curve]:
    """Declares lines without a legend, in the colors of the curves to which they belong."""
    return {f"_{name} {key:g}": Curve(model=key, style=style, color=k) for k, key in enumerate(keys)}


def colored(names: list[str]) -> dict[str, Curve]:
    return {name: Curve(model=name, style="-", color=k) for k, name in enumerate(names)}


def draw(axes: "Axes", rows: "DataFrame") -> None:
    """Says in the legend what the lines are that have no entry of their own."""
    if rows["panel"].isin([LOSS, TRANSITION]).all():
        for style, meaning in STYLES[rows["panel"].iloc[0]].items():
            axes.plot([], [], color="0.3", linestyle=style, label=meaning)
        axes.legend()
    if rows["panel"].eq(RIDGE).all():
        axes.plot([], [], "*", color="0.3", markersize=9, label=r"best $\lambda$")
        axes.legend()


WARMTH = [rf"$\beta = {beta}$" for beta in BETAS]
RATIO = r"samples per spin $\alpha = n/p$"
EXPERIMENT = Experiment(
    title="Pseudo-likelihood of the Sherrington-Kirkpatrick model, one site",
    compute=compute,
    panels=(
        Panel(title=LOSS, curves=colored(WARMTH) | styled("floor", BETAS, ":"), ylabel="cross entropy", xlabel=RATIO),
        Panel(
            title=TRANSITION,
            curves=colored(WARMTH) | styled("threshold", BETAS, ":") | styled("sharper", BETAS, "--"),
            ylabel="training loss",
            xlabel=RATIO,
        ),
        Panel(
            title=EXCESS,
            curves={LAW: Curve(model=0, style="--", color=3)},
            ylabel="excess over the Bayes floor",
            xlabel=RATIO,
            xscale="log",
            yscale="log",
        ),
        Panel(
            title=RIDGE,
            curves=colored([rf"$\alpha = {alpha:g}$" for alpha in SCANNED]) | styled("best", SCANNED, "-"),
            ylabel="excess over the Bayes floor",
            xlabel=r"ridge $\lambda$",
            xscale="log",
            yscale="log",
        ),
    ),
    draw=draw,
    caption="One spin is predicted from the p others by logistic regression, which minimizes the sum of losses + "
    "(lambda/2)|w|^2 with fields w.x/sqrt(p). Lines are the replica theory of a mixture of two Gaussian clusters in "
    "the limit p = infinity, where everything is known: the clusters have means +-beta W J_i and the common "
    "covariance W = (1 + beta^2 - beta J)^-1. Markers are fits to sampled spins of 8 models with p + 1 spins, p = "
    "80 and 160, and couplings J with rows of unit length, 3 sites of each, extrapolated in 1/p, with error bars. "
    "The upper row shows the test loss at lambda = 1, with the Bayes floors, which are the least losses possible "
    "(dotted), and the training loss at lambda = 0.01 (dashed: 0.0001), with the thresholds (dotted) up to which a "
    "plane separates the labels. The lower row shows the excess of the test loss over the least one at beta = 0.6, "
    "with the large-sample law p/(2n) (dashed), and the same excess against the ridge, with a star at the optimum. "
    "The Gaussian mixture describes the fits to spins.",
)
