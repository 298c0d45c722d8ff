"""Describes the figure of the spectra, as an experiment whose table they are."""

from figures.analyse.matrix.spectrum import table
from figures.analyse.matrix.spectrum.record import CORRELATION, COVARIANCE, MASKED
from figures.core import Axes, Curve, DataFrame, Experiment, Panel

LEGEND_AT = MASKED


def spectrum_experiment(title: str) -> Experiment:
    """Describe the axes and the drawing of the rows of the spectra, as the experiments do."""
    return Experiment(
        title=title,
        panels=spectrum_panels(),
        draw=decorate_spectrum,
    )


def spectrum_panels() -> tuple[Panel, ...]:
    """Describe the axes of the spectra, one panel for each matrix."""
    looks = ((table.DATA, 0, None), (table.PERMUTED, 6, None), (table.NOISE, 0, "-"), (table.INDEPENDENT, 6, "-"))
    curves = {label: Curve(model=None, color=color, style=style) for label, color, style in looks}
    curves[table.LIMIT] = Curve(model=None, color=3, style=":")
    scales = {MASKED: "linear", COVARIANCE: "log", CORRELATION: "log"}
    return tuple(
        Panel(
            title=method,
            curves=curves,
            xlabel="rank, from the largest",
            ylabel="eigenvalue" if method == LEGEND_AT else None,
            xscale="log",
            yscale=scale,
        )
        for method, scale in scales.items()
    )


def decorate_spectrum(axes: Axes, rows: DataFrame) -> None:
    """Make the markers small, begin the axis at rank one, and cut a logarithmic axis to what is visible."""
    for line in axes.get_lines():
        if line.get_marker() not in ("None", ""):
            line.set(marker="o", markersize=3, markerfacecolor="none")
    axes.set_xlim(table.LOWEST_RANK, 1.5 * rows["x"].max())
    if axes.get_yscale() == "log":
        values = rows["simulation"].fillna(rows["theory"])
        shown = values[values > table.VISIBLE * values.max()]
        axes.set_ylim(0.7 * shown.min(), 1.4 * shown.max())
    legend = axes.get_legend()
    if legend is not None and rows["panel"].iloc[0] != LEGEND_AT:
        legend.remove()
    elif legend is not None:
        axes.legend(loc="lower left", frameon=False)
