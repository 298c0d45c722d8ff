"""With power-law variances the least error for a given compute falls as a power that theory states in advance."""

import math
from collections.abc import Sequence
from functools import cache, partial

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize_scalar

from figures.core import Axes, Curve, DataFrame, Experiment, Panel
from figures.core.experiment import level
from figures.masked.second_shades import SECOND_SHADES
from simulate.masked import fit_training_path, sample
from theory import masked
from theory.core import Array
from theory.models import Covariance, GivenSpectrum, MaskedRegression, PowerLaw

EXPONENTS = (1.5, 2.0, 3.0)
SHOWN = 2.0
COORDINATES = 1e12  # which stands for infinitely many: errors are in units of 1/d, and change by less than 1e-4
SINGLE = 100  # leading eigenvalues that are nodes of their own; later ones are taken together
SIMULATED = MaskedRegression(PowerLaw(512, SHOWN, rotation=0), 0.125)  # 64 rows
STEP = 0.05  # of log C, for a slope
COMPUTES, TIMES_BEST = (1e3, 1e4, 1e5), (1 / 3, 1.0, 3.0)  # the rows of simulations, in units of the best number
SLOPE = "slope with the best $n$"
CHEAPEST, SETTLED, DEAREST = 1e2, 1e3, 1e9  # of C: below the middle one the best n are few


@cache
def infinite(exponent: float) -> Covariance:
    """Return eigenvalues j^-exponent, j = 1, 2, ..., on a random basis of so many coordinates that n << d."""
    later = np.geomspace(SINGLE + 1, COORDINATES + 1, 600).round()
    edges = np.unique(np.concatenate([np.arange(1, SINGLE + 1), later]))
    low, high = edges[:-1] - 0.5, edges[1:] - 0.5
    means = (low ** (1 - exponent) - high ** (1 - exponent)) / (exponent - 1) / (high - low)
    single = high - low == 1
    return GivenSpectrum(np.where(single, edges[:-1] ** -exponent, means), (high - low) / (high - low).sum())


@cache
def error(exponent: float, n: float, compute: float) -> float:
    """Return d times the mean error of n rows after the time C/n."""
    found = masked.training_curve(infinite(exponent), n / COORDINATES, [compute / n])
    return float(found.mean_test_error[0]) * COORDINATES


@cache
def best_rows(exponent: float, compute: float) -> float:
    guess = compute ** (1 / (1 + exponent))
    bounds = math.log(guess / 30), math.log(30 * guess)
    found = minimize_scalar(
        lambda log_n: math.log(error(exponent, math.exp(log_n), compute)), bounds=bounds, method="bounded"
    )
    return math.exp(found.x)


def least_error(exponent: float, compute: float) -> float:
    return error(exponent, best_rows(exponent, compute), compute)


def slope(exponent: float, compute: float) -> float:
    """Return minus the slope of log E in log C; at the best number of rows it is that at fixed rows."""
    n = best_rows(exponent, compute)
    ends = (math.log(error(exponent, n, compute * math.exp(sign * STEP))) for sign in (-1, 1))
    before, after = ends
    return (before - after) / (2 * STEP)


def power(exponent: float) -> float:
    """Return the slope that is predicted for a large compute."""
    return (exponent - 1) / (exponent + 1)


def measured(model: MaskedRegression, computes: Sequence[float], d: int, rng: Generator) -> dict[str, Array]:
    """Measure d times the mean error of one data set at each compute, in units of the largest eigenvalue."""
    covariance, n = model.covariance.resized(d), round(model.alpha * d)
    path = fit_training_path(sample(covariance, n, rng), in_units(computes, n, d))
    return {"error": path.mean_test_errors(covariance) * d ** (1 - SHOWN)}


def predicted(model: MaskedRegression, computes: Sequence[float], d: int) -> dict[str, Array]:
    n = round(model.alpha * d)
    found = masked.training_curve(model.covariance.resized(d), n / d, in_units(computes, n, d))
    return {"error": found.mean_test_error * d ** (1 - SHOWN)}


def in_units(computes: Sequence[float], n: float, d: int) -> Array:
    """Return the times C/n in units in which the largest eigenvalue is d^exponent, as that of the record is."""
    return np.asarray(np.asarray(computes) / n * float(d) ** -SHOWN)


def simulated(compute: float, rows: float, d: int, rng: Generator) -> float:
    """Measure the error at a compute that is spent on so many rows."""
    alone = MaskedRegression(PowerLaw(d, SHOWN, rotation=0), round(rows) / d)
    return float(measured(alone, [compute], d, rng)["error"][0])


def at_size(compute: float, rows: float, d: int) -> float:
    """Return the error of so many rows of d coordinates by theory."""
    found = masked.training_curve(PowerLaw(d, SHOWN, rotation=0), rows / d, in_units([compute], rows, d))
    return float(found.mean_test_error[0] * d ** (1 - SHOWN))


def spent(compute: float, color: str) -> Curve:
    """Declare the error at one compute against the rows that it is spent on, with a star at the best number."""
    best = cache(partial(best_rows, SHOWN, compute))
    return Curve(
        model=float,
        theory=lambda rows: error(SHOWN, rows, compute),
        theory_at=partial(at_size, compute),
        replicate=partial(simulated, compute),
        line=lambda: best() * np.geomspace(0.3, 4, 16),
        points=lambda: [float(round(times * best())) for times in TIMES_BEST],
        stars=lambda: [best()],
        d=512,
        extrapolate=False,
        unjudged="errors of few rows are larger than the theory of many says, by about half over their number",
        color=color,
        style="-",
    )


def of_rows(n: float) -> Curve:
    line = n * np.geomspace(1.0, 30 * n**SHOWN, 25)
    return Curve(
        model=float, theory=lambda compute: error(SHOWN, n, compute), line=line[line < DEAREST * 1.01], style="-"
    )


def draw(axes: Axes, rows: DataFrame) -> None:
    """Write the exponents at the slopes, which end beside the predicted powers, and put large stars behind markers."""
    for line in axes.get_lines():
        if line.get_marker() == "*":
            line.set(zorder=1, markersize=13)
    if rows["panel"].iloc[0] == SLOPE:
        axes.legend().remove()
        for place, a in enumerate(EXPONENTS):
            axes.text(DEAREST, power(a) + 0.01, f"$a = {a:g}$", ha="right", color=f"C{place}", fontsize=7)


EXPERIMENT = Experiment(
    title="The least error falls as a power of the compute (variances $j^{-a}$)",
    panels=[
        Panel(
            title="$a = 2$",
            curves={
                "best $n$": Curve(
                    model=float,
                    theory=partial(least_error, SHOWN),
                    line=np.geomspace(CHEAPEST, DEAREST, 15),
                    style="--",
                    color="black",
                ),
            }
            | {f"$n = {n:g}$": of_rows(n) for n in (10.0, 100.0, 1000.0)}
            | {
                "$n = 64$, $d = 512$": Curve(
                    setting="simulated",
                    number="error",
                    line=np.geomspace(1e2, 1e7, 25),
                    points=(2e2, 3e3, 4e4, 5e5, 6e6),
                    d=512,
                    theory_at=predicted,
                    extrapolate=False,
                    style=":",
                    color="C4",
                ),
            },
            ylabel="mean test error times $d$",
            yscale="log",
            ordered=True,
        ),
        Panel(
            title="$a = 2$, at one compute",
            curves={
                f"$C = 10^{round(math.log10(C))}$": spent(C, shade)
                for C, shade in zip(COMPUTES, SECOND_SHADES, strict=False)
            },
            xlabel="rows $n$",
            ylabel="mean test error times $d$",
            yscale="log",
        ),
        Panel(
            title=SLOPE,
            curves={f"$a = {a:g}$": Curve(model=float, theory=partial(slope, a), style="-") for a in EXPONENTS}
            | {
                f"_law, {a:g}": level(partial(power, a), (SETTLED, DEAREST), "reference", style=":", color=color)
                for color, a in enumerate(EXPONENTS)
            },
            line=np.geomspace(SETTLED, DEAREST, 13),
            table_points=(SETTLED, DEAREST),
            ylabel=r"$-\mathrm{d} \log E / \mathrm{d} \log C$",
            ylim=(0, 0.6),
        ),
    ],
    settings={"simulated": SIMULATED},
    measure=measured,
    by_point=True,
    points=(),
    toy_d=512,  # of fewer rows the latest errors are too near their limit for double precision
    replicates=16,
    xlabel="compute $C = n t$",
    xscale="log",
    draw=draw,
    caption="If the eigenvalues of the covariance are j^-a, the least error that a compute C = n t buys falls as the "
    "power (a - 1)/(a + 1) of it, with n proportional to C^(1/(a+1)) rows. Masked regression learns by gradient "
    "flow for a time t; errors are those on new rows. Markers: means of {replicates} simulations, d = 512. (a) "
    "The error of n rows by theory for n far below d, and its envelope (dashed); dotted: 64 rows. (b) The error "
    "at one compute against its rows, by theory of d = 512; stars: the best number. Markers are not judged, "
    "since few rows err more than theory says. (c) Minus the envelope's slope; dotted: predicted powers.",
)
