"""Tokens of a table that look like mistakes: they are read, and said."""

import re
from collections.abc import Iterable, Mapping

from figures.analyse.errors import counted

INTEGER = re.compile(r"[+-]?\d{1,15}", re.ASCII)
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
NOT_KNOWN = "NA"
LISTED = 8


def odd_tokens(counts: Mapping[str, int]) -> list[str]:
    """Notes on how often tokens occur: cells that are not known, and what is strange in a table of integers."""
    notes = [f"{counted(counts[NOT_KNOWN], 'cell')} nan or NA: read as gaps"] if NOT_KNOWN in counts else []
    words = [token for token in counts if token not in ("-", NOT_KNOWN)]
    integers = [token for token in words if INTEGER.fullmatch(token)]
    if 2 * len(integers) <= len(words):
        return notes
    others = [token for token in words if token not in integers]
    fractions = [token for token in others if NUMBER.fullmatch(token)]
    odd = {
        "no integer": fractions,
        "no number": [token for token in others if token not in fractions],
        "negative": [token for token in integers if int(token) < 0],
        "there only once": [token for token in words if counts[token] == 1],
    }
    return notes + [
        f"among integers, {counted(len(found), 'token')} that {'is' if len(found) == 1 else 'are'} {what}: "
        f"{_listed(found)} (a token like any other; leave the cell empty where nothing is known)"
        for what, found in odd.items()
        if found
    ]


def _listed(tokens: Iterable[str]) -> str:
    found = list(tokens)
    return ", ".join(found[:LISTED]) + (", ..." if len(found) > LISTED else "")
