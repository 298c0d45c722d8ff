"""Shares work among threads, for compiled functions that release Python's lock."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
# Computes a function of each of some items, in their order, as the builtin `map` does.
Mapping = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


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


@contextmanager
def mapping(n_threads: int) -> Iterator[Mapping]:
    """Give a function like `map`, whose calls are shared by `n_threads` threads that last until the context ends.

    Results come in the order of the items whatever the number of threads, so sums over them have the same rounding.
    The calling thread is one of those that work: one that only waited would be woken for each result, and take a core
    from the others for as long. With one thread it is `map` itself.
    """
    if n_threads == 1:
        yield map
        return
    with ThreadPoolExecutor(n_threads - 1) as pool:

        def mapped(function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
            given = list(items)
            found: list[Any] = [None] * len(given)
            places = iter(range(len(given)))  # of which every thread takes the next one, and no two the same

            def work() -> None:
                try:
                    for place in places:
                        found[place] = function(given[place])
                except BaseException:
                    deque(places, maxlen=0)  # takes what is left: nobody will ask for it
                    raise

            others = [pool.submit(work) for _ in range(min(n_threads, len(given)) - 1)]
            try:
                work()
            finally:
                wait(others)
            for each in others:
                each.result()
            return found

        yield mapped


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
