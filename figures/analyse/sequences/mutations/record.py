"""What is wanted of the model of an analysis, and what was found."""

from dataclasses import dataclass
from pathlib import Path

from figures.analyse.sequences.mutations.compare import MutationComparison
from figures.analyse.sequences.mutations.measured import Measured
from figures.analyse.sequences.mutations.scores import Mutations


@dataclass(frozen=True, eq=False)
class Wanted:
    """The file the model is written to, and the scores of mutations with what they are compared with."""

    target: Path | None = None
    mutations: bool = False
    measured: Measured | None = None
    path: str = ""  # of the measured values
    scores: Mutations | None = None
    comparison: MutationComparison | None = None
