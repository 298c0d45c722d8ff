"""Clones of a user's sequences: samples that keep the interactions of at most one, two or three sites of them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.analyse.sequences.unlearned import reason_of_learning
from figures.analyse.wording import listed
from simulate.nets import Clone, clone
from simulate.nets.clones import MAX_ORDER, require_order
from simulate.potts import FitError, MixingError
from simulate.potts.inference.sequences import Sequences
from simulate.potts.inference.three_body import SEQUENCES_PER_PARAMETER, triplet_parameters
from theory.core import Array, DataFrame

MAX_SWEEPS = 30_000  # about a minute for the largest families
MAX_STEPS = 1000  # most steps of a fit
MEANING = (
    "A clone of order k is a set of new sequences, as many as in the alignment. They are drawn from a model with "
    "interactions of at most k sites that was learned from the alignment, and keep what can be seen in k columns at a "
    "time. To see how well, the frequencies of letters in a column (r = 1), and of combinations of letters in two and "
    "three columns (r = 2, 3), are compared between clone and alignment: the mismatch is half the sum of the absolute "
    "differences, averaged over columns or sets of columns, and the noise is what two samples of one model would show."
)


def require_supported(order: int | None, states: NDArray[np.uint8], n_colors: int, weights: Array) -> None:
    """Refuse, before any work, clones of an order that there is not or that the sequences do not suffice for."""
    if order is None:
        return
    if order not in range(1, MAX_ORDER + 1):
        raise ValueError(f"clones must be 1, 2 or {MAX_ORDER}, the largest number of sites that interact, got {order}")
    data = Sequences.of(states, max(2, n_colors), weights)
    try:
        require_order(order, data)
    except ValueError:
        raise ValueError(f"clones must be at most {order - 1} here: {_too_few(order, data)}") from None


def _too_few(order: int, data: Sequences) -> str:
    L, C = data.n_sites, data.n_colors
    if order > L:
        return f"there are only {L} columns"
    least = SEQUENCES_PER_PARAMETER * triplet_parameters(L, C, "full")
    return (
        f"to learn a table for every three of {L} sites with {C} letters takes at least {least} independent sequences, "
        f"and these count as {1 / float(np.sum(data.weights**2)):.0f}; fewer columns take fewer sequences"
    )


def make_clones(
    states: NDArray[np.uint8],
    n_colors: int,
    weights: Array,
    most: int | None,
    l2: float,
    field_l2: float,
    seed: int,
    second: Callable[[], Clone] | None = None,
) -> tuple[tuple[Clone, ...], tuple[str, ...]]:
    """Return clones of the orders 1 to `most`, and a note for each that cannot be had.

    Order 2 is what `second` makes, by Boltzmann learning; where it is None it is drawn from the model of
    pseudo-likelihood with the penalties `l2` and `field_l2`, for a log-likelihood summed over the weights.
    """
    made, notes = [], []
    for order in range(1, (most or 0) + 1):
        options: dict[str, Any] = {"weights": weights, "tol": 1e-3, "seed": seed}
        options |= {"max_iter": MAX_STEPS, "max_sweeps": MAX_SWEEPS}
        if order == 2:  # with penalties of its own, none, a field would be infinite
            options |= {"l2": l2 / weights.sum(), "field_l2": field_l2 / weights.sum()}
        try:
            if order == 2 and second is not None:
                made.append(second())
                continue
            made.append(_mixed(states, max(2, n_colors), order, options))
        except (FitError, MixingError, ValueError, MemoryError) as error:
            learned = order == 2 and second is not None
            reason = reason_of_learning(error) if learned else _reason(error, order, l2)
            notes.append(f"there is no clone of order {order}: {reason}")
    return tuple(made), tuple(notes)


def _reason(error: Exception, order: int, l2: float) -> str:
    """Say why there is no clone, and what can be done, in the words of a reader who knows no solver."""
    stronger = f"a stronger penalty of the couplings (--l2, now {l2:g}), " if order == 2 else ""
    if isinstance(error, FitError):
        return (
            f"the model that it is drawn from was still changing after {MAX_STEPS} steps, since the sequences decide "
            f"some of its interactions poorly; try {stronger}fewer columns or a smaller alphabet"
        )
    if isinstance(error, MixingError):
        return (
            f"sequences drawn from its model still resembled those that the drawing started from after {error.sweeps} "
            "passes over all sites, so that they would be no fair sample: the model has groups of sequences between "
            f"which it hardly changes; try {stronger}fewer columns or only one subfamily"
        )
    if isinstance(error, MemoryError):
        return "its model is too large for the memory; take fewer columns or a smaller alphabet"
    return "its model cannot be told from these sequences; take more sequences, or fewer columns"


def _mixed(states: NDArray[np.uint8], n_colors: int, order: int, options: dict[str, Any]) -> Clone:
    """Make a clone, by parallel tempering where plain chains do not mix."""
    try:
        return clone(states, n_colors, order, **options)
    except MixingError:
        return clone(states, n_colors, order, tempering=True, **options)


def sentences(clones: tuple[Clone, ...]) -> list[str]:
    """Say what a clone is, and how good each one is."""
    return [MEANING, *map(_sentence, clones), *_farther(clones)] if clones else []


def _farther(clones: tuple[Clone, ...]) -> list[str]:
    """Say where the clone of pairs is farther from the alignment in two columns than that of independent columns."""
    of = {made.order: made for made in clones}
    if not {1, 2} <= set(of) or min(len(of[1].marginals), len(of[2].marginals)) < 2:
        return []
    alone, pairs = of[1].marginals[1], of[2].marginals[1]
    if pairs.mean <= max(alone.mean, pairs.noise):
        return []
    return [
        f"In two columns the clone of order 2 differs from the alignment by more ({pairs.mean:.3g}) than that of "
        f"independent columns ({alone.mean:.3g}), because it misses the frequencies of single columns: its covariances "
        "are those of its pair model, but do not take it for a copy of what pairs of columns show."
    ]


def _sentence(made: Clone) -> str:
    kinds = {
        "sites": "independent sites",
        "pairs": "pairs of sites",
        "full": "pairs and triplets of sites, with a table of its own for every triplet",
    }
    compared = [f"{each.mean:.3g} for r = {each.order} (noise {each.noise:.3g})" for each in made.marginals]
    return (
        f"The clone of order {made.order} has {len(made.states)} sequences from a model of "
        f"{kinds.get(made.kind, made.kind)} (R-hat of the sampling {made.r_hat:.4f}, good below 1.01). Its mismatch is "
        f"{listed(compared, 3)}." + (f" But {made.reservation}." if made.reservation else "")
    )


def clones_frame(clones: tuple[Clone, ...]) -> DataFrame:
    """Return a table with a row for each clone and each number of sites whose marginals were compared."""
    from pandas import DataFrame

    return DataFrame(
        [
            {
                "clone": made.order,
                "energies": made.kind,
                "reservation": made.reservation,
                "sequences": len(made.states),
                "r_hat": made.r_hat,
                "effective_sample_size": made.effective_sample_size,
                "sites": each.order,
                "mean_mismatch": each.mean,
                "largest_mismatch": each.largest,
                "noise": each.noise,
            }
            for made in clones
            for each in made.marginals
        ]
    )


def clone_files(clones: tuple[Clone, ...], tokens: tuple[str, ...]) -> dict[str, str]:
    """Return the contents of one file for each clone, by the end of its name: FASTA, or CSV for longer tokens."""
    files = {}
    for made in clones:
        ending, text = sequence_text(made.states, tokens, f"clone{made.order}")
        files[f"clone{made.order}.{ending}"] = text
    return files


def sequence_text(states: NDArray[np.integer], tokens: tuple[str, ...], name: str) -> tuple[str, str]:
    """Return the ending and the content of a file of sequences (N, L) called `name`_1 and so on.

    It is FASTA, or CSV without names where the tokens are longer than letters.
    """
    letters = all(len(token) == 1 and (token == "-" or "A" <= token <= "Z") for token in tokens)
    rows = np.array(tokens)[np.minimum(states, len(tokens) - 1)]
    if letters:
        lines = [f">{name}_{k}\n{''.join(each)}" for k, each in enumerate(rows, start=1)]
    else:
        lines = [",".join(map(_cell, each)) for each in rows]
    return "fasta" if letters else "csv", "\n".join(lines) + "\n"


def _cell(token: str) -> str:
    quoted = token.replace('"', '""')
    return f'"{quoted}"' if any(sign in token for sign in ',"\r\n') else token
