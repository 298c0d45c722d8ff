"""Draws the figure of a table. Nothing is computed here: the CSV holds all that is drawn."""

import logging
from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path
from typing import Any

import pandas as pd

from figures.core.experiment import Curve, Experiment, Panel
from figures.core.ratios import MARKERS, bars, best_points, draw_ratios
from figures.core.render import plain
from figures.core.rows import JOINT, OWN, RUN
from figures.core.table import TableError
from theory.core.atomic_write import atomic_write

# While it is loaded matplotlib reads a matplotlibrc of the current folder, before any that MATPLOTLIBRC names; a broken
# one would end the program, or fill the screen with warnings. So it is loaded from a folder that has none.
with chdir(Path(__file__).anchor):
    import matplotlib
    from matplotlib import rc_params_from_file
    from matplotlib import style as style_sheets
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.colors import to_hex
    from matplotlib.container import ErrorbarContainer
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    from figures.core.aside import move_aside
    from figures.core.form import STAR, add_letters, curve_places, shades, share_rows
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
    style: Path | None = None,
    width: float | None = None,
) -> None:
    """Draw the table `rows` of an experiment and saves the figure under every path (.pdf, .png).

    Equal tables give equal bytes: the files hold no date, and a matplotlibrc of the user has no influence, unless it
    is given as the `style`, whose settings come after those of the project. `dpi` is the resolution of a PNG in dots
    per inch, and `width` the width in inches, in place of the figure's own. The title, the `caption`, and how the
    figure is `made`, a command, are kept in the metadata of each file.
    """
    given = rows[rows["kind"] == OWN]
    rows = rows[~rows["kind"].isin((JOINT, OWN))]
    panels = experiment.resolved_panels()
    with _style(style):
        own_width, height = experiment.figsize or figure_size(len(panels))
        wide = width or own_width
        figure = Figure(figsize=(wide, height * wide / own_width))
        cells = figure.subplots(*arrange(len(panels)), squeeze=False).ravel().tolist()
        table = [rows if experiment.panels is None else rows[rows["panel"] == _shown(panel)] for panel in panels]
        declared = [next(other for other in panels if other.title == _shown(panel)) for panel in panels]
        labels = [list(own["curve"].drop_duplicates()) for own in table]
        places = curve_places(list(zip(declared, labels, strict=True)), common=experiment.draw is None)
        measured = []
        for k, (panel, ax, own) in enumerate(zip(panels, cells[: len(panels)], table, strict=True)):
            if panel.ratio_of is not None:
                draw_ratios(ax, own, curve_colors(declared[k], labels[k], places[k]), places[k])
            _draw_panel(ax, panel, own if panel.ratio_of is None else own[:0], places[k])
            measured.append([one for one in ax.containers if isinstance(one, ErrorbarContainer)])
            if experiment.draw is not None and panel.ratio_of is None:
                experiment.draw(ax, own)
            if len(given):
                _draw_given(ax, given[given["panel"] == panel.title])
        add_letters(cells[: len(panels)])
        share_rows(cells[: len(panels)], arrange(len(panels))[1])
        figure.suptitle(experiment.title, fontsize=matplotlib.rcParams["axes.titlesize"])
        finish(figure, cells[: len(panels)], cells[len(panels) :], names=True)
        for ax, drawn in zip(cells[: len(panels)], measured, strict=True):
            move_aside(ax, drawn)
        for path in paths:
            with atomic_write(path) as temporary:
                _save(figure, temporary, metadata(path.suffix, experiment.title, caption, made), dpi)


def _shown(panel: Panel) -> str:
    """Return the title of the panel whose rows are drawn in this one."""
    return panel.ratio_of or panel.title


def _style(own: Path | None) -> Any:
    """Return the context in which a figure has the style of the project, and then a user's own; TableError for that."""
    if own is None:
        return style_sheets.context(STYLE_SHEET, after_reset=True)
    try:
        settings = rc_params_from_file(own, fail_on_error=True, use_default_template=False)
    except (OSError, ValueError, KeyError) as error:
        raise TableError(f"{own} is no style of matplotlib: {' '.join(str(error).split())}") from error
    if not settings:
        raise TableError(f"{own} is no style of matplotlib: it has no line like font.size: 8")
    return style_sheets.context([STYLE_SHEET, {str(name): value for name, value in settings.items()}], after_reset=True)


def _draw_given(ax: Axes, rows: pd.DataFrame) -> None:
    """Draw a user's own points as filled black markers, each label with a marker of its own."""
    for place, (label, own) in enumerate(rows.groupby("curve", sort=False)):
        look: dict[str, Any] = {"color": "black", "linestyle": "", "marker": MARKERS[place % len(MARKERS)], "zorder": 4}
        lengths = bars(own) if own["low"].notna().all() else None
        ax.errorbar(own["x"], own["simulation"], lengths, label=label, elinewidth=0.8, **look)
        ax.legend()


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
    with style_sheets.context(STYLE_SHEET, after_reset=True):
        return [to_hex(color) for color in matplotlib.rcParams["axes.prop_cycle"].by_key()["color"]]


def metadata(suffix: str, title: str, caption: str, made: str) -> dict[str, str | None]:
    """Return the metadata of a picture of this format, in plain text, without a date."""
    said = {name: plain(text) for name, text in zip(NAMES[suffix], (title, caption, made), strict=True) if text}
    return {**NO_DATE[suffix], **said}


def _draw_panel(ax: Axes, panel: Panel, rows: pd.DataFrame, places: Mapping[str, int] | None = None) -> None:
    curves, labels = dict(panel.resolved_curves()), list(rows["curve"].drop_duplicates())
    places = places or {label: place for place, label in enumerate(labels)}
    colors = curve_colors(panel, labels, places)
    for label in labels:
        _draw_curve(ax, label, rows[rows["curve"] == label], places[label], curves.get(label), colors[label])
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


def curve_colors(panel: Panel, labels: list[str], places: Mapping[str, int] | None = None) -> dict[str, str]:
    """Return the color of each curve: as declared, by its place in the cycle, or a shade where the panel has an order.

    Without `places` (`curve_places`) it is the place among the `labels`. A star has the color of its curve.
    """
    curves = dict(panel.resolved_curves())
    colors: dict[str, int | str] = {label: place for place, label in enumerate(labels)}
    colors.update(places or {})
    colors |= {label: curve.color for label in labels if (curve := curves.get(label)) and curve.color is not None}
    colors |= {star: colors[label] for label in labels if (star := STAR + label) in colors}
    used = sorted({place for label in labels if not isinstance(place := colors[label], str)})
    cycle = shades(len(used)) if panel.ordered else [f"C{place}" for place in used]
    by_place: dict[int | str, str] = dict(zip(used, cycle, strict=True))
    return {label: by_place.get(place := colors[label], str(place)) for label in labels}


def _draw_curve(ax: Axes, label: str, rows: pd.DataFrame, position: int, curve: Curve | None, color: str) -> None:
    """Draw theory as a line, simulation as hollow markers with bars of 95 % coverage, marked places as stars.

    A mean whose replicates are in the table as single runs has no bar, since its error is hardly known: the runs
    themselves stand behind it.
    """
    if label.startswith("_") and curve is not None and isinstance(curve.color, int):
        position = curve.color  # more points of the curve of that color, with the same markers
    marker = MARKERS[position % len(MARKERS)] if curve is None or curve.marker is None else curve.marker
    look: dict[str, Any] = {"color": color, "linestyle": "", "markerfacecolor": "white"}
    value = rows["simulation"].where(rows["simulation"].notna(), rows["theory"])  # a single number may be measured
    single = rows["kind"] == RUN
    _draw_runs(ax, rows[single], color, label)
    exact = rows.assign(value=value)[value.notna() & rows["stderr"].isna() & ~single]
    line = exact[exact["size"].isna()].sort_values("x", kind="stable")
    if len(line):
        look["linestyle"] = DASHES[position % len(DASHES)] if curve is None or curve.style is None else curve.style
        ax.plot(line["x"], line["value"], color=color, linestyle=look["linestyle"], gid=label)
    points = best_points(rows[rows["stderr"].notna()])
    if len(points):
        look["marker"] = marker
        shown = points["x"].isin(rows.loc[single, "x"])  # by their replicates themselves
        marks: dict[str, Any] = look | {"linestyle": "", "gid": label}
        ax.plot(points["x"][shown], points["simulation"][shown], **marks)
        barred = points[~shown]
        ax.errorbar(barred["x"], barred["simulation"], bars(barred), **marks, elinewidth=0.8)
    stars = exact[exact["size"].notna()]
    if len(stars):
        look["marker"] = marker
        if curve is not None and curve.marker is None:  # a marked place on a declared line; others are just points
            look |= {"marker": "*", "markersize": 9, "markerfacecolor": color}
        ax.plot(stars["x"], stars["value"], **(look | {"linestyle": "", "gid": label}), zorder=3)
    ax.plot([], [], **look, label=label, gid=label)  # one entry of the legend shows all that has this identifier


def _draw_runs(ax: Axes, rows: pd.DataFrame, color: str, label: str) -> None:
    """Draw each run along x as a thin line, and replicates of single points as dots."""
    thin: dict[str, Any] = {"color": color, "linewidth": 0.5, "alpha": 0.6, "zorder": 1, "gid": label}
    for group, own in rows.groupby("group"):
        ordered = own.sort_values("x", kind="stable")
        look = {"linestyle": "-"} if group else {"linestyle": "", "marker": ".", "markersize": 2.5}
        ax.plot(ordered["x"], ordered["simulation"], **(thin | look))
