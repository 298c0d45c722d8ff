"""Factored attention learns the couplings between sites and between colors of the model behind its data."""

import numpy as np
from numpy.typing import NDArray

from figures.core import Axes, Context, DataFrame, Experiment, Panel, Row, judged_together, row
from figures.potts.sparse_pairs import C, L, sequences, sparse_model
from simulate.core import Estimate, Task
from simulate.potts import factored_attention, matched_scale
from theory.models.potts import zero_sum_blocks

SAMPLES = 10_000
FIRST_SEED = 100  # of samples that no other experiment and no earlier look at this one have used
TOLERANCE = 1e-4  # which leaves errors a hundred times smaller than those of a sample
SITES, COLORS = "site couplings", "color couplings"
LEARNED, IDENTITY = "learned", "identical"


def learned(n_samples: int, seed: int) -> NDArray[np.float64]:
    """Fit one sample and return c A and V/c, flat, where c gives V the scale of the true color couplings.

    The bias of V/c, which falls as 1/M, is taken out by fits to both halves of the sample: twice the V/c of the whole
    sample less the mean of those of its halves. A is that of the whole sample.
    """
    states = sequences(n_samples, seed)
    whole = factored_attention(states, C, tol=TOLERANCE)
    start = whole.site_couplings, whole.color_couplings, whole.fields
    halves = [factored_attention(half, C, tol=TOLERANCE, start=start) for half in np.array_split(states, 2)]
    A, V = matched_scale(whole.site_couplings, whole.color_couplings, sparse_model())
    of_halves = [matched_scale(fit.site_couplings, fit.color_couplings, sparse_model())[1] for fit in halves]
    return np.concatenate([A.ravel(), (2 * V - np.mean(of_halves, axis=0)).ravel()])


def compute(context: Context) -> list[Row]:
    seeds = range(FIRST_SEED, FIRST_SEED + context.replicates(16))
    values = context.sweep([Task(str(seed), learned, (context.size(SAMPLES, 100), seed)) for seed in seeds])
    runs = np.stack([np.asarray(values[str(seed)]) for seed in seeds])
    sites, colors = runs[0, : L * L].reshape(L, L), runs[:, L * L :].reshape(-1, C, C)
    model = sparse_model()
    U, J = zero_sum_blocks(model.color_couplings), model.beta * model.site_couplings.toarray()
    shown = np.where(np.tri(L, k=-1) > 0, J, (sites + sites.T) / 2)
    true = np.tri(L, k=-1).ravel() > 0
    rows = [
        row("map", k, panel=SITES, theory=value, reference=True)
        if known
        else row("map", k, panel=SITES, measured=value)
        for k, (value, known) in enumerate(zip(shown.ravel(), true, strict=True))
    ]
    rows += [row(IDENTITY, edge, panel=COLORS, theory=edge, reference=True) for edge in (U.min(), U.max())]
    a, b = np.triu_indices(C)
    values = (colors[:, a, b] + colors[:, b, a]) / 2
    made = [
        row(LEARNED, truth, panel=COLORS, theory=truth, d=L, estimate=Estimate.of(own))
        for truth, own in zip(U[a, b], values.T, strict=True)
    ]
    return rows + judged_together("all pairs of colors", made, values)


def draw(axes: Axes, rows: DataFrame) -> None:
    """Draw the map of the sites as an image, the truth below the diagonal and what one sample taught above it."""
    if rows["panel"].iloc[0] != SITES:
        return
    title, labels = axes.get_title(), (axes.get_xlabel(), axes.get_ylabel())
    axes.clear()
    axes.set(title=title, xlabel=labels[0], ylabel=labels[1])
    own = rows.sort_values("x")
    values = own["theory"].fillna(own["simulation"]).to_numpy(dtype=float).reshape(L, L)
    image = axes.imshow(values, cmap="cividis", extent=(0.5, L + 0.5, L + 0.5, 0.5))
    ticks = [1, *range(5, L + 1, 5)]
    axes.set(xticks=ticks, yticks=ticks)
    axes.figure.colorbar(image, ax=axes, label=r"$\beta J_{ij}$ (below), $c\,A_{ij}$ (above)", shrink=0.85)


EXPERIMENT = Experiment(
    title="Factored attention learns the couplings of sites and of colors",
    papers={
        "arXiv:2304.07235 (learned couplings)": "It agrees with the abstract that one layer of factored attention "
        "learns the couplings of sites and of colors; sizes are our own.",
    },
    compute=compute,
    panels=(
        Panel(title=SITES, xlabel="site $j$", ylabel="site $i$"),
        Panel(title=COLORS, xlabel="true $U_{ab}$", ylabel="learned $V_{ab}/c$"),
    ),
    draw=draw,
    caption="Learned and true couplings agree, those of the sites and those of the colors. (a) The true couplings "
    "between sites, times beta, below the diagonal, and those learned from 10000 sequences above it, where the "
    "same pairs stand out. (b) The learned couplings between colors against the true ones, in the gauge in which "
    "rows and columns sum to zero; the line is equality. The data determine only the product of the two, so that "
    "one factor c is chosen to match their scales. A bias of order 1/M is taken out in (b): shown is twice the "
    "estimate of the whole sample less the mean of those of its halves.",
)
