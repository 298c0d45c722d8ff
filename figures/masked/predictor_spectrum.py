"""The eigenvalues of fitted joint predictors follow the predicted density, with its edges, atom and outlier."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from figures.core import Axes, Context, Curve, DataFrame, Experiment, Panel, row
from simulate.core import Estimate, Task, stream
from simulate.masked import predictor_eigenvalues
from theory import random_matrix
from theory.models import AR1, MaskedRidge, Scaled, Spiked, SpikedData, TwoLevel

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

BINS, LAM, ALPHA = 40, 0.1, 2.0
TWO, FEW, DENSE, SPIKE = (
    "two variances, n = 2d",
    "two variances, n = d/2",
    "scaled AR(1), n = 2d",
    "with a spike, n = 2d",
)
ATOM, OUTLIER = "predicted atom", "predicted outlier"
STRENGTHS = {"below threshold": 0.15, "above threshold": 4.0}
LOOKS = {
    "density": Curve(color="black", style="-"),
    "simulation": Curve(color=0, marker="o"),
    ATOM: Curve(color=3, marker="^"),
    "below threshold": Curve(color=1, marker="s"),
    "above threshold": Curve(color=2, marker="D"),
    OUTLIER: Curve(color=2, marker="v"),
}


def scaled(d: int) -> Scaled:
    return Scaled(AR1(d, 0.6), np.where(np.arange(d) % 5, 0.55, 2.0))


def models(d: int) -> dict[str, MaskedRidge]:
    return {
        TWO: MaskedRidge(TwoLevel(d), ALPHA, LAM),
        FEW: MaskedRidge(TwoLevel(d), 0.5, LAM),
        DENSE: MaskedRidge(scaled(d), ALPHA, LAM),
    }


def spiked(d: int, strength: float) -> MaskedRidge:
    return MaskedRidge(Spiked(TwoLevel(d), np.full(d, d**-0.5), strength), ALPHA, LAM)


def histogram(model: MaskedRidge, d: int, bins: np.ndarray, rng: Generator) -> np.ndarray:
    """Return the density of the eigenvalues of one fitted predictor in every bin."""
    return np.asarray(np.histogram(predictor_eigenvalues(model, d, rng), bins)[0] / (d * np.diff(bins)))


def compute(context: Context) -> list[dict[str, Any]]:
    d = context.size(150)
    rows = []
    for panel, model in models(d).items():
        rows += spectrum(context, panel, "simulation", model, random_matrix.predictor_law(model), d)
    law = random_matrix.predictor_law(MaskedRidge(TwoLevel(d), ALPHA, LAM))
    for curve, strength in STRENGTHS.items():
        rows += spectrum(context, SPIKE, curve, spiked(d, strength), law, d)
        data = SpikedData(TwoLevel(d), np.full(d, d**-0.5), strength=strength, alpha=ALPHA, lam=LAM)
        outlier = random_matrix.outlier(data)
        if outlier.detected:
            rows.append(row(OUTLIER, outlier.eigenvalue, panel=SPIKE, theory=0.0, d=d))
    return rows


def spectrum(
    context: Context, panel: str, curve: str, model: MaskedRidge, law: random_matrix.SpectralLaw, d: int
) -> list[dict[str, Any]]:
    """Return the line of the density, and the histogram beside the predicted mean density of every bin.

    The histogram is not judged, since it differs from the limit by terms of order 1/d.
    """
    low, high = law.edges[0, 0], law.edges[-1, 1]
    line = np.linspace(low, high, 400)
    rows = [row("density", a, panel=panel, theory=y) for a, y in zip(line, law.density(line), strict=True)]
    bins = np.linspace(low - 0.05 * (high - low), max(high, 1.0), BINS + 1)
    numbers = range(context.replicates(20))
    tasks = [
        Task(f"{panel}/{curve}/{r}", histogram, (model, d, bins, stream(0, "predictor_spectrum", panel, curve, r)))
        for r in numbers
    ]
    values = context.sweep(tasks)
    drawn = np.array([values[task.key] for task in tasks])
    predicted = np.diff(law.cumulative(bins)) / np.diff(bins)
    for number in range(BINS):
        center = (bins[number] + bins[number + 1]) / 2
        estimate = Estimate.of(drawn[:, number])
        rows.append(row(curve, center, panel=panel, theory=predicted[number], d=d, estimate=estimate, judged=False))
    return rows + [row(ATOM, a, panel=panel, theory=mass, d=np.inf) for a, mass in law.atoms]


def draw(axes: Axes, rows: DataFrame) -> None:
    """Mark the outlier by a dotted line, and an atom, which has a mass and no density, by an arrow to the top."""
    axes.set_ylim(bottom=0)
    entries = {handle.get_label(): handle for handle in axes.get_legend_handles_labels()[0]}
    for marker, a, _ in marked(axes, rows, OUTLIER):
        marker.remove()
        axes.axvline(a, color=marker.get_color(), linestyle=":")
        entries[OUTLIER].set(marker="", linestyle=":")
    for marker, a, mass in marked(axes, rows, ATOM):
        marker.set_transform(axes.get_xaxis_transform())  # its height is no density: it stands at the arrow's end
        marker.set(ydata=[0.97], marker="^", markersize=5)
        axes.axvline(a, 0, 0.97, color=marker.get_color(), linewidth=1.1)
        entries[ATOM].set(marker="^")
        axes.annotate(
            f"mass {mass:.2f}", (a, 0.9), (5, 0), xycoords=("data", "axes fraction"), textcoords="offset points"
        )
    if axes.get_legend() is not None:
        axes.legend()  # shows the entries as they are now


def marked(axes: Axes, rows: DataFrame, curve: str) -> "list[tuple[Line2D, float, float]]":
    """Find the marker of every row of a curve, with its eigenvalue and its predicted value."""
    places = rows.loc[rows["curve"] == curve, ["x", "theory"]].to_numpy()
    return [(line, a, y) for a, y in places for line in axes.get_lines() if np.array_equal(line.get_xdata(), [a])]


EXPERIMENT = Experiment(
    title="The spectrum of the joint predictor is predicted with its edges, atom and outlier",
    papers={
        "arXiv:2601.23208 (spectrum)": "The figure shows the spectral structure of the joint predictor, which the "
        "abstract names; the body of the paper was not readable.",
    },
    compute=compute,
    panels=[Panel(title=name, curves=LOOKS) for name in (TWO, FEW, DENSE, SPIKE)],
    xlabel="eigenvalue $a$",
    ylabel="density",
    draw=draw,
    unjudged="the histogram of a finite d differs from the limit by terms of order 1/d",
    caption="The density of eigenvalues of joint predictors is predicted without a fitted parameter, with edges, "
    "atom and a spike's outlier. Row k of the predictor holds the coefficients for coordinate k, at ridge 0.1. Lines "
    "are the density for infinite size; markers are histograms at d = 150, off the line where a bin straddles an "
    "edge. The variances are 0.3 on 80 % of the coordinates and 4 on 20 %; the AR(1) chain has r = 0.6. (b) With n = "
    "d/2 a share 0.3 is one atom (arrow), smeared over three bins. (d) A spike of strength 0.15 has no outlier; that "
    "of strength 4 is the dotted line, and the two raised markers.",
)
