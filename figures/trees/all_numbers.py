"""Counts of all numbers up to powers of ten, which several experiments on trees show."""

from functools import cache

from figures.core import Context
from simulate.trees import WordCounts, count_words
from theory.models import NumberText

LARGEST = {"draft": 4, "default": 7, "paper": 8}  # the last power of ten


def sizes(context: Context, first: int = 2) -> list[int]:
    """Return the powers of ten up to which numbers are counted."""
    return [10**k for k in range(first, LARGEST[context.quality] + 1)]


@cache
def counts_up_to(n_numbers: int) -> WordCounts:
    """Count the words of the numbers 2, ..., N."""
    return count_words(NumberText(n_numbers))
