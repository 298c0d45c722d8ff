"""Generalized cross-validation reports too small an error where rows differ in scale; leaving one row out does not."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from figures.core import NONE, Curve, Experiment, Panel
from figures.masked.two_scales import two_scales
from simulate.masked import mean_gcv_error, mean_loo_error, mean_test_error
from theory import masked
from theory.models import AR1, MaskedRegression, MaskedRidge

if TYPE_CHECKING:
    from simulate.core import Replicate

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


def test_error(model: MaskedRidge) -> float:
    return masked.solve(model).mean_test_error


def gcv_error(model: MaskedRidge) -> float:
    return masked.solve(model).mean_gcv_error


def curves(model: Callable[[float], MaskedRidge], stars: Any = (None, None)) -> dict[str, Curve]:
    kinds: dict[str, tuple[Callable[[MaskedRidge], float], Replicate, Any]] = {
        "new rows": (test_error, mean_test_error, stars[0]),
        "generalized cross-validation": (gcv_error, mean_gcv_error, stars[1]),
    }
    found = {
        name: Curve(model=model, theory=theory, replicate=replicate, stars=star)
        for name, (theory, replicate, star) in kinds.items()
    }
    return found | {"leaving one row out": Curve(model=model, theory=test_error, replicate=mean_loo_error, line=())}


EXPERIMENT = Experiment(
    title="Generalized cross-validation reports too little where rows differ in scale",
    panels=[
        Panel(
            title=r"$\lambda = 0.1$",
            curves=curves(against_scales),
            line=np.linspace(1, 4, 91),
            points=(1.0, 1.5, 2.5, 3.5),
            xlabel="heterogeneity of the rows $h$",
        ),
        Panel(
            title="$h = 3$",
            curves=curves(against_ridge, (least_true, least_reported)),
            line=np.geomspace(1e-2, 3, 91),
            points=(0.02, 0.1, 0.3, 1.0),
            xlabel=r"ridge $\lambda$",
            xscale="log",
        ),
    ],
    replicate=NONE,
    d=80,
    replicates=60,
    ylabel="mean error",
    caption="Generalized cross-validation reports ever smaller errors as rows become more unlike in scale, while "
    "the error on new rows rises: 0.11 in place of 0.82 at h = 3.5; leaving one row out reports the right one. "
    "Data are AR(1) with r = 0.6 at alpha = 1.5. A quarter of the rows has a larger scale; h is the mean square "
    "of the scales, whose mean is 1, and at h = 4 the other rows vanish. Lines are the theory in the limit d = "
    "infinity, markers simulations at d = {sizes}, extrapolated in 1/d; diamonds belong to the solid line. (b) "
    "Stars mark the ridge of least error, 0.57, and that which generalized cross-validation chooses, 0.087.",
)
