"""Reports an analysis to the user, in words and in a text table."""

import math
import textwrap

from figures.analyse.text.record import RANDOM, RULES, Comparison, TextAnalysis
from figures.analyse.wording import WIDTH, paragraphs
from figures.core.render import render
from simulate.core import Estimate
from simulate.topics.lda import DEFAULT_CHAINS, MAX_TOPIC_DISTANCE

HEADER = [
    "measured by",
    "words of several",
    "rho",
    "words",
    "same pairs",
    "same",
    "different",
    "difference",
    "ratio",
    "z",
]
CAPTION = (
    "A topic is characterized by its most probable words, a share rho of the vocabulary; words of several topics are "
    "dropped (no overlap) or belong to each of them (overlap). The columns same and different are means over pairs of "
    "words of the same topic and of different topics, of cosines of their vectors or of entries of the value matrix, "
    "with standard errors by deleting words. The ratio is given where the mean over different topics is clearly above "
    "zero. z is the difference in standard deviations over permutations of the topics among the words."
)
MAX_CHANCE_Z = 4.0  # |z| of a random embedding beyond which something is wrong


def report(analysis: TextAnalysis, title: str, width: int = WIDTH) -> str:
    """Write the topics, the table of contrasts, and sentences."""
    lines = [
        f"topic {k} ({100 * share:.1f} %): {' '.join(words)}"
        for k, (share, words) in enumerate(zip(analysis.shares, analysis.topics, strict=True), start=1)
    ]
    caption = textwrap.fill(CAPTION, width)
    table = render(HEADER, [_cells(one) for one in analysis.comparisons], title, caption, "text")
    return "\n".join((paragraphs(lines, width), "", table, "", paragraphs(summary(analysis), width)))


def summary(analysis: TextAnalysis) -> list[str]:
    """Say how large the corpus is, what was left out, what the controls gave, and what z does not say."""
    return [
        f"There are {analysis.n_documents} documents with {analysis.n_words} different words and {analysis.n_tokens} "
        f"words in all; with {len(analysis.topics)} topics, to predict a word of a document is as hard as to choose "
        f"among {analysis.perplexity:.0f} equally likely ones (the perplexity).",
        *(f"Note: {note}." for note in analysis.notes),
        _agreement(analysis),
        *_encoder(analysis),
        *_controls(analysis),
        "The topics are of one half of the documents, and the model is of the other."
        if analysis.split
        else "Topics and model are of the same documents, so that z is no independent test; --split takes a half of "
        "the documents for each.",
    ]


def _agreement(analysis: TextAnalysis) -> str:
    """Say whether two samplings found the same topics, and which topics only one of them found."""
    unlike = [str(k) for k, distance in enumerate(analysis.distances, start=1) if distance >= MAX_TOPIC_DISTANCE]
    if not analysis.doubt:
        return (
            f"The topics were sampled {DEFAULT_CHAINS} times from different starts, and the two most probable samplings"
            f" found the same ones (the largest distance is {max(analysis.distances):.2g}, where 1 is no common word)."
        )
    which = f" Topics that only one of the two found: {', '.join(unlike)}." if unlike else ""
    return (
        f"Note: the topics may be mixtures of topics, or of several possible ones: of {DEFAULT_CHAINS} samplings, "
        f"{analysis.doubt}.{which} Another number of topics (--topics), more --sweeps or more text may help; the "
        "table uses these topics all the same."
    )


def _encoder(analysis: TextAnalysis) -> list[str]:
    """Say what was measured of a pretrained encoder, where there was one."""
    if not analysis.encoded:
        return []
    return [
        "The encoder is all-MiniLM-L6-v2, which was trained on other text, at last to compare sentences. Of its "
        f"embeddings the cosine is compared, and of its attention, in {analysis.encoded} documents whose words it read "
        "in random order, the mean over layers, heads, and pairs of positions with different words; 1 is uniform."
    ]


def _controls(analysis: TextAnalysis) -> list[str]:
    scores = [one.contrast.z for one in analysis.comparisons if one.source == RANDOM]
    largest = max((abs(z) for z in scores if math.isfinite(z)), default=0.0)
    random = "as by chance" if largest < MAX_CHANCE_Z else "MORE THAN BY CHANCE: do not trust this table"
    planted = "came back exactly" if analysis.planted else "DID NOT COME BACK, so that this table must not be trusted"
    return [
        f"Two controls: values that were planted in the place of the model's {planted}, and random vectors have |z| up "
        f"to {largest:.1f}, {random}.",
    ]


def _cells(one: Comparison) -> list[str]:
    found = one.contrast
    return [
        one.source,
        RULES[one.overlap],
        f"{one.threshold:.3g}",
        str(found.n_words),
        str(found.n_same),
        *(_with_error(estimate) for estimate in (found.same, found.different, found.difference)),
        "" if math.isnan(found.ratio) else f"{found.ratio:.3g}",
        "" if math.isnan(found.z) else f"{found.z:+.1f}",
    ]


def _with_error(estimate: Estimate) -> str:
    """Return a mean with its standard error; of a single pair none is known."""
    return str(estimate) if estimate.stderr else f"{estimate.mean:.3g}"
