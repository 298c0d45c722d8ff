"""Tables: written whole, read to the last bit, rendered in four formats."""

import csv
import io
import math

import pandas as pd
import pytest

from figures.core import row
from figures.core.render import STYLES
from figures.core.report import render_table, summary
from figures.core.table import read_csv, to_frame, write_csv
from simulate.core import Estimate

ROWS = [
    row(r"$\lambda_1 = 0.1$", 0.1 + 0.2, panel="AR(1) & more", theory=1 / 3),
    row(
        r"$\lambda_1 = 0.1$",
        1,
        panel="AR(1) & more",
        theory=1 / 3,
        d=100,
        estimate=Estimate(0.34, 0.01, 40),
        judged=False,
    ),
    row(r"$\lambda_1 = 0.1$", 1, panel="AR(1) & more", theory=1 / 3, d=math.inf, estimate=Estimate(0.35, 0.01, 40)),
    row("NA", 2, theory=math.nan, d=math.inf, estimate=Estimate(0.35, 0.01, 40)),
]


def test_round_trip(tmp_path):
    path = tmp_path / "deep" / "table.csv"
    write_csv(ROWS, path)
    pd.testing.assert_frame_equal(read_csv(path), to_frame(ROWS), check_exact=True)
    assert [file.name for file in path.parent.iterdir()] == ["table.csv"]
    first = path.read_bytes()
    write_csv(ROWS, path)
    assert path.read_bytes() == first


def test_a_failed_write_leaves_the_old_table(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    write_csv(ROWS, path)
    before = path.read_bytes()
    monkeypatch.setattr(pd.DataFrame, "to_csv", lambda self, file, **_: (file.write_text("half"), 1 / 0))
    with pytest.raises(ZeroDivisionError):
        write_csv(ROWS[:1], path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["table.csv"]


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"\xff\xfe\x00", b'a\n"'])
def test_a_file_that_is_no_table(tmp_path, content):
    (tmp_path / "table.csv").write_bytes(content)
    with pytest.raises(ValueError, match="is no table of an experiment"):
        read_csv(tmp_path / "table.csv")


@pytest.mark.parametrize("theory", [math.inf, -math.inf, math.nan])
def test_what_is_no_number_is_no_prediction(theory):
    made = row("a", 1, theory=theory, d=9, estimate=Estimate(0.35, 0.01, 40))
    assert (made["theory"], made["z"], made["converged"]) == (None, None, False)


def test_summary():
    assert summary(to_frame(ROWS)) == "1 comparison, rms z 1.67, max |z| 1.67, 1 row NOT CONVERGED"


def test_the_summary_is_a_root_of_a_mean_of_squares():
    rows = [row("a", x, theory=0.0, d=9, estimate=Estimate(x, 1.0, 40)) for x in (-1.0, 1.0, 7.0)]
    assert summary(to_frame(rows)) == "3 comparisons, rms z 4.12, max |z| 7.00"  # sqrt(51/3); the mean of |z| is 3


def test_text():
    assert render_table(to_frame(ROWS), "title", "text").splitlines() == [
        "title",
        "",
        r"panel         curve              x  d    theory         simulation  n   z",
        r"------------  -----------------  -  ---  -------------  ----------  --  -----",
        r"AR(1) & more  $\lambda_1 = 0.1$  1  100  0.333333       0.340(10)   40",
        r"AR(1) & more  $\lambda_1 = 0.1$  1  inf  0.333333       0.350(10)   40  +1.67",
        r"              NA                 2  inf  not converged  0.350(10)   40",
        "",
        "1 comparison, rms z 1.67, max |z| 1.67, 1 row NOT CONVERGED",
    ]


def test_latex_escapes_what_a_caption_writes_in_plain_text():
    caption = render_table(to_frame(ROWS), "x ~ N, W = A^-1 < 1 > 0, $a^2$", "latex").splitlines()[1]
    assert r"x \textasciitilde{} N, W = A\textasciicircum{}-1 \textless{} 1 \textgreater{} 0, $a^2$" in caption


def test_latex_escapes_all_but_mathematics():
    lines = render_table(to_frame(ROWS), "a_b", "latex").splitlines()
    assert lines[1] == r"\caption{a\_b: 1 comparison, rms z 1.67, max \textbar{}z\textbar{} 1.67, 1 row NOT CONVERGED.}"
    assert lines[7] == r"AR(1) \& more & $\lambda_1 = 0.1$ & 1 & inf & 0.333333 & 0.350(10) & 40 & +1.67 \\"


def test_markdown_and_csv():
    markdown = render_table(to_frame(ROWS), "a|b", "markdown").splitlines()
    assert markdown[2:4] == ["| panel | curve | x | d | theory | simulation | n | z |", "|" + "---|" * 8]
    lines = list(csv.reader(io.StringIO(render_table(to_frame(ROWS), "a", "csv"))))
    assert lines[2] == ["AR(1) & more", r"$\lambda_1 = 0.1$", "1", "inf", "0.333333", "0.350(10)", "40", "+1.67"]


def test_a_table_of_theory_alone_lists_its_lines():
    text = render_table(to_frame([row("residual", 1.5, theory=1e-12)]), "t", "text")
    assert text.splitlines()[2:] == [
        "curve     x    theory",
        "--------  ---  ------",
        "residual  1.5  1e-12",
        "",
        "no comparison with simulation",
    ]


@pytest.mark.parametrize("style", STYLES)
def test_every_format_of_an_empty_table(style):
    said = "curve,x" if style == "csv" else "no comparison"
    assert said in render_table(to_frame([]), "t", style)


def test_an_unknown_format():
    with pytest.raises(ValueError, match="format must be one of text, markdown, latex, csv, got 'html'"):
        render_table(to_frame(ROWS), "t", "html")
