"""Names that packages no longer have: whoever uses one is told what to write, and that can be written."""

import importlib
import re

import pytest

from theory import glm, masked, models
from theory.core.former import FORMS


@pytest.mark.parametrize("former", FORMS)
def test_a_former_name_says_what_is_written_in_its_place(former):
    package, _, name = former.rpartition(".")
    room = importlib.import_module(package)
    with pytest.raises(AttributeError, match=f"has no '{name}' any more: write {re.escape(FORMS[former])}$"):
        getattr(room, name)
    assert name not in room.__all__
    for word in re.findall(r"\b[A-Z]\w+", FORMS[former]):
        assert word in (*models.__all__, *room.__all__)
    for function in re.findall(r"^\w+\.(\w+)", FORMS[former]):
        assert former.endswith("covariate_model") or function in room.__all__


def test_a_name_that_never_was_has_the_ordinary_error():
    for room in (glm, masked):
        with pytest.raises(AttributeError, match=f"module '{room.__name__}' has no attribute 'misspelled'"):
            _ = room.misspelled
