"""How well scores of mutations follow measured values: Spearman's coefficient of both models, and their difference."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from figures.analyse.sequences.mutations.measured import UNKNOWN, Measured
from figures.analyse.sequences.mutations.scores import Mutations
from figures.analyse.wording import counted
from simulate.core import stream
from theory.core import Array, Count, NonNegativeCount, Result, checked

FEWEST_MUTATIONS, FEWEST_RESIDUES = 10, 5  # below which an interval would say nothing
RESAMPLES, LEVEL = 2000, 0.95
MAX_SHIFT = 1000  # residues by which numbers of the two files may differ for a hint to be given
MAX_OTHER_SHARE = 0.5  # of residues with another letter than the reference, beyond which the numbers are not the same


@dataclass(frozen=True, eq=False, repr=False)
class MutationComparison(Result):
    """Spearman's rank correlation of measured values with the scores of both models, and their paired difference.

    Each number stands with its interval (low, high), the quantiles of a bootstrap that draws whole residues with
    replacement, since the mutations of one residue resemble each other; the difference is that of the two coefficients
    in the same draws. `values` (n,) are the measured numbers of all substitutions, NaN where there is none.
    """

    pair: float
    pair_interval: tuple[float, float]
    site: float
    site_interval: tuple[float, float]
    difference: float
    difference_interval: tuple[float, float]
    n_mutations: int
    n_residues: int
    column: str
    level: float
    values: Array = field(repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)


@checked
def compare_mutations(
    mutations: Mutations, measured: Measured, *, resamples: Count = RESAMPLES, seed: NonNegativeCount = 0
) -> MutationComparison:
    """Compare the scores of mutations with measured values, by Spearman's rank correlation.

    Mutants that are measured several times count by their mean. Those at residues that the model has not, and those
    whose old letter is another than that of the sequence, are left out and counted. The intervals hold 95 %.

    ValueError where fewer than 10 mutations at 5 residues remain, where all values are equal, and where more than half
    of the old letters differ, which says that the residues are numbered differently; then with the shift of the
    numbers that would fit, if there is one.
    """
    values, notes = _matched(mutations, measured)
    there = np.flatnonzero(np.isfinite(values))
    residues = np.unique(mutations.sites[there], return_inverse=True)[1].ravel()
    n_residues = int(residues.max()) + 1 if len(there) else 0
    if len(there) < FEWEST_MUTATIONS or n_residues < FEWEST_RESIDUES:
        raise ValueError(
            f"measured must have at least {FEWEST_MUTATIONS} mutations at {FEWEST_RESIDUES} residues of the model, got "
            f"{counted(len(there), 'mutation')} at {counted(n_residues, 'residue')}"
        )
    if np.ptp(values[there]) == 0:
        raise ValueError(f"measured must have values that differ, got {values[there[0]]:g} throughout")
    columns = np.array([values[there], mutations.pair_scores[there], mutations.site_scores[there]])
    pair, site = _coefficients(columns)
    rng = stream(seed, "residues of measured mutations")
    drawn = np.array([_coefficients(columns[:, rows]) for rows in _draws(residues, n_residues, resamples, rng)])
    low, high = (
        np.nanquantile([*drawn.T, drawn[:, 0] - drawn[:, 1]], q, axis=1) for q in ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
    )
    intervals = [(float(a), float(b)) for a, b in zip(low, high, strict=True)]
    return MutationComparison(
        pair=float(pair),
        pair_interval=intervals[0],
        site=float(site),
        site_interval=intervals[1],
        difference=float(pair - site),
        difference_interval=intervals[2],
        n_mutations=len(there),
        n_residues=n_residues,
        column=measured.column,
        level=LEVEL,
        values=values,
        notes=(*measured.notes, *notes),
    )


def _draws(residues: NDArray[np.int64], n_residues: int, resamples: int, rng: np.random.Generator):  # type: ignore[no-untyped-def]
    """Yield the mutations of residues that are drawn with replacement."""
    order = np.argsort(residues, kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(residues, minlength=n_residues))[:-1])
    for _ in range(resamples):
        yield np.concatenate([groups[k] for k in rng.integers(0, n_residues, n_residues)])


def _coefficients(columns: Array) -> tuple[float, float]:
    """Return Spearman's coefficient of the first row with the second and with the third; NaN where one is constant."""
    ranks = rankdata(columns, axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    sizes = np.sqrt((ranks**2).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        both = ranks[1:] @ ranks[0] / (sizes[1:] * sizes[0])
    return float(both[0]), float(both[1])


def _matched(mutations: Mutations, measured: Measured) -> tuple[Array, list[str]]:
    """Return the mean measured value of each substitution, NaN where there is none, and notes on what was left out."""
    place = {key: k for k, key in enumerate(zip(mutations.numbers.tolist(), mutations.mutants, strict=True))}
    letters = dict(zip(mutations.numbers.tolist(), mutations.wild_types, strict=True))
    total, count, elsewhere, other = np.zeros(len(mutations)), np.zeros(len(mutations)), 0, 0
    for old, number, new, value in zip(
        measured.wild_types, measured.numbers, measured.mutants, measured.values.tolist(), strict=True
    ):
        k = place.get((number, new))
        if number in letters and old not in (UNKNOWN, letters[number]):
            other += 1
        elif k is None:
            elsewhere += 1
        else:
            total[k] += value
            count[k] += 1
    if other > MAX_OTHER_SHARE * (other + count.sum()):
        raise ValueError(
            f"measured must be numbered as the reference is: {other} of {int(other + count.sum())} mutants have "
            f"another old letter there{_hint(letters, measured)}"
        )
    notes = []
    if elsewhere:
        notes.append(f"{counted(elsewhere, 'measured mutant')} of residues or letters that the model has not left out")
    if other:
        notes.append(f"{counted(other, 'measured mutant')} with another old letter than the reference left out")
    if (count > 1).any():
        notes.append(f"{counted(int((count > 1).sum()), 'mutant')} measured several times, taken by the mean")
    with np.errstate(invalid="ignore"):
        return np.asarray(total / count), notes


def _hint(letters: dict[int, str], measured: Measured) -> str:
    """Say by which shift of the numbers the letters would agree, if nearly all would."""
    old = {number: letter for letter, number in zip(measured.wild_types, measured.numbers, strict=True) if letter}
    shared = {
        shift: [letters[n + shift] == letter for n, letter in old.items() if n + shift in letters]
        for shift in range(-MAX_SHIFT, MAX_SHIFT + 1)
    }
    best = max(shared, key=lambda shift: sum(shared[shift]))
    if sum(shared[best]) < 0.9 * max(FEWEST_RESIDUES, len(shared[best])):
        return "; give the right --first-residue, or another --reference"
    first = min(letters) - best
    return (
        f"; with --first-residue {first} for the first residue of the reference they would agree" if first > 0 else ""
    )
