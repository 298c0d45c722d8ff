"""A small group beside a large one is served worse, which reweighing and coupled classifiers change."""

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.random import Generator

from figures.core import Axes, Curve, DataFrame, Experiment, Panel, thinned
from figures.core.names import name_curve
from figures.glm.observables import accuracy, fairness
from simulate.core import stream
from simulate.glm import measure
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


SETTINGS = {"plain": plain, "reweighed": reweighed, "coupled": partial(coupled, COUPLING)}
COUPLINGS = "couplings"
PLUS, MINUS, GAP, IMPACT = "accuracy of group +", "accuracy of group -", "gap in accuracy", "impact"
ACCURACIES = "one classifier"
DIFFERENCES, RATES = "gap, group + less group $-$", "rate of selection, group $-$ over +"
EQUAL = {DIFFERENCES: 0.0, RATES: 1.0}  # what equal groups have
GAINS = ("gain of group +", "gain of group -")


def measured(model: TeacherMixture, d: int, rng: Generator) -> dict[str, float]:
    """Measure the accuracies and the impact of one sample; of a coupling also what it adds to two separate ones."""
    state = rng.bit_generator.state
    found = measure(model, d, rng)
    (plus, minus), (selected_plus, selected_minus) = 1 - found.cluster_errors, found.selection_rate
    numbers = {PLUS: plus, MINUS: minus, GAP: plus - minus, IMPACT: selected_minus / selected_plus}
    if model.coupling is None or model.group_fraction != FRACTION:
        return numbers
    rng.bit_generator.state = state  # the same sample again
    separate = 1 - measure(replace(model, coupling=0.0), d, rng).cluster_errors
    return numbers | dict(zip(GAINS, (plus - separate[0], minus - separate[1]), strict=True))


def predicted(model: TeacherMixture) -> dict[str, float]:
    plus, minus = accuracy(0)(model), accuracy(1)(model)
    return {PLUS: plus, MINUS: minus, GAP: plus - minus, IMPACT: fairness("disparate_impact")(model)}


def predicted_gains(model: TeacherMixture) -> dict[str, float]:
    """Return what a coupling adds to the accuracy of two separate classifiers."""
    separate = replace(model, coupling=0.0)
    return {name: accuracy(c)(model) - accuracy(c)(separate) for c, name in enumerate(GAINS)}


def draws(seed: int, setting: str, x: float, d: int, replicate: int) -> Generator:
    """Name the samples, which are the same for all classifiers at one share, and for all couplings."""
    return stream(seed, "fairness", FRACTION if setting == COUPLINGS else x, d, replicate)


def samples(setting: str, x: float) -> str:
    return f"share {FRACTION if setting == COUPLINGS else x:g}"


HUES = {"plain": 0, "reweighed": 1, "coupled": 2, COUPLINGS: 2}  # and markers
GROUPS = {"group +": "-", r"group $-$": "--"}  # their lines


def both(setting: str, numbers: tuple[str, ...]) -> dict[str, Curve]:
    """Show a number of each group, without a legend: the hue is that of the classifier, the line that of the group."""
    return {
        f"_{setting if setting != COUPLINGS else 'coupled'}, {group}": Curve(
            number=number, setting=setting, style=style, color=HUES[setting]
        )
        for (group, style), number in zip(GROUPS.items(), numbers, strict=True)
    }


def each(number: str) -> dict[str, Curve]:
    """Show one number of all classifiers."""
    return {
        name if name != "coupled" else rf"coupled, $\gamma = {COUPLING}$": Curve(
            number=number, setting=name, color=HUES[name], style=style
        )
        for name, style in zip(SETTINGS, ("-", "-.", ":"), strict=True)
    }


def draw(axes: Axes, rows: DataFrame) -> None:
    """Draw the line on which groups are equal, or say which line is that of which group and classifier."""
    if (panel := rows["panel"].iloc[0]) in EQUAL:
        axes.axhline(EQUAL[panel], color="0.6", linewidth=0.8, zorder=0)
    elif panel == ACCURACIES:
        for group, style in GROUPS.items():
            axes.plot([], [], color="0.3", linestyle=style, label=group)
        axes.legend()
        for name in ("plain", "reweighed"):
            name_curve(axes, f"_{name}, group +", name)
    else:
        for group in GROUPS:
            name_curve(axes, f"_coupled, {group}", group)


EXPERIMENT = Experiment(
    title="Two groups with different teachers: equal accuracy is not equal selection",
    papers={
        "arXiv:2205.15935": "The published text was not readable; settings are our own. The smaller group is served "
        "worse, and weights and coupled classifiers help.",
    },
    panels=[
        Panel(
            title=ACCURACIES,
            curves=both("plain", (PLUS, MINUS)) | both("reweighed", (PLUS, MINUS)),
            ylabel="accuracy (share of right signs)",
        ),
        Panel(title=DIFFERENCES, curves=each(GAP), ylabel="difference of the accuracies"),
        Panel(
            title=RATES,
            curves=each(IMPACT),
            ylabel="disparate impact",
            ylim=(0.25, 1.05),
        ),
        Panel(
            title=rf"two coupled classifiers, $\rho = {FRACTION}$",
            curves=both(COUPLINGS, GAINS),
            theory=predicted_gains,
            line=np.geomspace(0.01, 100, 33),
            points=(0.03, 0.16, 1.0, 10.0),
            d=90,
            replicates=100,
            xlabel=r"coupling $\gamma$",
            xscale="log",
            ylabel=r"gain in accuracy over $\gamma = 0$",
        ),
    ],
    measure=measured,
    theory=predicted,
    settings=SETTINGS | {COUPLINGS: partial(coupled, fraction=FRACTION)},
    streams=draws,
    together=samples,
    draw=draw,
    line=0.5 - 0.48 * np.cos(np.linspace(0, np.pi, 41)),  # finer near the ends, where weights bend the lines
    points=(0.15, 0.4, 0.75),
    d=60,
    replicates=40,
    seed=16,  # samples that no earlier table had
    xlabel=r"share $\rho$ of group +",
    caption="Weights that count each group as one half narrow the gap in accuracy where one group is small (widen it "
    "at rho = 0.4, by theory from 0.37 to 0.5), and selection stays unequal. Groups lie at ±v with variance 0.5; "
    "their teachers have overlap 0.5, and 0.3 and 0.1 with v; the loss is logistic, alpha = 2, lambda = 0.1. Lines "
    "are the theory; markers are simulations at d = 60 and 120, in (d) at 90 and 180, extrapolated, all classifiers "
    "on the same samples. (a) Accuracies. (b) Their difference. (c) The rate of selection, group - over group +. "
    "Gray: equal groups. (d) What a coupling adds: group + gains most from a moderate one.",
    draft=partial(thinned, line=3, points=1),
)
