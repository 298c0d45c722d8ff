"""Shares work among threads, for compiled functions that release Python's lock."""

from collections.abc import Callable, Iterable, Iterator
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
