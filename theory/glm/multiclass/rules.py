"""Which nodes the averages of many classes are taken over, and the error that these leave in the overlaps."""

from dataclasses import replace

import numpy as np

from theory.core.arrays import Array
from theory.glm.multiclass.channel import Progress
from theory.glm.multiclass.coordinates import Logarithmic, polished
from theory.glm.multiclass.equations import Classes
from theory.glm.multiclass.nodes import Rule, gaussian_nodes
from theory.numerics.steps import relative_gap

SMOOTH = 1e-8  # change from one level to the next at which a sparse grid needs no comparison
# A share of the spread of Sobol points, which is at least a few times smaller than this change at kinks.
CLEAR_SPREAD_SHARE = 0.5
ROUNDING = 1e-11  # a change below this is not followed up
SETTLED_RESIDUAL_SHARE = 0.05  # residual at the end, relative to the one at the start


def with_best_rule(classes: Classes, x: Array) -> Classes:
    """Return the equations with the rule for averages in more than three dimensions that changes them at x least.

    A sparse grid is chosen where its last level changes the image of x by less than half of what another scramble of
    Sobol points does. Where the ridge is small the proximal operator has kinks, the change is large, and Sobol points
    are taken. What was averaged at x is kept.
    """
    sparse, change = _changed(classes, x, "sparse grid")
    if change <= SMOOTH:
        return sparse
    sobol, spread = _changed(classes, x, "Sobol")
    return sparse if change < CLEAR_SPREAD_SHARE * spread else sobol


def with_other_nodes(classes: Classes) -> Classes:
    """Return the same equations with the other nodes of their rule."""
    return replace(classes, nodes=gaussian_nodes(classes.D, classes.rule, other=True), progress=Progress())


def solved_near(classes: Classes, x: Array) -> Array | None:
    """Return the solution of the equations near x, the solution with other nodes; None if none was found."""
    update = Logarithmic(classes)
    start = update.pack(x)
    aim = max(SETTLED_RESIDUAL_SHARE * relative_gap(update(start), start), ROUNDING)
    found, residual = polished(update, start, aim)
    return update.unpack(found) if residual <= aim else None


def _changed(classes: Classes, x: Array, rule: Rule) -> tuple[Classes, float]:
    """Return the equations with a rule, and the largest relative change of an entry of the image of x from others."""
    some = replace(classes, nodes=gaussian_nodes(classes.D, rule), rule=rule, progress=Progress())
    with np.errstate(all="ignore"):
        change = relative_gap(with_other_nodes(some).image(x), some.image(x))
    return some, change if np.isfinite(change) else np.inf
