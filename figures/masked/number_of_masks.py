"""The error has an interpolation peak in the number of masks of a sample, where rows equal unknowns."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import numpy as np
from scipy.stats import binom

from figures.core import Axes, Curve, DataFrame, Experiment, Panel
from simulate.masked import mean_test_error
from theory import masked
from theory.models import AR1, RandomMasks

COVARIANCE = AR1(np.inf, 0.6)
LAMS = (1e-3, 0.01, 0.05, 0.3)
SETTINGS = {r"$\alpha = 1$, $p = 0.15$": (1.0, 0.15), r"$\alpha = 2$, $p = 0.05$": (2.0, 0.05)}
PEAKS = {1.0: 7, 2.0: 10}  # masks a sample with the largest error at the smallest ridge, by alpha
COUNTS = np.unique(np.geomspace(1, 300, 120).round())
UNLIKELY = 1e-7  # numbers of pairs that are less likely are left out of an average


def problem(n_masks: float, alpha: float, rate: float, lam: float) -> RandomMasks:
    return RandomMasks(COVARIANCE, alpha, lam, rate, round(n_masks))


@cache
def test_error(model: RandomMasks) -> float:
    return masked.solve(model).mean_test_error


def averaged_error(model: RandomMasks, d: int) -> float:
    """Return the error of the limit, averaged over the random number of pairs that a coordinate of d is fitted on.

    The number is binomial, with n R trials of probability p, and the error of such a number is that at a sample ratio
    that is larger or smaller by the same factor.
    """
    trials = round(model.alpha * d) * int(model.n_masks or 0)
    numbers = np.arange(1, trials + 1)
    weights = binom.pmf(numbers, trials, model.mask_rate)
    likely = weights > UNLIKELY
    ratios = model.alpha * numbers[likely] / (trials * model.mask_rate)
    errors = [test_error(replace(model, alpha=float(ratio))) for ratio in ratios]
    return float(np.average(errors, weights=weights[likely]))


def peak(make: Callable[[float], RandomMasks]) -> list[float]:
    """Find the number of masks with the largest error; none where the error is largest with a single mask."""
    errors = [test_error(make(float(count))) for count in range(1, 61)]
    return [float(1 + np.argmax(errors))] if errors[0] < max(errors) else []


def curves(alpha: float, rate: float) -> dict[str, Curve]:
    """Declare a curve for each ridge; that of the smallest one has its peak simulated at larger sizes."""
    makes = {lam: partial(problem, alpha=alpha, rate=rate, lam=lam) for lam in LAMS}
    found = {rf"$\lambda = {lam}$": Curve(model=make, stars=partial(peak, make)) for lam, make in makes.items()}
    # The marker of the highest peak stands where its star would.
    found[rf"$\lambda = {LAMS[0]}$"] = Curve(model=makes[LAMS[0]], points=(1, 2, 4, 16, 32))
    at_peak = Curve(
        model=makes[LAMS[0]],
        line=(),
        points=(PEAKS[alpha],),
        color=0,
        d=120,
        replicates=24,
        theory_at=averaged_error,
        by_gap=True,
    )
    return found | {"_at the peak": at_peak}


def decorate(axes: Axes, rows: DataFrame) -> None:
    """Mark where pairs equal unknowns, and show the peaks of the sizes that were simulated, before extrapolation."""
    alpha, rate = SETTINGS[str(rows["panel"].iloc[0])]
    axes.axvline(1 / (alpha * rate), color="0.6", linewidth=0.8, linestyle=":", zorder=0)
    raw = rows[(rows["curve"] == "_at the peak") & np.isfinite(rows["size"])]
    axes.plot(raw["x"], raw["simulation"], "_", color="C0", markersize=9)


EXPERIMENT = Experiment(
    title="A finite number of masks a sample, AR(1), $r = 0.6$",
    panels=[Panel(title=title, curves=curves(*setting)) for title, setting in SETTINGS.items()],
    theory=test_error,
    replicate=mean_test_error,
    line=COUNTS,
    points=(1, 2, 4, 8, 16, 32),
    d=40,
    replicates=24,
    xlabel="masks a sample $R$",
    ylabel="mean test error under masking",
    xscale="log",
    yscale="log",
    draw=decorate,
    caption="Each of n = alpha d samples is masked R times, every coordinate with probability p, and a coordinate "
    "is regressed on the n R p pairs of a sample and a mask in which it is hidden. The vertical axis is the mean "
    "squared error on new samples that are masked at the same rate. Lines are the theory in the limit d = infinity; "
    "markers are regressions on masks that were really drawn, at d = 40 and 80, extrapolated in 1/d, with error "
    "bars. Stars mark the largest error of a line; the highest line has a marker there instead, and the lowest has "
    "no peak. More masks first hurt and then help: the peak lies where the number of pairs equals the number of "
    "unknowns, n R p = d (dotted: R = 6.7 and 10). At lambda = 0.001 it lies at R = 7 (error 4.00, against 1.00 "
    "with one mask) and at R = 10 (3.88, against 0.99). A larger ridge moves it to fewer masks, R = 6 (1.20) and 8 "
    "(1.16) at lambda = 0.05. The two highest peaks are simulated at d = 120 and 240, and the short strokes are the "
    "errors of these sizes before extrapolation: 3.70(2) and 3.83(1) left, 3.60(2) and 3.71(1) right. Most of their "
    "distance from the limit is explained by the number of pairs of a coordinate, which is binomial: the theory "
    "averaged over it gives 3.67 and 3.81, 3.53 and 3.68. This effect is of order 1/d only where d exceeds several "
    "hundred. Therefore it is taken out, and what it leaves is extrapolated in 1/d to the markers at the peaks, "
    "4.00(3) and 3.89(3); elsewhere 1/d alone suffices.",
)
