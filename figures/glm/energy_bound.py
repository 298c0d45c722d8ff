"""A loss that is not convex: the bound of replica symmetry, one step of its breaking, and what descents find."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.random import Generator

from figures.core import NONE, Curve, Experiment, level
from figures.glm.sigmoid import Sigmoid
from simulate.glm.descents import descent_energies
from theory import glm
from theory.glm.one_step import OneStepEnergy, one_step_energy
from theory.models import Isotropic, RandomLabels

ALPHA = 3.0
LAMS = (0.01, 0.02, 0.05, 0.1)
LINE = (0.01, 0.014, 0.02, 0.03, 0.04, 0.05, 0.08, 0.13)
LEAST, ONE = "least of 8 descents", "one descent"
CONVEX_RIDGE = 0.2  # at which symmetry holds and each training set has one minimum: its energy tells the set's luck


@dataclass(frozen=True)
class Bounded:
    """Hold a problem with the bound of its energy, and the exact energy at the larger ridge."""

    labels: RandomLabels
    bound: float
    convex: float


def labels(lam: float) -> RandomLabels:
    return RandomLabels(covariance=Isotropic(np.inf), alpha=ALPHA, lam=lam, loss=Sigmoid())


@cache
def bounded(lam: float) -> Bounded:
    return Bounded(labels(lam), glm.solve(labels(lam), check=False).energy_bound, convex_energy())


@cache
def convex_energy() -> float:
    return float(glm.solve(labels(CONVEX_RIDGE)).energy)


@cache
def best_step(lam: float) -> OneStepEnergy:
    return one_step_energy(labels(lam))


def one_step(problem: Bounded) -> dict[str, float]:
    """Return the energy of one step at the best Parisi parameter, which is sought at the ridges of the markers.

    Elsewhere the parameter is interpolated in logarithms: the energy is stationary in it, and takes a tenth of the time
    at a given one.
    """
    lam = problem.labels.lam
    if lam not in LAMS:
        known = [lam for lam in LAMS if math.isfinite(best_step(lam).parisi)]
        logs = np.interp(math.log(lam), np.log(known), np.log([best_step(lam).parisi for lam in known]))
        return {LEAST: one_step_energy(problem.labels, math.exp(logs)).energy / problem.bound}
    return {LEAST: best_step(lam).energy / problem.bound}


def descents(problem: Bounded, d: int, rng: Generator) -> dict[str, float]:
    """Measure the energies of descents, less what the same training set has too much at the larger ridge."""
    state = rng.bit_generator.state
    found = descent_energies(problem.labels, d, rng)
    rng.bit_generator.state = state
    luck = float(descent_energies(labels(CONVEX_RIDGE), d, rng, starts=1)[0]) - problem.convex
    return {LEAST: (float(found.min()) - luck) / problem.bound, ONE: (float(found[0]) - luck) / problem.bound}


EXPERIMENT = Experiment(
    title="Replica symmetry only bounds the energy of a non-convex loss from below",
    curves={
        ONE: Curve(number=ONE, color=1),
        LEAST: Curve(number=LEAST, color=0),
        "one step of symmetry breaking": Curve(
            model=bounded,
            theory=lambda problem: one_step(problem)[LEAST],
            replicate=NONE,
            points=(),
            line=LINE,
            style="-",
            color=6,
        ),
        "replica symmetry, a lower bound": level(lambda: 1.0, (LINE[0], LINE[-1]), "reference", style="--", color=6),
    },
    measure=descents,
    theory=one_step,
    settings={"": bounded},
    points=LAMS,
    d=100,
    replicates=16,
    extrapolate=False,
    unjudged="descents end in local minima, above the least energy",
    xlabel=r"ridge $\lambda$",
    ylabel="energy / symmetric bound",
    xscale="log",
    caption="Where a loss is so far from convex that its proximal operator jumps, replica symmetry gives only a lower "
    "bound of the training energy. The loss is 1/(1 + e^(yh)) on random labels at alpha = 3; energies, losses over d "
    "plus the ridge, are divided by that bound (dashed). The solid line is one step of replica symmetry breaking; "
    "from ridge 0.1 on the two are one, and the symmetric point is stable. Markers are descents (L-BFGS) from random "
    "weights at d = {sizes}: one, and the least of eight on the same set; what a set has above the theory at ridge "
    "0.2, where all descents agree, is subtracted. Descents end in local minima above.",
)
