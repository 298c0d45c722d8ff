"""The form of figures: letters of panels, common scales, shades of an order, markers that hide none, single runs."""

import math
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from figures.core import Context, Curve, Experiment, Panel
from figures.core.captions import caption_of
from figures.core.compute import compute_rows
from figures.core.form import add_letters, curve_places, shades, share_rows
from figures.core.plot import _draw_panel, curve_colors
from figures.core.report import render_table
from figures.core.rows import MIN_BARRED, RUN
from figures.core.table import to_frame
from figures.masked.second_shades import SECOND_SHADES


def panels(*limits, labels=("error", "error")):
    axes = Figure().subplots(1, len(limits), squeeze=False).ravel().tolist()
    for ax, ends, label in zip(axes, limits, labels, strict=True):
        ax.set(ylim=ends, ylabel=label, title="one")
    return axes


def test_panels_have_bold_letters_and_one_alone_has_none():
    axes = panels((0, 1), (0, 1))
    add_letters(axes)
    assert [ax.get_title() for ax in axes] == [r"$\mathbf{a}$  one", r"$\mathbf{b}$  one"]
    add_letters(alone := panels((0, 1), labels=("error",)))
    assert alone[0].get_title() == "one"


def test_panels_of_a_row_that_show_the_same_number_have_one_scale():
    axes = panels((0, 1), (0.5, 1.7))
    share_rows(axes, 2)
    assert [ax.get_ylim() for ax in axes] == [(0, 1.7), (0, 1.7)]
    assert [ax.get_ylabel() for ax in axes] == ["error", ""]


@pytest.mark.parametrize(
    ("limits", "labels"), [(((0, 1), (0, 9)), ("error", "error")), (((0, 1), (0, 1)), ("error", "loss"))]
)
def test_panels_of_other_numbers_or_ranges_keep_their_scales(limits, labels):
    axes = panels(*limits, labels=labels)
    share_rows(axes, 2)
    assert tuple(ax.get_ylim() for ax in axes) == limits
    assert [ax.get_ylabel() for ax in axes] == list(labels)
    share_rows(axes, 1)  # one below the other is no row
    assert tuple(ax.get_ylim() for ax in axes) == limits


def test_a_color_beyond_the_cycle_takes_no_place_in_it():
    declared = Panel(title="one", curves={"a": Curve(color="0.4"), "b": Curve(color=0)})
    free = Panel(title="two", curves={"a": None, "c": None})
    assert curve_places([(declared, ["a", "b"]), (free, ["a", "c"])]) == [{"a": 0, "b": 1}, {"a": 1, "c": 2}]
    assert list(curve_colors(declared, ["a", "b"]).values()) == ["0.4", "C0"]


@pytest.mark.parametrize("colors", [shades(6), SECOND_SHADES])
def test_shades_are_ordered_in_grey_too(colors):
    grey = [np.dot(to_rgb(shade), (0.299, 0.587, 0.114)) for shade in colors]
    assert np.all(np.diff(grey) > 0.05)


def test_declared_colors_are_shades_in_a_panel_with_an_order():
    panel = Panel(curves={"a": Curve(color=1), "b": Curve(color=0), "c": Curve(color=1)}, ordered=True)
    assert list(curve_colors(panel, ["a", "b", "c"]).values()) == [shades(2)[1], shades(2)[0], shades(2)[1]]
    assert list(curve_colors(Panel(curves=panel.curves), ["a", "b", "c"]).values()) == ["C1", "C0", "C1"]


def test_a_panel_that_would_fill_less_than_half_of_a_common_scale_begins_a_new_one():
    axes = panels((0.07, 0.26), (0.06, 0.25), (0.27, 0.46), labels=("error",) * 3)
    share_rows(axes, 3)
    assert [ax.get_ylim() for ax in axes] == [(0.06, 0.26), (0.06, 0.26), (0.27, 0.46)]
    assert [ax.get_ylabel() for ax in axes] == ["error", "", "error"]


def test_a_label_has_one_color_in_a_figure_and_no_other_label_has_it():
    one, two = Panel(curves=dict.fromkeys("abc")), Panel(curves={"d": None, "c": Curve(stars=[1.0])})
    assert curve_places([(one, list("abc")), (two, ["d", "c", "_star, c"])]) == [
        {"a": 0, "b": 1, "c": 2},
        {"d": 3, "c": 2, "_star, c": 2},
    ]
    declared = Panel(curves={"d": Curve(color=0), "c": None})  # whoever declares colors knows what they mean
    assert curve_places([(one, list("abc")), (declared, ["d", "c"])])[1] == {"d": 0, "c": 1}
    many = Panel(curves=dict.fromkeys("defgh"))
    assert curve_places([(one, list("abc")), (many, list("defgh"))])[1]["d"] == 0  # there are not colors enough


def few(replicates, **changed):
    return Experiment(
        title="t",
        curves={"a": lambda x: x},
        theory=float,
        replicate=lambda x, d, rng: x + rng.standard_normal(),
        points=(1.0, 2.0),
        d=10,
        replicates=replicates,
        extrapolate=False,
        ylabel="y",
        **changed,
    )


def test_few_replicates_are_shown_themselves_and_without_a_bar():
    declared = few(4)
    rows = to_frame(compute_rows(declared, Context()))
    singles = rows[rows["kind"] == RUN]
    assert len(singles) == 8
    for x, own in singles.groupby("x"):
        mean = rows[(rows["x"] == x) & rows["stderr"].notna()].iloc[0]
        assert own["simulation"].mean() == pytest.approx(mean["simulation"])
        assert math.isnan(own["z"].iloc[0])
    ax = Figure().subplots()
    _draw_panel(ax, declared.resolved_panels()[0], rows)
    assert not any(len(line.get_segments()) for line in ax.collections)  # no bars
    dots = [line for line in ax.get_lines() if line.get_marker() == "."]
    assert sum(len(line.get_xdata()) for line in dots) == 8
    said = caption_of(declared, rows)
    assert "Small dots are single replicates, of which a marker has 4." in said
    assert "Bars" not in said
    assert render_table(rows, "t", "text", declared).count("measured") == 2  # single replicates are no rows for readers


def test_only_replicates_that_are_to_be_seen_are_spoken_of():
    alike = replace(few(4), replicate=lambda x, d, rng: x + 1e-3 * rng.standard_normal())
    said = caption_of(alike, to_frame(compute_rows(alike, Context())))
    assert "Each of these markers is the mean of 4 replicates, which lie within it." in said
    zeros = replace(few(4), replicate=lambda x, d, rng: 0.0, yscale="log")  # which a logarithmic axis does not show
    assert "Small dots" not in caption_of(zeros, to_frame(compute_rows(zeros, Context())))
    assert "dots" not in said
    assert "lines" not in said


def test_enough_replicates_have_a_bar():
    rows = to_frame(compute_rows(few(MIN_BARRED), Context()))
    assert not (rows["kind"] == RUN).any()
    assert "Bars have a coverage of 95 %" in caption_of(few(MIN_BARRED), rows)


def test_runs_along_x_are_lines():
    declared = Experiment(
        title="t",
        measure=lambda _model, xs, _d, rng: {"loss": rng.standard_normal() + np.asarray(xs)},
        curves={"a": Curve(number="loss")},
        by_point=True,
        points=(1.0, 2.0, 3.0),
        d=10,
        replicates=3,
        extrapolate=False,
    )
    rows = to_frame(compute_rows(declared, Context()))
    assert sorted(rows.loc[rows["kind"] == RUN, "group"].unique()) == ["run 1", "run 2", "run 3"]
    ax = Figure().subplots()
    _draw_panel(ax, declared.resolved_panels()[0], rows)
    thin = [line for line in ax.get_lines() if line.get_linewidth() == 0.5]
    assert [len(line.get_xdata()) for line in thin] == [3, 3, 3]
    assert all(np.ptp(line.get_ydata() - line.get_xdata()) < 1e-12 for line in thin)  # each is one run
    said = caption_of(declared, rows)
    assert "Thin lines are single replicates, of which a marker has 3." in said
    assert "dots" not in said
