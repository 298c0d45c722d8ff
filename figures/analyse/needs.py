"""What an analysis would need: memory and time, said before a long run."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from figures.analyse.errors import DataError
from figures.analyse.memory import available_bytes
from figures.analyse.wording import WIDTH, duration, paragraphs, printable, size


@dataclass(frozen=True)
class Needs:
    """The memory (bytes, of all processes together, those of the libraries included) and time (s) of one analysis.

    `basis` is a sentence that says what of the file is known without reading it, and how sure the two numbers are.
    """

    memory: float
    seconds: float
    basis: str

    def text(self, file: Path, width: int = WIDTH) -> str:
        """Write both, beside the memory that is available, for the user."""
        return paragraphs([f"{printable(file)}: {_said(self, available_bytes())}"], width)


def require_affordable(file: Path, needs: Needs, remedy: Callable[[float], str]) -> None:
    """Raise a DataError where the analysis needs more memory than there is, with a remedy for so many bytes."""
    available = available_bytes()
    if needs.memory > available:
        raise DataError(file, f"{_said(needs, available)} {remedy(available)}")


def _said(needs: Needs, available: float) -> str:
    enough = "" if needs.memory <= available else ", which is too little"
    return (
        f"the analysis would need about {size(needs.memory)} of memory ({size(available)} are available{enough}) and "
        f"about {duration(needs.seconds)}. {needs.basis}"
    )
