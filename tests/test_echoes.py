"""A number that a result repeats from its arguments is the number that was given."""

import dataclasses
import importlib
import math

import pytest

from tests.bad_arguments import Example
from theory.core.results import Result

EVIDENCE = {"residual", "iterations", "tol"}  # every result has its own
ROOMS = (
    *("masked.test_bad_arguments", "trees.test_bad_arguments"),
    *("cumulants.test_bad_arguments", "random_matrix.test_bad_arguments"),
)


def examples(room):
    """All valid calls that the tests of bad arguments of a room hold, or make by functions without arguments."""
    found = {}
    for name, value in vars(importlib.import_module(f"tests.{room}")).items():
        made = value() if name.endswith("examples") and callable(value) else value
        if isinstance(made, dict) and made and all(isinstance(one, Example) for one in made.values()):
            found |= made
    return found


def repeated(result, keywords):
    """Yield (name, number in a result, argument of that name, or entry of that name of a record among them)."""
    records = [value for value in keywords.values() if dataclasses.is_dataclass(value)]
    given = [keywords, *({f.name: getattr(one, f.name) for f in dataclasses.fields(one)} for one in records)]
    for field in dataclasses.fields(result):
        if field.name in EVIDENCE:
            continue
        value = getattr(result, field.name)
        for source in given:
            told = source.get(field.name)
            if all(isinstance(one, int | float | str) and not isinstance(one, bool) for one in (value, told)):
                yield field.name, value, told
                break


@pytest.mark.parametrize("room", ROOMS)
def test_results_repeat_what_they_were_given(room):
    checked = 0
    for name, example in examples(room).items():
        result = example.function(**example.keywords)
        # Not another model, nor an estimate, whose n counts replicates, nor an optimum, which is of one's own values.
        if not isinstance(result, Result) or name.startswith("optimal"):
            continue
        for entry, value, told in repeated(result, example.keywords):
            checked += 1
            assert value == told or (isinstance(told, float) and math.isclose(value, told)), f"{name}.{entry}"
    assert checked
