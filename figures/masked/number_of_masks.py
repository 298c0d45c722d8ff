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
TICKS = (0.6, 0.8, 1, 1.5, 2, 3, 4)  # errors that the axis names
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
        replicates=12,
        theory_at=averaged_error,
        by_gap=True,
    )
    return found | {"_at the peak": at_peak}


def decorate(axes: Axes, rows: DataFrame) -> None:
    """Mark where pairs equal unknowns, and show the peaks of the sizes that were simulated, before extrapolation."""
    alpha, rate = SETTINGS[str(rows["panel"].iloc[0])]
    axes.axvline(1 / (alpha * rate), color="0.6", linewidth=0.8, linestyle=":", zorder=0)
    raw = rows[(rows["curve"] == "_at the peak") & np.isfinite(rows["size"])]
    axes.plot(raw["x"], raw["simulation"], "x", color=axes.get_lines()[0].get_color(), markersize=4)
    axes.set_yticks(TICKS, [f"{error:g}" for error in TICKS])


EXPERIMENT = Experiment(
    title="With a small ridge more masks first hurt and then help, AR(1), $r = 0.6$",
    panels=[Panel(title=title, curves=curves(*setting)) for title, setting in SETTINGS.items()],
    theory=test_error,
    replicate=mean_test_error,
    line=COUNTS,
    points=(1, 2, 4, 8, 16, 32),
    d=40,
    replicates=12,
    xlabel="masks per sample $R$",
    ylabel="mean test error under masking",
    xscale="log",
    yscale="log",
    ordered=True,
    draw=decorate,
    caption="With a ridge up to 0.05 more masks first hurt, then help: at ridges 0.001 and 0.01 the error peaks "
    "where pairs of a sample and a mask that hides a coordinate equal the unknowns, n R p = d (dotted), at 0.05 "
    "before it. Each of n = alpha d samples is masked R times at rate p. Lines are the theory for d = infinity; "
    "markers are fits at d = 40 and 80, extrapolated in 1/d; stars mark the largest error at ridges 0.01 and 0.05. At "
    "ridge 0.001 the peaks have d = 120 and 240 (crosses), and the binomial scatter of the number of pairs is taken "
    "out before the extrapolation.",
)
