"""A layer of attention learns in two stages: the value matrix first, then keys and queries."""

import numpy as np
from numpy.typing import NDArray

from figures.core import Context, Experiment, Panel, Row, row
from simulate.core import Estimate, Task, stream
from simulate.topics import Training, train_single_layer
from theory.models import Masking, TopicMixture, TopicModel
from theory.topics import (
    escape_rate,
    finite_length_loss,
    finite_length_value_matrix,
    stage1_flow,
    stage2_optimum,
)

SMALL = TopicModel(n_topics=4, words_per_topic=2, topics_per_document=2)
HIDDEN = Masking(selected=0.5, kept=0.3, randomized=0.1)
LARGE = TopicModel(n_topics=10, words_per_topic=10, topics_per_document=2)
MASKING = Masking(selected=0.15, kept=0.1, randomized=0.1)
CONCENTRATION, LENGTH = 0.1, 125  # of the sampled documents: Dirichlet shares, 100 to 150 tokens
EXACT, SAMPLED = "exact gradients", "Adam on documents"
KEY, QUERY, VALUE = "$|W_K|$", "$|W_Q|$", "$|W_V|$"
NORMS = {KEY: "key_norm", QUERY: "query_norm", VALUE: "value_norm"}


def descent(steps: int) -> Training:
    every = max(steps // 28, 1)
    return Training(steps=steps, rate=0.5, optimizer="sgd", documents="population", init_noise=1e-4, record_every=every)


def adam(steps: int, evaluated: int) -> Training:
    return Training(
        steps=steps,
        rate=0.003,
        loss="squared_mean",
        init_noise=1e-6,
        concentration=CONCENTRATION,
        record_every=max(steps // 18, 1),
        evaluated=evaluated,
    )


def trained(model: TopicModel, masking: Masking, training: Training, seed: int) -> NDArray[np.float64]:
    """Returns the step, the three norms and the loss (summed over outputs) at each record, (5, records)."""
    run = train_single_layer(model, masking, training, stream(seed, "two_stages", training.optimizer))
    outputs = model.n_tokens if training.loss == "squared_mean" else 1
    return np.array([run.column(name) for name in ("step", *NORMS.values())] + [outputs * run.column("loss")])


def compute(context: Context) -> list[Row]:
    draft, seeds = context.is_draft, range(context.replicates(2))
    runs = {
        EXACT: (SMALL, HIDDEN, descent(300 if draft else 7000)),
        SAMPLED: (SMALL if draft else LARGE, MASKING, adam(30 if draft else 1800, 20 if draft else 500)),
    }
    found = context.sweep([Task(f"{panel}/{k}", trained, (*run, k)) for panel, run in runs.items() for k in seeds])
    rows = []
    for panel, (model, _, _) in runs.items():
        paths = np.array([found[f"{panel}/{k}"] for k in seeds])
        steps = paths[0, 0]
        for k, column in enumerate((*NORMS, "loss"), start=1):
            where = f"{panel}: loss" if column == "loss" else f"{panel}: norms"
            for i, step in enumerate(steps):
                estimate = Estimate.of(paths[:, k, i])
                rows.append(row(column, step, panel=where, d=model.n_tokens, estimate=estimate))
        rows += exact_lines(steps, paths[:, 1].mean(axis=0)) if panel == EXACT else sampled_lines(model, steps)
    return rows


def exact_lines(steps: NDArray[np.float64], key_norm: NDArray[np.float64]) -> list[Row]:
    """Returns the lines of the theory for exact gradients.

    They are stage 1 without attention, the escape from it (one fitted constant: where it starts), and the optimum of
    stage 2.
    """
    norms, losses = f"{EXACT}: norms", f"{EXACT}: loss"
    grid = np.unique(np.append(steps, np.arange(0, steps[1], 5)))
    flow = stage1_flow(SMALL, HIDDEN, grid, step=0.5, bias="trained")
    rate = 0.5 * escape_rate(SMALL, HIDDEN).rate
    anchor = len(steps) // 4
    growth = key_norm[anchor] * np.exp(rate * (grid - steps[anchor]))
    end = stage2_optimum(SMALL, HIDDEN, mask_weight="free").loss
    rows = []
    for step, W, loss, grown in zip(grid, flow.matrices, flow.loss, growth, strict=True):
        rows.append(row("stage 1", step, panel=losses, theory=loss))
        rows.append(row("optimum of stage 2", step, panel=losses, theory=end))
        if step > 0:
            rows.append(row("$|W_V|$, stage 1", step, panel=norms, theory=float(np.linalg.norm(W.matrix))))
        if grown < 3:
            rows.append(row(r"$\exp(\sigma t/\sqrt{d_a})$", step, panel=norms, theory=grown))
    return rows


def sampled_lines(model: TopicModel, steps: NDArray[np.float64]) -> list[Row]:
    """Returns the lines at which stage 1 ends for documents of that length."""
    mixture = TopicMixture.dirichlet(
        n_topics=model.n_topics, words_per_topic=model.words_per_topic, concentration=CONCENTRATION
    )
    norm = float(np.linalg.norm(finite_length_value_matrix(mixture, MASKING, LENGTH).matrix))
    loss = finite_length_loss(mixture, MASKING, LENGTH)
    return [
        row(curve, step, panel=f"{SAMPLED}: {panel}", theory=value)
        for curve, panel, value in (("$|W_V|$, stage 1", "norms", norm), ("least loss of stage 1", "loss", loss))
        for step in (steps[0], steps[-1])
    ]


EXPERIMENT = Experiment(
    title="One layer of attention, all weights trained together",
    papers={
        "arXiv:2303.04245 (talk: two stages)": "It agrees under the squared loss: the value matrix is learned before "
        "keys and queries grow.",
    },
    compute=compute,
    panels=[
        Panel(title=f"{panel}: norms", curves={}, ylabel="Frobenius norm", yscale="log", xlabel=xlabel)
        if kind == "norms"
        else Panel(title=f"{panel}: loss", curves={}, ylabel="squared loss", xlabel=xlabel)
        for panel, xlabel in ((EXACT, "step of gradient descent"), (SAMPLED, "step of Adam"))
        for kind in ("norms", "loss")
    ],
    caption="Markers are the mean of two random starts, with error bars. Left pair: infinitely "
    "long documents, T = 4 topics of v = 2 words, tau = 2 topics in a document, masking rates (p_m, p_c, p_r) = "
    "(0.5, 0.3, 0.1), step 0.5 and a start of size 1e-4. The line of stage 1 is the closed form for uniform "
    "attention; keys and queries grow at the predicted rate, of which only the starting value is fitted; and the "
    "loss leaves its plateau toward the optimum of stage 2, which is computed for a frozen value matrix although it "
    "is trained here. Right pair: T = v = 10, Dirichlet(0.1) shares of topics, 100 to 150 tokens, rates (0.15, 0.1, "
    "0.1), learning rate 0.003 and a start of size 1e-6, with the squared loss averaged over the outputs in "
    "training; the lines are what uniform attention can reach at 125 tokens.",
)
