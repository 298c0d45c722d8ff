"""What all held-out tests share: which share is held out, how large the training sets are, and who fits them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from simulate.core import Task

Sweep = Callable[[Iterable[Task]], dict[str, Any]]  # carries out the tasks, and returns their values by name


def checked_test_fraction(test_fraction: float) -> float:
    """Return the share of the samples that is held out. ValueError unless it lies between 0 and 1."""
    if not 0 < test_fraction < 1:
        raise ValueError(f"test_fraction must lie between 0 and 1, both excluded, got {test_fraction}")
    return test_fraction


def checked_sizes(sizes: Sequence[int], most: int, samples: str) -> tuple[int, ...]:
    """Return the sizes of training sets, each once and ascending. ValueError unless all lie in 2, ..., `most`."""
    if not (len(sizes) and all(2 <= size <= most for size in sizes)):
        raise ValueError(f"sizes must lie between 2 and {most}, the {samples} that are not held out, got {list(sizes)}")
    return tuple(sorted(set(sizes)))
