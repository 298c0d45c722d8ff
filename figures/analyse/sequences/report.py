"""The analysis in words and in a text table."""

import math

from figures.analyse.sequences.record import SequenceAnalysis
from figures.analyse.wording import WIDTH, paragraphs
from figures.core.render import render

HEADER = ["M", "M/L", "pair model", "sites alone", "gain"]
LISTED = 10


def report(analysis: SequenceAnalysis, title: str, width: int = WIDTH) -> str:
    """Table of the learning curves, and a summary."""
    cells = [
        [str(n), f"{n / analysis.n_sites:.3g}", *map(str, found)]
        for n, *found in zip(analysis.sizes, analysis.pair_loss, analysis.independent_loss, analysis.gain, strict=True)
    ]
    caption = (
        f"masked loss in nats a site of {analysis.held_out} held-out sequences; uniform guessing has "
        f"{math.log(analysis.n_colors):.4f}"
    )
    return "\n".join((render(HEADER, cells, title, caption, "text"), "", paragraphs(summary(analysis), width)))


def summary(analysis: SequenceAnalysis) -> list[str]:
    """Sentences: how much independent data there is, what pairs gain, which sites interact most."""
    pair, alone = analysis.pair_loss[-1], analysis.independent_loss[-1]
    gaps = "; gaps count as a token" if "-" in analysis.tokens else ""
    return [
        f"{analysis.n_sequences} sequences, {analysis.n_sites} sites, {analysis.n_colors} tokens "
        f"({' '.join(analysis.tokens[:30])}); effective number of sequences {analysis.effective_number:.1f}",
        *(f"note: {note}" for note in analysis.notes),
        _held_out(analysis),
        f"a masked site has perplexity {math.exp(pair.mean):.3f} by the pair model and {math.exp(alone.mean):.3f} from "
        f"its column alone{gaps}",
        *_verdict(analysis),
        _strongest(analysis),
    ]


def _held_out(analysis: SequenceAnalysis) -> str:
    if analysis.identity is None:
        return (
            f"held out: {analysis.held_out} sequences at random; they may resemble some that were fitted, and errors "
            "take every sequence as independent of the others"
        )
    return (
        f"held out: {analysis.held_out} sequences in whole clusters ({analysis.n_clusters} in all) of similar ones, so "
        f"that none is {100 * analysis.identity:g} % identical to one that was fitted; errors are between clusters"
    )


def _verdict(analysis: SequenceAnalysis) -> list[str]:
    """Where the ranking is that of noise, or may be."""
    if analysis.is_evidence:
        return []
    if analysis.pair_loss[-1].mean >= math.log(analysis.n_colors):
        found = "the pair model predicts held-out sequences no better than uniform guessing"
    else:
        found = (
            f"the pair model predicts held-out sequences no better than sites alone (gain {analysis.gain[-1]}, not "
            "above two standard errors)"
        )
    return [f"{found}: the ranking below is no evidence of interactions"]


def _strongest(analysis: SequenceAnalysis) -> str:
    apart = f"at least {analysis.min_separation} sites apart"
    if not analysis.pairs:
        return f"no two columns that vary are {apart}: nothing to rank"
    top = ", ".join(f"{analysis.label(p)} ({analysis.letters(p)})" for p in analysis.pairs[:LISTED])
    return f"strongest interactions {apart} (with the letters that favor each other most): {top}"
