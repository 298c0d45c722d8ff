"""Reading tables of numbers: the reader of users' files beside pandas' C parser on the same file."""

import numpy as np
import pytest

from figures.analyse.reading.matrix import read_matrix
from tests.benchmarks.machinery.jobs import Peer

SUBJECT = "reading tables"
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


def by_pandas(path):
    import pandas

    return lambda: pandas.read_csv(path).dropna().to_numpy()


@pytest.mark.parametrize(
    ("name", "title", "options"),
    [
        ("whole.csv", "a CSV file without gaps", {}),
        ("gaps.csv", "a CSV file with a gap in each 37th row, these rows left out", {"drop_rows": True}),
    ],
)
def test_tables(jobs, tables, name, title, options):
    """Whole tables are read by numpy's C parser; rows with gaps one by one, with the place of what cannot be used."""
    path = tables / name
    jobs.compare(
        f"{title}, {ROWS} rows of {COLUMNS} numbers",
        lambda: read_matrix(path, **options),
        {"pandas, read_csv with dropna": Peer(lambda: by_pandas(path), made=True)},
        rounds=2,
    )
