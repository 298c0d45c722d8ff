"""Every experiment of the project at toy size, from declaration to table and figure, without a warning."""

import pytest

from figures.core import Context
from figures.core.discover import find_experiments
from figures.core.outputs import Outputs, Skipped, draw, run
from figures.core.render import STYLES
from figures.core.report import render_table
from figures.core.sources import SourceTree
from figures.core.table import read_csv

TREE = SourceTree()


@pytest.mark.parametrize("path", find_experiments().values(), ids=lambda path: path.stem)
def test_toy_size(path, tmp_path):
    outputs = Outputs(path, tmp_path, TREE)
    try:
        table = run(outputs, Context("draft"))
    except Skipped as reason:
        pytest.skip(str(reason))
    rows = read_csv(table)
    assert len(rows) > 0
    assert rows["converged"].all()
    for style in STYLES:
        assert render_table(rows, path.stem, style)
    for picture in draw(outputs):
        assert picture.stat().st_size > 5000
