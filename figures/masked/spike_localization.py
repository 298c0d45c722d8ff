"""A spike on few coordinates has a threshold that depends on their number, and differently for each method."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.random import Generator

from figures.core import NONE, Axes, Curve, DataFrame, Experiment, Panel
from figures.masked.spiked_noise import COLORS, NAMES, finite_threshold, well_above_threshold
from simulate.masked import top_overlap
from theory import random_matrix
from theory.models import Covariance, Isotropic, SpikedData, SpikeMethod, TwoLevel

D = 400
Noise = Callable[[int], Covariance]
COUNTS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 60, 100)


def spiked(
    noise: Noise, method: SpikeMethod, lam: float | None, strength: float | None, count: float, d: int = D
) -> SpikedData:
    """Make the spike with equal entries on the first coordinates, which have low variance in two-level noise."""
    u = np.zeros(d)
    u[: int(count)] = 1 / np.sqrt(int(count))
    return SpikedData(noise(d), u, strength=strength, alpha=1.0, method=method, lam=lam)


def curves(noise: Noise, lam: float, strength: float | None = None) -> dict[str, Curve]:
    ways: dict[str, tuple[SpikeMethod, float | None]] = {"masked regression": ("ssr", lam)}
    ways |= {name: (method, None) for method, name in NAMES.items()}
    return {
        name: Curve(model=partial(partial, spiked, noise, *way, strength), color=COLORS[way[0]])
        for name, way in ways.items()
    }


def overlap(spike: Callable[..., SpikedData]) -> float:
    """Return the overlap in the limit of many coordinates, which no longer depends on their number."""
    return random_matrix.outlier(spike()).overlap


def measured_overlap(spike: Callable[..., SpikedData], d: int, rng: Generator) -> float:
    return float(top_overlap(spike(d=d), d, rng))


def overlaps(title: str, noise: Noise, lam: float, strength: float) -> Panel:
    """Declare the overlaps at one strength, which simulations at two sizes test."""
    return Panel(
        title=f"{title}, strength {strength:g}",
        curves=curves(noise, lam, strength),
        theory=overlap,
        replicate=measured_overlap,
        extrapolate=True,
        points=(2, 5, 20),
        d=120,
        replicates=40,
        ylabel=r"overlap $(u \cdot v)^2$",
        yscale="linear",
        ylim=(-0.02, 1),
    )


def draw(axes: Axes, rows: DataFrame) -> None:
    """Draw a dot for every number of coordinates, and a cross at the top where no strength suffices."""
    if "strength" in rows["panel"].iloc[0]:
        return
    for position, (_, curve) in enumerate(rows.groupby("curve", sort=False)):
        axes.plot(curve["x"], curve["theory"], "o", color=f"C{position}", markersize=2.5)
        never = curve[curve["theory"].isna()]["x"] * 1.06**position
        axes.plot(never, 0 * never + 0.96, "x", color=f"C{position}", transform=axes.get_xaxis_transform())


EXPERIMENT = Experiment(
    title="By theory masked regression sees the weakest spikes on 2 to 40 quiet coordinates",
    panels=[
        Panel(title=r"isotropic noise, $\lambda = 0.05$", curves=curves(Isotropic, 0.05), ylim=(0.9, 10)),
        Panel(title=r"quiet coordinates, $\lambda = 0.001$", curves=curves(TwoLevel, 0.001), ylim=(0.2, 20)),
        overlaps("isotropic noise", Isotropic, 0.05, 4.0),
        overlaps("quiet coordinates", TwoLevel, 0.001, 2.0),
    ],
    theory=lambda spike: finite_threshold(spike()),
    judged=lambda spike: well_above_threshold(spike()),
    replicate=NONE,
    extrapolate=False,
    d=D,
    line=COUNTS,
    points=(),
    xlabel=r"coordinates of the spike $L$",
    ylabel=r"threshold $\theta_c$",
    xscale="log",
    yscale="log",
    draw=draw,
    unjudged="corrections are larger than 1/d where a spike is less than 1.3 times as strong as its threshold",
    caption="Masked regression does not see a spike on one coordinate, but sees the weakest spikes on 2 to 40 quiet "
    "coordinates; in isotropic noise PCA does. Spikes have equal entries on L coordinates. (a, b) Dots are "
    "the least strengths that methods see, by theory, in isotropic noise (ridge 0.05) and on coordinates of "
    "variance 0.3 where others have 4 (ridge 0.001); crosses at the top: no strength suffices. (c, d) The "
    "overlap of the leading direction with the spike: lines are the theory, open markers fits at d = 120 and "
    "240, extrapolated in 1/d. Where a method sees nothing, z is not judged; at L = 20 simulations cannot "
    "tell the best methods apart.",
)
