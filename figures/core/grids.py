"""Says at which places and sizes a curve is drawn and simulated, which are fewer and smaller in a draft."""

import numpy as np
from numpy.typing import NDArray

from figures.core.context import Context
from figures.core.experiment import Curve, Experiment, Grid


def grid(values: Grid | None) -> NDArray[np.float64]:
    """Return the values of a declared grid; a function is called for them."""
    return np.asarray(values() if callable(values) else () if values is None else values)


def points_of(curve: Curve, context: Context) -> list[float]:
    """Return the values of x that are simulated; one alone where x is the coordinate."""
    return [0.0] if curve.by_coordinate else context.thin(grid(curve.points))


def line_of(curve: Curve, context: Context) -> list[float]:
    """Return the values of x of the line of theory, which include those that have a row in the printed table."""
    drawn, listed = context.thin(grid(curve.line), 8), curve.table_points or ()
    return sorted({*drawn, *context.thin(listed, 1)}) if len(listed) else drawn


def sizes_of(experiment: Experiment, curve: Curve, context: Context) -> tuple[int, ...]:
    """Return the sizes that are simulated, smaller in a draft.

    Where a single size is simulated without a `theory_at`, the model may have no other: a draft keeps it.
    """
    declared = curve.d or experiment.d
    given = declared if isinstance(declared, tuple) else (declared,)
    if curve.extrapolate or curve.theory_at is not None:
        given = tuple(dict.fromkeys(context.size(d, experiment.toy_d) for d in given))
    return (given[0], 2 * given[0]) if curve.extrapolate else given
