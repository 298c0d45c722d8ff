"""Independent replicates of one measurement, each with its own named stream."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.backends import Task
from simulate.core.estimate import Estimate
from simulate.core.streams import Name, stream
from simulate.core.sweep import sweep

Replicate = Callable[[Any, int, np.random.Generator], Any]  # (model, d, rng) -> float or array of floats


def replicate_tasks(
    replicate: Replicate, model: Any, d: int, n: int, *, seed: int = 0, names: tuple[Name, ...] = ()
) -> Iterator[Task]:
    """Tasks of `n` replicates at size `d`; number r draws from stream(seed, *names, d, r), and its key says so."""
    for number in range(n):
        key = "/".join(map(str, (*names, f"d={d}", number)))
        yield Task(key, _one, (replicate, model, d, seed, (*names, d, number)))


def replicate_values(
    replicate: Replicate, model: Any, d: int, n: int, *, seed: int = 0, names: tuple[Name, ...] = (), **options: Any
) -> NDArray[np.float64]:
    """The `n` values, (n,) or (n, ...) where a replicate returns an array; `options` go to `sweep`."""
    if n < 1:
        raise ValueError(f"n must be >= 1, got {n}")
    return np.array(list(sweep(replicate_tasks(replicate, model, d, n, seed=seed, names=names), **options).values()))


def replicate_estimate(
    replicate: Replicate, model: Any, d: int, n: int, *, seed: int = 0, names: tuple[Name, ...] = (), **options: Any
) -> Estimate:
    """Mean of `n` >= 2 replicates that return a number, with its standard error."""
    return Estimate.of(replicate_values(replicate, model, d, n, seed=seed, names=names, **options))


def _one(replicate: Replicate, model: Any, d: int, seed: int, names: tuple[Name, ...]) -> Any:
    return replicate(model, d, stream(seed, *names))
