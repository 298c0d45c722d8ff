"""The examples in docstrings run, and every public name has a docstring that begins with a sentence."""

import copy
import doctest
import importlib
import inspect
import pickle
import pkgutil
import re
import types
from typing import Any

import pytest

import simulate
import theory
from theory.core.arguments import checked

ROOMS = [
    f"{wing.__name__}.{found.name}"
    for wing in (theory, simulate)
    for found in pkgutil.iter_modules(wing.__path__)
    if hasattr(importlib.import_module(f"{wing.__name__}.{found.name}"), "__all__")
]
MODULES = [
    found.name
    for wing in (theory, simulate)
    for found in pkgutil.walk_packages(wing.__path__, f"{wing.__name__}.")
    if not found.name.endswith("__main__")
]


class Finder(doctest.DocTestFinder):
    """Finds also the examples of decorated functions: the functions of the standard library pass over these."""

    def _from_module(self, module: types.ModuleType | None, object: Any) -> bool:
        unwrapped = inspect.unwrap(object) if callable(object) else object
        return bool(super()._from_module(module, unwrapped))  # type: ignore[misc]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    module = importlib.import_module(name)
    for example in Finder(exclude_empty=True).find(module, name):
        outcome = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example, clear_globs=False)
        assert outcome.failed == 0, example.name
        for value in example.globs.values():
            if not isinstance(value, type) and type(value).__module__.split(".")[0] in ("theory", "simulate"):
                require_copies(value)
        example.globs.clear()


def require_copies(value: Any) -> None:
    """Record and results travel between processes and are kept in files, unless they hold a function of the user's."""
    try:
        copied = pickle.loads(pickle.dumps(value))
    except (pickle.PicklingError, AttributeError) as error:
        if "Can't pickle <function <lambda>" in str(error):  # a lambda of the example itself
            return
        raise
    address = re.compile(" at 0x[0-9a-f]+")  # of what shows itself by nothing else
    assert address.sub("", repr(copied)) == address.sub("", repr(value))
    copy.deepcopy(value)


@pytest.mark.parametrize("subject", ROOMS)
def test_every_public_name_is_explained(subject):
    package = importlib.import_module(subject)
    public = {name: getattr(package, name) for name in package.__all__}
    named = {name: one for name, one in public.items() if inspect.isclass(one) or inspect.isfunction(one)}
    explained = {name: inspect.getdoc(one) or "" for name, one in named.items()}
    # A dataclass without a docstring gets its own signature as one.
    bare = [name for name, text in explained.items() if not text or text.startswith(f"{name}(")]
    assert not bare, f"without a docstring: {bare}"
    first = {name: text.split("\n\n")[0].strip() for name, text in explained.items()}
    unfinished = [name for name, sentence in first.items() if not sentence.endswith((".", ":"))]
    assert not unfinished, f"the first paragraph is no sentence: {unfinished}"


EXAMPLE = """
def half(x: float) -> float:
    \'\'\'Half of x.

    >>> half(1)
    0.5
    \'\'\'
    return x / 2
"""


def test_examples_of_decorated_functions_are_found():
    module = types.ModuleType("example")
    exec(EXAMPLE, module.__dict__)
    module.half = checked(module.half)  # type: ignore[attr-defined]
    assert len(Finder(exclude_empty=True).find(module, "example")) == 1
