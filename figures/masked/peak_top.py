"""The exact top of the interpolation peak over the number of samples: its place and its height at every ridge."""

from functools import cache, partial

import numpy as np
from scipy.optimize import minimize_scalar
from sympy import Expr

from figures.core import NONE, Curve, Experiment, Panel
from simulate.masked import mean_test_error
from theory import masked
from theory.masked import closed_forms
from theory.models import AR1, Isotropic, MaskedRidge

R = 0.6
INDEPENDENT, CHAIN = Isotropic(np.inf), AR1(np.inf, R)
SIDES = {0.01: (0.7, 1.4), 0.1: (0.5, 1.6), 1.0: (0.15, 2.0)}  # ridge: sample ratios below and above the top
CHAIN_SEARCH = (0.35, 1.05)  # sample ratios between which the chain has its top, at the ridges that are shown
RIDGES, CHAIN_RIDGES = np.geomspace(1e-3, 3, 31), np.geomspace(1e-3, 0.1, 17)


def number(form: Expr, lam: float, **values: float) -> float:
    return float(form.subs({closed_forms.lam: lam} | {getattr(closed_forms, name): x for name, x in values.items()}))


def place(lam: float) -> float:
    return number(closed_forms.isotropic_peak_sample_ratio(), lam)


def height(lam: float) -> float:
    return number(closed_forms.isotropic_peak_height(), lam)


def test_error(model: MaskedRidge) -> float:
    return masked.solve(model).mean_test_error


@cache
def chain_top(lam: float) -> MaskedRidge:
    """Return the chain at the sample ratio where its error is largest, found with the solver."""
    found = minimize_scalar(
        lambda alpha: -test_error(MaskedRidge(CHAIN, alpha, lam)), bounds=CHAIN_SEARCH, method="bounded"
    )
    return MaskedRidge(CHAIN, float(found.x), lam)


def chain_at_one(lam: float) -> float:
    """Return the error of the chain at alpha = 1 to the next order, from the mean powers of its precision."""
    tau, tau_2 = (1 + R**2) / (1 - R**2), ((1 + R**2) ** 2 + 2 * R**2) / (1 - R**2) ** 2
    return number(closed_forms.peak_test_error_to_next_order(), lam, tau=tau, tau_2=tau_2, variance=1 / tau)


def at_ridge(lam: float) -> Curve:
    return Curve(
        model=partial(MaskedRidge, INDEPENDENT, lam=lam),
        points=(SIDES[lam][0], place(lam), SIDES[lam][1]),
        stars=(place(lam),),
    )


EXPERIMENT = Experiment(
    title=r"The peak has its top at $\alpha = 1/(1 + \lambda)$",
    panels=[
        Panel(
            title="independent coordinates",
            curves={rf"$\lambda = {lam}$": at_ridge(lam) for lam in SIDES},
            line=np.geomspace(0.1, 4, 121),
            xlabel=r"sample ratio $\alpha = n/d$",
            ylabel="mean test error",
        ),
        Panel(
            title="height",
            curves={
                "independent": Curve(
                    model=lambda lam: MaskedRidge(INDEPENDENT, place(lam), lam),
                    theory=lambda model: height(model.lam),
                    points=(0.003, 0.03, 0.3),
                ),
                f"AR(1), $r = {R}$": Curve(model=chain_top, line=CHAIN_RIDGES, points=(0.01, 0.05)),
                r"AR(1), law at $\alpha = 1$": Curve(
                    model=float, theory=chain_at_one, replicate=NONE, points=(), line=CHAIN_RIDGES, style=":", color=1
                ),
            },
            line=RIDGES,
            ylabel="largest mean test error",
        ),
        Panel(
            title="place",
            curves={
                r"$1/(1 + \lambda)$": Curve(model=float, theory=place, replicate=NONE, points=()),
                f"AR(1), $r = {R}$": Curve(
                    model=float, theory=lambda lam: chain_top(lam).alpha, replicate=NONE, points=(), line=CHAIN_RIDGES
                ),
            },
            line=RIDGES,
            ylabel=r"sample ratio $\alpha^*$ of the top",
            yscale="linear",
        ),
    ],
    theory=test_error,
    replicate=mean_test_error,
    d=100,
    replicates=24,
    seed=1,
    xlabel=r"ridge $\lambda$",
    xscale="log",
    yscale="log",
    caption="For independent coordinates the interpolation peak has its top at alpha = 1/(1 + lambda) exactly, "
    "and the height (1 + sqrt(1 + 1/lambda))/2. (a) mean squared error against the sample ratio; stars are these "
    "closed forms. (b, c) Height and place of the top against the ridge, that of a loss averaged over samples. "
    "The lines of AR(1) are the largest error that the solver finds; its top lies further below alpha = 1. Dotted "
    "is the small-ridge law of the error at alpha = 1 with its next order. Markers are simulations at d = "
    "{sizes}, extrapolated in 1/d, with error bars, at the tops ((a), under the stars) and on both sides.",
)
