"""Reports an analysis to the user, in words and in a text table."""

import math

from figures.analyse.sequences.clones import sentences
from figures.analyse.sequences.generation import generation_sentences
from figures.analyse.sequences.mutations.command import model_sentences
from figures.analyse.sequences.numbering.sentences import numbers_of_sites
from figures.analyse.sequences.pairs.sentences import against_contacts, depth, discoveries
from figures.analyse.sequences.record import SequenceAnalysis
from figures.analyse.sequences.residuals import SIGNS
from figures.analyse.sequences.scores import Pair
from figures.analyse.wording import WIDTH, counted, listed, paragraphs
from figures.core.render import render

HEADER = ["M", "M/L", "pair model", "sites alone", "gain"]
N_LISTED_PAIRS = 10
FEW = 3  # sequences for each unknown of a pair, above which indirect pairs were told from direct ones
SCORE = "The score of a pair is the Frobenius norm of its couplings after the average-product correction (APC)."
DEPENDENCE = (
    "In sequences as short as these most pairs may interact. Pairs are therefore ranked by their dependence beyond all "
    "other sites: each letter is predicted from the other sites but for its partner, and what remains of both letters "
    "is compared, by a chi-square less its mean and over its standard deviation."
)


def report(analysis: SequenceAnalysis, title: str, width: int = WIDTH) -> str:
    """Write the analysis as a table of the learning curves and sentences."""
    cells = [
        [str(n), f"{n / analysis.n_sites:.3g}", *map(str, found)]
        for n, *found in zip(analysis.sizes, analysis.pair_loss, analysis.independent_loss, analysis.gain, strict=True)
    ]
    caption = (
        f"How well is a hidden letter predicted? Models were learned from M sequences of L = {analysis.n_sites} sites. "
        f"In each of {analysis.held_out} other sequences, which were held out, every site is hidden in turn and "
        "predicted: by the pair model from all other sites of the sequence, by sites alone from the frequencies of its "
        "column. The numbers are the mean of -log(probability of the true letter), with the natural logarithm; smaller "
        "is better, and digits in parentheses are the standard error of the last ones. Guessing among all letters has "
        f"{math.log(analysis.n_colors):.4f}. The gain is sites alone minus pair model; its "
        "standard error is that of the differences within sequences, since sequences that are hard to predict are so "
        "for both."
    )
    return "\n".join(
        (render(HEADER, cells, title, paragraphs([caption], width), "text"), "", paragraphs(summary(analysis), width))
    )


def summary(analysis: SequenceAnalysis) -> list[str]:
    """Say how much independent data there is, what pairs gain, and which sites interact most."""
    pair, alone = analysis.pair_loss[-1], analysis.independent_loss[-1]
    gaps = ", where a gap counts as a letter like any other" if "-" in analysis.tokens else ""
    size = f"There are {analysis.n_sequences} sequences of {analysis.n_sites} sites with {analysis.n_colors} letters."
    return [
        f"{size} "
        f"Sequences that agree at {100 * analysis.identity:g} % of the sites or more share their weight, so that all "
        f"count as {analysis.effective_number:.1f} sequences (Meff)."
        if analysis.identity is not None
        else size,
        depth(analysis),
        *numbers_of_sites(analysis),
        *(f"Note: {note}." for note in analysis.notes),
        _held_out(analysis),
        f"For the pair model, to predict one hidden letter is as hard as to choose among {math.exp(pair.mean):.3f} "
        "equally likely letters (this number is its perplexity); from the column alone it is as hard as among "
        f"{math.exp(alone.mean):.3f}{gaps}.",
        *_gain(analysis),
        *_penalties(analysis),
        _separation(analysis),
        *_evidence(analysis),
        *discoveries(analysis),
        *against_contacts(analysis),
        *_indirect(analysis),
        *_strongest(analysis),
        *sentences(analysis.clones),
        *model_sentences(analysis),
        *generation_sentences(analysis.generation),
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


def _penalties(analysis: SequenceAnalysis) -> list[str]:
    """Say what the penalties mean, since programs that average over sequences take other numbers for the same."""
    if analysis.settings is None:
        return []
    l2, meff = analysis.settings.l2, analysis.effective_number
    return [
        f"The penalties {l2:.4g} |J_ij|^2 (--l2, each pair once) and {analysis.settings.field_l2:.4g} |h_i|^2 are "
        "those of a log-likelihood summed over sequences with their weights. A program that averages over sequences, "
        "such as simulate.potts.pseudo_likelihood, takes them divided by the sum of weights, not by the number of "
        f"sequences: l2 = {l2:.4g}/{meff:.1f} = {l2 / meff:.3g}."
    ]


def _gain(analysis: SequenceAnalysis) -> list[str]:
    """Say where pairs do not help to predict."""
    if analysis.gains:
        return []
    if analysis.pair_loss[-1].mean >= math.log(analysis.n_colors):
        return ["The pair model predicts held-out sequences no better than uniform guessing."]
    return [
        f"The pair model predicts held-out sequences no better than sites alone (its gain {analysis.gain[-1]} is not "
        "above two standard errors)."
    ]


def _separation(analysis: SequenceAnalysis) -> str:
    """Say which pairs are ranked, and why."""
    apart, score = analysis.min_separation, DEPENDENCE if analysis.evidence.is_short else SCORE
    if apart == 1:
        return f"All pairs of sites that vary are ranked, neighbors too. {score}"
    why = (
        ", since nearer residues of a protein touch along the chain (--min-separation 1 ranks all)"
        if analysis.is_default_separation
        else ""
    )
    return f"Pairs are ranked that are at least {apart} sites apart{why}. {score}"


def _evidence(analysis: SequenceAnalysis) -> list[str]:
    """Say how many ranked pairs lie above the scores of noise, and at which rate noise does."""
    found = analysis.evidence
    if not analysis.pairs:
        return []
    wider = (
        f", times {found.widening:.2f} because the scores of these data scatter so much more than those of shuffled "
        "columns"
        if found.widening > 1
        else ""
    )
    value = "dependence" if found.is_short else "score"
    signs, chance = "", "by chance alone"
    if found.is_short:
        signs = f", and of {SIGNS} trials in which what remains of two letters is multiplied with random signs"
        chance = "by chance alone, at most"
    limit = (
        f"above {found.limit:.3g}. This limit is the largest {value} of {found.permutations} alignments in which each "
        f"column was shuffled by itself, so that nothing interacts{wider or signs}; {chance} "
        f"{100 * found.false_alarms:.0f} % of alignments without interactions would have a pair above it"
    )
    if not analysis.is_evidence:
        ranked = counted(len(analysis.pairs), "pair")
        verb = "has a dependence" if found.is_short else "scores"
        return [
            f"None of {ranked} {verb} {limit}. The ranking below is no evidence of interactions{_and_gain(analysis)}."
        ]
    verb = "score" if found.count > 1 else "scores"
    if found.is_short:
        verb = "have a dependence" if found.count > 1 else "has a dependence"
    return [
        f"{found.count} of {counted(len(analysis.pairs), 'pair')} {verb} {limit}. Common descent (phylogeny) can also "
        "lift pairs that do not interact; that similar sequences share their weight corrects for a part of it only."
        if analysis.identity is not None
        else f"{found.count} of {counted(len(analysis.pairs), 'pair')} {verb} {limit}. This takes all sequences "
        "as independent: common descent (phylogeny) can lift pairs that do not interact."
    ]


def _indirect(analysis: SequenceAnalysis) -> list[str]:
    """Say where the sequences are too few to tell pairs that interact from pairs that share a third site."""
    unknown = (analysis.n_colors - 1) ** 2
    if not (analysis.evidence.is_short and analysis.is_evidence and analysis.effective_number < FEW * unknown):
        return []
    return [
        "These pairs may depend on each other through third sites only. A pair of sites with "
        f"{analysis.n_colors} letters has {unknown} unknown couplings, and the "
        f"sequences count as {analysis.effective_number:.0f}, fewer than {FEW} for each of them: too "
        "few to tell direct from indirect pairs where sites depend strongly on each other (in simulated chains of 5, 6 "
        "and 8 sites that each copy the site before in 9 of 10 cases, 600 sequences of 20 "
        "letters had an indirect pair above the limit in 8, 25 and 52 % of files). More sequences would tell, or an "
        "alphabet in which similar letters are one."
    ]


def _and_gain(analysis: SequenceAnalysis) -> str:
    """Say what pairs gain in spite of a ranking without evidence, so that the two are not read as a contradiction."""
    if not analysis.gains:
        return ""
    nearer = f"by pairs nearer than {analysis.min_separation} sites, or " if analysis.nearer else ""
    return (
        f" between single pairs of it. That sites help to predict each other (the gain is {analysis.gain[-1]}) is then "
        f"explained {nearer}by a dependence that very many pairs share, none of which stands out: many weak "
        "interactions, a hidden cause, or common descent"
    )


def _strongest(analysis: SequenceAnalysis) -> list[str]:
    if not analysis.pairs:
        apart = "" if analysis.min_separation == 1 else f" that vary are at least {analysis.min_separation} sites apart"
        return [f"No two columns{apart or ' vary'}: there is nothing to rank."]
    shown = analysis.pairs[: min(N_LISTED_PAIRS, analysis.evidence.count or N_LISTED_PAIRS)]
    top = ", ".join(_named(analysis, p) for p in shown)
    reached = "dependences" if analysis.evidence.is_short else "scores"
    what = "strongest interactions" if analysis.is_evidence else f"highest {reached}, which noise reaches too"
    return [
        f"The {what}, by the numbers of their columns, with the two letters that favor each other most in parentheses, "
        f"are: {top}.",
        *_left_out(analysis, shown[-1].strength),
    ]


def _named(analysis: SequenceAnalysis, pair: Pair) -> str:
    residues = analysis.residues(pair)
    return f"{analysis.label(pair)} ({residues and f'residues {residues}, '}{analysis.letters(pair)})"


def _left_out(analysis: SequenceAnalysis, least: float) -> list[str]:
    """Count and name the pairs below the separation that score higher than the weakest pair that is listed."""
    left = [pair for pair in analysis.nearer if pair.strength > least]
    if not left:
        return []
    be = "are" if len(left) > 1 else "is"
    verb = "score" if len(left) > 1 else "scores"
    if analysis.evidence.is_short:
        verb = "depend" if len(left) > 1 else "depends"
    return [
        f"Left out of this list {be} {counted(len(left), 'pair')} of sites nearer than {analysis.min_separation} that "
        f"{verb} {'more' if analysis.evidence.is_short else 'higher'} than the weakest one listed: "
        f"{listed([analysis.label(pair) for pair in left], N_LISTED_PAIRS)}."
    ]
