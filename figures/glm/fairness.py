"""A small group beside a large one is served worse, which reweighing and coupled classifiers change."""

from dataclasses import replace
from functools import partial

import numpy as np

from figures.core import Curve, Experiment, Panel, thinned
from figures.glm.observables import accuracy, fairness
from simulate.glm import accuracy_minus, accuracy_plus, disparate_impact
from theory.models import TeacherMixture

FRACTION = 0.2  # of group +, where the coupling varies
COUPLING = 0.5


def plain(fraction: float) -> TeacherMixture:
    return TeacherMixture(
        group_fraction=fraction, alpha=2.0, lam=0.1, variances=(0.5, 0.5), teacher_overlap=0.5, mean_overlaps=(0.3, 0.1)
    )


def reweighed(fraction: float) -> TeacherMixture:
    """Weights the loss such that each group counts as one half."""
    plus, minus = 0.5 / fraction, 0.5 / (1 - fraction)
    return replace(plain(fraction), loss_weights=((plus, plus), (minus, minus)))


def coupled(strength: float, fraction: float) -> TeacherMixture:
    return replace(plain(fraction), coupling=strength)


def group(number: int, model: object, color: int) -> Curve:
    return Curve(
        model=model,
        theory=accuracy(number),
        replicate=(accuracy_plus, accuracy_minus)[number],
        style=("-", "--")[number],
        color=color,
    )


def both(name: str, model: object, color: int) -> dict[str, Curve]:
    return {f"{name}, group {sign}": group(number, model, color) for number, sign in enumerate("+-")}


EXPERIMENT = Experiment(
    title="Two groups with different teachers: equal accuracy is not equal selection",
    papers={
        "arXiv:2205.15935": "The published text was not readable; settings are our own. The smaller group is served "
        "worse, and weights and coupled classifiers help.",
    },
    panels=[
        Panel(
            title="one classifier",
            curves=both("plain", plain, 0) | both("reweighed", reweighed, 1),
            ylabel="accuracy (share of right signs)",
            ylim=(0.55, 0.83),
        ),
        Panel(
            title="rate of selection, group $-$ over +",
            curves={
                "plain": plain,
                "reweighed": reweighed,
                rf"coupled, $\gamma = {COUPLING}$": partial(coupled, COUPLING),
            },
            theory=fairness("disparate_impact"),
            replicate=disparate_impact,
            ylabel="disparate impact",
            ylim=(0.2, 0.8),
        ),
        Panel(
            title=rf"two coupled classifiers, $\rho = {FRACTION}$",
            curves=both("coupled", partial(coupled, fraction=FRACTION), 2),
            line=np.geomspace(0.01, 100, 41),
            points=(0.03, 0.3, 10.0),
            xlabel=r"coupling $\gamma$",
            xscale="log",
            ylabel="accuracy (share of right signs)",
        ),
    ],
    line=np.linspace(0.02, 0.98, 41),
    points=(0.15, 0.4, 0.75),
    d=60,
    replicates=40,
    seed=16,  # samples that no earlier table had
    xlabel=r"share of group + $\rho$",
    caption="Weights that count each group as one half serve both nearly alike, but their members are still "
    "selected at different rates. The groups lie at +v and -v with variance 0.5; their teachers have overlap 0.5 "
    "with each other, and 0.3 and 0.1 with v; the loss is logistic, alpha = 2, lambda = 0.1. Lines are the theory "
    "in the limit d = infinity; markers are simulations at d = {sizes}, extrapolated in 1/d. (a) Accuracies "
    "against the share of the small group. (b) The rate at which group - is selected over that of group +. (c) A "
    "classifier for each group, pulled together by a coupling: by theory the small group gains most from a "
    "moderate one.",
    draft=partial(thinned, line=3, points=1),
)
