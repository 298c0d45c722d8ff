"""One answer from the shell: python -m theory masked.solve AR1 d=400 correlation=0.7 alpha=2 lam=0.01"""

import argparse
import dataclasses
import inspect
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from theory import ConvergenceError, masked, models, random_matrix
from theory.models import Covariance, MaskedRidge, TeacherStudent


def _solve(covariance: Covariance, alpha: float, lam: float, exact_size: bool = False) -> Any:
    return masked.solve(MaskedRidge(covariance, alpha, lam), exact_size=exact_size)


def _replica(covariance: Covariance, alpha: float, lam: float, coordinate: int = 0) -> Any:
    return masked.replica(MaskedRidge(covariance, alpha, lam), coordinate=coordinate)


def _teacher_student(
    covariance: Covariance, alpha: float, lam: float, noise: float = 0.0, signal_power: float = 1.0
) -> Any:
    return masked.teacher_student(TeacherStudent(covariance, alpha, lam, noise, signal_power))


def _span_mask(covariance: Covariance, alpha: float, lam: float, span: Any, exact_size: bool = False) -> Any:
    return masked.span_mask(covariance, alpha, lam, np.atleast_1d(span).tolist(), exact_size=exact_size)


def _spike_threshold(covariance: Covariance, alpha: float, method: str = "ssr", lam: float | None = None) -> Any:
    return random_matrix.spike_threshold(covariance, None, alpha=alpha, method=method, lam=lam)


def _spike_outlier(
    covariance: Covariance, alpha: float, strength: float, method: str = "ssr", lam: float | None = None
) -> Any:
    return random_matrix.spike_outlier(covariance, None, strength=strength, alpha=alpha, method=method, lam=lam)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "masked.solve": _solve,
    "masked.ridgeless": masked.ridgeless,
    "masked.optimal_ridge": masked.optimal_ridge,
    "masked.peak_height": masked.peak_height,
    "masked.replica": _replica,
    "masked.teacher_student": _teacher_student,
    "masked.random_masks": masked.random_masks,
    "masked.span_mask": _span_mask,
    "random_matrix.spike_threshold": _spike_threshold,
    "random_matrix.spike_outlier": _spike_outlier,
}
FAMILIES: dict[str, Callable[..., Covariance]] = {  # those that a few numbers describe
    family.__name__: family
    for family in (
        models.AR1,
        models.Blocks,
        models.Diagonal,
        models.Equicorrelated,
        models.GOEPrecision,
        models.GaussianFreeField,
        models.Isotropic,
        models.PowerLaw,
        models.TridiagonalPrecision,
        models.TwoLevel,
        models.Wishart,
    )
}


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status: 0, 1 for a solve that did not converge, 2 for a request that makes no sense."""
    parser = _parser()
    request = parser.parse_args(argv)
    function, family = FUNCTIONS[request.function], FAMILIES[request.family]
    own, shared = _signature(function, skip=1), _signature(family)
    arguments = _arguments(request.argument, shared | own, f"{request.function} {request.family}", parser.error)
    try:
        covariance = family(**{name: arguments[name] for name in shared if name in arguments})
        answer = function(covariance, **{name: arguments[name] for name in own if name in arguments})
        fields = _fields(answer)
    except ConvergenceError as failure:
        print(f"theory: {failure}", file=sys.stderr)
        return 1
    except (ValueError, TypeError) as error:
        parser.error(str(error))
    except MemoryError as error:
        parser.error(f"{error}; a large d needs a family whose spectrum is known, or d=inf")
    print(json.dumps(fields) if request.json else _table(covariance, fields))
    return 0


def _parser() -> argparse.ArgumentParser:
    described = {**FUNCTIONS, **FAMILIES}
    usages = {name: _usage(_signature(call, skip=int(name in FUNCTIONS))) for name, call in described.items()}
    rows = ["functions:", *(f"  {name:30}{usages[name]}" for name in FUNCTIONS)]
    rows += ["", "families:", *(f"  {name:30}{usages[name]}" for name in FAMILIES)]
    rows += [
        "",
        "d=inf is the limit d -> infinity where the family has one; variances=0.5,1,2 is a list.",
        "spike_*: a family of noise and a delocalized spike; method=ssr, pca, correlation_pca or diagonal_deleted_pca.",
    ]
    parser = argparse.ArgumentParser(
        prog="python -m theory",
        description=(__doc__ or "").replace("\n", " "),
        epilog="\n".join(rows),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("function", choices=FUNCTIONS, metavar="FUNCTION", help="what to compute, see below")
    parser.add_argument("family", choices=FAMILIES, metavar="FAMILY", help="population covariance, see below")
    parser.add_argument("argument", nargs="*", metavar="NAME=VALUE", help="of the family and of the function")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _signature(call: Callable[..., Any], skip: int = 0) -> dict[str, inspect.Parameter]:
    return dict(list(inspect.signature(call).parameters.items())[skip:])


def _usage(parameters: dict[str, inspect.Parameter]) -> str:
    return " ".join(
        name if parameter.default is inspect.Parameter.empty else f"[{name}={parameter.default}]"
        for name, parameter in parameters.items()
    )


def _arguments(
    texts: Sequence[str], allowed: dict[str, inspect.Parameter], what: str, fail: Callable[[str], NoReturn]
) -> dict[str, Any]:
    """Every NAME=VALUE as a number, a list of numbers or a truth value; `fail` reports what is wrong or missing."""
    given: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name not in allowed:
            fail(f"unknown argument {text!r}: {what} takes NAME=VALUE with {_usage(allowed)}")
        if name in given:
            fail(f"{name} is given twice")
        try:
            given[name] = _value(value, type(allowed[name].default))
        except ValueError as error:
            fail(f"{name} must be {error}, got {value!r}")
    missing = [name for name, parameter in allowed.items() if parameter.default is parameter.empty]
    missing = [name for name in missing if name not in given]
    if missing:
        fail(f"missing {', '.join(missing)}: {what} takes {_usage(allowed)}")
    return given


def _value(text: str, kind: type) -> Any:
    """The value of `text`, of the type of the default where that is one of these."""
    if kind is str:
        return text
    if kind is bool:
        if text.lower() not in ("true", "false", "1", "0"):
            raise ValueError("true or false")
        return text.lower() in ("true", "1")
    try:
        numbers = [int(part) if part.strip().lstrip("+-").isdigit() else float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError("a number") from None
    if kind is int and not (len(numbers) == 1 and isinstance(numbers[0], int)):
        raise ValueError("an integer")
    return numbers[0] if len(numbers) == 1 else numbers


def _fields(answer: Any) -> dict[str, Any]:
    """The fields and properties of a result that JSON can hold; arrays as mean, min, max and size."""
    names = [field.name for field in dataclasses.fields(answer)]
    names += [name for name, value in inspect.getmembers(type(answer)) if isinstance(value, property)]
    values = {name: getattr(answer, name) for name in names}
    return {name: _plain(value) for name, value in values.items() if not isinstance(value, Covariance)}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        summary = {"mean": value.mean(), "min": value.min(), "max": value.max()}
        return {name: _plain(float(number)) for name, number in summary.items()} | {"size": value.size}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    # JSON has no infinity
    return value if value is None or isinstance(value, bool | int | str) or np.isfinite(value) else str(value)


def _table(covariance: Covariance, fields: dict[str, Any]) -> str:
    width = max(map(len, fields))
    return "\n".join([repr(covariance), *(f"{name:{width}}  {_shown(value)}" for name, value in fields.items())])


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        if value["size"] == 1:
            return _shown(value["mean"])
        return "mean {} in [{}, {}], {} values".format(
            *(_shown(value[name]) for name in ("mean", "min", "max", "size"))
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(_shown, value)) + "]"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    sys.exit(main())
