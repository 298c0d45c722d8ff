"""Chooses items of a stream uniformly at random, although its length is not known before its end."""

from figures.analyse.wording import counted
from simulate.core import stream


class Reservoir:
    """Says of each item of a stream whether it is among the `most` chosen ones, and where it is kept.

    Of the first t items each is kept with probability most/t at any time (algorithm R of Waterman, in Knuth, The Art of
    Computer Programming 2, Sec. 3.4.2). With `most` None all are kept.
    """

    def __init__(self, most: int | None, seed: int) -> None:
        self.most, self.total = most, 0
        self._rng = stream(seed, "choice of sequences")

    def place(self) -> int | None:
        """Position of the next item: one more than there are, or that of one that it replaces; None to pass it by."""
        self.total += 1
        if self.most is None or self.total <= self.most:
            return self.total - 1
        chosen = int(self._rng.integers(self.total))
        return chosen if chosen < self.most else None

    @property
    def notes(self) -> list[str]:
        """A sentence for the user, where some items were passed by."""
        if self.most is None or self.total <= self.most:
            return []
        return [f"{self.most} of {counted(self.total, 'sequence')}, chosen at random"]
