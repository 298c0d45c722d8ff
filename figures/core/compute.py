"""Computes the rows of a table from the declaration of an experiment."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from figures.core.context import Context
from figures.core.experiment import NONE, Curve, Experiment, Grid, Theory
from figures.core.grids import grid, line_of, points_of, sizes_of
from figures.core.measured import Measured, without_measure
from figures.core.rows import JOINT, MEASURED, REFERENCE, Row, judged_together, row, single_runs
from figures.core.sizes import CURE, has_own_size, resized
from simulate.core import Estimate, Replicate, Task, extrapolate, replicate_tasks
from theory.numerics import ConvergenceError


def compute_rows(experiment: Experiment, context: Context) -> list[Row]:
    """Compute the rows of the whole experiment; all its replicates go through one sweep, which uses all cores."""
    changed = {"draft": experiment.draft, "paper": experiment.paper}.get(context.quality)
    if changed is not None:
        experiment = changed(experiment) if callable(changed) else replace(experiment, **changed)
    if experiment.compute is not None:
        return experiment.compute(context)
    if experiment.measure is not None:
        return _measured_rows(experiment, context)
    works = list(_works(experiment, context))
    for work in works:
        work.require_sizes()
    values = context.sweep(task for work in works for task in work.tasks())
    return [line for work in works for line in work.rows(values)]


def _measured_rows(experiment: Experiment, context: Context) -> list[Row]:
    """Compute the rows of an experiment with named numbers, in the order of its curves; joint scores are the last."""
    measured, others = Measured(experiment, context), list(_works(without_measure(experiment), context))
    values = context.sweep([*measured.tasks(), *(task for work in others for task in work.tasks())])
    rows = [*measured.rows(values), *(line for work in others for line in work.rows(values))]
    declared = [(panel.title, label) for panel in experiment.resolved_panels() for label, _ in panel.resolved_curves()]
    place = {key: number for number, key in enumerate(declared)}
    return sorted(rows, key=lambda row: math.inf if row["kind"] == JOINT else place[row["panel"], row["curve"]])


def _works(experiment: Experiment, context: Context) -> Iterator["_Work"]:
    for panel in experiment.resolved_panels():
        for label, curve in panel.resolved_curves():
            yield _Work(experiment, context, panel.title, label, curve)


@dataclass(frozen=True)
class _Work:
    """Computes one curve of one panel."""

    experiment: Experiment
    context: Context
    panel: str
    label: str
    curve: Curve

    @property
    def replicate(self) -> Replicate | None:
        return None if self.curve.replicate is NONE else self.curve.replicate

    @property
    def n(self) -> int:
        return self.context.replicates(self.curve.replicates or self.experiment.replicates)

    @property
    def sizes(self) -> tuple[int, ...]:
        return sizes_of(self.experiment, self.curve, self.context)

    def points(self) -> list[float]:
        return points_of(self.curve, self.context)

    def line(self) -> list[float]:
        return line_of(self.curve, self.context)

    def group(self, x: float, d: int) -> list[Task]:
        """Return the tasks of the replicates of one point; none for a curve of theory only."""
        names = (self.panel, self.label, x)
        if self.replicate is None:
            return []
        return list(
            replicate_tasks(self.replicate, self.curve.at(x), d, self.n, seed=self.experiment.seed, names=names)
        )

    def tasks(self) -> Iterator[Task]:
        for x in self.points():
            for d in self.sizes:
                yield from self.group(x, d)

    def theory(self, model: Any, d: int | float) -> Any:
        """Return the prediction for size d: that of `theory_at` where there is one and d is finite."""
        finite = self.curve.theory_at
        if math.isfinite(d) and finite is not None:
            return _solved(lambda model: finite(model, int(d)), model)
        return _solved(self.curve.theory, self.at_size(model, d))

    def at_size(self, model: Any, d: int | float) -> Any:
        """Return the model as it is simulated at size d, or in the limit d -> infinity that is extrapolated to.

        Replicates bring a model to their size, so that its theory must be taken there too. A model without a size of
        its own is already the limit, which stands beside its finite sizes as well. ValueError names the cures where
        the model has no member of that size.
        """
        if self.replicate is None or (self.curve.extrapolate and not has_own_size(model)):
            return model
        try:
            return resized(model, d)
        except ValueError as reason:
            if self.curve.theory_at is not None:  # then `theory` is declared to be that of the limit
                return model
            size = "in the limit d = inf" if math.isinf(d) else f"at d = {d}"
            raise ValueError(f"curve {self.label!r} has no theory {size} ({reason}): {CURE}") from reason

    def require_sizes(self) -> None:
        """Refuse, before anything is simulated, points without a theory of the size that they are judged at."""
        if self.curve.theory is None:
            return
        judged = (*self.sizes, math.inf) if self.curve.extrapolate else self.sizes
        for x in self.points():
            for d in judged:
                self.at_size(self.curve.at(x), d)

    def rows(self, values: dict[str, Any]) -> Iterator[Row]:
        make = partial(row, self.label, panel=self.panel)
        if self.curve.by_coordinate:
            yield from self._coordinates(values)
            return
        line_size = math.inf if self.curve.extrapolate else self.sizes[-1]
        kind = self.curve.line_kind
        for x in self.line():
            value = self.theory(self.curve.at(x), line_size)
            yield make(x, measured=value) if kind == MEASURED else make(x, theory=value, reference=kind == REFERENCE)
        for x in self.points():
            model = self.curve.at(x)
            if self.replicate is None:
                yield make(x, theory=self.theory(model, line_size), d=line_size)
                continue
            meant = self.is_judged(model)
            found = [[values[task.key] for task in self.group(x, d)] for d in self.sizes]
            estimates = list(map(Estimate.of, found))
            predicted = [self.theory(model, d) for d in self.sizes]
            for d, theory, estimate in zip(self.sizes, predicted, estimates, strict=True):
                judged = meant and not self.curve.extrapolate
                yield make(x, theory=theory, d=d, estimate=estimate, judged=judged)
            if self.curve.extrapolate:
                theory, limit = self.theory(model, math.inf), extrapolate(*estimates)
                if self.curve.by_gap:  # what is extrapolated is the gap to theory, which is added to its limit
                    small, large = predicted
                    limit = replace(limit, mean=limit.mean - (2 * large - small) + theory)
                yield make(x, theory=theory, d=math.inf, estimate=limit, judged=meant)
            else:
                last = np.array(found[-1])[:, None]
                yield from single_runs(self.label, [x], last, panel=self.panel, d=self.sizes[-1], along=False)

    def is_judged(self, model: Any) -> bool:
        """Say whether z means anything for the model."""
        chosen = self.experiment.judged
        return not self.curve.unjudged if chosen is None else bool(chosen(model))

    def _coordinates(self, values: dict[str, Any]) -> Iterator[Row]:
        """Yield the rows of a curve along the coordinates: theory and replicates are arrays (d,)."""
        for d in self.sizes:
            predicted = np.asarray(self.theory(self.curve.at(0.0), d), dtype=float)
            if predicted.shape != (d,):
                raise ValueError(f"theory of {self.label!r} must have shape ({d},), got {predicted.shape}")
            measured = np.array([values[task.key] for task in self.group(0.0, d)])
            for k in _indices(self.curve.line, d):
                yield row(self.label, k, panel=self.panel, theory=predicted[k])
            shown = _indices(self.curve.points, d) if len(measured) else []
            judged = self.is_judged(self.curve.at(0.0))
            points = [
                row(self.label, k, panel=self.panel, theory=predicted[k], d=d, estimate=estimate, judged=judged)
                for k in shown
                for estimate in [Estimate.of(measured[:, k])]
            ]
            name = " ".join(part for part in (self.panel, self.label, f"d = {d}") if part)
            yield from judged_together(name, points, measured[:, shown]) if points else ()


def _indices(given: Grid | None, d: int) -> list[int]:
    """Return the coordinates of a grid that exist at size d; all of them where none is given."""
    places = [int(k) for k in grid(given)] or list(range(d))
    return [k for k in places if k < d]


def _solved(theory: Theory | None, model: Any) -> Any:
    """Return the prediction; None where there is none, NaN where the solver did not converge (the table marks it)."""
    if theory is None:
        return None
    try:
        return theory(model)
    except ConvergenceError:
        return math.nan
