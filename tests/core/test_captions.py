"""Captions: their numbers are those of the run, and the page names table, sources and published figures."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from figures.core import Experiment, row
from figures.core.captions import SENTENCES, caption_of, page_of
from figures.core.discover import GALLERY, find_experiments, load
from figures.core.extras import missing_extra
from figures.core.table import to_frame
from simulate.core import Estimate

EXPERIMENT = Experiment(
    title="A title",
    curves={},
    caption=r"Markers at d = {sizes}, of {replicates} fits, $\hat{w}$.",
    papers={"arXiv:1, Fig. 2": "It agrees."},
)
ROWS = to_frame(
    [
        row("a", 1, theory=1.0),
        *(row("a", 1, theory=1.0, d=d, estimate=Estimate(1.1, 0.1, 12), judged=False) for d in (40, 80)),
        row("a", 1, theory=1.0, d=float("inf"), estimate=Estimate(1.1, 0.1, 12)),
    ]
)


def test_numbers_of_the_run_stand_in_the_caption():
    said = caption_of(EXPERIMENT, ROWS)
    assert said.startswith(r"Markers at d = 40 and 80, of 12 fits, $\hat{w}$. Bars have a coverage of 95 % by")
    assert said.endswith("Student's law for independent replicates, of which each marker has 12.")
    assert caption_of(Experiment(title="t", curves={}, caption="Lines."), ROWS[:1]) == "Lines."
    unlike = to_frame([row("a", 1, theory=1.0, d=40, estimate=Estimate(1.1, 0.1, n)) for n in (12, 20)])
    assert caption_of(EXPERIMENT, unlike).endswith("of which each marker has 12 or 20.")


def test_a_figure_without_bars_does_not_speak_of_them():
    without = replace(EXPERIMENT, bars=False)
    assert caption_of(without, ROWS) == r"Markers at d = 40 and 80, of 12 fits, $\hat{w}$."


def test_the_page():
    page = page_of(EXPERIMENT, ROWS, Path("figures/toy/a_toy.py"), "draft")
    for part in (
        "# A title\n\n![a_toy](a_toy.png)\n\n**Markers at d = 40 and 80",
        "Table: a_toy.csv. 1 independent comparison: rms z 0.9",
        "Declared in figures/toy/a_toy.py; made by make figures/output/a_toy.pdf (quality: draft).",
        "Published counterpart: arXiv:1, Fig. 2. It agrees.",
    ):
        assert part in page


def test_what_is_missing_has_a_cure_for_this_interpreter():
    import sys

    assert missing_extra("nets", "math") is None
    said = missing_extra("nets", "math", "no_such_package")
    assert said is not None
    assert "no_such_package is not installed: make figures EXTRAS=nets" in said
    assert f"{sys.executable} -m pip install -e '.[nets]'" in said


NO_FINDINGS = ("Left", "Markers", "Lines", "The vertical axis", "The axes", "All curves", "The figure", "Labels are")


@pytest.mark.parametrize("path", find_experiments().values(), ids=lambda path: path.stem)
def test_a_caption_is_short_and_begins_with_a_finding(path):
    """Its first sentence stands in bold letters; what else there is to say stands on the page of details."""
    caption = load(path).caption
    finding = SENTENCES.split(caption)[0]
    assert len(caption.split()) <= 120
    assert 8 <= len(finding.split()) <= 60, finding
    assert not finding.startswith(NO_FINDINGS), finding
    assert not re.search(r"(?<![a-z-])(on the left|on the right|left panel|right panel|middle panel)", caption)


def test_details_are_those_of_figures():
    page = (GALLERY.parents[1] / "docs" / "figure_details.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^### (\w+)$", page, re.MULTILINE)) <= set(find_experiments())
