"""The directions that stand out of noise: the loading of each column on them, and the score of each row."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from figures.analyse.matrix.centered_rows import CenteredRows
from figures.analyse.matrix.spectrum.record import CORRELATION, COVARIANCE, MASKED, MatrixSpectrum, MethodSpectrum
from theory.core.arrays import Array

if TYPE_CHECKING:
    from pandas import DataFrame

SHORT = {MASKED: "masked", COVARIANCE: "covariance", CORRELATION: "correlation"}
STANDARD = "units of their standard deviation"  # as the note on such columns says
MAX_SCORES = 2e7  # numbers, beyond which no table of scores is written


@dataclass(frozen=True, eq=False)
class Directions:
    """Loadings (d, k) and scores (n, k) of k directions, which `labels` name by their matrix and their rank.

    A loading is an entry of a right eigenvector r of unit length, signed so that its largest entry is positive (the
    first of equally large ones). A score is l . (x - mean) with the left eigenvector l for which l . r = 1, so that the
    rows about their mean are the sum of scores times loadings over all d directions of one matrix. The covariance is
    symmetric, and l = r. Both are in the units of the analysis.
    """

    names: tuple[str, ...]
    labels: tuple[str, ...]
    eigenvalues: Array
    loadings: Array = field(repr=False)
    duals: Array = field(repr=False)  # (d, k), the left eigenvectors
    data: CenteredRows = field(repr=False)

    @property
    def units(self) -> str:
        """In which units loadings and scores are, in words."""
        if any(STANDARD in note for note in self.data.notes):
            return "units of the standard deviations of the columns"
        return "the units of the columns" + (" after what the notes say was done to them" * bool(self.data.notes))

    @property
    def scores(self) -> Array:
        """The scores (n, k) of all rows, in one pass over them."""
        return np.concatenate([(block - self.data.mean) @ self.duals for block in self.data.rows])


def directions_of(spectrum: MatrixSpectrum, data: CenteredRows, count: int | None = None) -> Directions:
    """Return the directions above the noise part for each matrix of the spectrum, the largest eigenvalue first.

    `data` are the rows that the spectrum is of. With a `count` so many of each are taken, whether they stand out or
    not.
    """
    labels, eigenvalues, loadings, duals = list[str](), list[float](), list[Array](), list[Array]()
    for method in spectrum.methods:
        for i in range(method.outliers if count is None else count):
            right = _signed(method, i)
            left = method.scale * right
            labels.append(f"{SHORT[method.method]}_{i + 1}")
            eigenvalues.append(float(method.eigenvalues[-1 - i]))
            loadings.append(right)
            duals.append(left / (left @ right))
    shape = (len(labels), len(spectrum.names))
    return Directions(
        names=spectrum.names,
        labels=tuple(labels),
        eigenvalues=np.array(eigenvalues),
        loadings=np.reshape(loadings, shape).T,
        duals=np.reshape(duals, shape).T,
        data=data,
    )


def _signed(method: MethodSpectrum, i: int) -> Array:
    vector = method.directions[:, -1 - i]
    return np.asarray(vector * np.sign(vector[np.argmax(abs(vector))]))


def loadings_frame(found: Directions) -> "DataFrame":
    """Return a table with one line for each column of the data, and one column for each direction."""
    import pandas as pd

    frame = {"column": found.names}
    return pd.DataFrame(frame | dict(zip(found.labels, found.loadings.T, strict=True)))


def scores_frame(found: Directions, numbers: NDArray[np.int64], names: Sequence[str] = ()) -> "DataFrame | None":
    """Return a table with one line for each row: its number in the table, from 1, its name, and its scores.

    `numbers` (n,) are those of the rows that were analyzed, from 0, and `names` are those of all rows of the table.
    None where there would be more than MAX_SCORES numbers.
    """
    import pandas as pd

    if found.data.n * len(found.labels) > MAX_SCORES:
        return None
    frame: dict[str, object] = {"row": numbers + 1}
    if names:
        frame["name"] = np.array(names, dtype=object)[numbers]
    return pd.DataFrame(frame | dict(zip(found.labels, found.scores.T, strict=True)))
