"""Names random streams by what they are for, so that no result depends on order or number of workers."""

import hashlib

import numpy as np

from theory.core import checked, checks

Name = str | bool | int | float


@checked
def stream(seed: int, *names: Name) -> np.random.Generator:
    """Return the random generator `names` of the family `seed`.

    Equal names give equal numbers, on every machine and in every process, and different names independent ones: a
    stream is named by what it is for, so that no result depends on the order or the number of workers. Equal numbers
    are equal names (1, 1.0 and np.float64(1) alike); True, 1 and "1" are three different ones.

    ValueError for a seed that is no integer >= 0, and for a name that is NaN or neither text nor a number.

    >>> stream(0, "ridge", 0.5, 100, 3).random() == stream(0, "ridge", 0.5, 100.0, 3).random()
    True
    """
    if seed < 0:
        raise ValueError(f"seed must be an integer >= 0, got {checks.shown(seed)}")
    sequence = np.random.SeedSequence(seed, spawn_key=tuple(_digest(name) for name in names))
    # The bit generator is named, because default_rng may take another one in a later numpy.
    return np.random.Generator(np.random.PCG64(sequence))


def _digest(name: Name) -> int:
    """Return the first 64 bits of the SHA-256 of the name's kind and spelling."""
    return int.from_bytes(hashlib.sha256(_spelling(name).encode()).digest()[:8], "little")


def _spelling(name: Name) -> str:
    if isinstance(name, str):
        return f"str:{name}"
    if isinstance(name, bool):
        return f"bool:{name}"
    return f"number:{int(name)}" if isinstance(name, int) or name.is_integer() else f"number:{name!r}"
