"""Makes drafts that cost about a second, for solvers and networks that take longer than a draft leaves by itself."""

from collections.abc import Callable
from dataclasses import replace

from figures.core import Context, Curve, Experiment, Panel, Row
from figures.core.compute import compute_rows
from figures.core.experiment import Grid


def with_draft(experiment: Experiment, draft: Callable[[], Experiment]) -> Experiment:
    """Returns `experiment` with the rows of `draft()` in a draft: the same panels and labels with smaller models."""

    def compute(context: Context) -> list[Row]:
        return compute_rows(draft() if context.is_draft else experiment, context)

    return replace(experiment, compute=compute)


def thinned(experiment: Experiment, line: int = 3, points: int = 2) -> Experiment:
    """Returns the experiment with at most `line` and `points` values of x for every curve, both ends included."""
    return replace(experiment, panels=[_panel(panel, line, points) for panel in experiment.resolved_panels()])


def _panel(panel: Panel, line: int, points: int) -> Panel:
    curves = dict(panel.resolved_curves())
    return replace(panel, curves={label: _curve(curve, line, points) for label, curve in curves.items()})


def _curve(curve: Curve, line: int, points: int) -> Curve:
    return replace(curve, line=_some(curve.line, line), points=_some(curve.points, points))


def _some(grid: Grid | None, n: int) -> list[float]:
    values = () if grid is None else grid() if callable(grid) else grid
    return Context("draft").thin(values, n)
