"""Every experiment of the project at toy size, from declaration to table and figure, without a warning."""

from dataclasses import dataclass, field

import pytest

from figures.core import Context
from figures.core.discover import find_experiments, load
from figures.core.outputs import Outputs, Skipped, draw, run
from figures.core.render import STYLES
from figures.core.report import render_table, summary
from figures.core.sources import SourceTree
from figures.core.table import read_csv

TREE = SourceTree()
# Seconds at toy size: what they solve and draw samples of has tests of its own, so that `make verify` looks at these.
LONG = {
    "copies_levels": 9,
    "dependent_rows": 3,
    "detection_time": 5,
    "energy_bound": 38,
    "few_bits": 3,
    "masked_classification": 4,
    "missing_entries": 14,
    "narrow_cold": 12,
    "narrow_units": 2,
    "skip_stacks": 10,
    "spike_best_method": 5,
}


@dataclass(frozen=True)
class Recording(Context):
    """Notes how many replicates a declaration asks for."""

    asked: list[int] = field(default_factory=list)

    def replicates(self, n):
        self.asked.append(n)
        return super().replicates(n)


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.slow] * (name in LONG)) for name, path in find_experiments().items()],
    ids=lambda path: path.stem,
)
def test_toy_size(path, tmp_path, outlined):
    look_at(path, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("path", find_experiments().values(), ids=lambda path: path.stem)
def test_pictures_with_their_fonts(path, tmp_path):
    look_at(path, tmp_path)


def look_at(path, tmp_path):
    outputs, context = Outputs(path, tmp_path, TREE), Recording("draft")
    try:
        table = run(outputs, context)
    except Skipped as reason:
        pytest.skip(str(reason))
    rows = read_csv(table)
    assert len(rows) > 0
    assert rows["converged"].all()
    experiment = load(path)
    for style in STYLES:
        assert render_table(rows, path.stem, style, experiment)
    assert not set("$\\") & set(render_table(rows, experiment.title, "text", experiment)), "LaTeX in a text table"
    assert "without z:" not in summary(rows, experiment), "the declaration must say why these rows are not judged"
    if rows["z"].notna().any() and not experiment.reasons():
        assert min(context.asked, default=8) >= 8, "fewer than 8 replicates cannot be judged"
    *pictures, page = draw(outputs)
    for picture in pictures:
        assert picture.stat().st_size > 5000
    assert summary(rows, experiment) in page.read_text(encoding="utf-8")
