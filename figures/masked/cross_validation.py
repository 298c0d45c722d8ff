"""Generalized cross-validation reports too small an error where rows differ in scale; leaving one row out does not."""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from figures.core import Axes, Curve, DataFrame, Experiment, Panel
from figures.core.names import write_name
from figures.masked.two_scales import two_scales
from simulate.core import stream
from simulate.masked import mean_gcv_error, mean_loo_error, mean_test_error
from theory import masked
from theory.models import AR1, MaskedRidge

COVARIANCE, ALPHA = AR1(np.inf, 0.6), 1.5


def against_scales(heterogeneity: float) -> MaskedRidge:
    return MaskedRidge(COVARIANCE, ALPHA, 0.1, two_scales(heterogeneity))


def against_ridge(lam: float) -> MaskedRidge:
    return MaskedRidge(COVARIANCE, ALPHA, lam, two_scales(3.0))


class Ridge(NamedTuple):
    """Asks for the errors at a ridge, and for what they are above those at the best ridge for each."""

    lam: float


NEW, REPORTED, LEFT_OUT = "new rows", "generalized cross-validation", "leaving one row out"


BEST = {NEW: 0.57, REPORTED: 0.087}  # the ridges of least error on new rows, and of the least that is reported
REPLICATES = {NEW: mean_test_error, REPORTED: mean_gcv_error, LEFT_OUT: mean_loo_error}


def predicted(asked: MaskedRidge | Ridge) -> dict[str, float]:
    if isinstance(asked, Ridge):
        return solved(asked.lam) | {
            above(name): solved(asked.lam)[name] - solved(best)[name] for name, best in BEST.items()
        }
    found = masked.solve(asked)
    return {NEW: found.mean_test_error, REPORTED: found.mean_gcv_error, LEFT_OUT: found.mean_test_error}


@cache
def solved(lam: float) -> dict[str, float]:
    return predicted(against_ridge(lam))


def above(name: str) -> str:
    return f"{name}, above the least"


def measured(asked: MaskedRidge | Ridge, d: int, rng: Generator) -> dict[str, float]:
    """Measure all errors of one fit, and at a ridge also of the fit to the same rows that is best for each."""
    state = rng.bit_generator.state

    def error(name: str, model: MaskedRidge) -> float:
        rng.bit_generator.state = state  # the same rows again
        return REPLICATES[name](model, d, rng)

    if not isinstance(asked, Ridge):
        return {name: error(name, asked) for name in REPLICATES}
    found = {name: error(name, against_ridge(asked.lam)) for name in REPLICATES}
    return found | {
        above(name): found[name] - error(name, against_ridge(best)) if asked.lam != best else 0.0
        for name, best in BEST.items()
    }


def samples(setting: str, x: float) -> str:
    """Name the samples, which are the same for all ridges."""
    return "ridge" if setting == "ridge" else f"{setting}, {x:g}"


def draws(seed: int, setting: str, x: float, d: int, replicate: int) -> Generator:
    return stream(seed, *(("ridge",) if setting == "ridge" else (setting, x)), d, replicate)


SETTINGS = {"scales": against_scales, "ridge": Ridge}


def curves(setting: str) -> dict[str, Curve]:
    return {
        NEW: Curve(number=NEW, setting=setting),
        REPORTED: Curve(number=REPORTED, setting=setting),
        LEFT_OUT: Curve(number=LEFT_OUT, setting=setting, line=()),
    }


RIDGES, TRIED = np.geomspace(1e-2, 3, 46), (0.02, *sorted(BEST.values()), 2.5)


def draw(axes: Axes, rows: DataFrame) -> None:
    """Mark the best ridges in the colors of their errors, and name them at the top."""
    if not rows["panel"].iloc[0].startswith("$h"):
        return
    for color, (best, name) in enumerate(zip(BEST.values(), ("best", "chosen"), strict=True)):
        axes.axvline(best, color=f"C{color}", linewidth=0.8, linestyle=":", zorder=0)
        write_name(axes, name, (best, axes.get_ylim()[1]), (2.0, 0.0), color=f"C{color}", along="top")


EXPERIMENT = Experiment(
    title="Generalized cross-validation reports too little where rows differ in scale",
    panels=[
        Panel(
            title=r"$\lambda = 0.1$",
            curves=curves("scales"),
            line=np.linspace(1, 4, 91),
            points=(1.0, 1.5, 2.5, 3.5),
            xlabel="heterogeneity of the rows $h$",
        ),
        Panel(
            title="$h = 3$",
            curves=curves("ridge"),
            line=RIDGES,
            points=TRIED,
            xlabel=r"ridge $\lambda$",
            xscale="log",
        ),
        Panel(
            title="$h = 3$, above the least",
            curves={
                name: Curve(number=above(name), setting="ridge", points=[x for x in TRIED if x != best])
                for name, best in BEST.items()
            },
            line=RIDGES,
            xlabel=r"ridge $\lambda$",
            xscale="log",
            ylabel="difference of the mean errors",
        ),
    ],
    measure=measured,
    theory=predicted,
    settings=SETTINGS,
    streams=draws,
    together=samples,
    draw=draw,
    d=80,
    replicates=60,
    ylabel="mean error",
    caption="Generalized cross-validation reports ever smaller errors as rows become more unlike in scale, while the "
    "error on new rows rises: 0.11 in place of 0.82 at h = 3.5; leaving one row out reports the right one. Data "
    "are AR(1) with r = 0.6 at alpha = 1.5. A quarter of the rows has a larger scale; h is the mean square of "
    "the scales, whose mean is 1. Lines are the theory for d = infinity, markers simulations at d = {sizes}, "
    "extrapolated in 1/d; diamonds belong to the solid line. (b) The same rows at all ridges; dotted: the ridge "
    "of least error, 0.57, and that which cross-validation chooses, 0.087. (c) Each curve of (b) above its "
    "least.",
)
