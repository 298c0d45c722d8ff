"""Of masked regression and three kinds of PCA, the one that sees the weakest spike is mapped over alpha and lambda."""

from collections.abc import Callable
from functools import partial

import numpy as np

from figures.core import NONE, Axes, Curve, DataFrame, Experiment, Panel
from figures.masked.spiked_noise import COLORS, NAMES, NOISES, delocalized, finite_threshold
from theory.models import Covariance

LAMS = np.geomspace(1e-3, 10, 33)
ALPHAS = np.geomspace(0.2, 10, 33)
FULL = 2.0  # a color is full where masked regression and the best PCA differ by this factor
EQUAL = 1e-2  # in the logarithm of thresholds
ALIKE = "PCA, three kinds alike"
# The best method on most of each map, and where its name stands there.
BEST = {
    "two variances": (NAMES["correlation_pca"], (0.25, 4.0)),
    "scaled AR(1)": (NAMES["correlation_pca"], (0.25, 4.0)),
    "half AR(1)": (ALIKE, (0.9, 0.1)),
    "pairs and blocks": ("masked\nregression", (1.6, 0.0025)),
}


def lines(noise: Callable[[], Covariance]) -> dict[str, Curve]:
    """Declare a row of the map for each ridge, and a line for each kind of PCA, which has none."""
    found = {f"_{lam:.4g}": Curve(model=partial(delocalized, noise, "ssr", float(lam))) for lam in LAMS}
    return found | {
        f"_{name}": Curve(model=partial(delocalized, noise, method, None), color=COLORS[method])
        for method, name in NAMES.items()
    }


def draw(axes: Axes, rows: DataFrame) -> None:
    """Fill the map with the color of the best method, the paler the nearer masked regression and the best PCA are."""
    from matplotlib.colors import to_rgb

    for line in list(axes.get_lines()):
        line.remove()
    table = rows.pivot_table(index="curve", columns="x", values="theory", sort=False)
    alphas = table.columns.to_numpy()
    kinds = np.log(table.loc[[f"_{name}" for name in NAMES.values()]].to_numpy())
    margin = np.log(table.loc[[f"_{lam:.4g}" for lam in LAMS]].to_numpy()) - kinds.min(axis=0)
    best = np.where(np.ptp(kinds, axis=0) < EQUAL, len(NAMES), kinds.argmin(axis=0)) + 1
    colors = "C0", *(f"C{COLORS[method]}" for method in NAMES), "0.45"  # the last where all kinds of PCA are alike
    palette = np.array([to_rgb(color) for color in colors])
    weight = np.clip(np.abs(margin) / np.log(FULL), 0, 1)[..., None]
    filled = 1 - weight * (1 - palette[np.where(margin < 0, 0, best)])
    axes.pcolormesh(alphas, LAMS, filled, shading="nearest", rasterized=True)
    levels = [0.4, 0.5, 0.7, 1.0, 1.2, 1.5, 2.0, 4.0]
    shown = axes.contour(alphas, LAMS, np.exp(margin), levels=levels, colors="k", linewidths=0.6)
    axes.clabel(shown, fmt="%g", fontsize=6)
    axes.plot([], [], color="k", linewidth=0.6, label="threshold of masked regression over that of the best PCA")
    axes.legend()
    name, place = BEST[str(rows["panel"].iloc[0])]
    axes.text(*place, name, color="black" if name == ALIKE else "white", fontsize=8)


EXPERIMENT = Experiment(
    title="By theory masked regression beats PCA with pairs and blocks, in three other noises PCA wins",
    panels=[Panel(title=name, curves=lines(noise)) for name, noise in NOISES.items()],
    theory=finite_threshold,
    replicate=NONE,
    points=(),
    line=ALPHAS,
    table_points=(float(ALPHAS[0]), float(ALPHAS[16]), float(ALPHAS[-1])),
    xlabel=r"sample ratio $\alpha = n/d$",
    ylabel=r"ridge $\lambda$",
    xscale="log",
    yscale="log",
    draw=draw,
    xlim=(float(ALPHAS[0]), float(ALPHAS[-1])),
    ylim=(float(LAMS[0]), float(LAMS[-1])),
    unjudged="all numbers are thresholds by theory",
    caption="With correlated pairs and blocks masked regression sees weaker spikes than every kind of PCA on 68 % of "
    "the map; in the other noises a PCA is best everywhere. All is theory for d = infinity. Colors tell the "
    "method that sees the weakest spread-out spike, pale where the thresholds of masked regression and the "
    "best PCA are alike, full where their ratio is two. (a) Variances 0.3 and 4 on 80 and 20 % of the "
    "coordinates; (b) these on an AR(1) chain, r = 0.6; (c) half the coordinates an AR(1) chain, r = 0.8, "
    "half independent, all of variance one; (d) half in pairs correlated by 0.95, half in groups of ten by "
    "0.5.",
)
