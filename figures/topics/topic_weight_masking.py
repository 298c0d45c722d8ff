"""The optimal weight of the own topic depends on the three rates of masking, and on the weight of [MASK]."""

from dataclasses import replace
from typing import Literal

import numpy as np

from figures.core import NONE, Axes, Curve, DataFrame, Experiment, Panel
from figures.core.names import write_name
from theory import topics
from theory.models import Masking, TopicModel

MODEL = TopicModel(n_topics=10, words_per_topic=10, topics_per_document=3)
STANDARD = Masking(selected=0.15, kept=0.1, randomized=0.1)
CLEAN = "unselected keys"
PLACES = {"kept": ((0.08, 90.0), (0.4, 6.0)), "randomized": ((0.15, 15.0), (0.02, 1.5))}  # of names, by panel
WEIGHTS: dict[str, float | Literal["free"]] = {
    "[MASK] weight 0": 0.0,
    "[MASK] weight 1": 1.0,
    "[MASK] weight free": "free",
}


def curves(rate: str) -> dict[str, Curve]:
    """Return the curves of A* along which one rate of the masking, named `rate`, varies."""

    def masking(x: float) -> Masking:
        return replace(STANDARD, **{rate: x})

    def weight(mask_weight: float | Literal["free"]) -> Curve:
        return Curve(
            model=masking, theory=lambda at: topics.stage2_optimum(MODEL, at, mask_weight=mask_weight).topic_weight
        )

    found = {label: weight(mask_weight) for label, mask_weight in WEIGHTS.items()}
    clean = Curve(model=masking, theory=lambda at: topics.unselected_keys(MODEL, at), color=6, style=":")
    return found | {CLEAN: clean}


def draw(axes: Axes, rows: DataFrame) -> None:
    """Name the curves where those of the three weights of [MASK] lie upon each other."""
    if rows["panel"].iloc[0] in PLACES:
        clean, masks = PLACES[rows["panel"].iloc[0]]
        write_name(axes, CLEAN.replace(" ", "\n"), clean)
        write_name(axes, "[MASK] weight\n0, 1 or free", masks, color="0.3")


EXPERIMENT = Experiment(
    title="The preference for the own topic comes from words that are kept",
    panels=[
        Panel(
            title="selected",
            curves=curves("selected"),
            line=np.linspace(0.005, 0.99, 80),
            table_points=(0.05, 0.15, 0.5),
            xlabel="share of selected positions $p_m$",
        ),
        Panel(
            title="kept",
            curves=curves("kept"),
            line=np.linspace(0, 0.9, 80),
            table_points=(0.0, 0.1, 0.5),
            xlabel="share of kept words $p_c$",
        ),
        Panel(
            title="randomized",
            curves=curves("randomized"),
            line=np.linspace(0.005, 0.9, 80),
            table_points=(0.05, 0.1, 0.5),
            xlabel="share of randomized words $p_r$",
        ),
    ],
    replicate=NONE,
    ylabel="optimal weight $A^*$",
    yscale="log",
    draw=draw,
    unjudged="all numbers are optima by theory",
    caption="The preference for the own topic comes from words that are kept at selected positions: without them, "
    "at p_c = 0, A* = 1. All curves are theory for T = 10 topics of v = 10 words and tau = 3 in a document; one "
    "rate of the masking varies while the others stay at (p_m, p_c, p_r) = (0.15, 0.1, 0.1). The first three "
    "curves differ in the attention weight of [MASK] tokens: 0 leaves them out, 1 treats them like words of other "
    "topics, and free lets the optimum choose it. The black dotted curve attends to unselected positions only and "
    "is 1 + T p_c/p_r, the limit of all curves as p_m vanishes.",
)
