"""How many of the highest pairs are contacts: the precision at L/5, L/2, L and 2L, with its interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from figures.analyse.sequences.pairs.contacts import Contacts
from figures.analyse.sequences.scores import Pair
from simulate.core.estimate import wilson

SHARES = {"L/5": Fraction(1, 5), "L/2": Fraction(1, 2), "L": Fraction(1), "2L": Fraction(2)}
ABOVE_LIMIT, LOW_Q = "above the limit of noise", "q-value at most 0.1"


@dataclass(frozen=True)
class Precision:
    """Of the first `pairs` ranked pairs whose distance is known `contacts` are contacts."""

    of: str
    pairs: int
    contacts: int

    @property
    def share(self) -> float:
        """The share of contacts; nan without pairs."""
        return self.contacts / self.pairs if self.pairs else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of Wilson at 95 %, as if pairs were contacts independently of each other."""
        return wilson(self.contacts / self.pairs if self.pairs else 0.0, self.pairs)


def precisions(pairs: Sequence[Pair], contacts: Contacts, n_sites: int, sets: dict[str, int]) -> list[Precision]:
    """Return the precision of the first L/5, L/2, L and 2L ranked `pairs`, and of the `sets`, each the first so many.

    L is the number `n_sites`. Pairs of which nothing is known are passed by: the first so many of the others are taken,
    but of the sets those that are in them. The last entry is that of all ranked pairs, which is what chance would have.
    """
    judged = [pair for pair in pairs if contacts.is_judged(pair.i, pair.j)]

    def of(name: str, chosen: Sequence[Pair]) -> Precision:
        return Precision(name, len(chosen), sum(bool(contacts.touching[pair.i, pair.j]) for pair in chosen))

    found = [of(name, judged[: max(1, math.floor(share * n_sites))]) for name, share in SHARES.items()]
    for name, count in sets.items():
        found.append(of(name, [pair for pair in pairs[:count] if contacts.is_judged(pair.i, pair.j)]))
    return [*found, of("all ranked", judged)]
