"""Shares work among threads, for compiled functions that release Python's lock."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(function: Callable[[Item], Result], items: Iterable[Item], n_threads: int) -> Iterator[Result]:
    """Yield function(item) for each of `items`, in their order, computed by `n_threads` threads.

    The order is that of the items whatever the number of threads, so sums over the results have the same rounding. With
    one thread no pool is made and each item is computed when its result is asked for.
    """
    if n_threads == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield from pool.map(function, items)


def share(work: Callable[[Item], object], parts: Sequence[Item]) -> None:
    """Do work(part) for all `parts` at the same time, the first of them in the calling thread.

    A thread of its own for each part would have the caller wait for one thread more, which takes a twentieth of a
    millisecond to start.
    """
    if len(parts) == 1:
        work(parts[0])
        return
    with ThreadPoolExecutor(len(parts) - 1) as pool:
        others = [pool.submit(work, part) for part in parts[1:]]
        work(parts[0])
    for each in others:
        each.result()
