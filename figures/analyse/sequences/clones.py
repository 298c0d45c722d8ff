"""Clones of a user's sequences: samples that keep the interactions of at most one, two or three sites of them."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from figures.analyse.wording import listed
from simulate.nets import Clone, clone
from simulate.nets.clones import MOST_ORDER, require_order
from simulate.potts import FitError, MixingError
from simulate.potts.inference.sequences import Sequences
from theory.models.arrays import Array

if TYPE_CHECKING:
    from pandas import DataFrame

MAX_SWEEPS = 30_000  # about a minute for the largest families
MEANING = (
    "A clone of order k is a new sample, as large as the data, from the law that a masked model with interactions of "
    "at most k sites learned from these sequences: it keeps what can be seen of k sites at a time. How far the "
    "marginals of r sites of clone and data lie apart is given as half the sum of absolute differences of frequencies, "
    "mean over sets of r sites, beside the mean that two independent samples of one law would show."
)


def require_supported(order: int | None, states: NDArray[np.uint8], n_colors: int, weights: Array) -> None:
    """Refuses, before any work, clones of an order that there is not or that the sequences do not suffice for."""
    if order is None:
        return
    if order not in range(1, MOST_ORDER + 1):
        raise ValueError(f"clones must be 1, 2 or {MOST_ORDER}, the largest number of sites that interact, got {order}")
    try:
        require_order(order, Sequences.of(states, max(2, n_colors), weights))
    except ValueError as error:
        cause = str(error).removeprefix(f"order must be below {MOST_ORDER} here: ")
        raise ValueError(f"clones must be at most {order - 1} here: {cause}") from None


def make_clones(
    states: NDArray[np.uint8], n_colors: int, weights: Array, most: int | None, l2: float, field_l2: float, seed: int
) -> tuple[tuple[Clone, ...], tuple[str, ...]]:
    """Returns clones of the orders 1 to `most`, and a note for each that cannot be had.

    Order 2 has the penalties `l2` and `field_l2` of the pair model, for a log-likelihood summed over the weights.
    """
    made, notes = [], []
    for order in range(1, (most or 0) + 1):
        options: dict[str, Any] = {"weights": weights, "tol": 1e-3, "max_sweeps": MAX_SWEEPS, "seed": seed}
        if order == 2:  # with penalties of its own, none, a field would be infinite
            options |= {"l2": l2 / weights.sum(), "field_l2": field_l2 / weights.sum()}
        try:
            made.append(_mixed(states, max(2, n_colors), order, options))
        except (FitError, MixingError, ValueError) as error:
            notes.append(f"there is no clone of order {order}: {' '.join(str(error).split())}")
    return tuple(made), tuple(notes)


def _mixed(states: NDArray[np.uint8], n_colors: int, order: int, options: dict[str, Any]) -> Clone:
    """Makes a clone, by parallel tempering where plain chains do not mix."""
    try:
        return clone(states, n_colors, order, **options)
    except MixingError:
        return clone(states, n_colors, order, tempering=True, **options)


def sentences(clones: tuple[Clone, ...]) -> list[str]:
    """Says what a clone is, and how good each one is."""
    return [MEANING, *map(_sentence, clones)] if clones else []


def _sentence(made: Clone) -> str:
    kinds = {
        "sites": "independent sites",
        "pairs": "pairs of sites",
        "full": "pairs and triplets of sites, each with a tensor of its own",
        "factored": "pairs of sites, and triplets that share one tensor",
    }
    compared = [f"{each.mean:.3g} for {each.order} (noise {each.noise:.3g})" for each in made.marginals]
    return (
        f"Clone of order {made.order}, from {kinds[made.kind]}: {len(made.states)} sequences, R-hat {made.r_hat:.4f}, "
        f"mean mismatch of the marginals of r sites {listed(compared, 3)}."
    )


def clones_frame(clones: tuple[Clone, ...]) -> "DataFrame":
    """Returns a table with a row for each clone and each number of sites whose marginals were compared."""
    from pandas import DataFrame

    return DataFrame(
        [
            {
                "clone": made.order,
                "energies": made.kind,
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
    """Returns the contents of one file for each clone, by the end of its name: FASTA, or CSV for longer tokens."""
    letters = all(len(token) == 1 and (token == "-" or "A" <= token <= "Z") for token in tokens)
    names = np.array(tokens)
    files = {}
    for made in clones:
        rows = names[np.minimum(made.states, len(tokens) - 1)]
        if letters:
            lines = [f">clone{made.order}_{k}\n{''.join(each)}" for k, each in enumerate(rows, start=1)]
        else:
            lines = [",".join(map(_cell, each)) for each in rows]
        files[f"clone{made.order}.{'fasta' if letters else 'csv'}"] = "\n".join(lines) + "\n"
    return files


def _cell(token: str) -> str:
    quoted = token.replace('"', '""')
    return f'"{quoted}"' if any(sign in token for sign in ',"\r\n') else token
