"""A decorator that checks the arguments of a public function by their annotations."""

import collections.abc
import dataclasses
import functools
import inspect
import os
import types
import typing
from collections.abc import Callable
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike

from theory.core import checks
from theory.core.ranges import Range
from theory.core.read_only import KeepsReadOnly

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")
Check = Callable[[str, Any], Any]  # (name of the argument, value) -> converted value, or ValueError

SEQUENCES = (collections.abc.Sequence, collections.abc.Collection, list)
ANY_NUMBER = (collections.abc.Iterable, collections.abc.Iterator)
BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def checked(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Wrap `function` so that its arguments are checked and converted by their annotations before it runs.

    Flags, integers, real numbers, one of several literals, records and arrays become what their annotation says; a
    value of another kind raises ValueError naming the argument, the value and what is allowed. Numbers may be infinite
    but not NaN, unless the annotation names a range of `theory.core.ranges`. What annotations cannot say, such as
    shapes that depend on one another, remains with the function. Annotations that say nothing about the kind (Any, type
    variables, protocols) let everything pass. A wrong number of arguments stays Python's own TypeError.
    """
    parameters = inspect.signature(function).parameters

    @functools.cache
    def tests() -> dict[str, Check]:
        # They are found at the first call: a module may define what it annotates with further below.
        found = {name: _check(resolved(parameter.annotation, function)) for name, parameter in parameters.items()}
        return {name: check for name, check in found.items() if check is not None}

    kinds = {name: one.kind for name, one in parameters.items()}
    places = {name: place for place, name in enumerate(name for name, kind in kinds.items() if kind in BY_PLACE)}
    names = {name for name, kind in kinds.items() if kind in BY_NAME}
    spare = {kind: name for name, kind in kinds.items() if kind not in (*BY_PLACE, *BY_NAME)}
    listed, named = (spare.get(kind) for kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD))

    # Arguments are not bound to their names by `inspect`, which would take longer than many of the functions.
    @functools.wraps(function)
    def with_checks(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> Returned:
        given, more = list[Any](arguments), dict[str, Any](keywords)
        for name, check in tests().items():
            if name == listed:
                given[len(places) :] = [check(f"{name}[{i}]", one) for i, one in enumerate(given[len(places) :])]
            elif name == named:
                more.update({key: check(key, value) for key, value in more.items() if key not in names})
            elif (place := places.get(name, len(given))) < len(given):
                given[place] = check(name, given[place])
            elif name in more and name in names:
                more[name] = check(name, more[name])
        try:
            return function(*given, **more)
        except AttributeError:
            _refuse_stranger(function, given)
            raise

    return with_checks


def _refuse_stranger(function: Callable[..., Any], given: list[Any]) -> None:
    """Raise TypeError where a method was called on its class, with something else in the place of an instance."""
    owner = getattr(function, "__globals__", {}).get(function.__qualname__.rpartition(".")[0])
    if not isinstance(owner, type) or "self" not in inspect.signature(function).parameters:
        return
    if given and not isinstance(given[0], owner):
        what = f"{function.__qualname__} is a method of a {owner.__name__}, and was called on its class with"
        raise TypeError(f"{what} {checks.shown(given[0])}, of type {type(given[0]).__name__}, instead of one") from None


def checked_fields(record: object) -> None:
    """Check and convert the fields of a record (a dataclass, which may be frozen) by their annotations.

    It is called first in `__post_init__`; the fields are then of the annotated types and ranges.
    """
    checks_of = _field_checks(type(record))  # type: ignore[arg-type]  # mypy takes a class to be unhashable here
    for name, check in checks_of.items():
        given = getattr(record, name)
        if (converted := check(name, given)) is not given:
            object.__setattr__(record, name, converted)


class CheckedRecord(KeepsReadOnly):
    """The base of records whose fields are checked and converted by their annotations, and by nothing else."""

    def __post_init__(self) -> None:
        checked_fields(self)


@functools.cache
def _field_checks(kind: Any) -> dict[str, Check]:
    hints = get_type_hints(kind, include_extras=True)
    found = {field.name: _check(hints[field.name]) for field in dataclasses.fields(kind)}
    return {name: check for name, check in found.items() if check is not None}


def resolved(annotation: Any, function: Callable[..., Any], unknown: Any = Any) -> Any:
    """Return an annotation of a function, `unknown` for one that is written as text and known to type checkers only."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, getattr(inspect.unwrap(function), "__globals__", {}))
    except NameError:
        return unknown


def unaliased(annotation: Any) -> Any:
    """Return what an annotation stands for where it is the name of a type (`type Name = ...`), else itself.

    On Python 3.12 and later numpy names ArrayLike (from 2.4) and NDArray (from 2.5) in this way, and a name has no
    members of its own. ArrayLike stays a name: it is told by its identity.
    """
    while annotation is not ArrayLike:
        # A generic alias hands on the attributes of its origin, so the origin is asked first.
        name, arguments = get_origin(annotation) or annotation, get_args(annotation)
        if isinstance(name, type) or not hasattr(name, "__value__"):
            break
        annotation = name.__value__[arguments] if arguments else name.__value__
    return annotation


def _check(annotation: Any) -> Check | None:
    """Return the check that an annotation asks for, or None where it lets everything pass."""
    annotation = unaliased(annotation)
    # Any is a class in Python 3.11 and later, so it is told before classes; `self` of a method has no annotation.
    if annotation is Any or annotation is inspect.Parameter.empty:
        return None
    if annotation is ArrayLike:  # a union of many, so it is told before unions
        return checks.real_array
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        ranges = [one for one in arguments[1:] if isinstance(one, Range)]
        return ranges[0].check if ranges else _check(arguments[0])
    if annotation in SCALARS:
        return SCALARS[annotation]
    if origin in (Union, types.UnionType):
        return _one_of_several(arguments)
    if origin is Literal:
        return lambda name, value: checks.choice(name, value, arguments)
    if origin is np.ndarray:
        return _array_of(get_args(arguments[1]))
    if annotation is Callable or origin is collections.abc.Callable:
        return _callable_with(arguments)
    if origin in SEQUENCES or origin is tuple or origin in ANY_NUMBER:
        return _collection(origin, arguments)
    if origin is collections.abc.Mapping or origin is dict:
        return lambda name, value: checks.instance(name, value, collections.abc.Mapping, "a mapping")
    kind = origin if isinstance(origin, type) else annotation
    # A protocol has no instances that could be told, `object` and Any (a class since Python 3.11) have all.
    if not isinstance(kind, type) or kind in (object, Any) or getattr(kind, "_is_protocol", False):
        return None
    return lambda name, value: checks.record(name, value, kind)


def _one_of_several(alternatives: tuple[Any, ...]) -> Check | None:
    if any((get_origin(alternative) or alternative) is os.PathLike for alternative in alternatives):
        alternatives = tuple(alternative for alternative in alternatives if alternative is not str)  # text is a path
    optional = types.NoneType in alternatives
    tests = [_check(alternative) for alternative in _with_arrays(alternatives) if alternative is not types.NoneType]
    if any(test is None for test in tests):
        return None

    def check(name: str, value: Any) -> Any:
        if value is None and optional:
            return None
        refusals = []
        for test in tests:
            try:
                return typing.cast("Check", test)(name, value)
            except ValueError as refused:
                refusals.append(str(refused))
        if len(refusals) == 1:
            raise ValueError(refusals[0] + (" (or None)" if optional else ""))
        allowed = [str(refusal).removeprefix(f"{name} must be ").rsplit(", got ", 1)[0] for refusal in refusals]
        allowed += ["None"] if optional else []
        raise ValueError(f"{name} must be {' or '.join(_merged(allowed))}, got {checks.shown(value)}")

    return check


def _with_arrays(alternatives: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the alternatives of a union, with ArrayLike in the place of its own members where all of them are there.

    Python flattens unions: ArrayLike | None lists what ArrayLike is a union of, of which some, protocols, say nothing.
    A number, a truth value and a text are among them, which an array of numbers does not need beside it. Where
    ArrayLike is a name (Python 3.12 and later, numpy 2.4 and later) it has no members, and stands as it is.
    """
    members = set(get_args(ArrayLike))
    if not members or not members <= set(alternatives):
        return alternatives
    return (ArrayLike, *(one for one in alternatives if one not in members))


def _merged(allowed: list[str]) -> list[str]:
    """List what several refusals allow; two that ask for a record of theory.models become one, "(A or B)"."""
    kinds: dict[str, list[str]] = {}
    for text in dict.fromkeys(allowed):
        what, opened, kind = text.partition(" (")
        record = what.startswith("a record of") and opened
        kinds.setdefault(what if record else text, []).extend([kind.removesuffix(")")] if record else [])
    return [f"{what} ({_listed(names)})" if names else what for what, names in kinds.items()]


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + f" or {names[-1]}" if len(names) > 1 else names[0]


def _array_of(dtype: tuple[Any, ...]) -> Check:
    first = (get_origin(dtype[0]) or dtype[0]) if dtype else object  # np.integer[Any] has the origin np.integer
    kind = first if isinstance(first, type) else object
    if issubclass(kind, np.integer):
        return checks.integer_array
    return checks.bool_array if issubclass(kind, np.bool_) else checks.real_array


def _callable_with(arguments: tuple[Any, ...]) -> Check:
    count = len(arguments[0]) if arguments and isinstance(arguments[0], list) else None
    return lambda name, value: checks.function(name, value, count)


def _collection(origin: Any, arguments: tuple[Any, ...]) -> Check:
    """Return the check of a collection; its entries are checked where they can be read more than once."""
    fixed = origin is tuple and arguments and arguments[-1] is not Ellipsis
    entry = None if fixed or not arguments else _check(arguments[0])
    each = [_check(argument) for argument in arguments] if fixed else []

    def check(name: str, value: Any) -> Any:
        if isinstance(value, str | bytes) or not isinstance(value, collections.abc.Iterable):
            raise ValueError(f"{name} must be a sequence, got {checks.shown(value)}")
        if isinstance(value, np.ndarray) and value.ndim == 0:
            raise ValueError(f"{name} must be a sequence, got a single {value.dtype}")
        if not isinstance(value, collections.abc.Sequence | np.ndarray) and origin in ANY_NUMBER:
            return value
        try:
            entries = list(value)
        except Exception as failed:
            raise ValueError(f"{name} must be a sequence, got {type(value).__name__} ({failed})") from None
        if fixed and len(entries) != len(each):
            raise ValueError(f"{name} must have {len(each)} entries, got {len(entries)}: {checks.shown(value)}")
        tests = each if fixed else [entry] * len(entries)
        pairs = enumerate(zip(tests, entries, strict=True))
        converted = [test(f"{name}[{i}]", one) if test else one for i, (test, one) in pairs]
        if origin is tuple:
            return tuple(converted)
        return converted if isinstance(value, list) or entry is not None else value

    return check


def _path(name: str, value: Any) -> Any:
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        raise ValueError(f"{name} must be the path of a file or folder, got {checks.shown(value)}")
    try:
        encoded = os.fsencode(value)
    except UnicodeError:  # half of a surrogate pair
        encoded = b"\0"
    if b"\0" in encoded:
        raise ValueError(f"{name} must be a path that a file can have, got {checks.shown(value)}")
    return value


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} must be text, got {checks.shown(value)}")
    return value


SCALARS: dict[Any, Check] = {
    bool: checks.flag,
    int: checks.integer,
    float: checks.number,
    str: _text,
    os.PathLike: _path,
    os.PathLike[str]: _path,
    np.random.Generator: lambda name, value: checks.instance(
        name, value, np.random.Generator, "a Generator as from numpy.random.default_rng(seed)"
    ),
}
