"""Computes the rows of an experiment that measures several named numbers on each sample."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.core.context import Context
from figures.core.experiment import Curve, Experiment, Measure
from figures.core.grids import line_of, points_of, sizes_of
from figures.core.rows import Row, judged_together, row
from figures.core.shares import share
from simulate.core import Estimate, Task, extrapolate, stream
from theory.numerics import ConvergenceError


@dataclass(frozen=True)
class Measured:
    """Computes all curves of an experiment that show a number of its measurement."""

    experiment: Experiment
    context: Context

    @cached_property
    def curves(self) -> list[tuple[str, str, Curve]]:
        """The panel, the label and the declaration of each curve that shows a number."""
        return [
            (panel.title, label, curve)
            for panel in self.experiment.resolved_panels()
            for label, curve in panel.resolved_curves()
            if curve.number is not None
        ]

    @cached_property
    def sets(self) -> dict[tuple[str, float, int], "_Set"]:
        """The sets of samples, by setting, x and size; with `by_point` x is NaN, since a set holds all of them."""
        found: dict[tuple[str, float, int], _Set] = {}
        for _, _, curve in self.curves:
            points, n = points_of(curve, self.context), self.replicates_of(curve)
            for x in [math.nan] if self.experiment.by_point and points else points:
                for d in sizes_of(self.experiment, curve, self.context):
                    same = found.setdefault(_key(curve.setting, x, d), _Set(self, curve.setting, x, d, {}, n))
                    own = same.points.setdefault(str(curve.number), [])
                    own.extend(x for x in points if x not in own)
        return found

    def replicates_of(self, curve: Curve) -> int:
        """Return how many replicates a curve has at this quality."""
        return self.context.replicates(curve.replicates or self.experiment.replicates)

    def model(self, setting: str, x: float) -> Any:
        """Return the model of a setting at x."""
        declared = self.experiment.settings.get(setting, float)  # where none is declared, x itself is the model
        return declared(x) if callable(declared) and not self.experiment.by_point else declared

    def tasks(self) -> Iterator[Task]:
        """Yield the tasks of all replicates, those of the largest sizes first."""
        for one in sorted(self.sets.values(), key=lambda each: -each.d):
            yield from one.tasks()

    def rows(self, values: Mapping[str, Any]) -> Iterator[Row]:
        """Yield the rows of all curves, then a joint score for each set of samples that several rows share."""
        shared: dict[str, list[tuple[Row, NDArray[np.float64]]]] = {}
        for panel, label, curve in self.curves:
            for x, made, replicates in self._curve(panel, label, curve, values):
                yield made
                if made["z"] is not None:
                    shared.setdefault(self._samples(curve.setting, x), []).append((made, replicates))
        for name, members in shared.items():
            if len(members) > 1:
                together = [each for each, _ in members]
                columns = np.transpose([each for _, each in members])
                yield from judged_together(name, together, columns)[len(together) :]

    def _samples(self, setting: str, x: float) -> str:
        if self.experiment.together is not None:
            return self.experiment.together(setting, x)
        parts = (setting, "" if self.experiment.by_point else f"{x:g}")
        return ", ".join(part for part in parts if part) or "the same samples"

    def _curve(
        self, panel: str, label: str, curve: Curve, values: Mapping[str, Any]
    ) -> Iterator[tuple[float, Row, NDArray[np.float64]]]:
        """Yield x, the row, and the replicates behind it, which are judged together with those of other rows."""
        nothing, sizes = np.empty(0), sizes_of(self.experiment, curve, self.context)
        limit = math.inf if curve.extrapolate else sizes[-1]
        line, points = line_of(curve, self.context), points_of(curve, self.context)
        for x, theory in zip(line, self._theory(curve, line, limit), strict=True):
            yield x, row(label, x, panel=panel, theory=theory), nothing
        at_limit: list[float | None] = [None for _ in points] if curve.line_only else self._theory(curve, points, limit)
        by_size = curve.theory_at is not None and not curve.line_only
        predicted = {d: self._theory(curve, points, d) if by_size else at_limit for d in (*sizes, limit)}
        for k, x in enumerate(points):
            meant = not curve.unjudged if curve.judged_where is None else curve.judged_where(x)
            found = {d: self.sets[_key(curve.setting, self._place(x), d)].values(values, curve, x) for d in sizes}
            estimates = [_average(replicates, curve) for replicates in found.values()]
            for (d, replicates), estimate in zip(found.items(), estimates, strict=True):
                judged, theory = meant and not curve.extrapolate, predicted[d][k]
                made = row(label, x, panel=panel, theory=theory, d=d, estimate=estimate, judged=judged)
                yield x, made, _to_first_order(replicates, curve)
            if curve.extrapolate:
                made = row(
                    label, x, panel=panel, theory=predicted[limit][k], d=limit, estimate=extrapolate(*estimates),
                    judged=meant,
                )  # fmt: skip
                small, large = (_to_first_order(replicates, curve) for replicates in found.values())
                yield x, made, 2 * large - small

    def _place(self, x: float) -> float:
        return math.nan if self.experiment.by_point else x

    def _theory(self, curve: Curve, xs: Sequence[float], d: float) -> list[float | None]:
        """Return the predictions of a curve's number at each x, None where there is none; NaN where unconverged."""
        if not len(xs):
            return []
        if self.experiment.by_point:
            found = self._number(self._predicted(curve, self.model(curve.setting, math.nan), d, xs), curve)
            return [None for _ in xs] if found is None else list(np.broadcast_to(found, len(xs)))
        return [self._number(self._predicted(curve, self.model(curve.setting, x), d), curve) for x in xs]

    def _predicted(self, curve: Curve, model: Any, d: float, *points: Sequence[float]) -> Any:
        """Return all numbers that theory predicts for a model at size d, which its curves share."""
        try:
            finite: Any = curve.theory_at
            if finite is not None and math.isfinite(d):
                return finite(model, *points, int(d))
            theory: Any = curve.theory
            return None if theory is None else theory(model, *points)
        except ConvergenceError:
            return math.nan

    def _number(self, found: Any, curve: Curve) -> Any:
        """Return the curve's number among those predicted, None where it is not; ValueError for one that is misnamed.

        A number without theory is legitimate, and so is a prediction that no curve shows; both at once is a slip.
        """
        if found is None or isinstance(found, float):
            return found
        name = str(curve.number)
        if isinstance(found, Mapping) and name not in found:
            unknown = [other for other in found if other not in {shown.number for _, _, shown in self.curves}]
            if unknown:
                raise ValueError(f"theory predicts {unknown[0]!r}, which no curve shows, and not {name!r}")
        return _named(found, name)


@dataclass(frozen=True)
class _Set:
    """Holds one set of samples: all replicates of a setting at one x, or at all points, and one size."""

    whole: Measured
    setting: str
    x: float
    d: int
    points: dict[str, list[float]]  # of each number
    n: int

    def key(self, replicate: int) -> str:
        return "/".join(
            str(part) for part in (self.setting, f"x={self.x:.12g}", f"d={self.d}", replicate) if part != ""
        )

    @cached_property
    def places(self) -> dict[str, list[float]]:
        """The values of x at which each number is measured."""
        if not self.whole.experiment.by_point:
            return {name: [self.x] for name in self.points}
        every = list(dict.fromkeys(x for own in self.points.values() for x in own))
        return self.points if self.whole.experiment.by_number else dict.fromkeys(self.points, every)

    def tasks(self) -> Iterator[Task]:
        """Yield one task for each replicate."""
        experiment, model = self.whole.experiment, self.whole.model(self.setting, self.x)
        asked = self.places if experiment.by_number else next(iter(self.places.values()))
        points, lengths = (asked,) if experiment.by_point else (), {name: len(xs) for name, xs in self.places.items()}
        for r in range(self.n):
            draw = partial(experiment.streams or _stream, experiment.seed, self.setting, self.x, self.d, r)
            yield Task(self.key(r), _one, (experiment.measure, lengths, model, points, self.d, draw))

    def values(self, values: Mapping[str, Any], curve: Curve, x: float) -> NDArray[np.float64]:
        """Return the replicates (n,) of the curve's number at this place."""
        column = [(name, own) for name, xs in self.places.items() for own in xs].index((str(curve.number), x))
        return np.stack([np.asarray(values[self.key(r)]) for r in range(self.n)])[:, column]


def _key(setting: str, x: float, d: int) -> tuple[str, Any, int]:
    return setting, None if math.isnan(x) else x, d  # NaN is not equal to itself


def _stream(seed: int, setting: str, x: float, d: int, replicate: int) -> np.random.Generator:
    names = [name for name in (setting, x) if name != "" and name == name]  # x is NaN where all of them are measured
    return stream(seed, *names, d, replicate)


def _one(
    measure: Measure,
    lengths: Mapping[str, int],
    model: Any,
    points: tuple[Any, ...],
    d: int,
    draw: Callable[[], Any],
) -> NDArray[np.float64]:
    """Measure all numbers of one replicate, each at its points; ValueError for one that the measurement lacks."""
    found = measure(model, *points, d, draw())
    own = {name: _named(found, name) for name in lengths}
    if lacking := [name for name, value in own.items() if value is None]:
        given = f" beside {', '.join(map(repr, found))}" if isinstance(found, Mapping) else ""
        raise ValueError(f"measure must return the number {lacking[0]!r}, which a curve shows{given}")
    return np.concatenate([np.broadcast_to(own[name], n) for name, n in lengths.items()])


def _named(found: Any, name: str) -> Any:
    """Return the number of that name in a mapping or a record, or in a list of them, one for each point; else None."""
    if isinstance(found, list):
        each = [_named(one, name) for one in found]
        return None if None in each else each
    return found.get(name) if isinstance(found, Mapping) else getattr(found, name, None)


def _average(replicates: NDArray[np.float64], curve: Curve) -> Estimate:
    """Average the replicates; the error of an average that is not the mean is taken to first order."""
    if callable(curve.average):
        return curve.average(replicates)
    if curve.average == "root mean square":
        square = Estimate.of(replicates**2)
        return Estimate(math.sqrt(square.mean), square.stderr / (2 * math.sqrt(square.mean)), square.n)
    if curve.average == "geometric mean":
        logs = Estimate.of(np.log(replicates))
        return Estimate(math.exp(logs.mean), math.exp(logs.mean) * logs.stderr, logs.n)
    if curve.average == "share":
        return share(replicates)
    return Estimate.of(replicates)


def _to_first_order(replicates: NDArray[np.float64], curve: Curve) -> NDArray[np.float64]:
    """Return what each replicate adds to the average, to first order: their mean is the average itself."""
    if curve.average == "root mean square":
        squares = replicates**2
        return np.asarray((squares / squares.mean() + 1) / 2 * math.sqrt(squares.mean()))
    if curve.average == "geometric mean":
        logs = np.log(replicates)
        return np.asarray(math.exp(logs.mean()) * (1 + logs - logs.mean()))
    return replicates


def without_measure(experiment: Experiment) -> Experiment:
    """Return the experiment with only those curves that do not show a measured number, for the first form."""
    panels = [
        replace(panel, curves={label: curve for label, curve in panel.resolved_curves() if curve.number is None})
        for panel in experiment.resolved_panels()
    ]
    return replace(experiment, measure=None, curves=None, panels=panels)
