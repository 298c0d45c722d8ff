"""What an error advises must exist: every argument that its message names is one of the function that was called."""

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from theory.core.errors import MaskedSSLError
from theory.numerics.solution import ADVICE


def vocabulary(functions: Iterable[Callable[..., Any]], models: Iterable[type]) -> set[str]:
    """All names of arguments of some functions and of fields of some records."""
    names = {name for function in functions for name in inspect.signature(function).parameters}
    return names | {field.name for model in models for field in dataclasses.fields(model)}


def unknown_arguments(
    advice: str, function: Callable[..., Any], keywords: Mapping[str, Any], names: set[str]
) -> set[str]:
    """Words of an advice that are names of arguments somewhere, or look like one, but are none of this call.

    A call has the parameters of its function and the fields of the records that it was given; `alphas` has an alpha.
    """
    own = set(inspect.signature(function).parameters)
    for value in keywords.values():
        if dataclasses.is_dataclass(value):
            own |= {field.name for field in dataclasses.fields(value)}
    own |= {name.removesuffix("s") for name in own}
    words = {word for word in re.findall(r"[A-Za-z]\w*", advice) if word in names or "_" in word}
    return (words | set(re.findall(r"(\w+)=", advice))) - own


def assert_advice_is_possible(
    function: Callable[..., Any], keywords: Mapping[str, Any], words: str, names: set[str]
) -> None:
    """The call is refused with these words, and with an advice that it can follow."""
    with pytest.raises(MaskedSSLError) as failure:
        function(**keywords)
    message = str(failure.value)
    assert words in message
    advice = message.rsplit(";", 1)[-1] if ";" in message else message
    assert len(advice) > 10
    assert not unknown_arguments(advice, function, keywords, names), message


def test_general_advice_names_no_argument():
    for text in ADVICE.values():
        assert not re.findall(r"\w+=|\b\w+_\w+\b", text)
