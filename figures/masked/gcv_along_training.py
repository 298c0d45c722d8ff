"""Late in training plain generalized cross-validation reports too much; an estimate from pairs of ridges is right."""

import math

import numpy as np

from figures.core import Curve, Experiment, Panel
from figures.masked.along_training import errors_along, theory_along
from theory.models import AR1, MaskedRegression

COVARIANCE = AR1(math.inf, 0.7)
ALPHAS = (0.5, 1.0, 2.0)
LATEST = {0.5: 10.0, 1.0: 100.0, 2.0: 100.0}  # beyond the first, both parts of plain GCV vanish below n = d

JUDGED = (0.3, 6.0).__contains__  # times that are judged
ALIKE = "numbers of one data set are so alike at times between those judged that corrections of order 1/d^2 show"


def curves(alpha: float) -> dict[str, Curve]:
    setting, line = f"alpha = {alpha:g}", np.geomspace(0.05, LATEST[alpha], 46)
    points = [time for time in (0.1, 0.3, 0.7, 2.0, 6.0, 20.0, 60.0) if time <= LATEST[alpha]]
    return {
        "new rows": Curve(setting=setting, number="test", line=line, points=points),
        "estimate from pairs of ridges": Curve(setting=setting, number="estimate", line=(), points=points),
        "plain GCV": Curve(setting=setting, number="gcv", line=line, points=points),
    }


EXPERIMENT = Experiment(
    title="With few rows plain cross-validation fails along training, an estimate from pairs of ridges does not",
    panels=[Panel(title=rf"$\alpha = {alpha:g}$", curves=curves(alpha), judged_where=JUDGED) for alpha in ALPHAS],
    settings={f"alpha = {alpha:g}": MaskedRegression(COVARIANCE, alpha) for alpha in ALPHAS},
    measure=errors_along,
    theory=theory_along,
    by_point=True,
    by_number=True,
    d=100,
    replicates=20,
    unjudged=ALIKE,
    xlabel="time $t$",
    ylabel="mean error",
    xscale="log",
    yscale="log",
    caption="With no more rows than coordinates (alpha = n/d), plain generalized cross-validation (GCV) reports too "
    "large an error late in training and stops too early, while an estimate from pairs of complex ridges, made of the "
    "same rows alone, reports the error on new rows. At alpha = 2 the bias of GCV is small and vanishes again. "
    "Coordinates are an AR(1) chain with r = 0.7, trained by gradient flow. Lines are the theory for d = infinity: of "
    "new rows, on which the estimate must lie, and of GCV. Markers are simulations at d = {sizes}, extrapolated in "
    "1/d, on the same data sets. At alpha = 0.5, t = 6 GCV tends to 1.44, not to 0.79.",
)
