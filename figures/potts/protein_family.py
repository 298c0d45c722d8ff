"""A protein family: how much pairs of sites help to predict a masked residue, and which pairs."""

from functools import partial

from figures.core import Context, Experiment, Row
from figures.potts.alignments import alignment, missing
from figures.potts.analysis import FIGSIZE, decorate, panels
from figures.potts.families import rows_of

NAME = "DHFR.a2m"


def compute(context: Context) -> list[Row]:
    return rows_of(alignment(NAME), context)


EXPERIMENT = Experiment(
    title="Dihydrofolate reductase, 3629 sequences of 171 sites",
    compute=compute,
    panels=panels(),
    draw=decorate,
    figsize=FIGSIZE,
    skip=partial(missing, NAME),
    caption="Pair model by weighted pseudo-likelihood. Left: masked loss of held-out sequences, none of which is 80 % "
    "identical to one that was fitted (two standard errors between clusters). Middle: score of each pair, the "
    "Frobenius norm of its couplings with the average-product correction (dark: strong), gaps left out. "
    "Right: the strongest pairs at least 4 sites apart",
)
