"""Predicts how long Boltzmann learning takes, before anything is learned."""

import argparse

from figures.analyse.wording import duration

# Seconds of an update of one site in one chain, by the number of colors filled up to eights: z of the other sites, and
# the draw of a color. Then those of a pair of sites in a step: counting its colors, and changing its couplings.
UPDATE_SITE, UPDATE_COLOR, COUNT_CHAIN, CHANGE_COUPLING = 2.6e-11, 4e-9, 1.0e-9, 2.5e-9
CHAINS, SWEEPS = 1024, 10  # of learning
CHECKED_SWEEPS = 128 * 9700  # of all fresh chains in a check, with the second, longer burn-in that most of them need
STEPS, CHECKS = 300, 7  # of learning: three families took .5 to 1.4 times what follows from them


def generation_seconds(options: argparse.Namespace, n_sites: int, n_colors: int) -> float:
    """Return the seconds of one processor of the learning that these options ask for; 0 where they ask for none."""
    boltzmann = getattr(options, "boltzmann", None)
    for_clones = bool(options.clones and options.clones > 1 and boltzmann is not False)
    for_new = bool(getattr(options, "generate", None) and boltzmann)
    return cost(n_sites, n_colors) if for_clones or for_new else 0.0


def learning_sentence(seconds: float) -> str:
    """Say how long learning takes, and what takes less; an empty string where nothing is learned."""
    if seconds == 0:
        return ""
    return (
        f" Boltzmann learning takes about {duration(seconds)} of this, known to a factor of three; --no-boltzmann "
        "leaves it out and takes the model of penalized pseudo-likelihood, which misses covariances of pairs."
    )


def cost(n_sites: int, n_colors: int) -> float:
    """Predict the seconds of one processor that learning takes, to a factor of two to three."""
    wide = n_colors + -n_colors % 8
    update = n_sites * wide * UPDATE_SITE * 1.5 + n_colors * UPDATE_COLOR
    pairs = n_sites * (n_sites - 1) / 2
    step = CHAINS * SWEEPS * n_sites * update + pairs * (CHAINS * COUNT_CHAIN + n_colors**2 * CHANGE_COUPLING)
    return STEPS * step + CHECKS * CHECKED_SWEEPS * n_sites * update
