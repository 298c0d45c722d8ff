"""The requests of the command line: public functions of every subject, called with records built from text.

Nothing is listed by hand. A function is served if every argument that it needs can be made of text: a number, a truth
value, one of several words, a list of numbers, or a record of `theory.models` whose own fields can be.
"""

import collections.abc
import difflib
import functools
import inspect
import operator
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike

import theory
from theory import models
from theory.core.arguments import resolved, unaliased
from theory.subjects import subjects

SUBJECTS = tuple(subjects())
LISTS = (np.ndarray, list, tuple, collections.abc.Sequence, collections.abc.Iterable)
Parameters = Mapping[str, inspect.Parameter]


class RequestError(ValueError):
    """The error of a request that makes no sense; the message says what is wrong and what is allowed."""


@functools.cache
def functions() -> dict[str, Callable[..., Any]]:
    """Return every function that is served, by its name on the command line, such as "masked.solve"."""
    found: dict[str, Callable[..., Any]] = {}
    for subject in SUBJECTS:
        face = getattr(theory, subject)
        for name in face.__all__:
            function: Any = None if name == "closed_forms" else getattr(face, name)  # sympy is slow to load
            if inspect.isfunction(function) and _served(function, subject):
                found[f"{subject}.{name}"] = function
    return found


def _served(function: Callable[..., Any], subject: str) -> bool:
    needed = [one for one in parameters_of(function, subject).values() if one.default is one.empty]
    return all(_from_text(one.annotation, list(records().values())) for one in needed)


@functools.cache
def parameters_of(call: Callable[..., Any], subject: str = "") -> Parameters:
    """Return arguments of a function or fields of a record by name, with annotations that are objects.

    Where the first argument of a function is Any or a protocol, it is a record of the function's own subject.
    """
    found: dict[str, inspect.Parameter] = {}
    for name, one in inspect.signature(call).parameters.items():
        if one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL):
            continue
        annotation = resolved(one.annotation, call, unknown=object)
        if not found and subject and (annotation is Any or getattr(annotation, "_is_protocol", False)):
            annotation = functools.reduce(operator.or_, records_of(subject)) if records_of(subject) else Any
        found[name] = one.replace(annotation=annotation)
    return found


@functools.cache
def records() -> dict[str, type]:
    """Return the records of `theory.models` that can be made of text, by name; one inside another counts."""
    public = {name: getattr(models, name) for name in models.__all__}
    kinds = {name: one for name, one in public.items() if inspect.isclass(one) and is_dataclass(one)}
    found: dict[str, type] = {}
    while True:
        more = {name: one for name, one in kinds.items() if _from_fields(one, list(found.values()))}
        if len(more) == len(found):
            return more
        found = more


def _from_fields(record: type, known: Sequence[type]) -> bool:
    """Tell whether all fields that a record needs can be made of text or of the records that are known already."""
    needed = _required(record).values()
    return not inspect.isabstract(record) and all(_from_text(field.annotation, known) for field in needed)


def records_of(subject: str) -> list[type]:
    """Return the records that only this subject uses: those in the folder of its name in `theory.models`."""
    return [one for one in records().values() if one.__module__.startswith(f"theory.models.{subject}.")]


def alternatives(annotation: Any) -> list[Any]:
    """Return the kinds that an annotation allows, one or several."""
    annotation = unaliased(annotation)
    if get_origin(annotation) is Annotated:  # a range is checked by the function that is called
        return alternatives(get_args(annotation)[0])
    union = get_origin(annotation) in (Union, types.UnionType)
    return [one for part in get_args(annotation) for one in alternatives(part)] if union else [annotation]


@functools.cache
def candidates(annotation: Any) -> tuple[type, ...]:
    """Return the records that an annotation allows, subclasses included, the first annotated first."""
    return _subclasses(annotation, list(records().values()))


def _subclasses(annotation: Any, known: Sequence[type]) -> tuple[type, ...]:
    kinds = [one for one in alternatives(annotation) if isinstance(one, type) and one.__module__.startswith("theory.")]
    wanted = [one for one in kinds if not getattr(one, "_is_protocol", False)]
    return tuple(record for one in wanted for record in known if issubclass(record, one))


def _required(call: Callable[..., Any]) -> Parameters:
    parameters = parameters_of(call).items()
    return {name: one for name, one in parameters if one.default is one.empty and not _optional(one)}


def _optional(parameter: inspect.Parameter) -> bool:
    """Tell whether the argument may be left out: it has a default, or None is one of its values."""
    return parameter.default is not parameter.empty or types.NoneType in alternatives(parameter.annotation)


def _from_text(annotation: Any, known: Sequence[type]) -> bool:
    if _subclasses(annotation, known):
        return True
    plain = (bool, int, float, str, Any, types.NoneType)
    return any(one in plain or _is_list(one) or get_origin(one) is Literal for one in alternatives(annotation))


def _is_list(kind: Any) -> bool:
    """Tell whether this kind holds several numbers; of an ArrayLike only the parts that numpy alone has are left."""
    origin = get_origin(kind) or kind
    return kind is ArrayLike or origin in LISTS or getattr(origin, "__module__", "").startswith("numpy._typing")


@dataclass(frozen=True)
class Request:
    """A function together with the arguments that it is called with."""

    function: Callable[..., Any]
    arguments: dict[str, Any]

    @classmethod
    def of(cls, name: str, words: Sequence[str]) -> "Request":
        """Build the request of words such as AR1 d=400; RequestError says what is wrong, missing or unknown."""
        function, subject = function_named(name), name.partition(".")[0]
        given = _given(words)
        names = [word for word in words if "=" not in word]
        builder = _Builder(name, names, given)
        arguments = builder.arguments(parameters_of(function, subject))
        builder.require_nothing_left()
        builder.require(arguments, name, function)
        return cls(function, arguments)


def function_named(name: str) -> Callable[..., Any]:
    """Return the served function of this name; RequestError with the nearest names if there is none."""
    if name in functions():
        return functions()[name]
    close = difflib.get_close_matches(name, functions(), n=3)
    hint = f"did you mean {' or '.join(close)}?" if close else f"subjects are {', '.join(SUBJECTS)};"
    raise RequestError(f"unknown function {name!r}; {hint} --help lists all")


def _given(words: Sequence[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if equals and name in given:
            raise RequestError(f"{name} is given twice")
        if equals:
            given[name] = value
    return given


class _Builder:
    """Builds the arguments of one call; words that name records and NAME=VALUE pairs are used up on the way."""

    def __init__(self, what: str, names: list[str], given: dict[str, str]) -> None:
        self.what, self.names, self.given = what, names, given
        self.seen: dict[str, inspect.Parameter] = {}

    def arguments(self, parameters: Parameters) -> dict[str, Any]:
        """Return a value for every argument that is given or needed; a name that a record has too is the record's."""
        found: dict[str, Any] = {}
        for name, one in parameters.items():
            if candidates(one.annotation) and (self.chosen(one.annotation) or not _optional(one)):
                found[name] = self.record(name, one.annotation)
        for name, one in parameters.items():
            if name in found:
                continue
            self.seen.setdefault(name, one)
            if name in self.given:
                found[name] = value(name, self.given.pop(name), one.annotation)
            elif one.default is one.empty:
                found[name] = None if _optional(one) else inspect.Parameter.empty  # the latter is reported as missing
        return found

    def chosen(self, annotation: Any) -> type | None:
        """Return the record that the next word names, or inside which it belongs; None where it is none of these."""
        if not self.names:
            return None
        named = {one.__name__: one for one in candidates(annotation)}
        if self.names[0] in named:
            return named[self.names[0]]
        holders = (one for one in candidates(annotation) if self.names[0] in [kind.__name__ for kind in _inner(one)])
        return next(holders, None)

    def record(self, argument: str, annotation: Any) -> Any:
        """Build the record of the next word from its own fields."""
        allowed = candidates(annotation)
        kind = self.chosen(annotation) or (allowed[0] if len(allowed) == 1 else None)
        if kind is None:
            inner = [one.__name__ for first in allowed[:1] for one in _inner(first)]
            listed = ", ".join([one.__name__ for one in allowed] + inner)
            got = f"got {self.names[0]!r}" if self.names else "got none"
            raise RequestError(f"{self.what} needs a record for {argument}, one of {listed}; {got}")
        if self.names and self.names[0] == kind.__name__:
            self.names.pop(0)
        fields = self.arguments(parameters_of(kind))
        self.require(fields, kind.__name__, kind)
        return kind(**fields)

    def require(self, fields: dict[str, Any], what: str, call: Callable[..., Any]) -> None:
        """Raise RequestError that lists what is missing of a record or of the function."""
        missing = [name for name, one in fields.items() if one is inspect.Parameter.empty]
        if missing:
            raise RequestError(f"missing {', '.join(missing)}: {what} takes {usage(parameters_of(call))}")

    def require_nothing_left(self) -> None:
        """Raise RequestError for words that nothing has asked for."""
        if self.given or self.names:
            unknown = [f"{name}={text}" for name, text in self.given.items()] + self.names
            raise RequestError(f"unknown argument {unknown[0]!r}: {self.what} takes {usage(self.seen)}")


def _inner(record: type) -> list[type]:
    """Return the records that the fields of a record may hold."""
    return [kind for field in parameters_of(record).values() for kind in candidates(field.annotation)]


def usage(parameters: Parameters) -> str:
    """Write the arguments in one line: NAME for one that is needed, [NAME=DEFAULT] for others."""
    shown = []
    for name, one in parameters.items():
        default = None if one.default is one.empty else one.default
        shown.append(f"[{name}={default}]" if _optional(one) else name)
    return " ".join(shown)


def value(name: str, text: str, annotation: Any) -> Any:
    """Return `text` as a value of one of the annotated kinds; RequestError says which there are."""
    kinds = alternatives(annotation)
    words = [word for one in kinds if get_origin(one) is Literal for word in get_args(one)]
    anything = Any in kinds or object in kinds
    if text in map(str, words):
        return next(word for word in words if str(word) == text)
    if text.lower() == "none" and (types.NoneType in kinds or anything):
        return None
    if bool in kinds and text.lower() in ("true", "false"):
        return text.lower() == "true"
    numeric, listed = anything or int in kinds or float in kinds, anything or any(map(_is_list, kinds))
    try:
        rows = [[_number(part) for part in row.split(",")] for row in text.split(";")]
    except ValueError:
        rows = []
    single = rows[0][0] if len(rows) == 1 and len(rows[0]) == 1 else None
    if single is not None and numeric and (isinstance(single, int) or float in kinds or anything):
        return single
    if rows and listed:
        return _listed(rows, kinds)
    if str in kinds or anything:
        return text
    allowed = {bool: "true or false", int: "an integer", float: "a number"}
    named = [allowed[one] for one in allowed if one in kinds and not (one is int and float in kinds)]
    named += ["a list of numbers such as 0.5,1,2"] if listed else []
    named += [f"one of {', '.join(map(str, words))}"] if words else []
    raise RequestError(f"{name} must be {' or '.join(named)}, got {text!r}")


def _listed(rows: list[list[int | float]], kinds: list[Any]) -> Any:
    """Return a matrix of several rows, or the one row; an array where that is what the annotation asks for."""
    nested = rows if len(rows) > 1 else rows[0]
    if len({len(row) for row in rows}) == 1 and any(get_origin(one) is np.ndarray for one in kinds):
        return np.array(nested, dtype=float)
    return nested


def _number(text: str) -> int | float:
    return int(text) if text.strip().lstrip("+-").isdigit() else float(text)
