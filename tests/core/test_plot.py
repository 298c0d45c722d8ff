"""Figures: drawn from the table alone, equal bytes for equal data."""

import math
import struct
from dataclasses import replace

import matplotlib
import pytest

from figures.core import NONE, Context, Curve, Experiment, Panel, row
from figures.core.aside import move_aside
from figures.core.compute import compute_rows
from figures.core.form import shades
from figures.core.plot import _draw_panel, curve_colors, draw_figure
from figures.core.ratios import draw_ratios
from figures.core.table import to_frame


def replicate(model, d, rng):
    return float(model + 0.1 * rng.standard_normal())


def forbidden(*_):
    raise AssertionError("drawing must not compute")


def experiment(**fields):
    star = Curve(model=lambda x: x, replicate=NONE, line=(), points=(2.0,))
    curves = {"a": lambda x: x, "b": lambda x: 2 * x, "_hidden": lambda x: 3 * x, "best": star}
    base = {"theory": float, "replicate": replicate, "line": (1.0, 2.0, 3.0), "points": (1.0, 3.0), "replicates": 4}
    panels = (
        Panel(title="one", curves=curves, xscale="log", ylim=(0.1, 20)),
        Panel(title="two", curves={"a": lambda x: x}),
    )
    return Experiment(**{"title": "t", "panels": panels, "xlabel": "x", "ylabel": "y"} | base | fields)


@pytest.fixture(scope="module")
def rows():
    return to_frame(compute_rows(experiment(), Context()))


def test_equal_data_give_equal_bytes_and_nothing_is_computed(rows, tmp_path):
    for folder in ("first", "second"):
        declared = experiment(theory=forbidden, replicate=forbidden)
        draw_figure(declared, rows, tmp_path / folder / "f.pdf", tmp_path / folder / "f.png")
    for name in ("f.pdf", "f.png"):
        content = (tmp_path / "first" / name).read_bytes()
        assert content == (tmp_path / "second" / name).read_bytes()
        assert b"CreationDate" not in content
        assert b"tEXtSoftware" not in content


def test_pictures_say_what_they_are_and_how_they_were_made(rows, tmp_path):
    draw_figure(
        experiment(title=r"the $\lambda$"), rows, tmp_path / "f.pdf", tmp_path / "f.png", caption="Said.", made="make f"
    )
    png, pdf = ((tmp_path / name).read_bytes() for name in ("f.png", "f.pdf"))
    for text in ("the λ".encode(), b"Said.", b"make f"):
        assert text in png
    assert b"/Subject (Said.)" in pdf
    assert b"/Keywords (make f)" in pdf


def test_measured_numbers_without_an_error_are_drawn_and_a_joint_score_is_not():
    from matplotlib.figure import Figure

    made = [row("line", x, measured=x) for x in (1.0, 2.0)] + [row("points", x, measured=-x, d=9) for x in (1.0, 2.0)]
    ax = Figure().subplots()
    _draw_panel(ax, experiment().resolved_panels()[1], to_frame(made))
    line, _, points, _ = ax.get_lines()
    assert (line.get_linestyle(), line.get_xydata().tolist()) == ("-", [[1.0, 1.0], [2.0, 2.0]])
    assert (points.get_linestyle(), points.get_xydata().tolist()) == ("None", [[1.0, -1.0], [2.0, -2.0]])


def test_settings_of_the_user_have_no_influence(rows, tmp_path):
    """A matplotlibrc may ask for a LaTeX that is not there, or for a grid."""
    draw_figure(experiment(), rows, tmp_path / "f.pdf")
    with matplotlib.rc_context({"text.usetex": True, "axes.grid": True, "font.family": "no such font"}):
        draw_figure(experiment(), rows, tmp_path / "g.pdf")
    assert (tmp_path / "f.pdf").read_bytes() == (tmp_path / "g.pdf").read_bytes()


def test_two_drawings_at_once_do_not_meet(rows, tmp_path, monkeypatch):
    names = []

    def save(_figure, path, *_):
        names.append(path.name)
        path.touch()

    monkeypatch.setattr("figures.core.plot._save", save)
    for process in (1, 2):
        monkeypatch.setattr("os.getpid", lambda process=process: process)
        draw_figure(experiment(), rows, tmp_path / "f.pdf")
    assert len(set(names)) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["f.pdf"]


def test_what_is_drawn(rows):
    from matplotlib.figure import Figure

    declared = experiment()
    ax = Figure().subplots()
    _draw_panel(ax, declared.resolved_panels()[0], rows[rows["panel"] == "one"])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "best"]
    handles, _ = ax.get_legend_handles_labels()
    assert len({(handle.get_linestyle(), handle.get_marker()) for handle in handles}) == 3  # readable in grey
    assert (ax.get_xscale(), ax.get_xlabel(), ax.get_ylim()) == ("log", "x", (0.1, 20))
    bars = ax.containers[0].lines[2][0].get_segments()[0]
    point = rows[(rows["curve"] == "a") & rows["size"].eq(math.inf) & (rows["panel"] == "one")].iloc[0]
    assert bars[1][1] - bars[0][1] == pytest.approx(point["high"] - point["low"])
    assert point["high"] - point["low"] < 2 * 3.182446 * point["stderr"]  # more than 3 degrees of freedom, 95 %


def test_a_curve_has_the_color_and_the_line_that_it_declares_and_its_stars_too():
    from matplotlib.colors import to_rgba
    from matplotlib.figure import Figure

    curves = {"a": Curve(model=lambda x: x, color=5, style=":", stars=[2.0]), "b": lambda x: 2 * x}
    panel = experiment(panels=[Panel(title="one", curves=curves)]).resolved_panels()[0]
    declared = experiment(panels=[Panel(title="one", curves=curves)], replicate=NONE, points=())
    ax = Figure().subplots()
    _draw_panel(ax, panel, to_frame(compute_rows(declared, Context())))
    line, _, other, _, star, _ = ax.get_lines()  # each is followed by its entry of the legend
    assert (line.get_linestyle(), to_rgba(line.get_color())) == (":", to_rgba("C5"))
    assert (other.get_linestyle(), to_rgba(other.get_color())) == ("--", to_rgba("C1"))
    assert (star.get_marker(), star.get_linestyle(), to_rgba(star.get_color())) == ("*", "None", to_rgba("C5"))
    assert star.get_xydata().tolist() == [[2.0, 2.0]]


def test_a_curve_has_a_color_beyond_the_cycle_and_the_marker_that_it_declares(rows):
    from matplotlib.colors import to_rgba
    from matplotlib.figure import Figure

    curves = {"a": Curve(model=lambda x: x, color="0.4", marker="P", style="-"), "b": lambda x: 2 * x, "best": None}
    panel = experiment(panels=[Panel(title="one", curves=curves, ordered=True)]).resolved_panels()[0]
    ax = Figure().subplots()
    _draw_panel(ax, panel, rows[rows["panel"].eq("one") & rows["curve"].isin(curves)])
    shown = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    assert (shown["a"].get_marker(), to_rgba(shown["a"].get_color())) == ("P", to_rgba("0.4"))
    assert [to_rgba(shown[name].get_color()) for name in ("b", "best")] == [to_rgba(shade) for shade in shades(2)]
    assert "P" not in (shown["b"].get_marker(), shown["best"].get_marker())


def test_draw_adds_to_every_panel(rows, tmp_path):
    seen = []
    draw_figure(experiment(draw=lambda ax, own: seen.append((ax.get_title(), len(own)))), rows, tmp_path / "f.png")
    assert seen == [("one", 28), ("two", 9)]


def test_figsize_and_resolution(rows, tmp_path):
    draw_figure(experiment(figsize=(5.0, 2.0)), rows, tmp_path / "f.png", dpi=100)
    width, height = struct.unpack(">II", (tmp_path / "f.png").read_bytes()[16:24])
    assert width == 500
    assert 200 <= height < 260  # grown by the legend, which hides no data


def test_compute_with_and_without_panels(tmp_path):
    rows = to_frame([row("a", 1, panel="left", theory=1.0), row("a", 2, panel="left", theory=2.0)])
    draw_figure(Experiment(title="t", compute=forbidden), rows, tmp_path / "f.png")
    panels = (Panel(title="left", curves={}), Panel(title="right", curves={}))
    draw_figure(Experiment(title="t", compute=forbidden, panels=panels), rows, tmp_path / "f.png")
    draw_figure(Experiment(title="t", compute=forbidden), to_frame([]), tmp_path / "f.png")


@pytest.mark.parametrize(
    ("limits", "labels"),
    [
        ((0.2, 5.0), ["0.2", "0.5", "1", "2", "5"]),
        ((1.0, 4.0), ["1", "1.5", "2", "3", "4"]),
        ((1e-4, 10.0), None),
        ((300.0, 24000.0), ["1000", "10000"]),
    ],
)
def test_short_logarithmic_axes_have_plain_labels(limits, labels):
    from matplotlib.figure import Figure

    figure = Figure()
    ax = figure.subplots()
    _draw_panel(ax, experiment(xscale="log", xlim=limits).resolved_panels()[1], to_frame([]))
    figure.canvas.draw()
    low, high = limits[0] * (1 - 1e-9), limits[1] * (1 + 1e-9)  # older versions place 0.2 one rounding below
    shown = [text.get_text() for text in ax.get_xticklabels() if low <= text.get_position()[0] <= high]
    assert (shown == labels) if labels else all("10^{" in text for text in shown)
    assert not any(text.get_text() for text in ax.get_xticklabels(minor=True))


def test_points_are_drawn_over_their_theory_in_a_panel_of_ratios(rows, tmp_path):
    declared = experiment()
    declared = replace(declared, panels=(*declared.panels, Panel(title="over", ratio_of="one", curves={})))
    draw_figure(declared, rows, tmp_path / "f.png")
    ax = matplotlib.figure.Figure().subplots()
    shown = rows[rows["panel"] == "one"]
    labels = list(shown["curve"].drop_duplicates())
    places = {label: place for place, label in enumerate(labels)}
    draw_ratios(ax, shown, curve_colors(declared.resolved_panels()[0], labels), places)
    drawn = [container for container in ax.containers if container.lines]
    assert len(drawn) == 3  # two curves and the hidden one; a star is nothing measured
    points = rows[(rows["panel"] == "one") & (rows["curve"] == "b") & rows["size"].eq(math.inf)]
    expected = points["simulation"].to_numpy() / points["theory"].to_numpy() - 1
    assert list(drawn[1].lines[0].get_ydata()) == pytest.approx(list(expected))
    half = (points["high"] - points["low"]).to_numpy() / 2 / points["theory"].to_numpy()
    lengths = [top - bottom for (_, bottom), (_, top) in drawn[1].lines[2][0].get_segments()]
    assert lengths == pytest.approx(2 * half)
    assert [container.lines[0].get_xdata()[0] for container in drawn] == [1.0, 1.0, 1.0]
    move_aside(ax, drawn)  # as in all panels, here along the line of no deviation
    shifted = [container.lines[0].get_xydata()[0] for container in drawn]
    assert len({x for x, _ in shifted}) > 1
    assert [y for _, y in shifted[1:2]] == pytest.approx(list(expected[:1]))


@pytest.mark.parametrize("fields", [{"ratio_of": "three", "curves": {}}, {"ratio_of": "one", "curves": {"a": 1.0}}])
def test_ratios_are_of_another_panel_and_of_nothing_else(fields):
    with pytest.raises(ValueError, match="ratio_of must be the title of another panel, for a panel without curves"):
        experiment(panels=(*experiment().panels, Panel(title="over", **fields)))
