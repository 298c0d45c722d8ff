"""Stochastic binary weights of a larger norm have better signs, and gradient descent on their means finds solutions."""

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.random import Generator

from figures.core import Curve, Experiment, Panel, thinned
from simulate.core import stream
from simulate.perceptron import descend_stochastic_weights, sample_stochastic_weights
from theory.models import StochasticPerceptron
from theory.perceptron import stochastic_saddle_point

ALPHA = 0.55
NORMS = {
    5: (0.5, 0.6, 0.7, 0.8, 0.9),
    10: (0.5, 0.6, 0.7, 0.8, 0.85),
    20: (0.5, 0.6, 0.7, 0.8),
}  # of the samples, by beta
N = 80
BETAS = {f"beta = {beta}": beta for beta in NORMS}
SIZES = (101, 301)
PATTERNS = (0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8)  # per weight, for the descent
ERROR, OVERLAP, SUCCESS = "error of the signs", "overlap of two samples", "descent"


def model(squared_norm: float, beta: float) -> StochasticPerceptron:
    return StochasticPerceptron(alpha=ALPHA, squared_norm=squared_norm, beta=beta)


def measured(
    at: StochasticPerceptron | float, n_weights: int, rng: Generator, max_epochs: int = 1500
) -> dict[str, float]:
    """Sample one set of patterns: the fraction that the signs misclassify, and the overlap of two chains.

    Of a number of patterns per weight it is 1 if the descent has found binary weights that classify all patterns, else
    0.
    """
    if isinstance(at, float):
        return {SUCCESS: float(descend_stochastic_weights(at, n_weights, rng, max_epochs=max_epochs).solved)}
    sample = sample_stochastic_weights(at, n_weights, rng, n_sweeps=600, r_hat_limit=1.1)
    return {ERROR: sample.binarized_error, OVERLAP: sample.overlap}


def predicted(at: StochasticPerceptron) -> dict[str, float]:
    point = stochastic_saddle_point(at)
    return {ERROR: point.binarized_error, OVERLAP: point.q}


def draws(seed: int, setting: str, x: float, d: int, replicate: int) -> Generator:
    names = ("stochastic descent",) if setting == SUCCESS else ("stochastic weights", BETAS[setting])
    return stream(seed, *names, x, d, replicate)


def curves(number: str) -> dict[str, Curve]:
    return {
        rf"$\beta = {beta}$": Curve(number=number, setting=name, points=NORMS[beta]) for name, beta in BETAS.items()
    }


DESCENTS = {
    f"$N = {n}$": Curve(
        number=SUCCESS,
        setting=SUCCESS,
        line=(),
        points=PATTERNS,
        d=n,
        replicates=16,
        average="share",
        color=1 + k,
        marker="^v"[k],
    )
    for k, n in enumerate(SIZES)
}
NORM, SHARE = "squared norm of the means $|m|^2/N$", "runs that find a solution"
EXPERIMENT = Experiment(
    title="Signs of stochastic binary weights err less as their means grow",
    measure=measured,
    settings={name: partial(model, beta=beta) for name, beta in BETAS.items()} | {SUCCESS: float},
    streams=draws,
    panels=(
        Panel(
            curves=curves(ERROR),
            title=ERROR,
            xlabel=NORM,
            theory=predicted,
            yscale="log",
            ylabel="misclassified patterns",
            ylim=(1e-7, 0.5),
        ),
        Panel(curves=curves(OVERLAP), title=OVERLAP, theory=predicted, xlabel=NORM, ylabel=r"$q = m \cdot m'/N$"),
        Panel(
            curves=DESCENTS,
            title=SUCCESS,
            ordered=False,
            xlabel=r"patterns per weight $\alpha$",
            ylabel=SHARE,
            ylim=(-0.1, 1.1),
        ),
    ),
    line=np.linspace(0.4, 0.95, 31),
    ordered=True,
    d=N,
    extrapolate=False,
    replicates=12,
    draft=lambda own: thinned(replace(own, measure=partial(measured, max_epochs=200), d=20), line=6),
    caption="The larger the norm of the means of random binary weights, the fewer patterns their signs misclassify, by "
    "theory by orders of magnitude. (a, b) Means m have the Gibbs probability exp(-beta L) of their loss at a "
    "fixed norm: the fraction of patterns that sign(m) misclassifies, and the overlap of two samples of m. "
    "Lines are the replica-symmetric theory, locally stable everywhere; markers are Monte Carlo averages over "
    "twelve sets of patterns of 80 weights, up to norms at which chains mix. (c) Gradient descent with a free "
    "norm, without theory: the share of sixteen runs of at most 1500 epochs after which sign(m) classifies all "
    "patterns. It falls beyond 0.6 patterns per weight.",
    papers={
        "arXiv:1710.09825": "The figure has the error of the signs against the norm at several temperatures, and "
        "descent that finds solutions up to about 0.6 patterns per weight. The published figures were not readable; "
        "sizes and temperatures are our own.",
    },
)
