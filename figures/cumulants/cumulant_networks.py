"""A trained network finds a direction that is hidden in higher cumulants; random features of its size do not."""

from functools import partial

import numpy as np
from numpy.random import Generator

from figures.core import Curve, Experiment
from simulate.core import stream
from simulate.cumulants import known_spike_accuracy, network_accuracy, random_features_accuracy
from theory.cumulants import oracle_accuracy
from theory.models import SpikedCumulant

BETA = 10.0
KAPPAS = (0.25, 1, 4, 8, 16, 32, 64)  # samples of each class over d^2
STEPS = 6000
WIDTH = 20  # random features per dimension: four times the units of the network
NETWORKS, FEATURES, ORACLE = "networks", "features", "oracle"
NO_THEORY = "there is no theory of the two learners"


def accuracy(problem: tuple[str, float], d: int, rng: Generator, n_steps: int = STEPS) -> dict[str, float]:
    (kind, kappa), model = problem, SpikedCumulant(d, BETA)
    if kind == ORACLE:
        return {kind: known_spike_accuracy(model, 2000, rng)}
    if kind == FEATURES:
        return {kind: random_features_accuracy(model, round(kappa * d**2), rng, width=WIDTH * d)}
    return {kind: network_accuracy(model, round(kappa * d**2), rng, n_steps=n_steps)}


def bound(_problem: tuple[str, float], d: int) -> float:
    return oracle_accuracy(SpikedCumulant(d, BETA))


def draws(seed: int, kind: str, kappa: float, d: int, replicate: int) -> Generator:
    return stream(seed, f"cumulant {kind}", d, *(() if kind == ORACLE else (kappa,)), replicate)


def curves(d: int) -> dict[str, Curve]:
    middle, learners = np.sqrt(KAPPAS[0] * KAPPAS[-1]), {NETWORKS: "network", FEATURES: "random features"}
    known = Curve(
        number=ORACLE, setting=ORACLE, d=d, theory_at=bound, line=(KAPPAS[0], KAPPAS[-1]), points=(middle,),
        replicates=20,
    )  # fmt: skip
    return {f"spike known, $d = {d}$": known} | {
        f"{name}, $d = {d}$": Curve(number=kind, setting=kind, d=d, unjudged=NO_THEORY)
        for kind, name in learners.items()
    }


EXPERIMENT = Experiment(
    title=r"At $d = 16$ networks notice a direction that is not Gaussian from $4\,d^2$ samples on",
    measure=accuracy,
    settings={kind: lambda kappa, kind=kind: (kind, kappa) for kind in (NETWORKS, FEATURES, ORACLE)},
    streams=draws,
    curves=curves(16),
    points=KAPPAS,
    toy_d=8,
    extrapolate=False,
    replicates=4,
    draft={"measure": partial(accuracy, n_steps=300), "curves": curves(8), "points": KAPPAS[::3]},
    paper={"measure": partial(accuracy, n_steps=2 * STEPS), "curves": curves(16) | curves(24)},
    xlabel=r"samples of each class over $d^2$",
    ylabel="test accuracy",
    xscale="log",
    ylim=(0.48, 0.76),
    caption="A two-layer network tells samples that are not Gaussian along one hidden direction (a spike of "
    "signs) from Gaussian ones of the same mean and covariance between one and four d^2 samples; random features "
    "of this width stay at 1/2, the accuracy of guessing, at all these sizes. Line and circle: the accuracy of a "
    "test that knows the direction, exact and measured. Network: 5 d ReLU units, all weights trained by Adam. "
    "Random features: 20 d ReLU units with a random first layer, fitted with the best ridge. Markers are means "
    "over runs. There is no theory of the two learners here, so only the circle is judged.",
    papers={
        "arXiv:2312.14922, Fig. 3": "At one dimension it is in line with the finding that networks notice "
        "the direction at n of order d^2 and random features do not. Here networks are trained by Adam and features "
        "are 20 d with the best ridge; published are descent, 5 d and a ridge of 0.1.",
    },
)
