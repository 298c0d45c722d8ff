"""A figure in a user's own style, at another width, with own points; and what a bad file says."""

import struct

import pytest

from figures.command_line import main
from figures.core import Experiment, Panel
from figures.core.discover import path_of
from figures.core.own_style import read_points
from figures.core.table import TableError

TWO = Experiment(title="t", panels=[Panel(title="one", curves={"a": 1.0}), Panel(title="two", curves={"a": 1.0})])


@pytest.fixture
def output(tmp_path):
    assert main(["run", "edge_of_chaos", "--quality", "draft", "--output", str(tmp_path)]) == 0
    return tmp_path


def draw(output, *options):
    return main(["draw", "edge_of_chaos", "--quality", "draft", "--output", str(output), *options])


def test_a_styled_figure_leaves_that_of_the_project_alone(output, tmp_path, capsys):
    assert draw(output) == 0
    plain = (output / "edge_of_chaos.png").read_bytes()
    style = tmp_path / "journal.mplstyle"
    style.write_text("font.family: STIXGeneral\nfigure.dpi: 100\n", encoding="utf-8")
    capsys.readouterr()
    assert draw(output, "--style", str(style), "--width", "6") == 0
    styled = output / "styled" / "edge_of_chaos.png"
    assert str(styled) in capsys.readouterr().out
    assert struct.unpack(">I", styled.read_bytes()[16:20]) == (600,)
    assert (output / "edge_of_chaos.png").read_bytes() == plain
    assert path_of("edge_of_chaos").stem in styled.stem


def test_own_points_are_drawn_over_the_figure(output, tmp_path):
    points = tmp_path / "mine.csv"
    points.write_text("x, y, low, high, panel, label\n1.5, 2, 1, 3, a, mine\n2.5, 3, 2, 4, b, mine\n", encoding="utf-8")
    assert draw(output, "--width", "7") == 0
    without = (output / "styled" / "edge_of_chaos.png").read_bytes()
    assert draw(output, "--width", "7", "--points", str(points)) == 0
    assert (output / "styled" / "edge_of_chaos.png").read_bytes() != without


def test_points_go_to_their_panels(tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text("x,y,panel\n1,2,\n3,4,b\n5,6,one\n", encoding="utf-8")
    rows = read_points(file, TWO)
    assert list(rows["panel"]) == ["one", "two", "one"]
    assert list(rows["curve"]) == ["own points"] * 3
    assert (list(rows["x"]), list(rows["simulation"])) == ([1, 3, 5], [2, 4, 6])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no table of points: No columns to parse"),
        ("a,b\n1,2\n", "must have the columns x and y, and may have low with high, panel and label; it has a, b"),
        ("x,y,low\n1,2,1\n", "must have the columns x and y"),
        ("x,y\n", "holds no points: it has a header only"),
        ("x,y\n1,two\n", "line 2: y must be a finite number, got 'two'"),
        ("x,y\n1,2\nnan,2\n", "line 3: x must be a finite number, got 'nan'"),
        ("x,y,panel\n1,2,three\n", "line 2: panel must be one of 'one', 'two', got 'three'"),
    ],
)
def test_bad_points_are_named(tmp_path, text, said):
    file = tmp_path / "mine.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(TableError, match=said):
        read_points(file, TWO)


@pytest.mark.parametrize(
    ("option", "content", "said"),
    [
        ("--style", "no setting at all\n", "is no style of matplotlib"),
        ("--style", "font.size: huge\n", "is no style of matplotlib"),
        ("--points", "x,y\n1,\n", "line 2: y must be a finite number"),
        ("--points", None, "No such file or directory"),
        ("--style", None, "No such file or directory"),
    ],
)
def test_a_bad_file_is_one_line_and_no_figure(output, tmp_path, capsys, option, content, said):
    file = tmp_path / "given"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    capsys.readouterr()
    assert draw(output, option, str(file)) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not list((output / "styled").glob("*.p*")) if (output / "styled").exists() else True


@pytest.mark.parametrize("width", ["0", "nan", "wide", "100"])
def test_a_width_is_a_number_of_inches(output, capsys, width):
    with pytest.raises(SystemExit):
        draw(output, "--width", width)
    assert "--width" in capsys.readouterr().err


def test_a_width_without_room_for_the_panels_is_said(output, capsys):
    capsys.readouterr()
    assert draw(output, "--width", "1") == 1
    assert capsys.readouterr().err == "figures: edge_of_chaos has no room for its panels: choose a larger width\n"
