"""From a declaration to rows: every kind of experiment on a made-up model, a variance that is measured."""

import math
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import t

from figures.core import NONE, Context, Curve, Experiment, Panel, row
from figures.core.compute import compute_rows
from figures.core.report import summary
from figures.core.table import to_frame
from simulate.core import Estimate, Task, stream
from theory.numerics import ConvergenceError


def variance(model, d, rng, bias=1.0):
    """Has a correction of model/d."""
    return float(np.mean(rng.standard_normal(40 * d) ** 2) * model * (1 + bias / d))


def variances(model, d, rng):
    return rng.standard_normal((40, d)).var(axis=0, ddof=1) * model * np.arange(1, d + 1)


def rows_of(experiment, quality="default"):
    return to_frame(compute_rows(experiment, Context(quality)))


def bound(comparisons, replicates):
    """The largest |z| that right theories give in all but one of 100,000 runs, by Student's t."""
    return t.isf(1e-5 / (2 * comparisons), replicates - 1)


BASE = {"theory": float, "replicate": variance, "line": np.linspace(1, 3, 20), "points": (1.0, 2.0), "d": 10}


def test_points_are_simulated_at_two_sizes_and_extrapolated():
    rows = rows_of(Experiment(title="t", curves={"a": lambda x: x}, **BASE))
    assert rows["size"].isna().sum() == 20
    points = rows[rows["x"].eq(2.0) & rows["size"].notna()]
    assert list(points["size"]) == [10, 20, math.inf]
    small, large, limit = points["simulation"]
    assert limit == pytest.approx(2 * large - small)
    assert list(points["z"].notna()) == [False, False, True]
    assert abs(rows["z"].dropna()).max() < bound(comparisons=2, replicates=40)


def test_the_finite_size_correction_is_seen_without_extrapolation():
    curves = {"a": Curve(model=lambda x: x, replicates=400)}
    rows = rows_of(Experiment(title="t", curves=curves, extrapolate=False, **BASE | {"d": 5}))
    assert rows["z"].dropna().min() > bound(comparisons=2, replicates=400)
    told = Experiment(
        title="t", curves=curves, extrapolate=False, theory_at=lambda x, d: x * (1 + 1 / d), **BASE | {"d": 5}
    )
    assert abs(rows_of(told)["z"].dropna()).max() < bound(comparisons=2, replicates=400)


def test_the_gap_to_the_theory_of_each_size_is_extrapolated():
    """A correction of order d^(-1/2) that the theory knows spoils the extrapolation in 1/d, but not that of the gap."""

    def measured(x, d, rng):
        return x * (1 + 5 / math.sqrt(d) + 2 / d) + 1e-3 * rng.standard_normal()

    fields = {"replicate": measured, "theory_at": lambda x, d: x * (1 + 5 / math.sqrt(d))}
    curves = {name: Curve(model=lambda x: x, by_gap=by_gap) for name, by_gap in (("plain", False), ("gap", True))}
    rows = rows_of(Experiment(title="t", curves=curves, **BASE | fields))
    limits = rows[rows["size"].eq(math.inf)].set_index("curve")
    assert abs(limits.loc["plain", "z"]).min() > bound(comparisons=2, replicates=40)
    assert abs(limits.loc["gap", "z"]).max() < bound(comparisons=2, replicates=40)
    raw = rows[(rows["curve"] == "gap") & np.isfinite(rows["size"]) & rows["x"].eq(2.0)]
    assert list(raw["theory"]) == pytest.approx([2 * (1 + 5 / math.sqrt(d)) for d in raw["size"]])
    assert list(raw["simulation"]) == pytest.approx(list(raw["theory"] + 4 / raw["size"]), abs=2e-3)


@pytest.mark.parametrize("fields", [{}, {"theory_at": lambda x, d: x, "extrapolate": False}])
def test_a_gap_is_extrapolated_to_no_limit_without_a_theory_of_each_size(fields):
    with pytest.raises(ValueError, match="by_gap needs theory_at and extrapolate=True, which curve 'a' lacks"):
        Experiment(title="t", curves={"a": lambda x: x}, by_gap=True, **BASE | fields)


def test_a_curve_and_a_panel_override_what_is_above_them():
    own = Curve(
        model=lambda x: x, theory=lambda model: 3 * model, replicate=partial(variance, bias=0), d=7, replicates=5
    )
    panels = (
        Panel(title="one", curves={"own": own, "plain": lambda x: x}),
        Panel(title="two", curves={"plain": lambda x: x}, points=(5.0,), line=(), theory=lambda model: 2 * model),
    )
    rows = rows_of(Experiment(title="t", panels=panels, **BASE))
    one = rows[(rows["panel"] == "one") & (rows["curve"] == "own") & rows["size"].notna()]
    assert set(one["size"]) == {7, 14, math.inf}
    assert set(one["replicates"]) == {5}
    assert list(one["theory"] / one["x"]) == [3.0] * 6
    two = rows[rows["panel"] == "two"]
    assert list(two["x"]) == [5.0] * 3
    assert list(two["theory"]) == [10.0] * 3


@pytest.mark.parametrize("extrapolate", [True, False])
def test_what_is_not_judged_has_no_z(extrapolate):
    declared = Experiment(
        title="t", curves={"a": lambda x: x}, extrapolate=extrapolate, judged=lambda model: model > 1.5, **BASE
    )
    rows = rows_of(declared)
    assert list(rows[rows["z"].notna()]["x"]) == [2.0]


def test_stars_are_points_without_replicates():
    star = Curve(model=lambda x: x, replicate=NONE, line=(), points=lambda: [1.5])
    rows = rows_of(Experiment(title="t", curves={"star": star}, **BASE))
    assert rows[["x", "theory"]].to_numpy().tolist() == [[1.5, 1.5]]
    assert math.isinf(rows["size"][0])
    assert rows["simulation"].isna().all()


def test_a_curve_has_its_stars_in_its_own_color():
    curves = {
        "plain": lambda x: x,
        "a": Curve(model=lambda x: x, stars=lambda: [1.5, 2.5]),
        "b": Curve(model=lambda x: 2 * x, stars=(2.0,), color=5, theory=lambda model: -model),
    }
    experiment = Experiment(title="t", curves=curves, **BASE)
    rows = rows_of(experiment)
    stars = rows[rows["curve"].str.startswith("_star, ")]
    assert stars[["curve", "x", "theory"]].to_numpy().tolist() == [
        ["_star, a", 1.5, 1.5],
        ["_star, a", 2.5, 2.5],
        ["_star, b", 2.0, -4.0],
    ]
    assert stars["simulation"].isna().all()
    assert np.isinf(stars["size"]).all()
    resolved = dict(experiment.resolved_panels()[0].resolved_curves())
    assert list(resolved) == ["plain", "a", "b", "_star, a", "_star, b"]
    assert [resolved[f"_star, {name}"].color for name in "ab"] == [1, 5]
    again = Panel(curves=resolved)  # what was resolved once has no more stars to add
    assert list(dict(again.resolved_curves())) == list(resolved)


def test_by_coordinate():
    fields = {"by_coordinate": True, "extrapolate": False, "theory_at": lambda model, d: model * np.arange(1, d + 1)}
    experiment = Experiment(title="t", curves={"a": 2.0}, theory=float, replicate=variances, d=12, **fields)
    rows = rows_of(experiment)
    points = rows[rows["simulation"].notna()]
    assert rows["kind"].tolist().count("joint") == 1  # all coordinates are of the same samples
    assert set(points["group"]) == {"a d = 12"}
    assert abs(rows.loc[rows["kind"] == "joint", "z"].item()) < 4.5
    assert "1 independent comparison" in summary(rows)
    assert list(points["x"]) == list(range(12))
    assert list(points["theory"]) == list(2.0 * np.arange(1, 13))
    assert abs(points["z"]).max() < bound(comparisons=12, replicates=40)
    assert len(rows_of(experiment, "draft")) == 25
    some = replace(experiment, points=(0, 5, 11), line=(1, 9), toy_d=6)
    assert list(rows_of(some)["x"].dropna()) == [1, 9, 0, 5, 11]
    assert list(rows_of(some, "draft")["x"].dropna()) == [1, 0, 5]  # the coordinates that there are at the toy size
    wrong = Experiment(
        title="t", curves={"a": 2.0}, theory=float, replicate=variances, d=12, by_coordinate=True, extrapolate=False
    )
    with pytest.raises(ValueError, match=r"theory of 'a' must have shape \(12,\), got \(\)"):
        rows_of(wrong)


def test_compute_makes_its_own_rows():
    def compute(context):
        values = context.sweep(
            Task(str(r), variance, (1.0, 5, np.random.default_rng(r))) for r in range(context.replicates(8))
        )
        estimate = Estimate.of(list(values.values()))
        return [row("data", 1, theory=1.0, d=5, estimate=estimate, judged=False), row("theory only", 1, theory=1e-9)]

    rows = rows_of(Experiment(title="t", compute=compute))
    assert list(rows["replicates"])[:1] == [8]
    why = Experiment(title="t", compute=compute, unjudged="it is a toy")
    assert summary(rows, why).startswith("1 comparison without z because it is a toy: deviation from theory rms ")
    assert summary(rows).startswith("1 comparison without z: deviation")


def test_what_does_not_converge_is_marked_and_the_rest_goes_on():
    def theory(model):
        if model == 2.0:
            raise ConvergenceError("toy", SimpleNamespace(status="max_iter", iterations=3, residual=1.0, tol=1e-9))
        return model

    rows = rows_of(Experiment(title="t", curves={"a": lambda x: x}, **BASE | {"theory": theory, "line": (1.0, 2.0)}))
    assert list(rows[~rows["converged"]]["x"]) == [2.0] * 4
    assert "4 rows NOT CONVERGED" in summary(rows)
    assert rows[~rows["converged"]]["theory"].isna().all()


def test_quality():
    experiment = Experiment(title="t", curves={"a": lambda x: x}, **BASE | {"d": 50, "points": range(1, 10)})
    draft = rows_of(experiment, "draft")
    assert draft["size"].isna().sum() == 8
    assert set(draft["size"].dropna()) == {20, 40, math.inf}
    assert draft["replicates"].dropna().eq(3).all()
    assert draft[draft["size"].notna()]["x"].nunique() == 4
    assert Context("paper").replicates(10) == 40
    with pytest.raises(ValueError, match="quality must be one of draft, default, paper, got 'best'"):
        Context("best")


def test_a_replicate_draws_from_the_stream_of_its_seed_panel_curve_place_and_size():
    panels = [Panel(title="left", curves={"a": lambda x: x})]
    replicate = lambda model, d, rng: rng.random()  # noqa: E731
    rows = rows_of(Experiment(title="t", panels=panels, seed=7, **BASE | {"replicate": replicate, "replicates": 3}))
    for d in (10, 20):
        expected = np.mean([stream(7, "left", "a", 2.0, d, r).random() for r in range(3)])
        assert rows[rows["x"].eq(2.0) & rows["size"].eq(d)]["simulation"].item() == pytest.approx(expected, rel=1e-14)


def test_replicates_of_a_point_do_not_depend_on_the_other_points():
    few, many = (
        rows_of(Experiment(title="t", curves={"a": lambda x: x}, **BASE | {"points": points}))
        for points in ([2.0], [1.0, 2.0])
    )
    assert many[many["size"].notna() & many["x"].eq(2.0)]["simulation"].tolist() == few["simulation"].dropna().tolist()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "needs curves, panels or compute, got none"),
        ({"curves": {}, "panels": ()}, "got curves and panels"),
        ({"curves": {}, "compute": list}, "got curves and compute"),
        ({"curves": {}, "replicates": 1}, "replicates must be >= 2, got 1"),
        ({"panels": (Panel(curves={}), Panel(curves={}))}, "title must differ from panel to panel"),
        ({"curves": {}, "by_coordinate": True}, "by_coordinate needs extrapolate=False"),
    ],
)
def test_bad_declarations(fields, message):
    with pytest.raises(ValueError, match=message):
        Experiment(title="t", **fields)


def test_a_curve_that_is_not_judged_says_why():
    curves = {"a": Curve(model=lambda x: x, unjudged="it is a toy"), "b": lambda x: x}
    declared = Experiment(title="t", curves=curves, **BASE)
    rows = rows_of(declared)
    assert set(rows.loc[rows["z"].notna(), "curve"]) == {"b"}
    assert declared.reasons() == ["it is a toy"]
    assert "2 comparisons without z because it is a toy: deviation from theory rms" in summary(rows, declared)
    whole = replace(declared, unjudged="nothing is judged")
    assert rows_of(whole)["z"].isna().all()
    assert whole.reasons() == ["nothing is judged", "it is a toy"]
    some = Experiment(
        title="t", curves={"b": lambda x: x}, unjudged="small", judged=lambda model: model > 1.5, **BASE
    )  # the reason is that of the models which are refused
    assert rows_of(some)["z"].notna().sum() == 1
