"""The one error that readers raise."""

from pathlib import Path


class DataError(Exception):
    """A user's file cannot be used; the message is one line that names the file, the place and what to do."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(f"{path}: {' '.join(message.split())}")


def shown(value: object, limit: int = 40) -> str:
    """A cell as it is quoted in a message: short, and on one line."""
    text = repr(str(value))
    return text if len(text) <= limit else f"{text[: limit - 4]}...'"


def counted(number: int, noun: str) -> str:
    """1 row, 2 rows."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
