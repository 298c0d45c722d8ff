"""The rows of the table of benchmarks: what was measured, what it should be, and the verdict that follows.

Times are CPU seconds of one call unless the row says otherwise. A bound is written as text, so that the table shows it
as the job states it: "4 times" (at least four times as fast as the peer; "1/1.5 times": at most 1.5 times as slow),
"0.1 s", "5 ms", "100 MB", "power 1.2", or a number with any other unit, "15 steps", of which ours may take no more.
"""

import re
from dataclasses import dataclass

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
BYTES = {"MB": 1.0, "GB": 1e3}
_BOUND = re.compile(r"(?P<power>power )?(?P<number>[-+.\de]+)(?:/(?P<below>[-+.\de]+))?(?: (?P<unit>\S.*))?")

VERDICTS = ("met", "missed", "regressed", "no goal", "peer failed", "failed")


@dataclass(frozen=True)
class Bound:
    """A number that a measurement is compared with: at least it where `unit` is "times", at most it elsewhere."""

    value: float
    unit: str

    @classmethod
    def of(cls, text: str) -> "Bound":
        """Read "4 times", "5 ms", "100 MB", "power 1.2" or "15 steps"; raise ValueError for anything else."""
        found = _BOUND.fullmatch(text)
        try:
            value = float(found["number"]) / float(found["below"] or 1)
        except (TypeError, ValueError):
            raise ValueError(f"a bound is a number with its unit, such as '4 times', '5 ms', got {text!r}") from None
        unit = "power" if found["power"] else found["unit"] or ""
        factor, unit = (
            (SECONDS[unit], "s") if unit in SECONDS else (BYTES.get(unit, 1.0), "MB" if unit in BYTES else unit)
        )
        return cls(value * factor, unit)

    def holds(self, measured: float) -> bool:
        """Whether a measurement in the bound's unit keeps it; a number that is none keeps no bound."""
        return measured >= self.value if self.unit == "times" else measured <= self.value


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table.

    The `subject` is the heading under which it stands, and `about` a paragraph that explains the jobs there.
    `ours` and `theirs` are in `unit` ("s", "MB", "power" or a name of what is counted), None where there is none. A
    `failure` is the reason for which the peer has no number, `own_failure` that for which we have none.
    """

    subject: str
    job: str
    unit: str = "s"
    ours: float | None = None
    peer: str = ""
    theirs: float | None = None
    limit: str = ""
    goal: str = ""
    about: str = ""
    failure: str = ""
    own_failure: str = ""
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times ours the peer takes: above 1 where we are faster, or need less memory."""
        if self.ours is None or self.theirs is None or self.ours <= 0:
            return None
        return self.theirs / self.ours

    @property
    def verdict(self) -> str:
        """One of VERDICTS; "regressed" is a number past its limit, "peer failed" where a bound needs the peer's number.

        A bound in a unit other than the row's is a mistake of the job, and raises ValueError.
        """
        if self.own_failure:
            return "failed"
        kept = {bound: self._keeps(bound) for bound in (self.limit, self.goal) if bound}
        if self.limit and kept[self.limit] is False:
            return "regressed"
        if self.goal and kept[self.goal] is not None:
            return "met" if kept[self.goal] else "missed"
        return "peer failed" if self.failure else "no goal"

    def _keeps(self, text: str) -> bool | None:
        """Whether what was measured keeps a bound; None where it was not measured."""
        bound = Bound.of(text)
        if bound.unit not in ("times", self.unit):
            raise ValueError(f"{self.job}: a row in {self.unit!r} cannot keep a bound of {text!r}")
        measured = self.ratio if bound.unit == "times" else self.ours
        return None if measured is None else bound.holds(measured)
