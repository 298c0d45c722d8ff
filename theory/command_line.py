"""Compute an answer of the theory, as in `python -m theory masked.solve AR1 d=400 correlation=0.7 alpha=2 lam=0.01`."""

import argparse
import dataclasses
import inspect
import json
import sys
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from theory import requests
from theory.core.errors import MaskedSSLError
from theory.requests import SUBJECTS, Request, candidates, functions, parameters_of, usage

EVIDENCE = ("residual", "iterations", "converged")  # shown last

GENERAL = """usage: {prog} FUNCTION [RECORD ...] [NAME=VALUE ...] [--json]

{doc}

FUNCTION is SUBJECT.NAME, one of those below. RECORD is the kind of model, if the function takes several kinds, followed
by the kind of its covariance: MaskedRidge AR1. AR1 alone stands for the first kind of model that has a covariance.
NAME=VALUE gives a number that the function or a record needs. d=inf is the limit d -> infinity, where there is one;
variances=0.5,1,2 is a list, and coupling=0,1;1,0 is a matrix. --json prints the answer as JSON.

{prog} SUBJECT --help    says what the functions of one subject compute
{prog} FUNCTION --help   explains one function, its records and their fields
"""


def main(argv: Sequence[str] | None = None, prog: str = "python -m theory") -> int:
    """Answer one request; the exit status is 0, 1 for a solve that failed, 2 for a request that makes no sense.

    `prog` is how the user has called this program, for its help.
    """
    usage_line = GENERAL.splitlines()[0].removeprefix("usage: ").format(prog=prog)
    parser = argparse.ArgumentParser(prog=prog, add_help=False, usage=usage_line)
    parser.add_argument("words", nargs="*")
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_intermixed_args(argv)
    name, *words = asked.words or [""]
    try:
        if asked.help or not name or (name in SUBJECTS and not words):
            print(help_text(name, prog))
            return 0 if asked.help or name else 2
        request = Request.of(name, words)
        answer = request.function(**request.arguments)
        fields = _fields(answer)
    except MaskedSSLError as failure:
        print(f"theory: {failure}", file=sys.stderr)
        return 1
    except (ValueError, TypeError) as error:
        parser.error(str(error))
    except MemoryError as error:
        parser.error(f"{error}; a large d needs a family whose spectrum is known, or d=inf")
    print(json.dumps(fields) if asked.json else _table(request, fields))
    return 0


def help_text(name: str, prog: str = "python -m theory") -> str:
    """Return the general help, that of a subject, or that of a function."""
    if not name:
        listed = [
            textwrap.fill(", ".join(_of(one)), 116, initial_indent="  ", subsequent_indent="  ") for one in SUBJECTS
        ]
        return "\n".join([GENERAL.format(doc=__doc__, prog=prog), *listed])
    if name in SUBJECTS:
        return "\n".join(f"{one}\n    {_first_sentence(call)}" for one, call in _of(name).items())
    call = requests.function_named(name)
    subject = name.partition(".")[0]
    lines = [f"{prog} {name} {usage(parameters_of(call, subject))}", "", inspect.getdoc(call) or ""]
    for argument, one in parameters_of(call, subject).items():
        if candidates(one.annotation):
            lines += ["", f"records for {argument}:"]
            lines += [f"  {record.__name__:24}{usage(parameters_of(record))}" for record in candidates(one.annotation)]
    return "\n".join(lines)


def _of(subject: str) -> dict[str, Callable[..., Any]]:
    return {name: call for name, call in functions().items() if name.startswith(f"{subject}.")}


def _first_sentence(call: Callable[..., Any]) -> str:
    return (inspect.getdoc(call) or "").split("\n\n")[0].replace("\n", " ")


def _fields(answer: Any) -> dict[str, Any]:
    """Return the fields and properties of a result that JSON can hold; arrays as mean, min, max and size."""
    if not dataclasses.is_dataclass(answer) or isinstance(answer, type):
        return {"value": _plain(answer)}
    names = [field.name for field in dataclasses.fields(answer) if not field.name.startswith("_")]
    names += [name for name, value in inspect.getmembers(type(answer)) if isinstance(value, property)]
    names = [*(name for name in names if name not in EVIDENCE), *(name for name in EVIDENCE if name in names)]
    values = {name: getattr(answer, name) for name in dict.fromkeys(names)}
    return {name: _plain(value) for name, value in values.items() if not _is_record(value)}


def _is_record(value: Any) -> bool:
    return type(value).__module__.startswith("theory.models.")


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "iuf" or not value.size:
            return {"size": value.size}
        summary = {"mean": value.mean(), "min": value.min(), "max": value.max()}
        return {name: _plain(float(number)) for name, number in summary.items()} | {"size": value.size}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)  # JSON has no infinity
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _table(request: Request, fields: dict[str, Any]) -> str:
    models = [repr(value) for value in request.arguments.values() if _is_record(value)]
    width = max(map(len, fields))
    return "\n".join([*models, *(f"{name:{width}}  {_shown(value)}" for name, value in fields.items())])


def _shown(value: Any) -> str:
    if isinstance(value, dict) and set(value) == {"mean", "min", "max", "size"}:
        if value["size"] == 1:
            return _shown(value["mean"])
        return "mean {} in [{}, {}], {} values".format(
            *(_shown(value[name]) for name in ("mean", "min", "max", "size"))
        )
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(one)}" for name, one in value.items())
    if isinstance(value, list):
        return "[" + ", ".join(map(_shown, value)) + "]"
    return f"{value:.12g}" if isinstance(value, float) else str(value)
