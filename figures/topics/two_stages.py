"""A layer of attention learns in two stages: the value matrix first, then keys and queries."""

import numpy as np
from numpy.typing import NDArray

from figures.core import Context, Curve, Experiment, Panel, Row, row
from simulate.core import Estimate, Task, stream
from simulate.topics import Training, train_single_layer
from theory.models import Masking, TopicModel
from theory.topics import escape_rate, finite_length_loss, stage1_flow, stage2_optimum

MODEL = TopicModel(n_topics=4, words_per_topic=2, topics_per_document=2)
MASKING = Masking(selected=0.5, kept=0.3, randomized=0.1)
LENGTHS = (100, 150)  # of the sampled documents
EXACT, SAMPLED = "exact gradients", "sampled documents"
RATE = 0.5  # of gradient descent
KEY, QUERY, VALUE = "$|W_K|$", "$|W_Q|$", "$|W_V|$"
STAGE_1, GROWTH = "$|W_V|$, stage 1", r"$\exp(\sigma t/\sqrt{d_a})$"
CURVES = {STAGE_1: Curve(model=None, color=2, style="-"), GROWTH: Curve(model=None, color=6, style="--")}
NORMS = {KEY: "key_norm", QUERY: "query_norm", VALUE: "value_norm"}


def exact(steps: int) -> Training:
    return Training(
        steps=steps,
        rate=RATE,
        optimizer="sgd",
        documents="population",
        init_noise=1e-4,
        record_every=max(steps // 28, 1),
    )


def sampled(steps: int) -> Training:
    return Training(
        steps=steps,
        rate=RATE,
        optimizer="sgd",
        init_noise=3e-3,
        batch_size=10,
        length=LENGTHS,
        record_every=max(steps // 24, 1),
        evaluated=100,
    )


def trained(training: Training, seed: int) -> NDArray[np.float64]:
    """Return the step, the three norms and the loss (summed over outputs) at each record, (5, records)."""
    run = train_single_layer(MODEL, MASKING, training, stream(seed, "two_stages", training.documents))
    return np.array([run.column(name) for name in ("step", *NORMS.values(), "loss")])


def compute(context: Context) -> list[Row]:
    seeds = range(context.replicates(6))
    runs = {EXACT: exact(context.size(7000, 300)), SAMPLED: sampled(context.size(3600, 60))}
    found = context.sweep([Task(f"{panel}/{k}", trained, (run, k)) for panel, run in runs.items() for k in seeds])
    rows = []
    for panel in runs:
        paths = np.array([found[f"{panel}/{k}"] for k in seeds])
        steps = paths[0, 0]
        for k, column in enumerate((*NORMS, "loss"), start=1):
            where = f"{panel}: loss" if column == "loss" else f"{panel}: norms"
            for i, step in enumerate(steps):
                estimate = Estimate.of(paths[:, k, i])
                rows.append(row(column, step, panel=where, d=MODEL.n_tokens, estimate=estimate))
        rows += lines(panel, steps, paths[:, 1].mean(axis=0))
    return rows


def lines(panel: str, steps: NDArray[np.float64], key_norm: NDArray[np.float64]) -> list[Row]:
    """Return the lines of the theory beside runs whose mean |W_K| is `key_norm` at `steps`.

    They are stage 1 without attention, the escape from it (one fitted constant: where it starts), and the optimum of
    stage 2. The theory is that of infinitely long documents, but for the least loss of stage 1 of sampled ones.
    """
    norms, losses = f"{panel}: norms", f"{panel}: loss"
    grid = np.unique(np.append(steps, np.arange(0, steps[1], 5)))
    flow = stage1_flow(MODEL, MASKING, grid, step=RATE, bias="trained")
    rate = RATE * escape_rate(MODEL, MASKING).rate
    anchor = len(steps) // 4
    growth = key_norm[anchor] * np.exp(rate * (grid - steps[anchor]))
    end = stage2_optimum(MODEL, MASKING, mask_weight="free").loss
    rows = []
    for step, W, loss, grown in zip(grid, flow.matrices, flow.loss, growth, strict=True):
        if panel == EXACT:
            rows.append(row("stage 1", step, panel=losses, theory=loss))
        if step > 0:
            rows.append(row(STAGE_1, step, panel=norms, theory=float(np.linalg.norm(W.matrix))))
        if grown < 3:
            rows.append(row(GROWTH, step, panel=norms, theory=grown))
    if panel == SAMPLED:
        least = finite_length_loss(MODEL, MASKING, sum(LENGTHS) // 2)
        rows += [row("stage 1", step, panel=losses, theory=least) for step in (steps[0], steps[-1])]
    return rows + [row("optimum of stage 2", step, panel=losses, theory=end) for step in (steps[0], steps[-1])]


EXPERIMENT = Experiment(
    title="One layer of attention learns the values first, then where to look",
    papers={
        "arXiv:2303.04245 (talk: two stages)": "It agrees under the squared loss: the value matrix is learned before "
        "keys and queries grow.",
    },
    compute=compute,
    panels=[
        Panel(title=f"{panel}: norms", curves=CURVES, ylabel="Frobenius norm", yscale="log")
        if kind == "norms"
        else Panel(title=f"{panel}: loss", ylabel="squared loss")
        for panel in (EXACT, SAMPLED)
        for kind in ("norms", "loss")
    ],
    xlabel="step of gradient descent",
    unjudged="each line is the theory of one stage alone, for infinitely long documents and with one fitted start",
    caption="With all weights trained together the value matrix is learned first, while keys and queries grow "
    "exponentially; then the loss leaves its plateau. Squared loss, gradient descent at rate 0.5, means of "
    "{replicates} random starts; T = 4 topics of v = 2 words, tau = 2 in a document, masking (0.5, 0.3, 0.1)."
    " (a, b) Exact gradients of infinitely long documents; (c, d) 10 new documents of 100 to 150 tokens per "
    "step. Lines: stage 1 in closed form, where |W_V| starts from zero, or the least loss of uniform "
    "attention at 125 tokens; growth exp(sigma t/sqrt(d_a)) with one fitted start, in (c) 10 % too fast, "
    "being that of infinite documents; the optimum of stage 2.",
)
