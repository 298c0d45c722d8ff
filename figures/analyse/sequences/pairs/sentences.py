"""Says how deep the alignment is, how many pairs a list of few false ones holds, and how many are known contacts."""

import numpy as np

from figures.analyse.sequences.pairs.false_discoveries import FALSE_DISCOVERIES
from figures.analyse.sequences.pairs.precision import Precision
from figures.analyse.sequences.record import SequenceAnalysis
from figures.analyse.wording import counted

# Of short sequences: the median of the dependences of all pairs, in standard deviations of one where nothing interacts.
# Of simulated families of 16 and 20 sites with two partners a site it was above this in 26 of 40 that descend from 8 or
# 20 ancestors, and in 2 of 30 without common ancestors (12 sites: 5 of 10; with six partners a site: 4 of 4).
DESCENT_DEPENDENCE = 0.4


def depth(analysis: SequenceAnalysis) -> str:
    """Say how many effective sequences there are for each site."""
    of = analysis.effective_number / analysis.n_sites
    return (
        f"The effective depth Meff/L is {of:.3g}: so many independent sequences there are for each site. "
        "Families differ in what they need; what a part of yours finds (--max-sequences) says how much more would add."
    )


def discoveries(analysis: SequenceAnalysis) -> list[str]:
    """Say how many pairs have a low q-value, and what that promises and does not."""
    if not analysis.pairs:
        return []
    found = analysis.evidence
    count = found.at_most(FALSE_DISCOVERIES)
    what = ("dependences", " and trials") if found.is_short else ("scores", "")
    noise = f"{what[0]} of the same shuffled alignments{what[1]}"
    descent = _descent(analysis) if found.is_short and count else ""
    have = "has" if count == 1 else "have"
    return [
        f"{count or 'None'} of {counted(len(analysis.pairs), 'pair')} {have} a q-value of at most "
        f"{FALSE_DISCOVERIES:g}, by the {noise}: at most one pair in {1 / FALSE_DISCOVERIES:g} of such a list is "
        f"expected to be noise, while above the limit there should be none. A pair "
        f"of either list need not be a contact.{descent}"
    ]


def _descent(analysis: SequenceAnalysis) -> str:
    """Say that q-values of short sequences do not count common descent as noise, and whether this family shows it."""
    middle = float(np.median([pair.strength for pair in analysis.pairs]))
    sign = (
        f" THIS FAMILY MAY BE ONE OF THEM: half of its pairs have a dependence above {middle:.2f}. It was above "
        f"{DESCENT_DEPENDENCE:g} in 26 of 40 simulated families of 16 to 20 sites and few ancestors, and in 2 of 30 "
        "without common ancestors, but also where sites have many partners. Unless they have, take its q-values for "
        "too small, and confirm pairs otherwise."
        if middle > DESCENT_DEPENDENCE
        else f" Half of the pairs of this family have a dependence above {middle:.2f}; as little was seen in 28 of 30 "
        "simulated families of 16 to 20 sites without common ancestors, but also in 14 of 40 with few ancestors."
    )
    return (
        " Common descent is not counted as noise, and among sequences as short as these that breaks the promise: of "
        "lists with q-values of at most 0.1 a share of 0.235(27) was false in simulated families of 16 sites that "
        f"descend from 20 ancestors, where without common ancestors it was about 0.1.{sign}"
    )


def against_contacts(analysis: SequenceAnalysis) -> list[str]:
    """Say which share of the highest pairs are contacts, with 95 % intervals."""
    contacts, found = analysis.contacts, analysis.precision
    if contacts is None:
        return []
    *sets, chance = found
    shares = ", ".join(f"{_named(one)}: {_share(one)}" for one in sets)
    return [
        f"Compared with the contacts of {contacts.source}: of the ranked pairs of which it is known whether they "
        "touch, these shares are contacts, with 95 % intervals that take pairs as independent: "
        f"{shares}. Of all {counted(chance.pairs, 'such pair')} {100 * chance.share:.2g} % are contacts, which is what "
        "chance would find.",
        *(f"Note: {note}." for note in contacts.notes),
    ]


def _named(one: Precision) -> str:
    return f"{one.of} ({counted(one.pairs, 'pair')})"


def _share(one: Precision) -> str:
    if not one.pairs:
        return "none"
    low, high = one.interval
    return f"{100 * one.share:.0f} % ({100 * low:.0f} to {100 * high:.0f})"
