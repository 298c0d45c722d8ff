"""Stochastic binary weights of a larger norm have better signs, and gradient descent on their means finds solutions."""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from figures.core import Context, Experiment, Panel, Row, judged_together, row
from simulate.core import Estimate, Task, stream
from simulate.perceptron import descend_stochastic_weights, sample_stochastic_weights
from theory.models import StochasticPerceptron
from theory.perceptron import stochastic_saddle_point

ALPHA = 0.55
NORMS = {5: (0.5, 0.6, 0.7, 0.8), 10: (0.5, 0.6, 0.7, 0.8), 20: (0.5, 0.6, 0.7)}  # of the samples, by beta
N = 80
SIZES, EPOCHS = (101, 301), 1500
PATTERNS = (0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8)  # a weight, for the descent
ERROR, OVERLAP, SUCCESS = "error of the signs", "overlap of two samples", "descent"


def model(beta: float, squared_norm: float) -> StochasticPerceptron:
    return StochasticPerceptron(alpha=ALPHA, squared_norm=squared_norm, beta=beta)


def sampled(beta: float, squared_norm: float, n_weights: int, replicate: int) -> NDArray[np.float64]:
    """Samples one set of patterns: the fraction that the signs misclassify, and the overlap of two chains."""
    rng = stream(0, "stochastic weights", beta, squared_norm, n_weights, replicate)
    sample = sample_stochastic_weights(model(beta, squared_norm), n_weights, rng, n_sweeps=600, r_hat_limit=1.1)
    return np.array([sample.binarized_error, sample.overlap])


def solved(alpha: float, n_weights: int, epochs: int, replicate: int) -> float:
    """Returns 1 if the descent has found binary weights that classify all patterns, and 0 if not."""
    rng = stream(0, "stochastic descent", alpha, n_weights, replicate)
    return float(descend_stochastic_weights(alpha, n_weights, rng, max_epochs=epochs).solved)


def rate(successes: NDArray[np.float64]) -> Estimate:
    """Returns the fraction of successes, with the binomial error of one more success and one more failure."""
    n = len(successes)
    likely = (successes.sum() + 1) / (n + 2)
    return Estimate(float(successes.mean()), float(np.sqrt(likely * (1 - likely) / n)), n)


def compute(context: Context) -> list[Row]:
    seeds, starts, d = range(context.replicates(12)), range(context.replicates(16)), context.size(N)
    points = [(beta, Q) for beta, norms in NORMS.items() for Q in context.thin(norms, 2)]
    sizes, alphas = (SIZES[:1], PATTERNS[::3]) if context.is_draft else (SIZES, PATTERNS)
    epochs = 200 if context.is_draft else EPOCHS
    tasks = [Task(f"{beta}/{Q}/{seed}", sampled, (beta, Q, d, seed)) for (beta, Q), seed in product(points, seeds)]
    tasks += [
        Task(f"descent/{n}/{alpha}/{seed}", solved, (alpha, n, epochs, seed))
        for n, alpha, seed in product(sizes, alphas, starts)
    ]
    found, rows = context.sweep(tasks), []
    values = {(beta, Q): np.array([found[f"{beta}/{Q}/{seed}"] for seed in seeds]) for beta, Q in points}
    for beta in NORMS:
        lines = [stochastic_saddle_point(model(beta, Q)) for Q in context.thin(np.linspace(0.4, 0.95, 31), 6)]
        for panel, name in ((ERROR, "binarized_error"), (OVERLAP, "q")):
            curve = rf"$\beta = {beta}$"
            rows += [row(curve, at.model.squared_norm, panel=panel, theory=getattr(at, name)) for at in lines]
        for Q in (norm for other, norm in points if other == beta):
            at, judged = stochastic_saddle_point(model(beta, Q)), not context.is_draft
            curve = rf"$\beta = {beta}$"
            made = [
                row(
                    rf"$\beta = {beta}$",
                    Q,
                    panel=panel,
                    theory=getattr(at, name),
                    d=d,
                    estimate=estimate,
                    judged=judged,
                )
                for panel, name, column in ((ERROR, "binarized_error", 0), (OVERLAP, "q", 1))
                for estimate in [Estimate.of(values[beta, Q][:, column])]
            ]
            rows += judged_together(f"beta = {beta}, norm {Q}", made, values[beta, Q])
    for n, alpha in product(sizes, alphas):
        successes = np.array([found[f"descent/{n}/{alpha}/{seed}"] for seed in starts])
        rows.append(row(f"$N = {n}$", alpha, panel=SUCCESS, d=n, estimate=rate(successes)))
    return rows


NORM, SHARE = "squared norm of the means $|m|^2/N$", "runs that find a solution"
EXPERIMENT = Experiment(
    title=rf"Stochastic binary weights: equilibrium at $\alpha = {ALPHA}$, $N = {N}$, and gradient descent",
    compute=compute,
    panels=(
        Panel(curves={}, title=ERROR, xlabel=NORM, yscale="log", ylabel="misclassified patterns", ylim=(1e-7, 0.5)),
        Panel(curves={}, title=OVERLAP, xlabel=NORM, ylabel=r"$q = m \cdot m'/N$"),
        Panel(curves={}, title=SUCCESS, xlabel=r"patterns a weight $\alpha$", ylabel=SHARE, ylim=(-0.1, 1.1)),
    ),
    unjudged="a draft has too few weights for the theory",
    caption="Weights are +1 or -1 at random, with means m that are learned. Left and middle: the means have the Gibbs "
    "probability exp(-beta L) of their loss L at a fixed norm. The left panel shows the fraction of patterns that the "
    "binary weights sign(m) misclassify, the middle one the overlap of two samples of m. Lines are the "
    "replica-symmetric theory, which is locally stable everywhere on them. Markers are Monte Carlo averages over "
    "twelve sets of patterns (48 at paper quality), with error bars; at 80 weights no correction for the finite number "
    "of weights is seen. A larger norm makes the signs better by orders of magnitude, although beta is finite. Right: "
    "gradient descent on the same loss with a free norm, for which there is no theory line. Markers are the share of "
    "sixteen runs (64 at paper quality) of at most 1500 epochs after which the signs of m classify all patterns "
    "correctly, with binomial error bars. The larger network begins to fail at a smaller number of patterns for each "
    "weight.",
    papers={
        "arXiv:1710.09825": "The figure has the error of the signs against the norm at several temperatures, and "
        "descent that finds solutions up to about 0.6 patterns per weight; sizes and temperatures are our own.",
    },
)
