"""Writes a matrix over tokens into a table, entry by entry, and draws it as an image."""

import numpy as np
from numpy.typing import NDArray

from figures.core import Axes, DataFrame, Row, row

ENTRIES = "_entries"


def entries(matrix: NDArray[np.float64], panel: str, measured: NDArray[np.bool_] | bool = False) -> list[Row]:
    """Return the rows of the table that hold the matrix, row after row; x numbers the entries.

    `measured` says which of them are measured, and no theory.
    """
    which = np.broadcast_to(measured, matrix.shape).ravel()
    return [
        row(ENTRIES, k, panel=panel, measured=value) if own else row(ENTRIES, k, panel=panel, theory=value)
        for k, (value, own) in enumerate(zip(matrix.ravel(), which, strict=True))
    ]


def draw_entries(axes: Axes, rows: DataFrame, label: str, limits: tuple[float, float]) -> None:
    """Draw the matrix as an image in place of the curves on `axes`, with a color bar that says `label`."""
    title, labels = axes.get_title(), (axes.get_xlabel(), axes.get_ylabel())
    axes.clear()
    axes.set(title=title, xlabel=labels[0], ylabel=labels[1])
    own = rows[rows["curve"] == ENTRIES].sort_values("x")
    values = own["theory"].fillna(own["simulation"]).to_numpy(dtype=float)
    size = round(len(values) ** 0.5)
    low, high = limits
    image = axes.imshow(values.reshape(size, size), cmap="cividis", vmin=low, vmax=high, interpolation="nearest")
    extend = {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}
    outside = bool(values.min() < low - 1e-9), bool(values.max() > high + 1e-9)
    beside = axes.inset_axes((1.06, 0.0, 0.06, 1.0))  # as high as the image, however narrow that is
    axes.figure.colorbar(image, cax=beside, label=label, extend=extend[outside])
