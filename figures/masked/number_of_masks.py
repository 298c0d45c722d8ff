"""The error has an interpolation peak in the number of masks of a sample, where rows equal unknowns."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from figures.core import Curve, Experiment, Panel
from simulate.masked import mean_test_error
from theory import masked
from theory.models import AR1, RandomMasks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

COVARIANCE = AR1(np.inf, 0.6)
LAMS = (1e-3, 0.01, 0.05, 0.3)
SETTINGS = {r"$\alpha = 1$, $p = 0.15$": (1.0, 0.15), r"$\alpha = 2$, $p = 0.05$": (2.0, 0.05)}
COUNTS = np.unique(np.geomspace(1, 300, 120).round())


def problem(n_masks: float, alpha: float, rate: float, lam: float) -> RandomMasks:
    return RandomMasks(COVARIANCE, alpha, lam, rate, round(n_masks))


def test_error(model: RandomMasks) -> float:
    return masked.solve(model).mean_test_error


def peak(make: Callable[[float], RandomMasks]) -> list[float]:
    """Finds the number of masks with the largest error; none where the error is largest with a single mask."""
    errors = [test_error(make(float(count))) for count in range(1, 61)]
    return [float(1 + np.argmax(errors))] if errors[0] < max(errors) else []


def curves(alpha: float, rate: float) -> dict[str, Curve]:
    makes = {lam: partial(problem, alpha=alpha, rate=rate, lam=lam) for lam in LAMS}
    return {rf"$\lambda = {lam}$": Curve(model=make, stars=partial(peak, make)) for lam, make in makes.items()}


def mark_interpolation(axes: "Axes", rows: "DataFrame") -> None:
    alpha, rate = SETTINGS[str(rows["panel"].iloc[0])]
    axes.axvline(1 / (alpha * rate), color="0.6", linewidth=0.8, linestyle=":", zorder=0)


EXPERIMENT = Experiment(
    title="A finite number of masks a sample, AR(1), $r = 0.6$",
    panels=[Panel(title=title, curves=curves(*setting)) for title, setting in SETTINGS.items()],
    theory=test_error,
    replicate=mean_test_error,
    line=COUNTS,
    points=(1, 2, 4, 8, 16, 32),
    d=40,
    replicates=40,
    xlabel="masks a sample $R$",
    ylabel="mean test error under masking",
    xscale="log",
    yscale="log",
    draw=mark_interpolation,
    caption="Each sample is masked R times at rate p, and a coordinate is regressed on the n R p pairs of a sample "
    "and a mask in which it is hidden. Lines are the theory in the limit d = infinity; markers are regressions on "
    "masks that were really drawn, at d = {sizes}, extrapolated in 1/d, with error bars; stars mark the largest "
    "error of a line. More masks first hurt and then help: the peak lies where the number of pairs equals the "
    "number of unknowns, n R p = d (dotted: R = 6.7 and 10). At lambda = 0.001 it lies at R = 7 (error 4.00, "
    "against 1.00 with one mask) and at R = 10 (3.88, against 0.99). A larger ridge moves it to fewer masks, R = 6 "
    "(1.20) and 8 (1.16) at lambda = 0.05; at 0.3 there is no peak.",
)
