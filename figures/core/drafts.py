"""Thins declarations, for drafts of solvers and networks that take longer than a draft leaves by itself."""

from dataclasses import replace

from figures.core.context import Context
from figures.core.experiment import Curve, Experiment, Grid, Panel


def thinned(experiment: Experiment, line: int = 3, points: int = 2) -> Experiment:
    """Return the experiment with at most `line` and `points` values of x for every curve, both ends included."""
    return replace(
        experiment, curves=None, panels=[_panel(panel, line, points) for panel in experiment.resolved_panels()]
    )


def _panel(panel: Panel, line: int, points: int) -> Panel:
    curves = dict(panel.resolved_curves())
    return replace(panel, curves={label: _curve(curve, line, points) for label, curve in curves.items()})


def _curve(curve: Curve, line: int, points: int) -> Curve:
    return replace(curve, line=_some(curve.line, line), points=_some(curve.points, points))


def _some(grid: Grid | None, n: int) -> list[float]:
    values = () if grid is None else grid() if callable(grid) else grid
    return Context("draft").thin(values, n)
