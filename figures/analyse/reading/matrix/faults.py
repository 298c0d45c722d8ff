"""Collects what is wrong with a table, so that one message names all of it: where, what, and the remedy."""

from dataclasses import dataclass, field

MAX_LISTED = 10  # faults that a message lists
MAX_CHARACTERS = 700  # of all faults of a message but the first, which is always whole
MAX_CELLS_OF_COLUMN = 3  # of one column that are listed before its other faults are only counted


@dataclass
class Faults:
    """Faults in the order in which they were met; those of one column beyond a few are counted with the last of them.

    `tail` is what some messages end with, said once.
    """

    tail: str = ""
    texts: list[str] = field(default_factory=list)
    columns: list[int | None] = field(default_factory=list)
    more: dict[int, int] = field(default_factory=dict)  # further faults by column
    unlisted: int = 0
    has_tail: bool = False

    def add(self, text: str, column: int | None = None) -> None:
        """Note one fault, in a row or, where the number of its `column` is given, in a cell of that."""
        self.has_tail |= bool(self.tail) and text.endswith(self.tail)
        text = text.removesuffix(self.tail)
        if column is not None and self.columns.count(column) >= MAX_CELLS_OF_COLUMN:
            self.more[column] = self.more.get(column, 0) + 1
        elif len(self.texts) < MAX_LISTED and sum(map(len, [*self.texts, text])) <= max(MAX_CHARACTERS, len(text)):
            self.texts.append(text)
            self.columns.append(column)
        else:
            self.unlisted += 1

    @property
    def count(self) -> int:
        """How many faults there are in all."""
        return len(self.texts) + sum(self.more.values()) + self.unlisted

    def message(self) -> str:
        """Return one message of all: the only fault as it is, else a numbered list on one line."""
        tail = self.tail if self.has_tail else ""
        if self.count == 1:
            return f"{self.texts[0]}{tail}"
        listed = []
        for k, (text, column) in enumerate(zip(self.texts, self.columns, strict=True)):
            last = column is not None and column not in self.columns[k + 1 :]
            others = self.more.get(column, 0) if last and column is not None else 0
            also = f" (and {others} more of this column)" if others else ""
            listed.append(f"({k + 1}) {text}{also}")
        more = f"; and {self.unlisted} more" if self.unlisted else ""
        return f"has {self.count} faults: {'; '.join(listed)}{more}{tail}"
