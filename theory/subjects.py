"""Lists the subjects of the toolkit: the packages of `theory` that are not shared rooms. None is registered by hand."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SHARED = ("core", "models", "numerics")  # rooms that all subjects use, and that answer no question by themselves
FIRST = ("masked", "random_matrix", "potts", "glm", "topics", "nets", "perceptron", "feedforward", "cumulants", "trees")


@cache
def subjects() -> dict[str, str]:
    """Return the title of every subject by its name, in the order in which they are listed everywhere.

    A subject is a folder theory/NAME. Its title is what the docstring of its `__init__.py` begins with, up to the first
    colon. The file is read as text, because importing all subjects would take a second.

    >>> subjects()["potts"], list(subjects())[0]
    ('Potts models', 'masked')
    """
    return dict(sorted(_found(), key=lambda entry: (_rank(entry[0]), entry[0])))


def _rank(name: str) -> int:
    return FIRST.index(name) if name in FIRST else len(FIRST)


def _found() -> Iterator[tuple[str, str]]:
    for file in Path(__file__).parent.glob("*/__init__.py"):
        name = file.parent.name
        if name not in SHARED:
            described = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or name
            yield name, described.split("\n")[0].partition(":")[0].rstrip(".")
