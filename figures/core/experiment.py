"""Declares an experiment: the curves of theory, the replicates that test them, and how to draw both."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from simulate.core import Estimate, Replicate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

    from figures.core.context import Context

Theory = Callable[..., Any]  # model -> float, or (d,) with by_coordinate; with `measure` -> named numbers
Measure = Callable[..., Any]  # (model, d, rng), or by_point (model, points, d, rng) -> named numbers
Streams = Callable[[int, str, float, int, int], Any]  # (seed, setting, x, d, replicate) -> a generator, or a number
Average = Literal["mean", "root mean square", "geometric mean", "share"] | Callable[[NDArray[np.float64]], Estimate]
LineKind = Literal["predicted", "measured", "reference"]
Values = Sequence[float] | NDArray[np.float64]
Grid = Values | Callable[[], Values]  # a function is called only when the table is computed


class _Nothing(Enum):
    NONE = "none"


NONE: Final = _Nothing.NONE  # "no replicate", where None means "that of the panel"


@dataclass(frozen=True, kw_only=True)
class _Measurement:
    """Holds what a curve takes from its panel, and a panel from its experiment, where it is None."""

    theory: Theory | None = None
    theory_at: Theory | None = None
    replicate: Replicate | _Nothing | None = None
    line: Grid | None = None
    points: Grid | None = None
    d: int | tuple[int, ...] | None = None
    replicates: int | None = None
    extrapolate: bool | None = None
    by_gap: bool | None = None
    by_coordinate: bool | None = None
    table_points: Values | None = None
    judged_where: Callable[[float], bool] | None = None
    unjudged: str | None = None


@dataclass(frozen=True, kw_only=True)
class Curve(_Measurement):
    """Declares one curve; what is None is taken from its panel, and what is None there from the experiment.

    `model` maps x to a model, or is one where nothing depends on x. Where the experiment has `measure`, the curve shows
    the `number` of that name, measured in the `setting` of that name, whose model it takes; `average` says how its
    replicates are averaged: a "share" is that of successes, of replicates that are 1 or 0. `judged_where` says at which
    x a score z means anything. `stars` are values of x at which
    the theory deserves a mark (an optimum, a threshold), or a function that finds them when the table is computed: a
    star in the color of the curve stands there on its theory. In the table the stars are a curve of their own, "_star,
    LABEL". Points of a curve without a replicate (NONE) are drawn as stars on its theory too.
    """

    model: Any = None
    number: str | None = None
    setting: str = ""
    average: Average = "mean"
    stars: Grid | None = None
    line_kind: LineKind = "predicted"  # what is drawn: a prediction, a number of data, or one to compare with (chance)
    line_only: bool = False  # whether its theory is a line that no measured number is compared with
    style: str | None = None  # matplotlib line style
    color: int | str | None = None  # position in the color cycle, or a color where the cycle has none left
    marker: str | None = None  # matplotlib marker

    def at(self, x: float) -> Any:
        """Return the model at x."""
        return self.model(x) if callable(self.model) else self.model

    def only_stars(self, position: int) -> "Curve":
        """Return the curve of the stars alone, in the color of this one, which is number `position` of its panel."""
        color = position if self.color is None else self.color
        return replace(self, replicate=NONE, line=(), points=self.stars, stars=None, table_points=(), color=color)


@dataclass(frozen=True, kw_only=True)
class Panel(_Measurement):
    """Declares one pair of axes with its curves, by label, if any; what is None is taken from the experiment.

    An entry of `curves` is a `Curve`, or only its model, or the name of the number that it shows; a label that begins
    with an underscore is left out of the legend. `ratio_of` is the title of another panel, whose points are drawn here
    as simulation/theory - 1 with their bars, each curve a little aside of the others; such a panel has no rows of its
    own.
    """

    curves: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    ratio_of: str | None = None
    xlabel: str | None = None
    ylabel: str | None = None
    xscale: str | None = None
    yscale: str | None = None
    xlim: tuple[float, float] | None = None
    ylim: tuple[float, float] | None = None
    ordered: bool | None = None

    def resolved_curves(self) -> Iterator[tuple[str, Curve]]:
        """Yield every curve with what it takes from the panel filled in, then the stars as curves of their own."""
        declared = {label: _declared(entry) for label, entry in self.curves.items()}
        for label, curve in declared.items():
            yield label, _filled(replace(curve, stars=None), self)
        for position, (label, curve) in enumerate(declared.items()):
            if curve.stars is not None:
                yield f"_star, {label}", _filled(curve.only_stars(position), self)


def level(value: Callable[[], float], ends: tuple[float, float], kind: LineKind = "predicted", **look: Any) -> Curve:
    """Declare a horizontal line, whose value is computed with the table, between these two values of x."""
    once = cache(value)
    return Curve(model=float, theory=lambda _x: once(), line=ends, points=(), line_kind=kind, **look)


def numbered(seed: int, _setting: str, _x: float, _d: int, replicate: int) -> int:
    """Numbers the replicates of a measurement that names its streams itself (see `streams`)."""
    return seed + replicate


def _declared(entry: Any) -> Curve:
    """Return the curve that an entry of `curves` stands for."""
    if isinstance(entry, Curve):
        return entry
    return Curve(number=entry) if isinstance(entry, str) else Curve(model=entry)


Record = TypeVar("Record", Curve, Panel)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Declares a figure with its table: `curves`, `panels` of curves, or `compute`, which makes the rows itself.

    Every curve maps x to a model; `theory(model)` is its line and `replicate(model, d, rng)` one measurement at size d.
    Points are simulated at d and 2d and extrapolated as 2 s(2d) - s(d), which is written d = inf and where z is judged;
    with `extrapolate` False they are simulated at the given d only, and judged there.

    Every size is compared with the theory of that size. A model whose covariance states a finite dimension of its own
    is brought to the size that is simulated, and to the limit d -> infinity for the line and for what is extrapolated;
    where its family has no such member ValueError says what to do instead. `theory_at(model, d)` replaces this: it is
    the theory of the finite size d, and `theory(model)` then stays that of the limit. With `by_gap` it is not the
    measured number but its gap to `theory_at` that is extrapolated, and the theory of the limit is added to that: where
    most of the effect of a finite size is known, what remains is nearer to a term of order 1/d.

    `measure` is the second form, for several numbers of one sample. `measure(model, d, rng)` returns named numbers, a
    mapping or a record; `theory(model)` returns those of the same names that it predicts; and each curve says which
    `number` it shows, and of which of the `settings`: names with a function from x to a model, or with a model where
    nothing depends on x; without settings x itself is the model. One replicate is one task, whatever it measures. With
    `by_point` one replicate measures at all x of `points`, as along a training: `measure(model, points, d, rng)` and
    `theory(model, xs)` return arrays of their length, or a list of records, one for each x; with `by_number` too,
    `points` maps each number to those at which it is shown. Rows that share samples are judged together: those of one
    setting and x, with `by_point` those of one setting, or where `together(setting, x)` names the samples those of one
    such name. Replicate r draws from stream(seed, setting, x, d, r), or from what `streams(seed, setting, x, d, r)`
    returns; with `streams=numbered` it is given the number seed + r instead of a generator, where it names its streams
    itself.

    `draft` turns the declaration into the one that a draft computes, where smaller sizes do not make it fast enough,
    and `paper` into that of QUALITY=paper, where more than its replicates is to grow: each names the fields that
    change, or is a function of the declaration.

    `unjudged` is the reason why measured numbers have no z although theory stands beside them ("the pixels are not
    Gaussian"): of the experiment, a panel or a curve. With `judged` it is the reason for the models that this refuses.
    `table_points` are values of x at which a line of theory has a row in the printed table, where the line is the
    result. The coordinates of `by_coordinate` share their samples and are judged together. In `caption` the words
    {sizes} and {replicates} stand for those of the run.

    ValueError for a declaration without rows or with two kinds of them, for panels of one title, for fewer than two
    replicates, and for `by_coordinate` (theory and replicate return arrays (d,), x is the coordinate) with
    extrapolation.

    >>> from figures.core import Context, Experiment
    >>> from figures.core.compute import compute_rows
    >>> experiment = Experiment(
    ...     title="A variance",
    ...     curves={"unit": lambda x: x},
    ...     theory=float,
    ...     replicate=lambda x, d, rng: x * (rng.standard_normal(100 * d) ** 2).mean(),
    ...     points=(2.0,),
    ...     d=10,
    ...     replicates=5,
    ... )
    >>> for row in compute_rows(experiment, Context()):
    ...     print(row["size"], row["theory"], row["replicates"], row["z"] is not None)
    10 2.0 5 False
    20 2.0 5 False
    inf 2.0 5 True
    """

    title: str
    curves: Mapping[str, Any] | None = None
    panels: Sequence[Panel] | None = None
    compute: "Callable[[Context], list[dict[str, Any]]] | None" = (
        None  # makes tables that do not compare theory with replicates
    )
    theory: Theory | None = None
    theory_at: Theory | None = None
    replicate: Replicate | _Nothing | None = None
    measure: Measure | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    by_point: bool = False  # measure and theory return arrays over the points
    by_number: bool = False  # with by_point: the points that measure is given are those of each number
    streams: Streams | None = None
    together: Callable[[str, float], str] | None = None  # the name of the samples
    draft: "Callable[[Experiment], Experiment] | Mapping[str, Any] | None" = None
    paper: "Callable[[Experiment], Experiment] | Mapping[str, Any] | None" = None
    line: Grid = ()
    points: Grid = ()
    d: int | tuple[int, ...] = 100
    toy_d: int = 20  # size in QUALITY=draft
    replicates: int = 40
    seed: int = 0
    extrapolate: bool = True
    by_gap: bool = False  # extrapolates the gap to `theory_at` in place of the measured number
    by_coordinate: bool = False  # theory and replicate return (d,), x is the coordinate
    table_points: Values = ()
    judged: Callable[[Any], bool] | None = None  # whether z means anything for a model; default: for all
    judged_where: Callable[[float], bool] | None = None  # whether it does at x
    unjudged: str = ""  # why not, as the end of a sentence that begins with "because"
    xlabel: str = ""
    ylabel: str = ""
    xscale: str = "linear"
    yscale: str = "linear"
    xlim: tuple[float, float] | None = None
    ylim: tuple[float, float] | None = None
    ordered: bool = False  # whether curves are those of an ordered parameter: they have shades from dark to light
    caption: str = ""  # follows the title above the table
    bars: bool = True  # whether the caption is to say what bars are: False where `draw` leaves none
    figsize: tuple[float, float] | None = None  # inches; default one column, or one row of panels
    draw: "Callable[[Axes, DataFrame], None] | None" = None  # adds to a panel, given its rows
    skip: Callable[[], str | None] | None = None  # the reason why it cannot run here, or None
    papers: Mapping[str, str] = field(default_factory=dict)  # "arXiv:..., Fig. 2": whether this figure agrees with it

    def __post_init__(self) -> None:
        ways = [name for name in ("curves", "panels", "compute") if getattr(self, name) is not None]
        if len(ways) != 1 and ways != ["panels", "compute"]:
            raise ValueError(f"an experiment needs curves, panels or compute, got {' and '.join(ways) or 'none'}")
        titles = [panel.title for panel in self.panels or ()]
        if len(set(titles)) < len(titles):
            raise ValueError(f"title must differ from panel to panel, got {titles}")
        for panel in self.panels or ():
            if panel.ratio_of is not None and (panel.ratio_of not in titles or panel.curves):
                raise ValueError(
                    f"ratio_of must be the title of another panel, for a panel without curves; got {panel.ratio_of!r}"
                )
        self._require_settings()
        if self.by_number and not self.by_point:
            raise ValueError("by_number needs by_point=True: it says at which points each number is measured")
        if self.by_coordinate and self.extrapolate:
            raise ValueError("by_coordinate needs extrapolate=False: a coordinate has no limit d -> infinity")
        for panel in self.resolved_panels():
            for label, curve in panel.resolved_curves():
                if curve.by_gap and (curve.theory_at is None or not curve.extrapolate):
                    raise ValueError(f"by_gap needs theory_at and extrapolate=True, which curve {label!r} lacks")
        if self.replicates < 2:
            raise ValueError(f"replicates must be >= 2, got {self.replicates}")

    def _require_settings(self) -> None:
        """Refuse curves that show a number of a setting which is not declared, or numbers without a measurement."""
        shown = [curve for panel in self.panels or () for curve in map(_declared, panel.curves.values())]
        shown += map(_declared, (self.curves or {}).values())
        numbers = [curve for curve in shown if curve.number is not None]
        if (self.measure is not None) != bool(numbers) or (self.measure is not None and self.replicate is not None):
            raise ValueError("an experiment with measure needs curves that show a number, and no replicate")
        unknown = sorted({curve.setting for curve in numbers} - set(self.settings or {""}))
        if unknown:
            raise ValueError(f"setting must be one of {', '.join(map(repr, self.settings))}, got {unknown[0]!r}")

    def resolved_panels(self) -> list[Panel]:
        """Return its panels with what they take from the experiment filled in.

        Where `compute` makes the rows without panels that describe the axes, it is one panel without curves.
        """
        panels = self.panels if self.panels is not None else [Panel(curves=self.curves or {})]
        return [_filled(panel, self) for panel in panels]

    def reasons(self) -> list[str]:
        """Return the reasons why measured numbers are not judged, each once."""
        found = [self.unjudged]
        for panel in self.resolved_panels():
            found += [panel.unjudged or "", *(curve.unjudged or "" for _, curve in panel.resolved_curves())]
        return list(dict.fromkeys(reason for reason in found if reason))


def _filled(record: Record, source: Panel | Experiment) -> Record:
    """Return the record with every None replaced by the field of that name of `source`."""
    missing = {f.name for f in fields(record) if getattr(record, f.name) is None} & {f.name for f in fields(source)}
    return replace(record, **{name: getattr(source, name) for name in missing})
