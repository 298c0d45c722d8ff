"""The exact top of the interpolation peak over the number of samples: its place and its height at every ridge."""

from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from scipy.optimize import minimize_scalar
from sympy import Expr

from figures.core import NONE, Axes, Curve, DataFrame, Experiment, Panel
from figures.core.names import write_name
from simulate.masked import fit, mean_test_error, sample
from theory import masked
from theory.masked import closed_forms
from theory.models import AR1, Covariance, Isotropic, MaskedRidge

R = 0.6
INDEPENDENT, CHAIN = Isotropic(np.inf), AR1(np.inf, R)
SIDES = {0.01: (0.7, 1.4), 0.1: (0.5, 1.6), 1.0: (0.15, 2.0)}  # ridge: sample ratios below and above the top
AROUND = {0.01: 0.2, 0.1: 0.45, 1.0: 0.7}  # ridge: how far, in ln n, a top is looked for from where it should be
CHAIN_SEARCH = (0.35, 1.05)  # sample ratios between which the chain has its top, at the ridges that are shown
TOPS = np.linspace(0.25, 0.993, 60)  # sample ratios at which some ridge has its top
RIDGES, CHAIN_RIDGES = np.geomspace(1e-3, 3, 31), np.geomspace(1e-3, 0.1, 17)


def number(form: Expr, lam: float, **values: float) -> float:
    return float(form.subs({closed_forms.lam: lam} | {getattr(closed_forms, name): x for name, x in values.items()}))


def place(lam: float) -> float:
    return number(closed_forms.isotropic_peak_sample_ratio(), lam)


def height(lam: float) -> float:
    return number(closed_forms.isotropic_peak_height(), lam)


def top_at(alpha: float) -> float:
    """Return the height of the top that stands at a sample ratio below one."""
    return height(1 / alpha - 1)


def test_error(model: MaskedRidge) -> float:
    return masked.solve(model).mean_test_error


@cache
def chain_top(lam: float) -> MaskedRidge:
    """Return the chain at the sample ratio where its error is largest, found with the solver."""
    found = minimize_scalar(
        lambda alpha: -test_error(MaskedRidge(CHAIN, alpha, lam)), bounds=CHAIN_SEARCH, method="bounded"
    )
    return MaskedRidge(CHAIN, float(found.x), lam)


@dataclass(frozen=True)
class Search:
    """Looks for the top of one draw's curve around a sample ratio, which is the prediction."""

    covariance: Covariance
    alpha: float
    lam: float


def measured_place(search: Search, d: int, rng: np.random.Generator) -> float:
    """Find the sample ratio at which the error of a draw of d coordinates is largest, as rows are added to the draw.

    It is that of a polynomial of third order in ln n through the logarithms of the errors at seven numbers of rows.
    """
    target, width = search.covariance.resized(d), AROUND[search.lam]
    sizes = np.unique(np.round(search.alpha * d * np.exp(np.linspace(-width, width, 7)))).astype(int)
    X = sample(target, int(sizes[-1]), rng)
    errors = [fit(X[:n], search.lam).mean_test_error(target) for n in sizes]
    cubic = np.polynomial.Polynomial.fit(np.log(sizes / (search.alpha * d)), np.log(errors), 3)
    flat = cubic.deriv().roots()
    tops = [root.real for root in flat if abs(root.imag) < 1e-9 and cubic.deriv(2)(root.real) < 0]
    return search.alpha * float(np.exp(min(tops, key=abs)))


def chain_at_one(lam: float) -> float:
    """Return the error of the chain at alpha = 1 to the next order, from the mean powers of its precision."""
    tau, tau_2 = (1 + R**2) / (1 - R**2), ((1 + R**2) ** 2 + 2 * R**2) / (1 - R**2) ** 2
    return number(closed_forms.peak_test_error_to_next_order(), lam, tau=tau, tau_2=tau_2, variance=1 / tau)


def at_ridge(lam: float) -> Curve:
    return Curve(
        model=partial(MaskedRidge, INDEPENDENT, lam=lam),
        points=(SIDES[lam][0], place(lam), SIDES[lam][1]),
    )


def draw(axes: Axes, rows: DataFrame) -> None:
    """Name the line of the chain in the panel of heights, below its start."""
    if rows["panel"].iloc[0] == "height":
        name = f"AR(1), $r = {R}$"
        color = next(line.get_color() for line in axes.lines if line.get_gid() == name)
        write_name(axes, name.replace(", ", ",\n"), (1e-3, 1.6), color=color)


EXPERIMENT = Experiment(
    title=r"For independent coordinates the peak has its top at $\alpha = 1/(1 + \lambda)$",
    panels=[
        Panel(
            title="independent coordinates",
            curves={rf"$\lambda = {lam}$": at_ridge(lam) for lam in SIDES}
            | {
                "tops, closed form": Curve(
                    model=float, theory=top_at, replicate=NONE, points=(), line=TOPS, style=":", color="C0"
                )
            },
            ordered=True,
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
                    color=0,
                    marker="P",
                ),
                f"AR(1), $r = {R}$": Curve(
                    model=chain_top, line=CHAIN_RIDGES, points=(0.01, 0.05), color=1, marker="X"
                ),
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
                r"$1/(1 + \lambda)$": Curve(
                    model=lambda lam: Search(INDEPENDENT, place(lam), lam),
                    theory=lambda search: place(search.lam),
                    points=tuple(AROUND),
                    color=0,
                    style="-",
                    marker="P",
                ),
                f"AR(1), $r = {R}$": Curve(
                    model=lambda lam: Search(CHAIN, chain_top(lam).alpha, lam),
                    theory=lambda search: search.alpha,
                    points=(0.01,),
                    line=CHAIN_RIDGES,
                    color=1,
                    style="--",
                    marker="X",
                ),
            },
            line=RIDGES,
            replicate=measured_place,
            ylabel=r"sample ratio $\alpha^*$ of the top",
            yscale="linear",
        ),
    ],
    theory=test_error,
    replicate=mean_test_error,
    d=100,
    replicates=24,
    seed=1,
    draw=draw,
    xlabel=r"ridge $\lambda$",
    xscale="log",
    yscale="log",
    caption="For independent coordinates the interpolation peak has its top at alpha = 1/(1 + lambda) exactly, and "
    "the height (1 + sqrt(1 + 1/lambda))/2. (a) The blue dotted line passes through the tops of all ridges by these "
    "closed forms. (b, c) Height and place of the top against the ridge, that of a loss averaged over samples. The "
    "lines of AR(1) are the largest error that the solver finds. Dotted orange is the small-ridge law at alpha = 1 "
    "with its next order. Markers are simulations at d = {sizes}, extrapolated in 1/d, with error bars; places are "
    "tops of cubics in ln n through seven errors of one draw, to which rows are added.",
)
