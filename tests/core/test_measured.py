"""Experiments that measure several named numbers on one sample: their rows, their streams and their joint scores."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from figures.core import Context, Curve, Experiment, Panel, level, numbered
from figures.core.compute import compute_rows
from figures.core.rows import JOINT, MEASURED, RUN
from simulate.core import Estimate, stream


@dataclass(frozen=True)
class Moments:
    """The numbers of one sample."""

    mean: float
    square: float


def moments(scale: float, d: int, rng: np.random.Generator) -> Moments:
    x = scale * rng.standard_normal(d)
    return Moments(1 + float(x.mean()), float(np.mean(x**2)))


def exact(scale: float) -> dict[str, float]:
    return {"mean": 1.0, "square": scale**2}


EXPERIMENT = Experiment(
    title="Moments",
    measure=moments,
    theory=exact,
    panels=[
        Panel(title="mean", curves={"mean": "mean"}),
        Panel(title="square", curves={"square": "square", "twice": Curve(model=float, theory=lambda x: 2 * x)}),
    ],
    line=(1.0, 2.0, 3.0),
    points=(1.0, 2.0),
    d=30,
    replicates=20,
    extrapolate=False,
)


def only(rows: list[dict[str, Any]], **wanted: Any) -> list[dict[str, Any]]:
    """Return the rows of these fields, without those of single replicates."""
    return [row for row in rows if row["kind"] != RUN and all(row[name] == value for name, value in wanted.items())]


def test_each_number_is_a_curve_of_the_same_samples() -> None:
    rows = compute_rows(EXPERIMENT, Context())
    samples = [moments(2.0, 30, stream(0, 2.0, 30, r)) for r in range(20)]
    drawn = np.array([(each.mean, each.square) for each in samples])
    for place, name in enumerate(("mean", "square")):
        (found,) = only(rows, curve=name, x=2.0, size=30)
        assert found["simulation"] == pytest.approx(drawn[:, place].mean(), rel=1e-14)
        assert found["theory"] == exact(2.0)[name]
        assert [row["theory"] for row in only(rows, curve=name, size=None)] == [exact(x)[name] for x in (1, 2, 3)]
    assert [row["theory"] for row in only(rows, curve="twice", size=None)] == [2.0, 4.0, 6.0]


def test_rows_of_one_sample_are_judged_together() -> None:
    rows = compute_rows(EXPERIMENT, Context())
    joint = only(rows, kind=JOINT)
    assert [row["group"] for row in joint] == ["1", "2"]
    assert {row["curve"] for row in only(rows, group="2")} == {"mean", "square", "2"}
    wide = replace(EXPERIMENT, together=lambda setting, x: "all")
    assert [row["group"] for row in only(compute_rows(wide, Context()), kind=JOINT)] == ["all"]


def test_a_joint_score_sees_a_wrong_theory_in_one_of_the_numbers() -> None:
    wrong = replace(
        EXPERIMENT, theory=lambda scale: exact(scale) | {"square": 1.6 * scale**2}, together=lambda *_: "all"
    )
    for experiment, fails in ((EXPERIMENT, False), (wrong, True)):
        scores = [row["z"] for row in only(compute_rows(experiment, Context()), kind=JOINT)]
        assert (max(map(abs, scores)) > 3) == fails


def test_changes_of_a_declaration_reach_its_rows() -> None:
    """Nothing closes over the declaration, so that another seed gives other samples."""
    one, other = (compute_rows(replace(EXPERIMENT, seed=seed), Context()) for seed in (0, 1))
    assert only(one, curve="mean", x=1.0, size=30) != only(other, curve="mean", x=1.0, size=30)


def test_extrapolation_takes_both_sizes_of_each_replicate() -> None:
    biased = replace(
        EXPERIMENT, measure=lambda scale, d, rng: {"mean": 1 + 3 / d, "square": scale**2 + rng.normal() / d},
        extrapolate=True,
    )  # fmt: skip
    (limit,) = only(compute_rows(biased, Context()), curve="mean", x=1.0, size=math.inf)
    assert limit["simulation"] == pytest.approx(1.0, rel=1e-14)
    assert {row["size"] for row in only(compute_rows(biased, Context()), curve="mean", x=1.0)} == {
        None,
        30,
        60,
        math.inf,
    }


def test_settings_streams_and_root_mean_squares() -> None:
    def measured(model: tuple[str, float], _d: int, rng: np.random.Generator) -> dict[str, float]:
        kind, x = model
        drawn = float(rng.standard_normal())
        return {"error": x * drawn if kind == "plain" else -x * drawn}

    experiment = replace(
        EXPERIMENT, measure=measured, theory=lambda model: {"error": model[1]}, panels=None,
        settings={kind: lambda x, kind=kind: (kind, x) for kind in ("plain", "turned")},
        curves={kind: Curve(setting=kind, number="error", average="root mean square") for kind in ("plain", "turned")},
        streams=lambda seed, setting, x, d, r: stream(seed, "the same for both", x, r), replicates=400,
    )  # fmt: skip
    rows = compute_rows(experiment, Context())
    plain, turned = (only(rows, curve=kind, x=2.0, size=30)[0] for kind in ("plain", "turned"))
    assert plain["simulation"] == turned["simulation"]
    drawn = [stream(0, "the same for both", 2.0, r).standard_normal() for r in range(400)]
    assert plain["simulation"] == pytest.approx(2 * np.sqrt(np.mean(np.square(drawn))), rel=1e-14)
    assert abs(plain["z"]) < 4
    assert plain["stderr"] == pytest.approx(2 * np.sqrt(2 / 400) / 2, rel=0.15)


def test_one_replicate_measures_at_all_points() -> None:
    def walk(scale: float, points: list[float], d: int, rng: np.random.Generator) -> dict[str, Any]:
        steps = scale * rng.standard_normal((d, round(max(points)))).cumsum(axis=1)
        return {"spread": np.array([np.mean(steps[:, round(t) - 1] ** 2) for t in points])}

    experiment = replace(
        EXPERIMENT, measure=walk, by_point=True, panels=None, curves={"walk": Curve(number="spread", setting="walk")},
        settings={"walk": 2.0}, theory=lambda scale, times: {"spread": scale**2 * np.asarray(times)},
        points=(1, 4, 9), line=(1, 10), judged_where=lambda t: t > 1,
    )  # fmt: skip
    rows = compute_rows(experiment, Context())
    assert [row["theory"] for row in only(rows, size=None, curve="walk")] == [4.0, 40.0]
    points = only(rows, kind=MEASURED, curve="walk")
    assert [row["theory"] for row in points] == [4.0, 16.0, 36.0]
    assert [row["z"] is None for row in points] == [True, False, False]
    (joint,) = only(rows, kind=JOINT)
    assert abs(joint["z"]) < 3.5
    listed = replace(
        experiment, measure=lambda *given: [{"spread": float(value)} for value in walk(*given)["spread"]],
        theory=lambda scale, times: [{"spread": scale**2 * t} for t in times],
    )  # fmt: skip
    assert compute_rows(listed, Context()) == rows
    values = np.array([walk(2.0, [1, 4, 9], 30, stream(0, "walk", 30, r))["spread"] for r in range(20)])
    assert [row["simulation"] for row in points] == pytest.approx(values.mean(axis=0).tolist(), rel=1e-14)


def test_a_measurement_may_be_given_the_number_of_its_replicate() -> None:
    experiment = replace(
        EXPERIMENT, measure=lambda scale, _d, number: {"mean": scale * number, "square": 1.0 + number},
        streams=numbered, seed=3, replicates=5,
    )  # fmt: skip
    (found,) = only(compute_rows(experiment, Context()), curve="mean", x=2.0, size=30)
    assert found["simulation"] == 2.0 * np.mean(range(3, 8))


def test_settings_may_measure_numbers_of_their_own() -> None:
    experiment = replace(
        EXPERIMENT, measure=lambda model, _d, rng: {model[0]: model[1] + rng.normal()}, theory=None, panels=None,
        settings={kind: lambda x, kind=kind: (kind, x) for kind in ("a", "b")},
        curves={kind: Curve(setting=kind, number=kind) for kind in ("a", "b")},
    )  # fmt: skip
    assert len(only(compute_rows(experiment, Context()), kind=MEASURED)) == 4


def test_lines_of_data_and_of_chance_are_no_predictions() -> None:
    ends = (1.0, 2.0)
    lines = {
        "predicted": level(lambda: 3.0, ends),
        "measured": level(lambda: 3.0, ends, "measured"),
        "reference": level(lambda: 3.0, ends, "reference"),
    }
    rows = compute_rows(replace(EXPERIMENT, panels=None, curves={"mean": "mean"} | lines), Context())
    for kind in lines:
        column = "simulation" if kind == "measured" else "theory"
        assert [row[column] for row in only(rows, curve=kind, kind=kind)] == [3.0, 3.0]


def test_a_function_may_average_the_replicates() -> None:
    curves = {"mean": Curve(number="mean", average=lambda values: Estimate(float(np.median(values)), 0.5, len(values)))}
    (found,) = only(compute_rows(replace(EXPERIMENT, panels=None, curves=curves), Context()), x=2.0, size=30)
    assert found["simulation"] == np.median([moments(2.0, 30, stream(0, 2.0, 30, r)).mean for r in range(20)])


def test_a_line_alone_stands_beside_no_measured_number() -> None:
    curves = {"square": Curve(number="square", line_only=True), "mean": Curve(number="mean")}
    rows = compute_rows(replace(EXPERIMENT, panels=None, curves=curves), Context())
    assert [row["theory"] for row in only(rows, curve="square", size=None)] == [1.0, 4.0, 9.0]
    assert {row["theory"] for row in only(rows, curve="square", size=30)} == {None}
    assert {row["theory"] for row in only(rows, curve="mean", size=30)} == {1.0}


def test_each_number_may_be_asked_for_at_points_of_its_own() -> None:
    def measured(_model: int, points: dict[str, list[float]], _d: int, number: int) -> dict[str, list[float]]:
        assert points == {"a": [1.0, 2.0], "b": [5.0]}
        return {name: [x + 0.5 * number for x in xs] for name, xs in points.items()}

    curves = {
        "a": Curve(number="a", setting="one", points=(1.0, 2.0)),
        "b": Curve(number="b", setting="one", points=(5.0,)),
    }
    experiment = replace(
        EXPERIMENT, measure=measured, by_point=True, by_number=True, settings={"one": 1}, streams=numbered, panels=None,
        curves=curves, line=(), theory=lambda _model, xs: {name: np.asarray(xs) + 1 for name in "ab"}, replicates=5,
    )  # fmt: skip
    rows = only(compute_rows(experiment, Context()), kind=MEASURED)
    assert [(row["x"], row["theory"], row["simulation"]) for row in rows] == [(x, x + 1, x + 1) for x in (1, 2, 5)]


def test_drafts_and_papers_are_made_of_the_declaration_itself() -> None:
    experiment = replace(EXPERIMENT, draft=lambda own: replace(own, points=(own.seed + 1.0,)))
    paper = replace(EXPERIMENT, paper={"points": (3.0,)})
    assert {row["x"] for row in only(compute_rows(paper, Context("paper")), kind=MEASURED)} == {3.0}
    assert {row["x"] for row in only(compute_rows(paper, Context()), kind=MEASURED)} == {1.0, 2.0}
    draft = compute_rows(replace(experiment, seed=1), Context("draft"))
    assert {row["x"] for row in only(draft, kind=MEASURED)} == {2.0}
    assert {row["x"] for row in only(compute_rows(experiment, Context()), kind=MEASURED)} == {1.0, 2.0}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"measure": None}, "an experiment with measure needs curves that show a number"),
        ({"panels": None, "curves": {"a": float}}, "an experiment with measure needs curves that show a number"),
        ({"replicate": moments}, "no replicate"),
        ({"by_number": True}, "by_number needs by_point=True"),
        ({"settings": {"a": float}}, "setting must be one of 'a', got ''"),
    ],
)
def test_refused_declarations(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(EXPERIMENT, **changes)


def test_a_misspelled_number_is_an_error_that_names_both() -> None:
    misspelled = {"theory": lambda scale: {"mean": 1.0, "sqare": scale**2}}
    with pytest.raises(ValueError, match="theory predicts 'sqare', which no curve shows, and not 'square'"):
        compute_rows(replace(EXPERIMENT, **misspelled), Context("draft"))
    unpredicted = replace(EXPERIMENT, theory=lambda _scale: {"mean": 1.0})
    assert [row["theory"] for row in only(compute_rows(unpredicted, Context("draft")), curve="square")] == [None] * 5
    lacking = replace(EXPERIMENT, measure=lambda _scale, _d, _rng: {"mean": 1.0, "sqare": 2.0})
    with pytest.raises(RuntimeError, match="the number 'square', which a curve shows beside 'mean', 'sqare'"):
        compute_rows(lacking, Context("draft"))
