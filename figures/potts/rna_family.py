"""A riboswitch family: the strongest interactions of its pair model are the base pairs of its stems."""

from functools import partial

from figures.core import Context, Experiment, Row
from figures.potts.alignments import alignment, missing
from figures.potts.analysis import FIGSIZE, decorate, panels
from figures.potts.families import rows_of

NAME = "RF00162.fasta"


def compute(context: Context) -> list[Row]:
    return rows_of(alignment(NAME), context)


EXPERIMENT = Experiment(
    title="SAM riboswitch (RF00162), 4757 sequences of 107 sites",
    compute=compute,
    panels=panels(),
    draw=decorate,
    figsize=FIGSIZE,
    skip=partial(missing, NAME),
    caption="Pair model by weighted pseudo-likelihood. Left: masked loss of held-out sequences, none of which is 80 % "
    "identical to one that was fitted (two standard errors between clusters). Middle: score of each pair, the "
    "Frobenius norm of its couplings with the average-product correction (dark: strong); stems are runs across the "
    "diagonal. Right: the strongest pairs at least 4 sites apart",
)
