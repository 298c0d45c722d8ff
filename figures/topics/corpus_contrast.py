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
    title="Words of one topic lie closer than chance explains, on 395 news items",
    papers={
        "arXiv:2303.04245 (talk: real text)": "It agrees that words of one topic lie closer; corpus and models are "
        "smaller than the published ones.",
    },
    compute=compute,
    panels=panels(),
    draw=decorate,
    skip=partial(missing_extra, "text", "lda"),
    caption="Words that characterize one of 20 topics have closer embeddings than words of different topics, by more "
    "than chance explains. Topics are found by latent Dirichlet allocation; the threshold is the share of the "
    "vocabulary kept for each. A word of several topics is dropped (no overlap) or belongs to each (overlap); "
    "lines connect markers. (a) The mean cosine between two words in the embedding by the 100 leading "
    "eigenvectors of the value matrix that uniform attention learns from the items; bars come from deleting "
    "words. (b) The difference of the two means, beside random vectors and topics permuted among words. (c) The "
    "difference in standard deviations over the permutations; triangles: of entries of the value matrix itself.",
)
