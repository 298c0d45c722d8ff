"""Says of new sequences how they were made, what they keep of the family, and what not to trust."""

import numpy as np

from figures.analyse.sequences.generation.comparison import PAIRS, Comparison
from figures.analyse.sequences.generation.learning import PEARSON, SLOPE
from figures.analyse.sequences.generation.make import Generation
from figures.analyse.wording import counted, duration

GOOD_SLOPE = 0.9  # of the covariances of pairs, below which they are said to be too weak


def generation_sentences(made: Generation | None) -> list[str]:
    """Return the sentences of the report; none where no sequences were asked for."""
    if made is None:
        return []
    return [_origin(made), _agreement(made), *_weakness(made), _nearest(made)]


def _origin(made: Generation) -> str:
    count = counted(len(made.states), "new sequence")
    if made.fit is None:
        how = "the pair model of penalized pseudo-likelihood"
    else:
        how = (
            f"a pair model of Boltzmann learning ({made.fit.iterations} steps, "
            f"{duration(made.fit.seconds)} of computing)"
        )
    return (
        f"{count} {'was' if len(made.states) == 1 else 'were'} drawn from {how}. R-hat of the chains, half of which "
        f"started from the family and half from independent columns, is {made.r_hat:.4f} (good below 1.01)."
    )


def _agreement(made: Generation) -> str:
    numbers = "; ".join(map(_compared, made.comparisons))
    halves = not np.isnan(made.comparisons[0].half_pearson)
    yardstick = (
        " In parentheses stands the same for a second half of the family against the first, split in whole clusters of "
        "similar sequences: a model cannot be expected to agree with new natural sequences better than that."
        if halves
        else " There are too few clusters of similar sequences to compare two halves of the family with each other."
    )
    return (
        f"{made.n_compared} sequences of the model, compared with the family by Pearson's correlation coefficient and "
        f"the slope of the regression on the family's numbers (both 1 in perfect agreement): {numbers}.{yardstick}"
    )


def _compared(each: Comparison) -> str:
    half = "" if np.isnan(each.half_pearson) else f" ({each.half_pearson:.3f} and {each.half_slope:.2f})"
    return f"{each.what} {each.pearson:.3f} and {each.slope:.2f}{half}"


def _weakness(made: Generation) -> list[str]:
    pairs = next((each for each in made.comparisons if each.what == PAIRS), None)
    if pairs is None or pairs.slope >= GOOD_SLOPE:
        return []
    shrunk = f"Covariances of pairs are on average {pairs.slope:.2f} times those of the family"
    if made.fit is None:
        return [
            f"{shrunk}: penalized pseudo-likelihood predicts single letters well, but its samples miss what pairs of "
            "columns show. Do not take these sequences for members of the family; --boltzmann learns a model whose "
            "samples have the covariances of the family."
        ]
    return [
        f"{shrunk}: learning stops where their correlation with the family's is {PEARSON:g} and this factor {SLOPE:g}, "
        "since beyond that a model would learn more and more of the noise of the family. It is up to a fifth less "
        "where the frequencies of single columns were corrected at the end."
    ]


def _nearest(made: Generation) -> str:
    new, own = np.median(made.nearest), np.median(made.natural)
    copies = int((made.nearest == 1).sum())
    same = "None of them is" if copies == 0 else f"{copies} of them {'is' if copies == 1 else 'are'}"
    return (
        f"A new sequence agrees with the nearest natural one at {100 * new:.0f} % of the sites (the median; a natural "
        f"one with the nearest other one at {100 * own:.0f} %). {same} a copy of a natural sequence."
    )
