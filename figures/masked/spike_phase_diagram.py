"""Thresholds for seeing a spike are compared between four methods, over alpha, lambda and kinds of noise."""

from collections.abc import Callable
from functools import partial

import numpy as np

from figures.core import NONE, Axes, Curve, DataFrame, Experiment, Panel
from figures.masked.spiked_noise import COLORS, NAMES, NOISES, delocalized, finite_threshold, two_level
from theory.models import Covariance, SpikedData
from theory.random_matrix import optimal_ridge, threshold

LAMS = (0.001, 1.0)
AGAINST_PCA = r"$\alpha = 1$: against the best PCA"
# Where the name of each noise stands in that panel: at an end of its line, above (positive) or below it, in points.
PLACES = {
    "two variances": ("right", 4),
    "scaled AR(1)": ("right", -21),
    "half AR(1)": ("left", 4),
    "pairs and blocks": ("left", -14),
}


def against_lam(noise: Callable[[], Covariance], lam: float) -> SpikedData:
    return SpikedData(noise(), alpha=1.0, lam=lam)


def over_pca(data: SpikedData) -> float:
    """Return the threshold over the least threshold of the three kinds of PCA."""
    others = (SpikedData(data.noise, alpha=data.alpha, method=method) for method in NAMES)
    return threshold(data).value / min(threshold(other).value for other in others)


def best(noise: Callable[[], Covariance]) -> list[float]:
    lam = optimal_ridge(SpikedData(noise(), alpha=1.0)).lam
    return [lam] if 1e-3 <= lam <= 100 else []


def methods(noise: Callable[[], Covariance]) -> dict[str, Curve]:
    found = {
        rf"masked, $\lambda = {lam}$": Curve(
            model=partial(delocalized, noise, "ssr", lam), color=COLORS["ssr"], style=style
        )
        for lam, style in zip(LAMS, ("-", "--"), strict=True)
    }
    return found | {
        name: Curve(model=partial(delocalized, noise, method, None), color=COLORS[method])
        for method, name in NAMES.items()
    }


def ridges() -> dict[str, Curve]:
    return {
        name: Curve(model=partial(against_lam, noise), points=(), stars=partial(best, noise), color="black", style="-")
        for name, noise in NOISES.items()
    }


def draw(axes: Axes, rows: DataFrame) -> None:
    """Write the name of each noise at its line, where all lines are those of one method."""
    if rows["panel"].iloc[0] != AGAINST_PCA:
        return
    legend = axes.get_legend()
    if legend is not None:
        legend.remove()
    axes.axhline(1, color="0.7", linewidth=0.6, zorder=0)
    for name, (side, points) in PLACES.items():
        line = rows[rows["curve"] == name].sort_values("x")
        end = line.iloc[0 if side == "left" else -1]
        at = end["x"], end["theory"]
        axes.annotate(name, at, (0, points), textcoords="offset points", horizontalalignment=side, fontsize=7)


EXPERIMENT = Experiment(
    title="By theory masked regression sees weaker spikes than PCA in pairs and blocks, and not in half a chain",
    papers={
        "arXiv:2601.23208 (against PCA)": "It agrees with the abstract for three of four noises of our own that masked "
        "regression outperforms PCA of the covariance; for half a chain beside independent coordinates PCA is better.",
    },
    panels=[
        *(
            Panel(
                title=name,
                curves=methods(noise),
                line=np.geomspace(0.2, 10, 61),
                table_points=(0.5, 1.0, 4.0),
                ylim=(0.08, 9) if noise is two_level else None,
                xlabel=r"sample ratio $\alpha = n/d$",
                ylabel=r"threshold $\theta_c$",
            )
            for name, noise in NOISES.items()
        ),
        Panel(
            title=AGAINST_PCA,
            curves=ridges(),
            line=np.geomspace(1e-3, 100, 81),
            table_points=(1e-3, 1e-2, 0.1, 1.0, 100.0),
            theory=over_pca,
            xlabel=r"ridge $\lambda$",
            ylabel="masked / best PCA",
            ylim=(0.3, 12),
        ),
    ],
    theory=finite_threshold,
    replicate=NONE,
    points=(),
    xscale="log",
    yscale="log",
    draw=draw,
    unjudged="all numbers are thresholds by theory",
    caption="By theory masked regression with a small ridge sees weaker spikes than all kinds of PCA where "
    "coordinates are correlated in pairs and blocks (from alpha = 0.4 on), and needs stronger ones where half of "
    "them are a chain. Lines are thresholds in the limit d = infinity. (a) Two variances, 0.3 on 80 % of the "
    "coordinates and 4 on 20 %; (b) AR(1) with r = 0.6, scaled to these; (c) half AR(1) with r = 0.8, half "
    "independent; (d) pairs correlated by 0.95 and groups of ten by 0.5; the lines of PCA coincide in (c, d). (e) "
    "Masked regression over the best PCA at alpha = 1; the star is its best ridge, where finite.",
)
