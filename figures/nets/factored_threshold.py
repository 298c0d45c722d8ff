"""How many samples one layer of factored attention needs: a transition, long before all couplings can be estimated."""

from collections.abc import Sequence

import numpy as np

from figures.core import Curve, Experiment, Panel
from simulate.core import stream
from simulate.nets import spectral_estimate
from simulate.potts import make_dynamics
from theory.models import PottsModel
from theory.nets import spectral_overlaps, spectral_threshold

L, C = 60, 10
VARIANCES = (0.03, 0.01)  # of the true logits of a site, over its contexts
RATIOS = (0.3, 0.6, 1.2, 1.7, 2.5, 5.0)  # samples over the threshold
PAIRS = 8  # of J and U
SWEEPS = 12  # at these temperatures chains forget their start within one
COLORS, SITES = "overlap of the values with $U$", "overlap of the attention with $J$"
TOP = "top singular value over the signal"
SETTINGS = {f"v = {v}": v for v in VARIANCES}


def signal(variance: float, n_sites: int, n_colors: int) -> float:
    """Return the top singular value theta of the population, to leading order, where v = C^2 theta^2/L."""
    return float(np.sqrt(variance * n_sites) / n_colors)


def model(variance: float, n_sites: int, rng: np.random.Generator) -> PottsModel:
    """Gaussian J and U at the temperature where true logits have this variance per site."""
    J, U = rng.standard_normal((n_sites, n_sites)), rng.standard_normal((C, C))
    J, U = np.triu(J, 1) + np.triu(J, 1).T, U + U.T
    flat = np.eye(C) - 1 / C
    zero_sum = flat @ U @ flat
    beta = signal(variance, n_sites, C) * C**2 / np.linalg.norm(J) / np.linalg.norm(zero_sum)
    return PottsModel(J, zero_sum, beta=float(beta))


def sizes(variance: float, n_sites: int, ratios: Sequence[float]) -> list[int]:
    """Return the numbers of samples at these ratios to the threshold."""
    threshold = spectral_threshold(n_sites, C, signal(variance, n_sites, C)).n_samples
    return [round(ratio * threshold) for ratio in ratios]


def overlaps(variance: float, ratios: list[float], n_sites: int, rng: np.random.Generator) -> list[dict[str, float]]:
    """Squared cosines of V and A and the top value, from the first M of independent samples."""
    system, counts, theta = (
        model(variance, n_sites, rng),
        sizes(variance, n_sites, ratios),
        signal(variance, n_sites, C),
    )
    chains = make_dynamics(system, max(counts), rng)
    chains.run(SWEEPS)
    J, U = system.dense_site_couplings, system.color_couplings
    estimates = [spectral_estimate(chains.states[:M], C) for M in counts]
    return [
        {COLORS: each.values_overlap(U), SITES: each.attention_overlap(J), TOP: each.top / theta} for each in estimates
    ]


def laws(variance: float, ratios: Sequence[float], n_sites: int) -> list[dict[str, float]]:
    theta = signal(variance, n_sites, C)
    found = [spectral_overlaps(n_sites, C, theta, M) for M in sizes(variance, n_sites, ratios)]
    return [{COLORS: each.colors, SITES: each.sites, TOP: each.top_value / theta} for each in found]


def curves(number: str) -> dict[str, Curve]:
    names = {setting: f"$v = {v}$, $M_c = {sizes(v, L, [1.0])[0]}$" for setting, v in SETTINGS.items()}
    return {name: Curve(number=number, setting=setting) for setting, name in names.items()}


EXPERIMENT = Experiment(
    title="The spectral start of a layer sees colors and sites beyond a threshold",
    measure=overlaps,
    by_point=True,
    theory_at=laws,
    settings=SETTINGS,
    streams=lambda seed, setting, _ratio, _d, r: stream(seed, "factored threshold", SETTINGS[setting], r),
    panels=[
        Panel(title=number, curves=curves(number), ylabel="ratio" if number == TOP else "squared cosine")
        for number in (COLORS, SITES, TOP)
    ],
    line=np.geomspace(RATIOS[0], RATIOS[-1], 60),
    points=RATIOS,
    d=L,
    toy_d=12,
    extrapolate=False,
    replicates=PAIRS,
    judged_where=lambda ratio: ratio > 1.5,
    draft={"points": (RATIOS[0], RATIOS[-1])},
    xlabel="samples over the threshold, $M/M_c$",
    xscale="log",
    unjudged="near and below the threshold the laws of large matrices are not sharp",
    caption="From a threshold M_c on, about C over the variance of a true logit, the top singular pair of a "
    "sample covariance finds the couplings of colors and sites. The covariance of M samples (L = 60, C = 10) is "
    "rearranged: a row is a pair of sites, a column a pair of colors. Markers are means over 8 Gaussian J and U; "
    "lines are the theory of spiked rectangular matrices of n1 = L(L - 1)/2 rows and n2 = C(C - 1)/2 columns with "
    "the signal of linear response. (a, b) Overlaps with U and J; (c) the singular value. Below M_c (a) does not "
    "vanish at this size; z is judged from 1.7 M_c on.",
)
