"""Thresholds for seeing a spike are compared between four methods, over alpha, lambda and kinds of noise."""

from collections.abc import Callable
from functools import partial

import numpy as np

from figures.core import NONE, Curve, Experiment, Panel
from figures.masked.spiked_noise import COLORS, NAMES, NOISES, delocalized, finite_threshold, two_level
from theory.models import Covariance, SpikedData
from theory.random_matrix import optimal_ridge, threshold

LAMS = (0.001, 1.0)


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
        name: Curve(model=partial(against_lam, noise), points=(), stars=partial(best, noise), color=COLORS["ssr"])
        for name, noise in NOISES.items()
    }


EXPERIMENT = Experiment(
    title="Least strength of a delocalized spike that is seen",
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
                ylim=(0.015, 9) if noise is two_level else None,
                xlabel=r"sample ratio $\alpha = n/d$",
                ylabel=r"threshold $\theta_c$",
            )
            for name, noise in NOISES.items()
        ),
        Panel(
            title=r"$\alpha = 1$: against the best PCA",
            curves=ridges(),
            line=np.geomspace(1e-3, 100, 81),
            table_points=(1e-3, 1e-2, 0.1, 1.0, 100.0),
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
    unjudged="all numbers are thresholds by theory",
    caption="All lines are thresholds by theory in the limit d = infinity: the least strength at which a method "
    "sees a spike spread over all coordinates, so that lower is better; where three lines of PCA seem one, they "
    "coincide. Numbers below are for alpha = 0.5, 1 and 4, and masked regression has lambda = 0.001. Two variances "
    "(0.3 on 80 % of the coordinates, 4 on 20 %): masked regression needs 0.99, 0.38 and 0.18, less than PCA of the "
    "covariance (4.83, 3.89, 2.51) and PCA without the diagonal (3.67, 2.69, 1.42); correlation PCA (0.52, 0.37, "
    "0.18) is better below alpha = 1 and nearly equal above. AR(1) with r = 0.6, scaled to the same two variances: "
    "the order is the same, with 1.89, 1.26 and 0.91 for masked regression against 5.61, 4.62 and 3.25 (PCA) and "
    "1.47, 1.23 and 0.90 (correlation PCA). Half an AR(1) chain with r = 0.8, half independent, equal variances: "
    "masked regression is worst, with 10.2, 11.8 and 9.9 against 8.26, 7.61 and 6.57 for PCA. Pairs correlated by "
    "0.95 and groups of ten correlated by 0.5, equal variances: it is best, with 5.09, 2.62 and 1.52 against 5.71, "
    "4.98 and 3.82. Last panel: the threshold of masked regression at alpha = 1 over that of the best kind of PCA, "
    "against the ridge, for the four noises. For pairs and blocks the best ridge (star) is 0.0102, with 0.51 times "
    "the threshold of PCA; for the first two noises the best ridge is 0, and for half AR(1) it is infinity, where "
    "masked regression becomes PCA without the diagonal.",
)
