"""Provides what every figure shares: the declaration of an experiment, its table, and how it is drawn."""

from figures.core.annotations import Axes, DataFrame
from figures.core.context import Context
from figures.core.experiment import NONE, Curve, Experiment, Panel, level, numbered
from figures.core.rows import Row, judged_together, row

__all__ = [
    "NONE",
    "Axes",
    "Context",
    "Curve",
    "DataFrame",
    "Experiment",
    "Panel",
    "Row",
    "judged_together",
    "level",
    "numbered",
    "row",
]
