"""The analysis in words and in a text table."""

import math
import textwrap

from figures.analyse.text.record import RANDOM, RULES, Comparison, TextAnalysis
from figures.analyse.wording import WIDTH, paragraphs
from figures.core.render import render

HEADER = ["measured", "topics", "rho", "words", "same pairs", "same", "different", "difference", "ratio", "z"]
CAPTION = (
    "mean over pairs of words of one topic and of different topics (cosines; of the value matrix its entries), errors "
    "by deleting words; ratio only where the different-topic mean is clearly above zero; z against permuted topics"
)
CHANCE = 4.0  # |z| of a random embedding beyond which something is wrong


def report(analysis: TextAnalysis, title: str, width: int = WIDTH) -> str:
    """Topics, the table of contrasts, and a summary."""
    lines = [
        f"topic {k} ({100 * share:.1f} %): {' '.join(words)}"
        for k, (share, words) in enumerate(zip(analysis.shares, analysis.topics, strict=True), start=1)
    ]
    caption = textwrap.fill(CAPTION, width)
    table = render(HEADER, [_cells(one) for one in analysis.comparisons], title, caption, "text")
    return "\n".join((paragraphs(lines, width), "", table, "", paragraphs(summary(analysis), width)))


def summary(analysis: TextAnalysis) -> list[str]:
    """Sentences: size, what was left out, controls, and what z does not say."""
    return [
        f"{analysis.n_documents} documents, {analysis.n_words} words, {analysis.n_tokens} tokens; "
        f"{len(analysis.topics)} topics with perplexity {analysis.perplexity:.0f}",
        *(f"note: {note}" for note in analysis.notes),
        *_controls(analysis),
        "topics and model are of different halves of the documents"
        if analysis.split
        else "topics and model are of the same documents, so z is no independent test; --split fits them to halves",
    ]


def _controls(analysis: TextAnalysis) -> list[str]:
    planted = "came back exactly" if analysis.planted else "DID NOT COME BACK: do not trust this table"
    scores = [one.contrast.z for one in analysis.comparisons if one.source == RANDOM]
    largest = max((abs(z) for z in scores if math.isfinite(z)), default=0.0)
    random = "as by chance" if largest < CHANCE else "MORE THAN BY CHANCE: do not trust this table"
    return [
        f"controls: planted values {planted}; a random embedding has |z| up to {largest:.1f}, {random}",
    ]


def _cells(one: Comparison) -> list[str]:
    found = one.contrast
    return [
        one.source,
        RULES[one.overlap],
        f"{one.threshold:.3g}",
        str(found.n_words),
        str(found.n_same),
        str(found.same),
        str(found.different),
        str(found.difference),
        "" if math.isnan(found.ratio) else f"{found.ratio:.3g}",
        "" if math.isnan(found.z) else f"{found.z:+.1f}",
    ]
