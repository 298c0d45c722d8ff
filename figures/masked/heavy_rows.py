"""Rows of different scale lower the interpolation peak and raise the strength that a spike needs to be seen."""

from functools import partial

import numpy as np

from figures.core import NONE, Axes, Curve, DataFrame, Experiment, Panel
from figures.masked.spiked_noise import NAMES, two_level, well_above_threshold
from figures.masked.two_scales import two_scales
from simulate.masked import mean_test_error, top_overlap
from theory import masked, random_matrix
from theory.models import AR1, MaskedRidge, SpikedData, SpikeMethod

ALPHA, STRENGTH = 2.0, 6.0
LEAST = "least strength that is seen"
LINE, POINTS = np.linspace(1, 3.9, 41), (1.0, 1.7, 2.4, 3.2)
WAYS: dict[str, tuple[SpikeMethod, float | None]] = {"masked regression": ("ssr", 0.05)}
WAYS |= {name: (method, None) for method, name in NAMES.items()}


def peak(lam: float, heterogeneity: float) -> MaskedRidge:
    return MaskedRidge(AR1(np.inf, 0.6), 1.0, lam, two_scales(heterogeneity))


def spiked(method: SpikeMethod, lam: float | None, heterogeneity: float) -> SpikedData:
    rows = two_scales(heterogeneity)
    return SpikedData(two_level(), strength=STRENGTH, alpha=ALPHA, method=method, lam=lam, row_scales=rows)


def draw(axes: Axes, rows: DataFrame) -> None:
    """Leave the names of methods to the legend of the panel that has markers of them too."""
    if rows["panel"].iloc[0] == LEAST:
        axes.legend().remove()


EXPERIMENT = Experiment(
    title="Rows of different scale lower the peak of a small ridge, and spikes must be stronger to be seen",
    panels=[
        Panel(
            title="error at $n = d$, AR(1)",
            curves={rf"$\lambda = {lam}$": Curve(model=partial(peak, lam)) for lam in (0.003, 0.01, 0.1)},
            theory=lambda model: masked.solve(model).mean_test_error,
            replicate=mean_test_error,
            points=(*POINTS, 3.6, 3.8),
            ordered=True,
            ylabel="mean test error",
        ),
        Panel(
            title=rf"spike of strength {STRENGTH:g}, $\alpha = {ALPHA:g}$",
            curves={name: Curve(model=partial(spiked, *way)) for name, way in WAYS.items()},
            theory=lambda data: random_matrix.outlier(data).overlap,
            replicate=top_overlap,
            points=(1.0, 2.4, 3.2, 3.8),
            ylabel="overlap with the spike",
        ),
        Panel(
            title=LEAST,
            curves={name: Curve(model=partial(spiked, *way)) for name, way in WAYS.items()},
            theory=lambda data: random_matrix.threshold(data).value,
            replicate=NONE,
            points=(),
            table_points=POINTS,
            ylabel=r"threshold $\theta_c$",
            yscale="log",
        ),
    ],
    draw=draw,
    judged=lambda model: not isinstance(model, SpikedData) or well_above_threshold(model),
    line=LINE,
    points=POINTS,
    d=100,
    replicates=28,
    seed=4096,
    xlabel="heterogeneity of the rows $h$",
    unjudged="corrections are larger than 1/d where a spike is less than 1.3 times as strong as its threshold",
    caption="As rows become more unlike in scale, the interpolation peak of a small ridge falls as if the ridge "
    "were larger, and all methods need stronger spikes. A quarter of the rows has a larger scale; h is the mean "
    "square of the scales, whose mean is 1; h = 1 means Gaussian rows. Lines are the theory in the limit d = "
    "infinity, markers simulations at d = {sizes}, extrapolated in 1/d. (a) The error of masked regression at n = "
    "d, AR(1) with r = 0.6. (b) The overlap with a spike in noise of two variances, 0.3 and 4; masked regression "
    "has ridge 0.05. (c) Theory only: the least strengths that methods see.",
)
