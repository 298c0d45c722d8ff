"""What a file holds, where its name does not say it, or where files of many kinds have such names."""

import pytest

from figures.analyse.command import kind_of
from figures.analyse.errors import DataError

CLUSTAL = "CLUSTAL W (1.83) multiple sequence alignment\n\n\na    ACGUACGUAC\nb    ACGAACGUAU\n"


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("c.dat", "2 0:2 2:1\n3 0:1 1:1 2:1\n", "text"),
        ("c.dat", "3 4 3\n1 2 3 1\n2 2 3 1\n1 1 3 2\n", "sequences"),
        ("docword.c.dat", "2\n3\n2\n1 1 2\n2 3 1\n", "text"),
        ("c.data", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 1\n", "text"),
        ("c.out", CLUSTAL, "sequences"),
        ("c.txt", CLUSTAL, "sequences"),
        ("c.txt", "CLUSTAL W is a program that aligns.\nIt is old.\n", "text"),
        ("c.txt", ">a\nACGUACGUAC\n>b\nACGUACGUAC\n", "sequences"),
        ("c.txt", "> quoted by a letter\nand answered\n", "text"),
        ("c.txt", "!! news\nof the day\n", "text"),
        ("c.msa", "# STOCKHOLM 1.0\na ACGU\nb ACGA\n//\n", "sequences"),
        ("c.csv", "name,sequence\na,ACGUACGUAC\nb,ACGUACGU-C\nc,CCGUACGUAC\n", "sequences"),
        ("c.csv", "a,b\n1,2\n3,4\n5,6\n", "matrix"),
        ("c.tsv", "", "matrix"),  # its reader says that it is empty
    ],
)
def test_kind_by_the_first_lines(tmp_path, name, content, kind):
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert kind_of(tmp_path / name) == kind


@pytest.mark.parametrize("content", ["", "1 2 3\n4 5 6\n", "some words\n", "\0\1"])
def test_where_nothing_says_it_the_user_is_asked(tmp_path, content):
    (tmp_path / "c.dat").write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match="neither its name nor its first lines say what it holds: say --kind matrix"):
        kind_of(tmp_path / "c.dat")
