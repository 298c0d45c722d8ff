"""Generalized cross-validation reports too small an error where rows differ in scale; leaving one row out does not."""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from figures.core import NONE, Curve, Experiment, Panel
from figures.masked.two_scales import two_scales
from simulate.masked import mean_gcv_error, mean_loo_error, mean_test_error
from theory import masked
from theory.models import AR1, MaskedRegression, MaskedRidge

COVARIANCE, ALPHA = AR1(np.inf, 0.6), 1.5


def against_scales(heterogeneity: float) -> MaskedRidge:
    return MaskedRidge(COVARIANCE, ALPHA, 0.1, two_scales(heterogeneity))


def against_ridge(lam: float) -> MaskedRidge:
    return MaskedRidge(COVARIANCE, ALPHA, lam, two_scales(3.0))


def least_true() -> list[float]:
    return [masked.optimal_ridge(MaskedRegression(COVARIANCE, ALPHA, two_scales(3.0))).lam]


def least_reported() -> list[float]:
    lams = np.geomspace(1e-2, 3, 600)
    curve = masked.learning_curve(COVARIANCE, [ALPHA], lams, row_scales=two_scales(3.0))
    return [float(lams[curve.mean_gcv_error.argmin()])]


NEW, REPORTED, LEFT_OUT = "new rows", "generalized cross-validation", "leaving one row out"


def predicted(model: MaskedRidge) -> dict[str, float]:
    solved = masked.solve(model)
    error = solved.mean_test_error
    return {NEW: error, REPORTED: solved.mean_gcv_error, LEFT_OUT: error}


def measured(model: MaskedRidge, d: int, rng: Generator) -> dict[str, float]:
    """Measure all three errors of one fit."""
    state, found = rng.bit_generator.state, {}
    for name, replicate in ((NEW, mean_test_error), (REPORTED, mean_gcv_error), (LEFT_OUT, mean_loo_error)):
        rng.bit_generator.state = state  # the same rows again
        found[name] = replicate(model, d, rng)
    return found


SETTINGS = {"scales": against_scales, "ridge": against_ridge}


def star(setting: str, number: str, color: int, place: Callable[[], list[float]]) -> dict[str, Curve]:
    """Return a mark on the line of a number."""
    mark = Curve(
        model=SETTINGS[setting], theory=lambda model: predicted(model)[number], points=place, line=(), replicate=NONE,
        color=color,
    )  # fmt: skip
    return {f"_star, {number}": mark}


def curves(setting: str) -> dict[str, Curve]:
    return {
        NEW: Curve(number=NEW, setting=setting),
        REPORTED: Curve(number=REPORTED, setting=setting),
        LEFT_OUT: Curve(number=LEFT_OUT, setting=setting, line=()),
    }


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
            curves=curves("ridge") | star("ridge", NEW, 0, least_true) | star("ridge", REPORTED, 1, least_reported),
            line=np.geomspace(1e-2, 3, 91),
            points=(0.02, 0.1, 0.3, 1.0),
            xlabel=r"ridge $\lambda$",
            xscale="log",
        ),
    ],
    measure=measured,
    theory=predicted,
    settings=SETTINGS,
    d=80,
    replicates=60,
    ylabel="mean error",
    caption="Generalized cross-validation reports ever smaller errors as rows become more unlike in scale, while the "
    "error on new rows rises: 0.11 in place of 0.82 at h = 3.5; leaving one row out reports the right one. "
    "Data are AR(1) with r = 0.6 at alpha = 1.5. A quarter of the rows has a larger scale; h is the mean "
    "square of the scales, whose mean is 1; at h = 4 the other rows vanish. Lines are the theory for d = "
    "infinity, markers simulations at d = {sizes}, extrapolated in 1/d, all errors of the same fits; diamonds "
    "belong to the solid line. (b) Stars: the ridge of least error, 0.57, and that which cross-validation "
    "chooses, 0.087.",
)
