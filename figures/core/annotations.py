"""The types of other packages that annotations of figures name; none is imported for them when a program runs."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from pandas import DataFrame as DataFrame
else:
    Axes = DataFrame = Any
