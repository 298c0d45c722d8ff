"""Masked ridge regression of Potts data has nearly the errors of Gaussian data of the same covariance."""

import math

import numpy as np

from figures.core import Axes, Context, Curve, DataFrame, Experiment, Panel, Row, judged_together, row
from figures.potts.potts_data import (
    errors_of_fits,
    gaussian_errors,
    population_of,
    random_model,
    ring_with_matching,
    sampled_moments,
    theory,
    unknowns,
)
from simulate.core import Estimate, Task, stream
from simulate.potts.ring import sample_ring
from theory.core.arrays import Array
from theory.models import ContrastPopulation, DensePottsModel, PottsModel
from theory.models.potts import ring_graph
from theory.potts.contrasts import heteroskedasticity, ring_contrasts

L = 81
RIDGES = (0.2, 0.02, 0.0)
RATIOS = (0.4, 0.7, 1.0, 1.4, 2.5)
NEAR = np.geomspace(0.004, 0.7, 22)  # to the peak, which is higher than the panels
LINE = np.concatenate([1 - NEAR[::-1], 1 + NEAR, np.linspace(1.8, 3, 6)])
PROBLEMS = [(ratio, ridge) for ridge in RIDGES for ratio in RATIOS if ridge or ratio != 1]  # the limit diverges at 1
RELATIVE = {0.02: r"against Gaussian data, $\lambda' = 0.02$", 0.0: r"against Gaussian data, $\lambda' \to 0$"}
RINGS = ("ring", "ring, six colors")  # drawn exactly, with an exact population


def models(n_sites: int) -> dict[str, DensePottsModel | PottsModel]:
    """Make the model of each panel, by its title."""
    ring = ring_graph(n_sites)
    return {
        "dense $J$, random $U$": random_model(n_sites),
        "ring and matching": ring_with_matching(n_sites),
        "ring": PottsModel(ring, np.eye(3), beta=1.5),
        "ring, six colors": PottsModel(ring_graph(max(3, n_sites // 2)), np.eye(6), beta=2.5),
    }


def populations(
    context: Context, known: dict[str, DensePottsModel | PottsModel]
) -> dict[str, tuple[ContrastPopulation, float]]:
    """Return the population of each model and its heteroskedasticity h.

    The populations of rings are exact; those of the others, and every h, are measured on 120,000 states.
    """
    chains = context.size(4000, 200)
    tasks = [
        Task(f"population/{title}", sampled_moments, (model, chains, 30, 3, isinstance(model, PottsModel), title))
        for title, model in known.items()
        if title not in RINGS
    ]
    rings = {title: model for title, model in known.items() if title in RINGS and isinstance(model, PottsModel)}
    tasks += [Task(f"monitor/{title}", ring_monitor, (model, 30 * chains, title)) for title, model in rings.items()]
    sampled = {key: np.asarray(value) for key, value in context.sweep(tasks).items()}
    return {
        title: (ring_population(rings[title]), float(sampled[f"monitor/{title}"]))
        if title in rings
        else population_of(sampled[f"population/{title}"], model.n_colors)
        for title, model in known.items()
    }


def ring_population(model: PottsModel) -> ContrastPopulation:
    return ring_contrasts(model.n_sites, model.color_couplings, model.beta)


def ring_monitor(model: PottsModel, n: int, title: str) -> float:
    """Measure the heteroskedasticity of a ring on n independent states, which are drawn exactly."""
    states = sample_ring(model.n_sites, model.color_couplings, model.beta, n, stream(0, "monitor", title))
    return float(heteroskedasticity(ring_population(model), states).mean())


def compute(context: Context) -> list[Row]:
    known = models(context.size(L, 9))
    found = populations(context, known)
    of, h = {title: each[0] for title, each in found.items()}, {title: each[1] for title, each in found.items()}
    replicates = range(context.replicates(24))
    tasks = [
        Task(f"fit/{title}/{r}", errors_of_fits, (model, of[title], PROBLEMS, 0 if title in RINGS else 30, (title, r)))
        for title, model in known.items()
        for r in replicates
    ]
    tasks += [
        Task(f"Gaussian/{title}/{r}", gaussian_errors, (of[title], PROBLEMS, (title, r)))
        for title in known
        for r in replicates
    ]
    errors = context.sweep(tasks)
    rows = []
    for title, population in of.items():
        both = [[errors[f"{kind}/{title}/{r}"] for r in replicates] for kind in ("fit", "Gaussian")]
        measured = np.array(both).transpose(2, 0, 1)
        rows += lines(context, title, population) + excess_lines(title, h[title])
        for problem, values in zip(PROBLEMS, measured, strict=True):
            rows.append(point(title, population, problem, Estimate.of(values[0])))
        rows += excesses(title, h[title], population.covariance.size, measured)
    return rows


def lines(context: Context, title: str, population: ContrastPopulation) -> list[Row]:
    return [
        row(label(ridge), ratio, panel=title, theory=theory(population, ratio, ridge).mean_test_error)
        for ridge in RIDGES
        for ratio in context.thin(LINE, 8)
    ]


def excess_lines(title: str, h: float) -> list[Row]:
    """Return the law of the excess of ridgeless errors over those of Gaussian data, which holds for n > u."""
    ratios = LINE[LINE > 1]
    return [row(title, ratio, panel=RELATIVE[0.0], theory=(h - 1) / ratio) for ratio in (ratios[0], *ratios[4::3])]


def point(title: str, population: ContrastPopulation, problem: tuple[float, float], estimate: Estimate) -> Row:
    """Return one row of the left panels, which is not judged: its theory is of infinitely many contrasts."""
    (ratio, ridge), u, d = problem, unknowns(population), population.covariance.size
    whole = round(ratio * u) / u  # samples are whole
    predicted = theory(population, whole, ridge).mean_test_error
    return row(label(ridge), ratio, panel=title, d=d, theory=predicted, estimate=estimate, judged=False)


def excesses(title: str, h: float, d: int, measured: Array) -> list[Row]:
    """Return errors of Potts data over those of Gaussian data minus 1, from (problems, 2, replicates).

    The fits to Potts data share their samples. They are judged together, by the law (h - 1) u/n, without a ridge and
    for more samples than unknowns, where this law holds.
    """
    rows, each = [], []
    for (ratio, ridge), (potts, gaussian) in zip(PROBLEMS, measured, strict=True):
        if ridge not in RELATIVE:
            continue
        mean, relative = gaussian.mean(), potts.mean() / gaussian.mean()
        stderr = math.hypot(Estimate.of(potts).stderr, relative * Estimate.of(gaussian).stderr) / mean
        estimate, lawful = Estimate(relative - 1, stderr, len(potts)), ridge == 0 and ratio > 1
        law = (h - 1) / ratio if lawful else 0.0
        rows.append(row(title, ratio, panel=RELATIVE[ridge], d=d, theory=law, estimate=estimate, judged=lawful))
        each.append(potts / mean - relative * (gaussian - mean) / mean - 1)
    return judged_together(f"{title}, n > u", rows, np.transpose(each))


def label(ridge: float) -> str:
    return rf"$\lambda' = {ridge:g}$" if ridge else r"$\lambda' \to 0$"


def draw(axes: Axes, rows: DataFrame) -> None:
    """Draw a band of one percent around equal errors."""
    if rows["panel"].isin(RELATIVE.values()).all():
        axes.axhspan(-0.01, 0.01, color="0.9", zorder=0)


LOOKS = zip(models(9), (1, 2, 3, 5), "^vPX", strict=True)  # other markers than those of the ridges
MODELS = {title: Curve(color=color, marker=marker) for title, color, marker in LOOKS}

EXPERIMENT = Experiment(
    title="Masked ridge regression of Potts data follows the Gaussian theory",
    compute=compute,
    panels=[
        *(Panel(title=title, ylim=(0.35, 12), ordered=True) for title in models(9)),
        *(
            Panel(
                title=title,
                curves=MODELS,
                ylabel="ratio of test errors $-$ 1",
                yscale="linear",
                ylim=(-0.035, 0.05),
            )
            for title in RELATIVE.values()
        ),
    ],
    xlabel="samples per unknown $n/u$",
    ylabel="test error of a site",
    yscale="log",
    draw=draw,
    unjudged="the first four panels compare a finite number of contrasts with infinitely many, and the law of the "
    "excess over Gaussian data holds without a ridge and for n > u only",
    caption="At ridge 0.02 the errors of masked regression of Potts data are those of Gaussian data of the same "
    "covariance within 1.1 %; without a ridge those of six colors are 0.3 to 2.1 % larger. One of L sites with C "
    "colors is predicted from the u = (L-1)(C-1) contrasts of the others, with ridge lambda' per unknown. (a, b, c, "
    "d) Lines are the theory for Gaussian data; markers are Potts data of 81 sites with three colors or 40 with six; "
    "couplings J and color matrix U are random in (a). (e, f) Errors over those of Gaussian data (band: 1 %); lines "
    "are the law (h-1) u/n of their heteroskedasticity h, without a ridge.",
)
