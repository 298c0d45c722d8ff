"""Thresholds of four methods over alpha and lam, for independent, correlated and mixed noise: wins, ties and losses."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from figures.core import NONE, Curve, Experiment, Panel
from figures.masked.spiked_noise import NAMES, finite_threshold, half_chain, pairs_and_blocks, scaled_chain, two_level
from theory.models import Covariance, SpikedData, SpikeMethod
from theory.random_matrix import optimal_ridge, threshold

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

NOISES: dict[str, Callable[[], Covariance]] = {
    "two variances": two_level,
    "scaled AR(1)": scaled_chain,
    "half AR(1)": half_chain,
    "pairs and blocks": pairs_and_blocks,
}
LAMS = (0.001, 1.0)
LEGEND = "two variances"  # the panel with room for that of the methods


def against_alpha(noise: Callable[[], Covariance], method: SpikeMethod, lam: float | None, alpha: float) -> SpikedData:
    return SpikedData(noise(), alpha=alpha, method=method, lam=lam)


def against_lam(noise: Callable[[], Covariance], lam: float) -> SpikedData:
    return SpikedData(noise(), alpha=1.0, lam=lam)


def over_pca(data: SpikedData) -> float:
    """Threshold over the least of the three kinds of PCA."""
    others = (SpikedData(data.noise, alpha=data.alpha, method=method) for method in NAMES)
    return threshold(data).value / min(threshold(other).value for other in others)


def best(noise: Callable[[], Covariance]) -> list[float]:
    lam = optimal_ridge(SpikedData(noise(), alpha=1.0)).lam
    return [lam] if 1e-3 <= lam <= 100 else []


def methods(noise: Callable[[], Covariance]) -> dict[str, Callable[[float], SpikedData]]:
    ways: dict[str, tuple[SpikeMethod, float | None]] = {rf"masked, $\lambda = {lam}$": ("ssr", lam) for lam in LAMS}
    ways |= {name: (method, None) for method, name in NAMES.items()}
    return {name: partial(against_alpha, noise, *way) for name, way in ways.items()}


def ridges() -> dict[str, Curve]:
    return {
        name: Curve(model=partial(against_lam, noise), points=(), stars=partial(best, noise))
        for name, noise in NOISES.items()
    }


def draw(axes: "Axes", rows: "DataFrame") -> None:
    """One legend for the panels of the methods."""
    legend = axes.get_legend()
    if legend is not None and set(rows["panel"]) & (set(NOISES) - {LEGEND}):
        legend.remove()


EXPERIMENT = Experiment(
    title="Least strength of a delocalized spike that is seen",
    panels=[
        *(
            Panel(
                title=name,
                curves=methods(noise),
                line=np.geomspace(0.2, 10, 25),
                ylim=(0.015, 9) if name == LEGEND else None,
                xlabel=r"sample ratio $\alpha = n/d$",
                ylabel=r"threshold $\theta_c$",
            )
            for name, noise in NOISES.items()
        ),
        Panel(
            title=r"$\alpha = 1$: against the best PCA",
            curves=ridges(),
            line=np.geomspace(1e-3, 100, 41),
            theory=over_pca,
            xlabel=r"ridge $\lambda$",
            ylabel="masked / best PCA",
            ylim=(0.4, 25),
        ),
    ],
    theory=finite_threshold,
    replicate=NONE,
    points=(),
    xscale="log",
    yscale="log",
    figsize=(11.5, 2.7),
    draw=draw,
    caption="Thresholds at d = infinity. Two variances (0.3 on 80 %, 4 on 20 %), alpha = .5, 1, 4: masked regression "
    "(lam = .001) 0.99, 0.38, 0.18 wins over PCA (4.83, 3.89, 2.51) and no-diagonal PCA (3.67, 2.69, 1.42), loses "
    "to correlation PCA (0.52, 0.37, 0.18) at alpha < 1 and ties with it above. Scaled AR(1), r = .6: the same, 1.89, "
    "1.26, 0.91 against 5.60, 4.62, 3.25 (PCA) and 1.47, 1.23, 0.90 (correlation PCA). Half AR(1), r = .8, half "
    "independent, equal variances: it loses to all, 10.2, 11.8, 9.9 against 8.26, 7.61, 6.57. Pairs correlated by .95 "
    "and tens by .5, equal variances: it beats all, 5.09, 2.62, 1.52 against 5.72, 4.98, 3.82. Last panel, alpha = 1: "
    "the best ridge (star) is .0102 there, with 0.51 times the threshold of PCA; for the others it is 0 or, for half "
    "AR(1), infinity, where masked regression is no-diagonal PCA and ties.",
)
