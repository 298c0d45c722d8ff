"""The optimal weight of the own topic grows with the number of topics, up to ceilings and with a scaling limit."""

from functools import partial

import numpy as np

from figures.core import NONE, Axes, Curve, DataFrame, Experiment, Panel
from figures.core.names import name_curve
from theory import topics
from theory.models import Masking, TopicModel

MASKING = Masking(selected=0.15, kept=0.1, randomized=0.1)
TAUS = (2, 3, 5, 10)
STYLES = ("-", "--", "-.", "-")  # dots are for ceilings
MOST = 1000
TOTALS = (10, 30, 100)  # numbers of topics on the right
NUMBER = "number of topics"


def model(n_topics: float, tau: float) -> TopicModel:
    return TopicModel(n_topics=round(n_topics), words_per_topic=10, topics_per_document=round(tau))


def weight(at: TopicModel) -> float:
    return topics.stage2_optimum(at, MASKING).topic_weight


def relative_weight(at: TopicModel) -> float:
    """Return the optimal weight per topic of a document, A*/tau."""
    return weight(at) / at.topics_per_document


def random_words(at: TopicModel) -> float:
    return topics.stage2_bounds(at, MASKING).random_words


def overshoot(at: TopicModel) -> float:
    return topics.stage2_bounds(at, MASKING).overshoot


def numbers(tau: int) -> list[int]:
    """Return the numbers of topics above tau at which the curve is drawn."""
    return sorted({round(T) for T in np.geomspace(max(3, tau + 1), MOST, 60)})


def growing(tau: int) -> Curve:
    return Curve(
        model=partial(model, tau=tau),
        line=numbers(tau),
        table_points=[T for T in (10, 100, 1000) if tau < T],
        color=TAUS.index(tau),
        style=STYLES[TAUS.index(tau)],
    )


def ceiling(tau: int) -> Curve:
    return Curve(
        model=partial(model, tau=tau), theory=overshoot, line=(tau + 1, MOST), color=TAUS.index(tau), style=":"
    )


def scaled(n_topics: int) -> Curve:
    shares = sorted(
        {max(round(x * n_topics), 1) / n_topics for x in np.linspace(0, 1 - 1 / n_topics, 100)} - {1 / n_topics}
    )  # without one topic in a document, where A* is 1 and off the curve
    return Curve(model=lambda x: model(n_topics, x * n_topics), theory=relative_weight, line=shares)


def limit(x: float) -> float:
    return topics.scaling_limit(MASKING, x)


def draw(axes: Axes, rows: DataFrame) -> None:
    """Name the curves at their ends, and mark the few points of the smallest T, between which no number lies."""
    if rows["panel"].iloc[0] == NUMBER:
        for tau in TAUS:
            name_curve(axes, f"_tau = {tau}", rf"$\tau = {tau}$")
        axes.legend(loc="lower right")
        return
    few = next(line for line in axes.get_lines() if line.get_label() == f"$T = {TOTALS[0]}$")
    for line in axes.get_lines():
        if line.get_color() == few.get_color():
            line.set(marker="o", markersize=2.5, markerfacecolor=line.get_color(), linewidth=0.5)
    axes.legend()


EXPERIMENT = Experiment(
    title="The best weight of the own topic saturates with the number of topics",
    papers={
        "arXiv:2303.04245 (attention weights)": "The published bounds by multiples of tau and of T hold, here with "
        "the exact optimum between them.",
    },
    panels=[
        Panel(
            title=NUMBER,
            curves={f"_tau = {tau}": growing(tau) for tau in TAUS}
            | {
                "$1 + Tp_c/p_r$": Curve(
                    model=partial(model, tau=2), theory=random_words, line=numbers(2), color="black", style="--"
                ),
                r"$1 + \tau/(p_m(1-p_c))$": Curve(
                    model=partial(model, tau=2), theory=overshoot, line=(3, MOST), color="black", style=":"
                ),
            }
            | {f"_overshoot, tau = {tau}": ceiling(tau) for tau in TAUS},
            theory=weight,
            ordered=True,
            xlabel="number of topics $T$",
            ylabel="optimal weight $A^*$",
            xscale="log",
            yscale="log",
            ylim=(1.3, 150),
        ),
        Panel(
            title="both numbers large",
            curves={f"$T = {n}$": scaled(n) for n in TOTALS}
            | {
                r"$T, \tau \to \infty$": Curve(
                    model=lambda x: x, theory=limit, line=np.linspace(0, 1, 101), color=6, style="-"
                )
            },
            xlabel=r"share of topics in a document $\tau/T$",
            ylabel=r"$A^*/\tau$",
            table_points=(0.2, 0.5, 0.8),
        ),
    ],
    replicate=NONE,
    draw=draw,
    unjudged="all numbers are optima by theory",
    caption="The best attention weight A* of words of the query's own topic, where other topics have weight 1, "
    "grows with the number of topics and saturates below a ceiling. All curves are theory for long documents, the "
    "same for any number of words of a topic; (p_m, p_c, p_r) = (0.15, 0.1, 0.1) are the masking rates. (a) A* "
    "against the number of topics T, for tau topics in a document; ceilings are dotted (from tau) and dashed "
    "(from random words). (b) A* over tau falls as documents hold a larger share of all topics, from 7.41 to "
    "0.866; documents of two to nine of ten topics are dots.",
)
