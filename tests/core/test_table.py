"""Tables: written whole, read to the last bit, rendered in four formats."""

import csv
import io
import math

import numpy as np
import pandas as pd
import pytest

from figures.core import NONE, Context, Curve, Experiment, Panel, judged_together, row
from figures.core.compute import compute_rows
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


SUMMARY = (
    "1 independent comparison: rms z 1.63, expected 1.00 ± 0.71; largest |z| 1.63, expected about 0.7. "
    "1 row NOT CONVERGED"
)


def test_summary():
    assert summary(to_frame(ROWS)) == SUMMARY


def test_the_summary_is_a_root_of_a_mean_of_squares():
    rows = [row("a", x, theory=0.0, d=9, estimate=Estimate(x, 1.0, 10**9)) for x in (-1.0, 1.0, 7.0)]
    said = "3 independent comparisons: rms z 4.12, expected 1.00 ± 0.41; largest |z| 7.00, expected about 1.3"
    assert summary(to_frame(rows)) == said  # sqrt(51/3); the mean of |z| is 3


def test_a_group_counts_once_and_is_marked():
    rng = np.random.default_rng(0)
    values = 1 + rng.standard_normal((40, 1)) + 0.1 * rng.standard_normal((40, 3))
    rows = [row("a", k, theory=1.0, d=9, estimate=Estimate.of(values[:, k])) for k in range(3)]
    unjudged = row("a", 9, theory=1.0, d=9, estimate=Estimate.of(values[:, 0]), judged=False)
    made = judged_together("one set", [*rows, unjudged], values[:, [0, 1, 2, 0]])
    alone = row("b", 1, theory=0.0, d=9, estimate=Estimate(0.0, 1.0, 40))
    frame = to_frame([*made, alone])
    assert summary(frame).startswith("2 independent comparisons")
    assert "judged together, 3 rows in 1 comparison" in summary(frame)
    lines = render_table(frame, "t", "text").splitlines()
    assert [line.endswith(") a") for line in lines[4:8]] == [True, True, True, False]
    assert lines[8].startswith("a: all rows of one set")
    with pytest.raises(ValueError, match=r"one column for each of the 3 rows, got shape \(40, 2\)"):
        judged_together("g", rows, values[:, :2])
    assert judged_together("g", [unjudged], values[:, :1]) == [unjudged]
    assert unjudged["group"] == ""


def test_what_is_not_judged_says_why_and_how_far_off_it_is():
    rows = [
        row("a", 1, theory=2.0, d=9, estimate=Estimate(2.2, 0.1, 9), judged=False),
        row("a", 1, theory=2.0, d=18, estimate=Estimate(2.1, 0.1, 9), judged=False),  # of two sizes the larger
        row("a", 2, theory=1.0, d=9, estimate=Estimate(0.93, 0.1, 9), judged=False),
    ]
    why = Experiment(title="t", curves={}, unjudged="they are real")
    said = "2 comparisons without z because they are real: deviation from theory rms 6.1 %, largest 7 %"
    assert summary(to_frame(rows), why) == said
    zero = [row("a", 1, theory=0.0, d=9, estimate=Estimate(0.3, 0.1, 9), judged=False)]
    assert summary(to_frame(zero)) == "1 comparison without z: deviation from a theory of zero rms 0.3, largest 0.3"
    alone = [row("a", 1, d=9, estimate=Estimate(0.3, 0.1, 9)), row("a", 2, measured=4.0)]
    assert summary(to_frame(alone)) == "2 measured numbers, none with a prediction beside it"


def test_a_measured_number_never_stands_under_theory():
    made = row("eigenvalue", 1, measured=4.0)
    assert (made["theory"], made["simulation"], made["kind"], made["z"]) == (None, 4.0, "measured", None)
    assert row("equality", 1, theory=1.0, reference=True)["kind"] == "reference"
    with pytest.raises(ValueError, match="an estimate or a single measured number"):
        row("a", 1, measured=1.0, estimate=Estimate(0.3, 0.1, 9))


def test_the_axes_name_the_column_of_x():
    one = Experiment(title="t", curves={}, xlabel=r"ratio $\alpha$")
    lines = render_table(to_frame(ROWS), "t", "text", one).splitlines()
    assert lines[2].split()[2:4] == ["ratio", "\N{GREEK SMALL LETTER ALPHA}"]
    panels = [Panel(title="AR(1) & more", curves={}, xlabel="first"), Panel(title="", curves={}, xlabel="second")]
    both = Experiment(title="t", panels=panels)
    lines = render_table(to_frame(ROWS), "t", "text", both).splitlines()
    assert "x is" in lines[2]
    assert ["second" in line for line in lines[4:7]] == [False, False, True]


def test_points_of_a_line_can_stand_in_the_table():
    curve = Curve(model=lambda x: x, theory=float, replicate=NONE, line=(1.0, 2.0, 3.0), table_points=(2.0, 2.5))
    declared = Experiment(title="t", curves={"a": curve, "b": Curve(model=lambda x: -x, theory=float, line=(2.0,))})
    rows = to_frame(compute_rows(declared, Context()))
    assert rows.loc[rows["curve"] == "a", "x"].tolist() == [1.0, 2.0, 2.5, 3.0]
    lines = render_table(rows, "t", "text", declared).splitlines()
    assert [line.split()[:2] for line in lines[4:-2]] == [["a", "2"], ["a", "2.5"]]


def test_text_tables_are_unicode_and_not_wide():
    lines = render_table(to_frame(ROWS), "word " * 60 + r"$\lambda \to 0$", "text").splitlines()
    assert len(lines[0]) <= 100
    assert lines[3].endswith("λ → 0")


def test_text():
    assert render_table(to_frame(ROWS), "title", "text").splitlines() == [
        "title",
        "",
        "panel         curve      x  size  kind      theory         simulation  replicates  z",
        "------------  ---------  -  ----  --------  -------------  ----------  ----------  -----",
        "AR(1) & more  λ_1 = 0.1  1  100   measured  0.333333       0.340(10)   40",
        "AR(1) & more  λ_1 = 0.1  1  inf   measured  0.333333       0.350(10)   40          +1.63",
        "              NA         2  inf   measured  not converged  0.350(10)   40",
        "",
        SUMMARY[:99],
        SUMMARY[100:],
    ]


def test_latex_escapes_what_a_caption_writes_in_plain_text():
    caption = render_table(to_frame(ROWS), "x ~ N, W = A^-1 < 1 > 0, $a^2$", "latex").splitlines()[1]
    assert r"x {\textasciitilde} N, W = A{\textasciicircum}-1 \textless{} 1 \textgreater{} 0, $a^2$" in caption


def test_latex_escapes_all_but_mathematics():
    lines = render_table(to_frame(ROWS), "a_b", "latex").splitlines()
    assert lines[1].startswith(
        r"\caption{a\_b. 1 independent comparison: rms z 1.63, expected 1.00 \ensuremath{\pm} 0.71"
    )
    assert lines[7] == r"AR(1) \& more & $\lambda_1 = 0.1$ & 1 & inf & measured & 0.333333 & 0.350(10) & 40 & +1.63 \\"


def test_markdown_and_csv():
    markdown = render_table(to_frame(ROWS), "a|b", "markdown").splitlines()
    assert markdown[2:4] == [
        "| panel | curve | x | size | kind | theory | simulation | replicates | z |",
        "|" + "---|" * 9,
    ]
    lines = list(csv.reader(io.StringIO(render_table(to_frame(ROWS), "a", "csv"))))
    assert lines[2] == [
        "AR(1) & more",
        r"$\lambda_1 = 0.1$",
        "1",
        "inf",
        "measured",
        "0.333333",
        "0.350(10)",
        "40",
        "+1.63",
    ]


def test_a_table_of_theory_alone_lists_its_lines():
    text = render_table(to_frame([row("residual", 1.5, theory=1e-12)]), "t", "text")
    assert text.splitlines()[2:] == [
        "curve     x    kind       theory",
        "--------  ---  ---------  ------",
        "residual  1.5  predicted  1e-12",
        "",
        "Nothing is simulated",
    ]


@pytest.mark.parametrize("style", STYLES)
def test_every_format_of_an_empty_table(style):
    said = "curve,x" if style == "csv" else "Nothing is simulated"
    assert said in render_table(to_frame([]), "t", style)


def test_an_unknown_format():
    with pytest.raises(ValueError, match="format must be one of text, markdown, latex, csv, got 'html'"):
        render_table(to_frame(ROWS), "t", "html")
