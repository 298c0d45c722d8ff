"""Provides what every figure shares: the declaration of an experiment, its table, and how it is drawn."""

from figures.core.annotations import Axes, DataFrame
from figures.core.context import Context
from figures.core.drafts import thinned
from figures.core.experiment import NONE, Average, Curve, Experiment, Panel, level, numbered
from figures.core.extras import missing_extra
from figures.core.rows import Row, judged_together, row

__all__ = [
    "NONE",
    "Average",
    "Axes",
    "Context",
    "Curve",
    "DataFrame",
    "Experiment",
    "Panel",
    "Row",
    "judged_together",
    "level",
    "missing_extra",
    "numbered",
    "row",
    "thinned",
]
