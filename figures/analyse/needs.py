"""What an analysis would need: memory and time, said before a long run."""

from dataclasses import dataclass
from pathlib import Path

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
        available = available_bytes()
        enough = "" if self.memory <= available else ", which is too little"
        line = (
            f"{printable(file)}: the analysis would need about {size(self.memory)} of memory ({size(available)} are "
            f"available{enough}) and about {duration(self.seconds)}. {self.basis}"
        )
        return paragraphs([line], width)
