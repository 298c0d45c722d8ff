"""A seeded harness that puts wrong values into every argument of public functions and counts what happens."""

import collections
import inspect
import math
import signal
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from theory.core.errors import MaskedSSLError

SECONDS = 10  # a call that computes for longer hangs; while others compute the clock stands


@dataclass(frozen=True)
class Example:
    """One valid and fast call of a public function: the function and every argument by its name."""

    function: Callable[..., Any]
    keywords: Mapping[str, Any]


class _Hostile:
    """An object whose conversions, repr and truth value all raise."""

    def _raise(self, *_: object, **__: object) -> Any:
        raise RuntimeError("this object cannot be converted")

    __array__ = __float__ = __int__ = __bool__ = __repr__ = __len__ = __iter__ = _raise


def wrong_values(rng: np.random.Generator) -> list[Any]:
    """Values that are wrong or extreme for most arguments, freshly made at each call."""
    import pandas as pd

    return [
        *(None, "text", "", b"bytes", True, False, 0, 1, -1, 2, 3, 7, 0.5, -0.5, 1.5, 2j),
        *(math.nan, math.inf, -math.inf, 1e-320, 1e-300, 1e-12, 1e12, 1e300, 1.7e308, -1e300),
        *(10**19, 10**400, -(10**400), np.int8(3), np.float32(0.5), np.bool_(True), np.float64("nan"), np.array(2.0)),
        *(
            [],
            (),
            {},
            {"a": 1},
            set(),
            [1],
            [0.5, 0.5],
            [1, 2, 3],
            [[1], [1, 2]],
            ["a", "b"],
            [None],
            [math.nan],
            [True],
        ),
        *(np.zeros(0), np.zeros((0, 3)), np.zeros(3), np.ones((2, 2)), np.eye(3), np.full((3, 3), np.nan)),
        *(np.ones((2, 2, 2)), np.array(["a"]), np.array([1j]), np.array([object()]), np.full(4, 1e308), -np.eye(3)),
        *(np.array([[2**62, -(2**62)]]), np.array([0, 1, 2]), rng.standard_normal((5, 4)), np.arange(12).reshape(3, 4)),
        *(np.ma.masked_array([1.0, 2.0], [True, False]), np.datetime64("2020-01-01"), np.eye(3, dtype=np.float32)),
        *(pd.NA, pd.Series([1.0, 2.0]), pd.DataFrame({"a": [1.0, 2.0]}), pd.DataFrame({"a": ["x", "y"]})),
        *(object(), object, len, lambda: 1.0, lambda x: "text", lambda *x: math.nan, iter([1, 2]), range(3), range(0)),
        *(rng, np.random.RandomState(0), np.random.default_rng, _Hostile()),
    ]


def outcome(function: Callable[..., Any], keywords: Mapping[str, Any], name: str) -> tuple[str, str]:
    """What a call does, as (kind, detail).

    The kinds are "accepted"; "refused", a ValueError that names the argument or one of the toolkit's own errors;
    "unnamed", a ValueError that does not name it; "memory", a MemoryError with a size in GB; "raw", any other
    exception; "warning"; and "hang".
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        previous = signal.signal(signal.SIGPROF, _alarm)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            function(**keywords)
        except _HangError:
            return "hang", f"longer than {SECONDS} s"
        except Warning as warned:
            return "warning", repr(warned)
        except MaskedSSLError as failed:
            return "refused", str(failed)
        except MemoryError as failed:
            return ("memory" if "GB" in str(failed) else "raw"), repr(failed)
        except ValueError as refused:
            names = {name} if name else {*_parameters(function), *keywords}
            return ("refused" if _names(str(refused), names) else "unnamed"), f"{refused!r}"
        except Exception as raw:
            return "raw", f"{type(raw).__name__}: {raw}"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, previous)
    return "accepted", ""


def count_outcomes(examples: Mapping[str, Example], n: int, seed: int) -> tuple[collections.Counter[str], list[str]]:
    """(how often each kind of outcome was seen in `n` calls, a line for every bad one).

    Each call is one of the examples with one argument, in every fourth call two, replaced by a wrong value.
    """
    rng = np.random.default_rng(seed)
    names = sorted(examples)
    counts: collections.Counter[str] = collections.Counter()
    bad: dict[str, None] = {}
    for _ in range(n):
        example = examples[names[rng.integers(len(names))]]
        keywords = dict(example.keywords)
        allowed = list(keywords) + [name for name in _parameters(example.function) if name not in keywords]
        replaced = [allowed[i] for i in rng.permutation(len(allowed))[: 1 + (rng.integers(4) == 0)]]
        values = wrong_values(rng)
        for name in replaced:
            keywords[name] = values[rng.integers(len(values))]
        kind, detail = outcome(example.function, keywords, replaced[0] if len(replaced) == 1 else "")
        counts[kind] += 1
        if kind not in ("accepted", "refused", "memory"):
            given = ", ".join(f"{name}={_brief(keywords[name])}" for name in replaced)
            bad[f"{kind}: {example.function.__module__}.{example.function.__qualname__}({given}): {detail}"[:300]] = (
                None
            )
    return counts, list(bad)


def assert_all_refused(examples: Mapping[str, Example], n: int, seed: int) -> None:
    """No raw error, no unnamed refusal, no hang and no warning in `n` calls; and the examples themselves are valid."""
    for name, example in examples.items():
        kind, detail = outcome(example.function, example.keywords, "")
        assert kind == "accepted", f"the example of {name} is {kind}: {detail}"
    counts, bad = count_outcomes(examples, n, seed)
    assert not bad, f"{dict(counts)}\n" + "\n".join(bad[:50])


class _HangError(BaseException):
    """Raised by the alarm; no handler of Exception catches it."""


def _alarm(*_: object) -> None:
    raise _HangError


def _names(message: str, names: set[str]) -> bool:
    """Whether the message begins with, or holds as a word, one of the arguments of these names."""
    words = set("".join(letter if letter.isalnum() or letter == "_" else " " for letter in message).split())
    return bool(words & names)


def _parameters(function: Callable[..., Any]) -> list[str]:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [name for name, one in inspect.signature(function).parameters.items() if one.kind in kinds]


def _brief(value: Any) -> str:
    try:
        return repr(value)[:60].replace("\n", " ")
    except Exception:
        return f"<{type(value).__name__}>"
