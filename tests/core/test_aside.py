"""Markers that move aside: only where they meet, and along their line, so that their distance from it stays."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from figures.core.aside import ASIDE, move_aside

X = np.linspace(0, 10, 401)


def panel(*curves, scale="linear"):
    """Draw lines y(x) with one marker each, `above` the line at x, and a bar of this length; return axes and bars."""
    ax = Figure(dpi=100).subplots()
    held = []
    for k, (line, x, above, bar) in enumerate(curves):
        ax.plot(X, line(X), color=f"C{k}", gid=f"curve {k}")
        held.append(ax.errorbar([x], [line(x) + above], [bar], color=f"C{k}", marker="o", ls="", gid=f"curve {k}"))
    ax.set(xlim=(0, 10), ylim=(0.1, 10), yscale=scale)
    return ax, held


def on_page(ax, one):
    """Return where a marker and the ends of its bar are, in typographic points."""
    ends = one.lines[2][0].get_segments()[0]
    return [ax.transData.transform(at) * 72 / 100 for at in (one.lines[0].get_xydata()[0], *ends)]


def gap_to_line(ax, one, line):
    """Return by how many points a marker stands above its line, at the place where it stands."""
    x, _ = one.lines[0].get_xydata()[0]
    return on_page(ax, one)[0][1] - ax.transData.transform((x, line(x)))[1] * 72 / 100


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("slope", [0.0, 0.5, 3.0, -2.0, 12.0])
def test_a_marker_keeps_its_distance_to_its_line(slope, scale):
    def line(x):
        return 5 + slope * (np.asarray(x) - 5) if scale == "linear" else 2 * np.exp(slope * (np.asarray(x) - 5) / 4)

    ax, held = panel((line, 5.0, 0.3, 0.5), (line, 5.0, -0.2, 0.5), scale=scale)
    before = [(on_page(ax, one), gap_to_line(ax, one, line)) for one in held]
    move_aside(ax, held)
    for one, (places, gap), sign in zip(held, before, (-1, 1), strict=True):
        moved = [new - old for new, old in zip(on_page(ax, one), places, strict=True)]
        assert gap_to_line(ax, one, line) == pytest.approx(gap, abs=0.05)
        assert np.allclose(moved, moved[0], atol=1e-6)  # the bar goes with its marker
        assert 0 < sign * moved[0][0] <= ASIDE / 2 + 1e-9
        assert np.hypot(*moved[0]) <= ASIDE + 1e-6  # not far where the line is steep
        assert abs(moved[0][1]) <= 0.8 + 1e-6  # so that it still shows its own value


def test_markers_without_a_line_move_along_x_alone():
    ax, held = panel((lambda x: 0 * x + 5, 5.0, 0.0, 0.5), (lambda x: 0 * x + 5.1, 5.0, 0.0, 0.5))
    for line in [line for line in ax.lines if len(line.get_xdata()) > 1]:
        line.remove()
    before = [on_page(ax, one)[0] for one in held]
    move_aside(ax, held)
    assert [on_page(ax, one)[0] - old for one, old in zip(held, before, strict=True)] == [
        pytest.approx([-ASIDE / 2, 0]),
        pytest.approx([ASIDE / 2, 0]),
    ]


def test_markers_of_one_law_move_along_the_line_that_shows_it():
    """Four laws of the inputs, one line: those without a line of their own stay on the one that passes through them."""
    ax = Figure(dpi=100).subplots()
    ax.plot(X, X, color="C0", gid="one")
    held = [ax.errorbar([5.0], [5.0], [0.1], color=f"C{k}", marker="o", ls="", gid=f"{k}") for k in range(3)]
    move_aside(ax, held)
    places = np.array([one.lines[0].get_xydata()[0] for one in held])
    assert np.ptp(places[:, 0]) > 0
    assert places[:, 1] == pytest.approx(places[:, 0])


@pytest.mark.parametrize("x", [5.0, 5.5])
def test_markers_that_do_not_meet_stay(x):
    """Where lines differ by more than markers and bars, or at another x."""
    ax, held = panel((lambda x: 0 * x + 3, 5.0, 0.0, 0.2), (lambda x: 0 * x + (7 if True else x), x, 0.0, 0.2))
    before = [one.lines[0].get_xydata().copy() for one in held]
    move_aside(ax, held)
    assert all((one.lines[0].get_xydata() == old).all() for one, old in zip(held, before, strict=True))
    limits = ax.get_xlim(), ax.get_ylim()
    assert limits == ((0, 10), (0.1, 10))


def test_only_the_markers_that_meet_move():
    ax = Figure(dpi=100).subplots()
    held = [
        ax.errorbar([1.0, 2.0], [1.0, 1.0], [0.1, 0.1], marker="o", ls=""),
        ax.errorbar([1.0, 2.0], [1.05, 3.0], [0.1, 0.1], marker="o", ls=""),
    ]
    move_aside(ax, held)
    for one in held:
        x = one.lines[0].get_xdata()
        assert x[0] != 1.0
        assert x[1] == 2.0
