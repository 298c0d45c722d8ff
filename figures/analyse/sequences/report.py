"""Reports an analysis to the user, in words and in a text table."""

import math

from figures.analyse.sequences.clones import sentences
from figures.analyse.sequences.record import SequenceAnalysis
from figures.analyse.wording import WIDTH, counted, paragraphs
from figures.core.render import render

HEADER = ["M", "M/L", "pair model", "sites alone", "gain"]
LISTED = 10


def report(analysis: SequenceAnalysis, title: str, width: int = WIDTH) -> str:
    """Write the analysis as a table of the learning curves and sentences."""
    cells = [
        [str(n), f"{n / analysis.n_sites:.3g}", *map(str, found)]
        for n, *found in zip(analysis.sizes, analysis.pair_loss, analysis.independent_loss, analysis.gain, strict=True)
    ]
    caption = (
        f"M training sequences of L sites; losses are -log probability of a masked site given all others, in nats, "
        f"mean over {analysis.held_out} held-out sequences (and its standard error); uniform guessing has "
        f"{math.log(analysis.n_colors):.4f}; gain: sites alone minus pair model"
    )
    return "\n".join(
        (render(HEADER, cells, title, paragraphs([caption], width), "text"), "", paragraphs(summary(analysis), width))
    )


def summary(analysis: SequenceAnalysis) -> list[str]:
    """Say how much independent data there is, what pairs gain, and which sites interact most."""
    pair, alone = analysis.pair_loss[-1], analysis.independent_loss[-1]
    gaps = ", where a gap counts as a letter like any other" if "-" in analysis.tokens else ""
    return [
        f"There are {analysis.n_sequences} sequences of {analysis.n_sites} sites with {analysis.n_colors} tokens; "
        f"similar ones share their weight, so that they count as {analysis.effective_number:.1f} sequences."
        if analysis.identity is not None
        else f"There are {analysis.n_sequences} sequences of {analysis.n_sites} sites with {analysis.n_colors} tokens.",
        *(f"Note: {note}." for note in analysis.notes),
        _held_out(analysis),
        f"To predict one masked site is as hard as to choose among {math.exp(pair.mean):.3f} equally likely letters by "
        f"the pair model (its perplexity), and among {math.exp(alone.mean):.3f} from the column alone{gaps}.",
        *_verdict(analysis),
        _strongest(analysis),
        *sentences(analysis.clones),
    ]


def _held_out(analysis: SequenceAnalysis) -> str:
    if analysis.identity is None:
        return (
            f"{analysis.held_out} sequences were held out at random: they may resemble some that were fitted, and the "
            "errors take every sequence as independent of the others."
        )
    return (
        f"{analysis.held_out} sequences were held out in whole clusters of similar ones (there are "
        f"{analysis.n_clusters} clusters), so that none is {100 * analysis.identity:g} % identical to one that was "
        "fitted; the standard errors are between clusters."
    )


def _verdict(analysis: SequenceAnalysis) -> list[str]:
    """Say where the ranking is that of noise, or may be."""
    if analysis.is_evidence:
        return []
    if analysis.pair_loss[-1].mean >= math.log(analysis.n_colors):
        found = "The pair model predicts held-out sequences no better than uniform guessing"
    else:
        found = (
            f"The pair model predicts held-out sequences no better than sites alone (its gain {analysis.gain[-1]} is "
            "not above two standard errors)"
        )
    return [f"{found}: the ranking below is no evidence of interactions."]


def _strongest(analysis: SequenceAnalysis) -> str:
    apart = f"at least {counted(analysis.min_separation, 'site')} apart"
    if not analysis.pairs:
        return f"No two columns that vary are {apart}: there is nothing to rank."
    top = ", ".join(f"{analysis.label(p)} ({analysis.letters(p)})" for p in analysis.pairs[:LISTED])
    return f"The strongest interactions {apart}, with the letters that favor each other most, are: {top}."
