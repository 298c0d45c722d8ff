"""What is advised where the memory does not suffice does help: the smaller analysis fits."""

import argparse
from dataclasses import replace

import pytest

from figures.analyse.matrix.needs import needs_of, remedy
from figures.analyse.reading.matrix.shape import TableShape
from figures.analyse.reading.text import CorpusSize
from figures.analyse.text import needs as of_text

OPTIONS = argparse.Namespace(lams=None, test_fraction=0.2, repeats=None, standardize=False, equal_rows=False)
TEXT = argparse.Namespace(topics=10, split=False, sweeps=300, thresholds=None, encoder=False)


def advised(rows, columns, available, jobs=1):
    shape = TableShape(rows, columns, 8.0 * rows * columns, 8.0 * rows * columns, "a table")
    assert needs_of(shape, OPTIONS, jobs).memory > available
    return shape, remedy(shape, OPTIONS, jobs, available)


def test_a_wide_table_needs_fewer_columns():
    shape, said = advised(6, 30_000, 16e9)
    assert said.startswith("Take fewer columns with --columns (about ")
    assert "rows" not in said
    columns = int(said.split("about ")[1].split(" ")[0])
    assert 5000 < columns < 30_000
    assert needs_of(replace(shape, columns=columns), OPTIONS, 1).memory <= 16e9


def test_a_long_table_may_have_fewer_rows_or_columns():
    _, said = advised(400_000, 40, 0.6e9)
    assert said.startswith("Take fewer rows (about ")
    assert ", or fewer columns with --columns (about " in said


def test_several_processes_are_told_to_be_one_where_that_helps():
    assert "one process (--jobs 1)" in advised(3000, 3000, 2e9, jobs=16)[1]


def test_what_is_too_large_both_ways_needs_both():
    assert advised(30_000, 30_000, 0.25e9)[1] == "Take fewer rows and also fewer columns with --columns"


@pytest.mark.parametrize(
    ("documents", "words", "said"),
    [
        (300, 40_000, "Take fewer words with --max-words"),
        (3_000_000, 300, "Take fewer documents"),
    ],
)
def test_a_text_is_told_what_of_it_is_too_much(documents, words, said):
    size = CorpusSize(600.0 * documents, documents, 80.0 * documents, 100.0 * documents, words, None, "all of it")
    assert of_text.needs_of(size, TEXT).memory > 4e9
    assert of_text.remedy(size, TEXT, 4e9) == said
