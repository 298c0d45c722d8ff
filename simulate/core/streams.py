"""Named random streams: named by what they are for, no result depends on order or on the number of workers."""

import hashlib
import math
import numbers

import numpy as np

Name = str | bool | int | float


def stream(seed: int, *names: Name) -> np.random.Generator:
    """Generator `names` of the family `seed`: equal names give equal numbers, on every machine and in every process.

    Equal numbers are equal names (1, 1.0 and np.float64(1) alike); True, 1 and "1" are three different ones.
    ValueError for a negative or fractional seed and for NaN; TypeError for a name of another type.
    """
    if isinstance(seed, bool) or not isinstance(seed, numbers.Integral) or seed < 0:
        raise ValueError(f"seed must be an integer >= 0, got {seed!r}")
    sequence = np.random.SeedSequence(int(seed), spawn_key=tuple(_digest(name) for name in names))
    return np.random.Generator(np.random.PCG64(sequence))  # default_rng may change its bit generator one day


def require_generator(rng: object) -> None:
    """ValueError where it is none."""
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng must be a Generator as from numpy.random.default_rng(seed), got {type(rng).__name__}")


def _digest(name: Name) -> int:
    """The first 64 bits of the SHA-256 of the name's kind and spelling."""
    return int.from_bytes(hashlib.sha256(_spelling(name).encode()).digest()[:8], "little")


def _spelling(name: Name) -> str:
    if isinstance(name, str):
        return f"str:{name}"
    if isinstance(name, (bool, np.bool_)):
        return f"bool:{bool(name)}"
    if isinstance(name, numbers.Integral):
        return f"number:{int(name)}"
    if not isinstance(name, numbers.Real):
        raise TypeError(f"a stream is named by str, bool, int or float, got {name!r} of type {type(name).__name__}")
    value = float(name)
    if math.isnan(value):
        raise ValueError("a stream cannot be named nan: it equals nothing")
    return f"number:{int(value)}" if value.is_integer() else f"number:{value!r}"
