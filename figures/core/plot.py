"""Draws the figure of a table. Nothing is computed here: the CSV holds all that is drawn."""

import logging
from contextlib import chdir
from pathlib import Path
from typing import Any

import pandas as pd

from figures.core.experiment import Curve, Experiment, Panel
from figures.core.ratios import MARKERS, best_points, draw_ratios
from figures.core.render import plain
from figures.core.rows import JOINT
from figures.core.scores import error_bars
from figures.core.shares import share_bars
from theory.core.atomic_write import atomic_write

# While it is loaded matplotlib reads a matplotlibrc of the current folder, before any that MATPLOTLIBRC names; a broken
# one would end the program, or fill the screen with warnings. So it is loaded from a folder that has none.
with chdir(Path(__file__).anchor):
    import matplotlib
    from matplotlib import style
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.colors import to_hex
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    from figures.core.layout import arrange, figure_size, finish

logging.getLogger("fontTools").setLevel(logging.ERROR)  # it would warn of the dates in matplotlib's own fonts
STYLE_SHEET = Path(__file__).with_name("paper.mplstyle")
LONG_NUMBER = 1e4  # so many digits on several numbers of an axis would touch each other
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (4, 1, 1, 1)), (0, (7, 2)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 2.5)))
NO_DATE = {".pdf": {"CreationDate": None}, ".png": {"Software": None}}  # equal data give equal bytes
NAMES = {".pdf": ("Title", "Subject", "Keywords"), ".png": ("Title", "Description", "Source")}  # of the metadata


def draw_figure(
    experiment: Experiment,
    rows: pd.DataFrame,
    *paths: Path,
    dpi: float | None = None,
    caption: str = "",
    made: str = "",
) -> None:
    """Draw the table `rows` of an experiment and saves the figure under every path (.pdf, .png).

    Equal tables give equal bytes: the files hold no date, and a matplotlibrc of the user has no influence. `dpi` is the
    resolution of a PNG in dots per inch. The title, the `caption`, and how the figure is `made`, a command, are kept in
    the metadata of each file.
    """
    rows = rows[rows["kind"] != JOINT]
    panels = experiment.resolved_panels()
    with style.context(STYLE_SHEET, after_reset=True):
        figure = Figure(figsize=experiment.figsize or figure_size(len(panels)))
        cells = figure.subplots(*arrange(len(panels)), squeeze=False).ravel().tolist()
        for panel, ax in zip(panels, cells[: len(panels)], strict=True):
            own = rows if experiment.panels is None else rows[rows["panel"] == (panel.ratio_of or panel.title)]
            if panel.ratio_of is not None:
                curves = next(other for other in panels if other.title == panel.ratio_of).resolved_curves()
                draw_ratios(ax, own, dict(curves))
            _draw_panel(ax, panel, own if panel.ratio_of is None else own[:0])
            if experiment.draw is not None and panel.ratio_of is None:
                experiment.draw(ax, own)
        figure.suptitle(experiment.title, fontsize=matplotlib.rcParams["axes.titlesize"])
        finish(figure, cells[: len(panels)], cells[len(panels) :])
        for path in paths:
            with atomic_write(path) as temporary:
                _save(figure, temporary, metadata(path.suffix, experiment.title, caption, made), dpi)


def _save(figure: Figure, file: Path, about: dict[str, str | None], dpi: float | None) -> None:
    """Write a figure whose panels are in their places, without the first drawing by which `savefig` would place them.

    Text has other sizes at another resolution, which the figure therefore has only while it is written.
    """
    earlier, canvas = figure.dpi, (FigureCanvasPdf if file.suffix == ".pdf" else FigureCanvasAgg)(figure)
    write: Any = canvas.print_pdf if isinstance(canvas, FigureCanvasPdf) else canvas.print_png  # both without types
    try:
        figure.set_dpi(dpi or earlier)  # a PDF sets its own
        write(file, metadata=about)
    finally:
        figure.set_dpi(earlier)


def cycle_colors() -> list[str]:
    """Return the colors of lines and markers in all figures, as "#0072B2"."""
    with style.context(STYLE_SHEET, after_reset=True):
        return [to_hex(color) for color in matplotlib.rcParams["axes.prop_cycle"].by_key()["color"]]


def metadata(suffix: str, title: str, caption: str, made: str) -> dict[str, str | None]:
    """Return the metadata of a picture of this format, in plain text, without a date."""
    said = {name: plain(text) for name, text in zip(NAMES[suffix], (title, caption, made), strict=True) if text}
    return {**NO_DATE[suffix], **said}


def _draw_panel(ax: Axes, panel: Panel, rows: pd.DataFrame) -> None:
    curves = dict(panel.resolved_curves())
    for position, label in enumerate(rows["curve"].drop_duplicates()):
        _draw_curve(ax, label, rows[rows["curve"] == label], position, curves.get(label))
    ax.set(title=panel.title, xlabel=panel.xlabel, ylabel=panel.ylabel, xscale=panel.xscale, yscale=panel.yscale)
    if panel.xlim is not None:
        ax.set_xlim(panel.xlim)
    if panel.ylim is not None:
        ax.set_ylim(panel.ylim)
    _label_short_log_axes(ax)
    if any(not label.startswith("_") for label in ax.get_legend_handles_labels()[1]):
        ax.legend()


def _label_short_log_axes(ax: Axes) -> None:
    """Write plain numbers at 1, 2, 5, ... where powers of ten alone would leave an axis almost without labels."""
    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        if axis.get_scale() != "log" or not 0 < low < high < 300 * low:
            continue
        axis.set_major_locator(LogLocator(subs=_labeled(low, high)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


def _labeled(low: float, high: float) -> tuple[float, ...]:
    """Return the leading digits of the numbers that are written on a logarithmic axis, fewer where these are long."""
    if high > 30 * low and high > LONG_NUMBER:
        return (1,)
    return (1, 2, 5) if high > 6 * low else (1, 1.5, 2, 3, 4, 5, 6, 8)


def _draw_curve(ax: Axes, label: str, rows: pd.DataFrame, position: int, curve: Curve | None) -> None:
    """Draw theory as a line, simulation as hollow markers with bars of 95 % coverage, marked places as stars."""
    color = f"C{position if curve is None or curve.color is None else curve.color}"
    if label.startswith("_") and curve is not None and curve.color is not None:
        position = curve.color  # more points of the curve of that color, with the same markers
    look: dict[str, Any] = {"color": color, "linestyle": "", "markerfacecolor": "white"}
    value = rows["simulation"].where(rows["simulation"].notna(), rows["theory"])  # a single number may be measured
    exact = rows.assign(value=value)[value.notna() & rows["stderr"].isna()]
    line = exact[exact["size"].isna()].sort_values("x", kind="stable")
    if len(line):
        look["linestyle"] = DASHES[position % len(DASHES)] if curve is None or curve.style is None else curve.style
        ax.plot(line["x"], line["value"], color=color, linestyle=look["linestyle"])
    points = best_points(rows[rows["stderr"].notna()])
    if len(points):
        look["marker"] = MARKERS[position % len(MARKERS)]
        of_shares = curve is not None and curve.average == "share" and not curve.extrapolate
        bars = (
            share_bars(points["simulation"], points["replicates"])
            if of_shares
            else error_bars(points["stderr"], points["replicates"])
        )
        ax.errorbar(points["x"], points["simulation"], bars, **(look | {"linestyle": ""}), elinewidth=0.8)
    stars = exact[exact["size"].notna()]
    if len(stars):
        if curve is not None:  # a marked place on a declared line; in a computed table points are just points
            look |= {"marker": "*", "markersize": 9, "markerfacecolor": color}
        else:
            look["marker"] = MARKERS[position % len(MARKERS)]
        ax.plot(stars["x"], stars["value"], **(look | {"linestyle": ""}), zorder=3)
    ax.plot([], [], **look, label=label)  # one entry of the legend shows all of it
