"""Factored attention learns the couplings between sites and between colors of the model behind its data."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from figures.core import Context, Experiment, Panel, Row, judged_together, row
from figures.potts.sparse_pairs import C, L, sequences, sparse_model
from simulate.core import Estimate, Task
from simulate.potts import factored_attention, matched_scale
from theory.models.potts import zero_sum_blocks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

SAMPLES = 10_000
SITES, COLORS = "site couplings", "color couplings"
LEARNED, IDENTITY = "learned", "identical"


def learned(n_samples: int, seed: int) -> NDArray[np.float64]:
    """Fits one sample and returns c A and V/c, flat, where c gives V the scale of the true color couplings."""
    fit = factored_attention(sequences(n_samples, seed), C)
    return np.concatenate(
        [each.ravel() for each in matched_scale(fit.site_couplings, fit.color_couplings, sparse_model())]
    )


def compute(context: Context) -> list[Row]:
    seeds = range(context.replicates(12))
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


def draw(axes: "Axes", rows: "DataFrame") -> None:
    """Draws the map of the sites as an image, the truth below the diagonal and what one sample taught above it."""
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
    title=f"What factored attention learns, $L = {L}$, $C = {C}$",
    papers={
        "arXiv:2304.07235 (learned couplings)": "It agrees that one layer of factored attention learns the couplings "
        "of sites and of colors; sizes are our own.",
    },
    compute=compute,
    panels=(
        Panel(title=SITES, curves={}, xlabel="site $j$", ylabel="site $i$"),
        Panel(title=COLORS, curves={}, xlabel="true $U_{ab}$", ylabel="learned $V_{ab}/c$"),
    ),
    draw=draw,
    caption=f"Left: the true couplings between sites below the diagonal, and those learned from {SAMPLES} sequences "
    "above it. Right: the learned couplings between colors against the true ones, in the gauge in which rows and "
    "columns sum to zero, with error bars over samples; the line is equality. Only the product of "
    "the two is determined by the data, so that one factor c is chosen to match their scales. "
    "The differences are as large as the error bars of 12 samples, which is more than these explain (the entries have "
    "an rms z of 1.4 where 1 is expected): fits to so many sequences keep a small systematic error, whose cause was "
    "not looked for.",
)
