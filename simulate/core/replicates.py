"""Makes independent replicates of one measurement, each with its own named stream."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.backends import Task
from simulate.core.estimate import Estimate
from simulate.core.streams import Name, stream
from simulate.core.sweep import sweep
from theory.core import Count, checked, checks

TASK_BYTES = 600.0  # of a task with its key and its names, as measured
Replicate = Callable[[Any, int, np.random.Generator], Any]  # (model, d, rng) -> float or array of floats


@checked
def replicate_tasks(
    replicate: Replicate, model: Any, d: Count, n: Count, *, seed: int = 0, names: tuple[Name, ...] = ()
) -> Sequence[Task]:
    """Make the tasks of `n` replicates at size `d`, for `sweep`, which may be called with them several times.

    Number r draws from stream(seed, *names, d, r), and its key says so: a replicate does not depend on how many others
    there are.

    >>> [task.key for task in replicate_tasks(lambda model, d, rng: rng.random(), None, 50, 2, names=("ridge",))]
    ['ridge/d=50/0', 'ridge/d=50/1']
    """
    if seed < 0:
        raise ValueError(f"seed must be an integer >= 0, got {checks.shown(seed)}")
    checks.fits_in_memory(f"a list of n = {n} tasks", TASK_BYTES * n)
    return tuple(
        Task("/".join(map(str, (*names, f"d={d}", number))), _one, (replicate, model, d, seed, (*names, d, number)))
        for number in range(n)
    )


@checked
def replicate_values(
    replicate: Replicate, model: Any, d: int, n: int, *, seed: int = 0, names: tuple[Name, ...] = (), **options: Any
) -> NDArray[np.float64]:
    """Measure `n` independent replicates: (n,), or (n, ...) where one returns an array.

    `options` go to `sweep`, such as n_jobs, which changes no result. TaskError where a replicate fails.
    """
    return np.array(list(sweep(replicate_tasks(replicate, model, d, n, seed=seed, names=names), **options).values()))


@checked
def replicate_estimate(
    replicate: Replicate, model: Any, d: int, n: int, *, seed: int = 0, names: tuple[Name, ...] = (), **options: Any
) -> Estimate:
    """Measure the mean of `n` >= 2 replicates that return a number, with its standard error.

    >>> print(replicate_estimate(lambda model, d, rng: rng.standard_normal(d).mean(), None, 50, 20).n)
    20
    """
    if n < 2:
        raise ValueError(f"n must be >= 2 (one replicate has no error bar), got {checks.shown(n)}")
    values = replicate_values(replicate, model, d, n, seed=seed, names=names, **options)
    if values.ndim > 1:
        raise ValueError(f"replicate must return a number, got arrays of shape {values.shape[1:]}")
    return Estimate.of(values)


def _one(replicate: Replicate, model: Any, d: int, seed: int, names: tuple[Name, ...]) -> Any:
    return replicate(model, d, stream(seed, *names))
