"""What the analysis of a corpus found."""

from dataclasses import dataclass

from figures.analyse.record import Analysis
from simulate.topics.contrast import TopicContrast

EMBEDDING, VALUES, RANDOM, OWN = "embedding", "value matrix", "random embedding", "own vectors"
ENCODER, ATTENTION = "encoder embedding", "encoder attention"
RULES = {False: "no overlap", True: "overlap"}


@dataclass(frozen=True)
class Comparison:
    """One line of the table: what pairs were measured by, and which words were kept."""

    source: str  # EMBEDDING, VALUES, RANDOM, OWN, ENCODER or ATTENTION
    overlap: bool
    threshold: float
    contrast: TopicContrast


@dataclass(frozen=True, eq=False, repr=False)
class TextAnalysis(Analysis):
    """Topics of a corpus, and whether a model that was fitted to it tells pairs of words of one topic from others."""

    n_documents: int
    n_words: int
    n_tokens: int
    topics: tuple[tuple[str, ...], ...]  # the most probable words of each
    shares: tuple[float, ...]  # of each topic in a document, mean over documents
    distances: tuple[float, ...]  # of each topic from its partner in another sampling
    doubt: str  # why the topics are not to be relied on; empty where two samplings agree
    perplexity: float
    comparisons: tuple[Comparison, ...]
    planted: bool  # whether values that were planted came back exactly
    split: bool
    encoded: int  # documents that a pretrained encoder has read
