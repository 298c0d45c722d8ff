"""Documents of finite length change the entries, the gap and the loss of the optimal value matrix."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from figures.core import Context, Experiment, Panel, Row, judged_together, row
from simulate.core import Estimate, extrapolate, replicate_tasks
from simulate.topics import fit_value_matrix, sample_topic_documents, topic_gap
from theory.models import Masking, TopicModel
from theory.topics import finite_length_loss, finite_length_value_matrix, optimal_value_matrix

MODEL = TopicModel(n_topics=4, words_per_topic=3, topics_per_document=2)
MASKING = Masking(selected=0.3, kept=0.2, randomized=0.2)
LENGTHS = (10, 40, 125)
NAMES = ("diagonal", "same topic", "different topic", "gap", "loss")
DOCUMENTS = 4000
ENTRIES, LOSS = "entries of the value matrix", "squared loss"


def measured(length: int, n_documents: int, rng: Generator) -> NDArray[np.float64]:
    """Measures class means of the entries, the gap and the loss of one fit, (5,)."""
    fit = fit_value_matrix(sample_topic_documents(MODEL, n_documents, rng, length=length), MASKING, rng)
    words = fit.matrix[1:, 1:]
    topic = np.arange(len(words)) // MODEL.words_per_topic
    same, own = topic[:, None] == topic, np.eye(len(words), dtype=bool)
    means = [words[kind].mean() for kind in (own, same & ~own, ~same)]
    return np.array([*means, topic_gap(MODEL, fit.matrix), fit.loss])


def predicted(length: float) -> tuple[float, ...]:
    W = finite_length_value_matrix(MODEL, MASKING, length)
    return W.diagonal, W.same, W.different, W.gap, finite_length_loss(MODEL, MASKING, length)


def compute(context: Context) -> list[Row]:
    n, size, lengths = context.replicates(40), context.size(DOCUMENTS, 200), [int(N) for N in context.thin(LENGTHS)]
    groups = {
        (N, d): list(replicate_tasks(measured, N, d, n, names=("finite_documents", N)))
        for N in lengths
        for d in (size, 2 * size)
    }
    found = context.sweep(task for group in groups.values() for task in group)
    values = {key: np.array([found[task.key] for task in group]) for key, group in groups.items()}
    rows = []
    together: dict[int, list[Row]] = {N: [] for N in lengths}
    for k, name in enumerate(NAMES):
        panel = LOSS if name == "loss" else ENTRIES
        line = context.thin(np.geomspace(5, 300, 60).round(), 8)
        rows += [row(name, N, panel=panel, theory=predicted(N)[k]) for N in line]
        for N in lengths:
            both = [Estimate.of(values[N, d][:, k]) for d in (size, 2 * size)]
            theory = predicted(N)[k]
            rows += [
                row(name, N, panel=panel, theory=theory, d=d, estimate=e, judged=False)
                for d, e in zip((size, 2 * size), both, strict=True)
            ]
            limit = row(name, N, panel=panel, theory=theory, d=np.inf, estimate=extrapolate(*both))
            together[N].append(limit)
            rows.append(limit)
    for N, made in together.items():  # all five numbers are of the same fits
        rows += judged_together(f"N = {N}", made, 2 * values[N, 2 * size] - values[N, size])[len(made) :]
    gap = optimal_value_matrix(MODEL, MASKING).gap
    return rows + [row("gap, long documents", N, panel=ENTRIES, theory=gap) for N in (5, 300)]


EXPERIMENT = Experiment(
    title="Value matrix for documents of $N$ tokens, four topics of three words",
    compute=compute,
    panels=[
        Panel(title=ENTRIES, curves={}, ylabel="entry", ylim=(-0.15, 0.85)),
        Panel(title=LOSS, curves={}, ylabel="least loss"),
    ],
    xlabel="tokens of a document $N$",
    xscale="log",
    caption="Attention is uniform and the bias free; there are T = 4 topics of v = 3 words and tau = 2 topics in a "
    "document, and (p_m, p_c, p_r) = (0.3, 0.2, 0.2) are the shares of selected positions, and of these the shares "
    "that show the true word and a random word. Lines are the theory; markers are least-squares fits to 4000 and "
    "8000 sampled documents, extrapolated to infinitely many, with error bars. The gap is the mean "
    "entry between words of one topic minus that between words of different topics. It tends to 1/(v(1 - (1 - p_c) "
    "p_m)) = 0.4386 in long documents, whereas the diagonal stays different from the other entries of its topic.",
)
