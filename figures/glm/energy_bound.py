"""A loss that is not convex: the bound of replica symmetry, one step of its breaking, and what descents find."""

from functools import lru_cache, partial

import numpy as np
from numpy.random import Generator

from figures.core import Curve, Experiment, Panel
from figures.core.experiment import NONE
from figures.glm.sigmoid import Sigmoid
from simulate.glm.descents import descent_energies
from theory.glm.one_step import OneStepEnergy, one_step_energy
from theory.models import Isotropic, RandomLabels

ALPHA, LOSS = 3.0, Sigmoid()
LAMS = (0.01, 0.02, 0.05, 0.1)
CONVEX_RIDGE = 0.2  # at which symmetry holds and each training set has one minimum: its energy tells the set's luck


@lru_cache(maxsize=64)
def labels(lam: float) -> RandomLabels:
    return RandomLabels(covariance=Isotropic(np.inf), alpha=ALPHA, lam=lam, loss=LOSS)


@lru_cache(maxsize=64)
def energies(model: RandomLabels) -> OneStepEnergy:
    return one_step_energy(model)


def over_bound(value: float, model: RandomLabels) -> float:
    return value / energies(model).bound


def descents(model: RandomLabels, d: int, rng: Generator, which: slice) -> float:
    """Measure the least energy of some descents, less what the same training set has too much at a larger ridge."""
    state = rng.bit_generator.state
    found = descent_energies(model, d, rng)[which].min()
    rng.bit_generator.state = state
    convex = labels(CONVEX_RIDGE)
    return over_bound(float(found - descent_energies(convex, d, rng, starts=1)[0]) + energies(convex).energy, model)


EXPERIMENT = Experiment(
    title=r"The loss $1/(1 + e^{yh})$ on random labels, $\alpha = 3$",
    panels=[
        Panel(
            curves={
                "one step of symmetry breaking": Curve(
                    model=labels,
                    theory=lambda model: over_bound(energies(model).energy, model),
                    replicate=NONE,
                    points=(),
                ),
                "replica symmetry, a lower bound": Curve(
                    model=labels, theory=lambda model: 1.0, replicate=NONE, points=(), style="--"
                ),
                "least of 8 descents": Curve(
                    model=labels,
                    theory=lambda model: over_bound(energies(model).energy, model),
                    replicate=partial(descents, which=slice(None)),
                    line=(),
                ),
                "one descent": Curve(
                    model=labels,
                    theory=lambda model: over_bound(energies(model).energy, model),
                    replicate=partial(descents, which=slice(1)),
                    line=(),
                ),
            },
        )
    ],
    line=LAMS,
    points=LAMS,
    d=100,
    replicates=16,
    extrapolate=False,
    judged=lambda model: False,
    unjudged="descents end in local minima, above the least energy",
    xlabel=r"ridge $\lambda$",
    ylabel="energy per weight over the symmetric bound",
    xscale="log",
    caption="**Where the prox of the loss jumps, replica symmetry is a lower bound of the energy only.** The energy is "
    "the sum of losses over d plus the ridge, per weight, divided by the symmetric one. The dashed line is that bound, "
    "the solid line one step of symmetry breaking at its best Parisi parameter; both are one at ridges of 0.1 and "
    "above, where the symmetric point is stable. Markers are descents (L-BFGS) from random weights at d = {sizes}: one "
    "of them, and the least of eight, with error bars over {replicates} training sets; of each energy is taken what the "
    "same set has above the theory at a ridge of 0.2, where all descents agree. No z is given, since descents end in "
    "local minima, which lie above the least energy.",
)
