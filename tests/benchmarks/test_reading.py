"""Tables of numbers, 20000 x 400: the reader of users' files beside pandas' C parser on the same file.

Run by `make bench`. Times are shown, never asserted; ratios are of one run.
"""

import numpy as np
import pytest

from figures.analyse.reading.matrix import read_matrix
from tests.benchmarks.timing import seconds

pytest.importorskip("pytest_benchmark")
pandas = pytest.importorskip("pandas")

ROWS, COLUMNS = 20000, 400


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A whole table, and one with a missing cell in each 37th row."""
    folder, rng = tmp_path_factory.mktemp("tables"), np.random.default_rng(0)
    lines = [",".join(map(repr, row)) for row in rng.standard_normal((ROWS, COLUMNS)).tolist()]
    header = ",".join(f"c{k}" for k in range(COLUMNS))
    (folder / "whole.csv").write_text("\n".join([header, *lines, ""]), encoding="utf-8")
    lines[::37] = ["NA," + line.partition(",")[2] for line in lines[::37]]
    (folder / "gaps.csv").write_text("\n".join([header, *lines, ""]), encoding="utf-8")
    return folder


@pytest.mark.parametrize(("name", "options"), [("whole.csv", {}), ("gaps.csv", {"drop_rows": True})])
def test_tables(benchmark, show, tables, name, options):
    """Whole tables are read by numpy's C parser; rows with gaps one by one, with the place of what cannot be used."""
    path = tables / name
    benchmark.pedantic(read_matrix, args=(path,), kwargs=options, rounds=1)
    pandas_time = seconds(lambda: pandas.read_csv(path).dropna().to_numpy(), 1)
    show(f"{name}, {ROWS} x {COLUMNS}", seconds=benchmark.stats.stats.min, pandas=pandas_time)
