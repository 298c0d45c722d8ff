"""Words of one topic are closer than words of different topics in news of Reuters: by how much, with controls."""

from importlib.util import find_spec
from pathlib import Path

from figures.analyse.reading.text import read_corpus
from figures.analyse.text import FIGSIZE, analyse_corpus, decorate, panels
from figures.core import Context, Experiment, Row


def compute(context: Context) -> list[Row]:
    """The analysis of the news that come with the package lda: 395 items, stop words already left out."""
    spec = find_spec("lda")
    news = Path(str(spec.origin if spec else "")).parent / "tests" / "reuters.ldac"
    draft = context.is_draft
    corpus = read_corpus(news, min_documents=60 if draft else 5)
    return analyse_corpus(corpus.counts, corpus.words, sweeps=20 if draft else 300, progress="topics of Reuters").rows


def missing() -> str | None:
    """The reason why the experiment is skipped, or None."""
    return None if find_spec("lda") else "the package lda, which ships the news, is not installed (the extra `text`)"


EXPERIMENT = Experiment(
    title="Topics of 395 news items, 20 topics",
    compute=compute,
    panels=panels(),
    draw=decorate,
    figsize=FIGSIZE,
    skip=missing,
    caption="Pairs of words that characterize the same topic, or different ones, of a latent Dirichlet allocation; the "
    "threshold keeps for each topic that share of the vocabulary. Words of several topics are dropped (no overlap), or "
    "belong to each (overlap). Left: mean cosine in the embedding by the 100 leading eigenvectors of the value matrix "
    "of uniform attention, fitted to the same items (bars: two standard errors, by deleting words). Middle: difference "
    "of the two means, with that of random vectors and with topics permuted among the words (bars: two standard "
    "deviations). Right: difference in standard deviations over permutations.",
)
