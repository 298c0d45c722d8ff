"""Finds the public methods of all classes that users get, and holds a valid call of each."""

import functools
import importlib
import inspect
import pkgutil
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any

import simulate
import theory

UNTOLD = "unchecked"  # a method of this name says that it takes its arguments as they are


@functools.cache
def public_classes() -> list[type]:
    """Every class that a room of `theory` or `simulate` exports, or that public functions and methods say they return.

    Those that their own properties and methods return are among them.
    """
    # The names of theory.core are for those who write functions, and no user calls them.
    rooms = [one for one in _modules() if one.count(".") == 1 and one != "theory.core"]
    packages = [importlib.import_module(one) for one in rooms]
    exported = [getattr(room, name) for room in packages for name in getattr(room, "__all__", ())]
    found: list[type] = []
    waiting = [one for one in exported if inspect.isclass(one)]
    waiting += [one for function in exported if inspect.isfunction(function) for one in _returned(function)]
    while waiting:
        kind = waiting.pop()
        if _is_ours(kind) and kind not in found:
            found.append(kind)
            waiting += [one for _, function in _functions(kind) for one in _returned(function)]
    return found


def public_methods() -> dict[str, Callable[..., Any]]:
    """The methods and classmethods with arguments of all public classes, by "Class.method" where they are defined."""
    kinds = {base for kind in public_classes() for base in kind.__mro__ if _is_ours(base)}
    found = [
        (function.__qualname__, function)
        for kind in sorted(kinds, key=lambda kind: (kind.__module__, kind.__qualname__))
        for name, function in _functions(kind)
        if isinstance(vars(kind)[name], types.FunctionType | classmethod | staticmethod)
        and len(inspect.signature(function).parameters) > (not isinstance(vars(kind)[name], staticmethod))
        and name != UNTOLD
        and not getattr(function, "__isabstractmethod__", False)
    ]
    methods = dict(found)
    assert len(methods) == len(found), "two public classes have one name and methods of one name"
    return methods


def _is_ours(kind: type) -> bool:
    return kind.__module__.split(".")[0] in ("theory", "simulate") and not getattr(kind, "_is_protocol", False)


def _modules() -> list[str]:
    wings = [
        found.name for wing in (theory, simulate) for found in pkgutil.walk_packages(wing.__path__, f"{wing.__name__}.")
    ]
    return [name for name in wings if not name.endswith("__main__")]


def _functions(kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, value in vars(kind).items():
        function = getattr(value, "__func__", None) or getattr(value, "fget", None) or getattr(value, "func", value)
        if not name.startswith("_") and inspect.isfunction(function):
            yield name, function


def _returned(function: Callable[..., Any]) -> list[type]:
    try:
        return list(_classes_in(typing.get_type_hints(inspect.unwrap(function)).get("return")))
    except NameError:  # a name that type checkers alone know, as of a table of pandas
        return []


def _classes_in(annotation: Any) -> Iterator[type]:
    origin = typing.get_origin(annotation) or annotation
    if inspect.isclass(origin):
        yield origin
    for one in typing.get_args(annotation):
        yield from _classes_in(one)
