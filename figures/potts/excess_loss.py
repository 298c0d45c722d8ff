"""Excess loss and recovery error fall with the number of samples, as exact asymptotic laws say."""

import math
from functools import cache, partial

import numpy as np
from numpy.random import Generator

from figures.core import Average, Curve, Experiment, Panel
from figures.potts.pair_model import pair_model
from simulate.core import stream
from simulate.potts import factored_attention, full_recovery_error, pseudo_likelihood, recovery_error
from theory import potts
from theory.models import PottsModel
from theory.potts.excess_loss import Fit

LOSS, ERROR = "excess masked loss", "recovery error"
FACTORED, SYMMETRIC, FULL = "factored", "full, symmetric", "full, site by site"
PARAMETERIZATION: dict[str, Fit] = {FACTORED: "factored", SYMMETRIC: "symmetric", FULL: "full"}
BETA = 0.8
SIZES = (300, 1_000, 4_000, 20_000, 100_000)
ASYMPTOTIC = 10_000  # z is judged from here on: the next order in 1/M is below the error bars

TOLERANCE = 3e-3  # times the size 1/sqrt(M) of the gradient that a sample leaves at the truth


Problem = tuple[str, float]  # the kind of fit, and the number of samples


def problem(kind: str, n_samples: float) -> Problem:
    return kind, n_samples


@cache
def population() -> tuple[PottsModel, potts.Enumeration, float]:
    model = pair_model(BETA)
    return model, potts.enumerate_states(model), potts.masked_loss_floor(model)


def fitted(problem: Problem, _n_sites: int, rng: Generator) -> dict[str, float]:
    """Measure excess masked loss and relative error of the couplings of one fit, averaged exactly over new data."""
    (kind, n_samples), (model, law, floor) = problem, population()
    states, p = law.states, law.probabilities
    counts = rng.multinomial(round(n_samples), p)
    seen, ridge, tol = counts > 0, 0.01 / n_samples, TOLERANCE / math.sqrt(n_samples)
    weights = counts[seen]
    if kind == FACTORED:
        # The laws are those of the minimum next to the truth, which is found from there at once.
        start = model.beta * model.dense_site_couplings, model.color_couplings
        fit = factored_attention(states[seen], 3, weights=weights, l2=ridge, field_l2=ridge, start=start, tol=tol)
        error, log_p = recovery_error(fit.site_couplings, fit.color_couplings, model), fit.log_conditionals(states)
    else:
        full = pseudo_likelihood(states[seen], 3, weights=weights, l2=ridge, field_l2=ridge, tol=tol)
        error, log_p = full_recovery_error(full.couplings, model), full.model.log_conditionals(states)
    own = np.take_along_axis(log_p, states[:, :, None].astype(int), axis=2)[:, :, 0]
    return {LOSS: -p @ own.mean(axis=1) - floor, ERROR: error}


def laws(problem: Problem) -> dict[str, float]:
    kind, n_samples = problem
    law = potts.excess_loss_coefficient(pair_model(BETA), PARAMETERIZATION[kind])
    return {LOSS: law.masked_loss(n_samples), ERROR: law.recovery_error(n_samples)}


def full_loss(n_samples: float) -> float:
    return laws((FULL, n_samples))[LOSS]


def curves(number: str, average: Average) -> dict[str, Curve]:
    return {kind: Curve(setting=kind, number=number, average=average) for kind in (FACTORED, SYMMETRIC)}


EXPERIMENT = Experiment(
    title="Laws of many samples describe the learning curves of a pair model",
    measure=fitted,
    theory=laws,
    settings={kind: partial(problem, kind) for kind in (FACTORED, SYMMETRIC)},
    streams=lambda seed, _kind, n_samples, _n_sites, r: stream(seed, "excess loss", int(n_samples), r),
    together=lambda _kind, n_samples: f"M = {n_samples:.0f}",
    panels=(
        Panel(
            title=LOSS,
            curves=curves(LOSS, "mean") | {FULL: Curve(model=float, theory=full_loss, points=())},
            ylabel="excess over the floor (nats per site)",
        ),
        Panel(
            title=ERROR,
            curves=curves(ERROR, "root mean square"),
            ylabel="relative error of the couplings, r.m.s.",
        ),
    ),
    line=np.geomspace(SIZES[0] / 1.5, SIZES[-1] * 1.5, 20),
    points=SIZES,
    d=6,
    extrapolate=False,
    replicates=200,
    judged_where=lambda n_samples: n_samples >= ASYMPTOTIC,
    xlabel="samples $M$",
    xscale="log",
    yscale="log",
    unjudged="the laws hold for many samples, and are judged from 10000 samples on",
    caption="The excess of the masked loss falls as 1/M and the error of the couplings as 1/sqrt(M), by laws of many "
    "samples; the factored fit has the smaller excess. Markers are fits to M samples, measured on the "
    "population of L = 6 sites of C = 3 colors. (a) The loss above that of the true conditionals; the line is "
    "tr(H^+ K)/(2 L M), with the Hessian H and the covariance K of the gradient. Dotted: a fit with couplings "
    "of each site, 0.7 % above the symmetric one. (b) The root mean square of |learned - true|/|true|, from "
    "H^+ K H^+/M. At M = 300 markers lie up to 15 % above; z is judged from 10000 on.",
)
