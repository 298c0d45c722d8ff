"""The layout of figures: panels within the width of a page, legends once and off the data, small pictures."""

import io

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from figures.core.layout import TEXT_WIDTH_INCHES, arrange, figure_size, finish
from figures.core.legends import MAX_HEIGHT_SHARE
from figures.core.plot import cycle_colors
from figures.core.small_png import RESOLUTIONS, save_small
from figures.core.wrapping import broken

X = np.linspace(0, 1, 50)


def drawn(n_panels, labels, *, y=None, **place):
    """Draw panels with curves of these labels, each at its own height, or all of them as `y` says."""
    figure = Figure(figsize=figure_size(n_panels), layout="constrained")
    cells = figure.subplots(*arrange(n_panels), squeeze=False).ravel()
    for ax, own in zip(cells, labels, strict=False):
        for number, label in enumerate(own):
            ax.plot(X, np.full(50, number / 10) if y is None else y(X), color=f"C{number}", label=label)
        ax.set(xlim=(0, 1), ylim=(0, 1))
        ax.legend(**place)
    finish(figure, cells[:n_panels], cells[n_panels:])
    return figure, cells


@pytest.mark.parametrize("n_panels", range(1, 10))
def test_panels_fit_the_page(n_panels):
    rows, columns = arrange(n_panels)
    assert (rows - 1) * columns < n_panels <= rows * columns
    assert figure_size(n_panels)[0] <= TEXT_WIDTH_INCHES


def test_equal_legends_become_one_below_all_panels():
    figure, cells = drawn(2, [("a", "b"), ("a", "b")])
    assert [ax.get_legend() for ax in cells] == [None, None]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b"]


def test_a_legend_that_repeats_a_part_of_another_one_goes():
    figure, _ = drawn(2, [("a",), ("a", "b")])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b"]


def test_legends_that_say_different_things_stay():
    figure, cells = drawn(2, [("a", "b"), ("b", "a")], loc="upper right")  # the colors differ
    assert not figure.legends
    assert all(ax.get_legend() is not None for ax in cells)


def test_a_common_legend_stands_in_an_empty_cell():
    figure, cells = drawn(5, [("a", "b")] * 5)
    assert not figure.legends
    assert [ax.get_legend() is not None for ax in cells] == [False] * 5 + [True]


def all_over(x):
    return np.where(np.arange(len(x)) % 2, 0.01, 0.99)


@pytest.mark.parametrize("n_panels", [1, 2])
def test_a_legend_moves_off_a_line(n_panels):
    labels = [("a",), ("b",)][:n_panels]
    figure, cells = drawn(n_panels, labels, y=lambda x: 0.92 + 0 * x, loc="upper right")
    figure.draw_without_rendering()
    assert not figure.legends
    for ax in cells:
        box = ax.get_legend().get_window_extent()
        assert ax.get_window_extent().y0 < box.y0 < box.y1 < ax.transData.transform((0, 0.92))[1]


@pytest.mark.parametrize("n_panels", [1, 2])
def test_a_legend_without_a_free_place_moves_below(n_panels):
    labels = [("a",), ("b",)][:n_panels]
    figure, cells = drawn(n_panels, labels, y=all_over)
    figure.draw_without_rendering()
    legends = figure.legends if n_panels == 1 else [ax.get_legend() for ax in cells]
    assert len(legends) == n_panels
    for legend, ax in zip(legends, cells, strict=True):
        assert legend.get_window_extent().y1 < ax.xaxis.get_tightbbox().y0 + 1
        assert legend.get_window_extent().y0 >= 0


def test_legends_below_that_would_be_high_become_one_with_the_letters_of_their_panels():
    labels = [tuple(f"a long name of curve {k}" for k in range(8)), tuple(f"another long name {k}" for k in range(8))]
    figure, cells = drawn(2, labels, y=all_over)
    figure.draw_without_rendering()
    assert [ax.get_legend() for ax in cells] == [None, None]
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(shown) == 16
    assert shown[0] == r"$\mathbf{a}$  a long name of curve 0"
    assert shown[-1] == r"$\mathbf{b}$  another long name 7"
    assert figure.legends[0].get_window_extent().width <= figure.bbox.width


def test_one_entry_explains_markers_with_a_line_and_the_same_markers_without_one():
    figure = Figure(figsize=figure_size(2), layout="constrained")
    cells = figure.subplots(1, 2).tolist()
    for ax, line, other in zip(cells, ("", ":"), "xy", strict=True):
        ax.plot(X, all_over(X), f"C0o{line}", label="a")
        for k in range(8):
            ax.plot(X, all_over(X), f"C{k + 1}-", label=f"a long name of curve {other}{k}")
        ax.legend()
    finish(figure, cells)
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(shown) == 17
    assert shown.count("a") == 1


@pytest.mark.parametrize("n_entries", [2, 3, 5, 8])
def test_a_legend_takes_at_most_a_sixth_of_the_height(n_entries):
    figure, cells = drawn(2, [tuple(f"curve {k}" for k in range(n_entries)), ("x",)], y=lambda x: 0.02 + 0 * x)
    figure.draw_without_rendering()
    for legend in [*figure.legends, *(ax.get_legend() for ax in cells if ax.get_legend() is not None)]:
        assert legend.get_window_extent().height <= MAX_HEIGHT_SHARE * figure.bbox.height


def test_a_legend_beside_the_lines_stays():
    figure, cells = drawn(1, [("a",)], y=lambda x: 0 * x + 0.1, loc="upper right")
    assert not figure.legends
    assert cells[0].get_legend() is not None


def test_error_bars_count_as_data():
    figure = Figure(figsize=figure_size(1), layout="constrained")
    ax = figure.subplots()
    bar = ax.errorbar([0.9], [0.1], 0.85, label="bar")
    ax.set(xlim=(0, 1), ylim=(0, 1))
    ax.legend(loc="upper right")
    finish(figure, [ax])
    drawn_bar = bar.lines[2][0].get_segments()[0]
    assert ax.get_legend().get_window_extent().x1 < ax.transData.transform(drawn_bar)[0, 0]


def test_long_labels_are_broken_outside_formulas():
    assert broken("samples per student feature") == "samples per\nstudent feature"
    assert broken(r"$\alpha = n / p$") == r"$\alpha = n / p$"
    figure = Figure(figsize=figure_size(3), layout="constrained")
    cells = figure.subplots(1, 3)
    cells[0].set_xlabel("a label that is much too long for so narrow a panel")
    finish(figure, list(cells))
    assert cells[0].get_xlabel().count("\n") == 1


def test_a_title_wider_than_the_figure_isbroken():
    figure = Figure(figsize=figure_size(1), layout="constrained")
    ax = figure.subplots()
    figure.suptitle("a title of a figure that says so much that one line does not hold all of it, even so")
    finish(figure, [ax])
    assert figure.get_suptitle().count("\n") == 1
    figure.suptitle("a short title")
    finish(figure, [ax])
    assert figure.get_suptitle() == "a short title"


def test_pictures_are_small_and_equal_pictures_give_equal_bytes(tmp_path):
    noise = np.random.default_rng(1).integers(0, 255, (150, 150, 3), dtype=np.uint8)
    asked = []

    def render(dpi):
        asked.append(dpi)
        content = io.BytesIO()
        Image.fromarray(noise[:dpi, :dpi]).save(content, "png")
        return content.getvalue()

    for name in ("a.png", "b.png"):
        save_small(render, tmp_path / name, 5_000)
    assert (tmp_path / "a.png").stat().st_size <= 5_000
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert asked[0] == RESOLUTIONS[0] > asked[-1]
    save_small(render, tmp_path / "c.png", 10)  # cannot be: the smallest there is
    assert 10 < (tmp_path / "c.png").stat().st_size <= (tmp_path / "a.png").stat().st_size


def test_a_small_picture_of_many_shades_keeps_the_colors_of_its_legend(tmp_path):
    shades = np.random.default_rng(0).integers(0, 255, (200, 200, 3), dtype=np.uint8)
    shades[5:9, 5:9] = 0xD5, 0x5E, 0x00  # a square of a legend

    def render(_dpi):
        content = io.BytesIO()
        Image.fromarray(shades).save(content, "png")
        return content.getvalue()

    def square(name, **options):
        save_small(render, tmp_path / name, 60_000, **options)
        return Image.open(tmp_path / name).convert("RGB").getpixel((7, 7))

    assert square("kept.png", kept=cycle_colors()) == (0xD5, 0x5E, 0x00)
    assert square("lost.png") != (0xD5, 0x5E, 0x00)


def test_letters_of_a_common_legend_know_names_that_another_panel_hides():
    figure = Figure(figsize=(6.0, 2.2), layout="constrained")
    one, two, three = figure.subplots(1, 3)
    for ax, hidden in ((one, ""), (two, "_")):
        ax.plot([0, 1], [0, 1], color="C0", label=f"{hidden}line")
        ax.errorbar([0.2, 0.8], [0.2, 0.8], 0.1, fmt="o", color="C1", label=f"{hidden}runs")
    three.plot([0, 1], [1, 0], color="C0", label="another")
    one.plot([0, 1], [1, 0], color="C2", label="alone")
    for ax in (one, three):
        ax.fill_between([0, 1], 0, 1, color="0.9")
        ax.legend()
    finish(figure, [one, two, three])
    words = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert words == [r"$\mathbf{a,b}$  line", r"$\mathbf{a}$  alone", r"$\mathbf{a,b}$  runs", r"$\mathbf{c}$  another"]


def test_panels_become_higher_above_a_legend_of_many_entries():
    names = [[f"{letter}, a curve with a long name {k}" for k in range(5)] for letter in "abc"]
    figure, _ = drawn(3, names, y=lambda x: x)
    (legend,) = figure.legends
    share = legend.get_window_extent().height / figure.bbox.height
    assert 0.9 * MAX_HEIGHT_SHARE < share <= MAX_HEIGHT_SHARE
    assert figure.get_figheight() > figure_size(3)[1] + 0.1
