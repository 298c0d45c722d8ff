"""In news of Reuters, words of one topic are closer to each other than words of different topics."""

from functools import partial
from importlib.util import find_spec
from pathlib import Path

from figures.analyse.reading.text import read_corpus
from figures.analyse.text import analyse_corpus, decorate, panels
from figures.core import Context, Experiment, Row, missing_extra


def compute(context: Context) -> list[Row]:
    """Analyze the news that come with the package lda: 395 items, from which stop words are already left out."""
    spec = find_spec("lda")
    news = Path(str(spec.origin if spec else "")).parent / "tests" / "reuters.ldac"
    draft = context.is_draft
    corpus = read_corpus(news, min_documents=60 if draft else 5)
    return analyse_corpus(corpus.counts, corpus.words, sweeps=20 if draft else 300, progress="topics of Reuters").rows


EXPERIMENT = Experiment(
    title="Topics of 395 news items, 20 topics",
    papers={
        "arXiv:2303.04245 (talk: real text)": "It agrees that words of one topic lie closer; corpus and models are "
        "smaller than the published ones.",
    },
    compute=compute,
    panels=panels(),
    draw=decorate,
    skip=partial(missing_extra, "text", "lda"),
    caption="Topics are found by latent Dirichlet allocation. Pairs of words that characterize the same topic are "
    "compared with pairs that characterize different topics; the threshold on the horizontal axis is the share of "
    "the vocabulary that is kept for each topic. A word of several topics is dropped (no overlap), or belongs to "
    "each of them (overlap). Left: the mean cosine between the two words of a pair in the embedding by the 100 "
    "leading eigenvectors of the value matrix that uniform attention learns from the same items; error bars "
    "come from deleting words. Middle: the difference of the two means, beside that of random vectors and "
    "that of topics permuted among the words, with its scatter. Right: the difference in "
    "standard deviations over the permutations. Words of one topic are closer than chance explains.",
)
