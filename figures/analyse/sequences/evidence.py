"""Says how many of the ranked pairs score higher than noise does: the scores of columns that were made independent.

Which score it is depends on the number of sites. Of more than SHORT_SITES sites most pairs do not interact: their
scores with the average-product correction show what stands out from all others, and their quartiles are those of
noise. Of fewer sites most pairs may interact; the correction would take off what they share, and the quartiles be
those of the signal.
There each pair is judged by what remains of it when all other sites are known, `residual_dependence`. It must exceed
the largest number of permuted columns, and the largest one that chance makes of the products themselves,
`signed_dependences`: among sites that others nearly determine it is the larger one.
"""

from dataclasses import dataclass, field, replace
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from figures.analyse.sequences.independent_sites import varying_sites
from figures.analyse.sequences.pairs.false_discoveries import kept_scores, p_values, q_values
from figures.analyse.sequences.residuals import SHORT_SITES
from figures.analyse.sequences.scores import Pair
from figures.analyse.sequences.tasks import Settings, States, pair_scores
from simulate.core import Task, stream
from theory.core.arrays import Array

PERMUTATIONS, FEWEST_PERMUTATIONS = 19, 9  # false alarms in 1 of 20 and in 1 of 10 analyses of independent columns
BUDGET = 4e8  # sequences times pairs of sites, in all permutations: about a minute
TOL = 5e-2  # of the fits to permuted columns: a smaller one moves their largest scores by some percent only, both ways
AMINO_ACIDS = frozenset("ACDEFGHIKLMNPQRSTVWY")
PROTEIN_SEPARATION = 4  # nearer residues touch along the chain of a protein, whatever its fold is


@dataclass(frozen=True)
class Evidence:
    """The score that noise reaches, and how many of the ranked pairs lie above it.

    Of independent columns the largest score exceeds `limit` in a share of at most `false_alarms` of all alignments.
    """

    limit: float  # of the average-product corrected score, or of short sequences of the residual dependence
    count: int  # ranked pairs above it
    permutations: int
    widening: float  # by how much the scores of the data scatter more than those of permuted columns, at least 1
    is_short: bool = False  # pairs are ranked and judged by their residual dependence
    q_values: Array = field(default_factory=lambda: np.ones(0), repr=False)  # of the ranked pairs, in their order

    def at_most(self, rate: float) -> int:
        """Return how many ranked pairs have a q-value of at most this rate of false discoveries."""
        return int((self.q_values <= rate).sum())

    @property
    def false_alarms(self) -> float:
        """The chance that the largest score of independent columns is the largest of all permutations, 1/(B + 1)."""
        return 1 / (self.permutations + 1)


def default_separation(tokens: tuple[str, ...], n_sites: int, protein: bool | None = None) -> int:
    """Return the least distance of ranked pairs: 4 sites for a protein, less where there are no more, otherwise 1.

    With `protein` None the tokens decide: they are letters of amino acids, and not of nucleotides alone.
    """
    if protein is None:
        letters = set(tokens) - {"-"}
        protein = letters <= AMINO_ACIDS and bool(letters - set("ACGTU"))
    return min(PROTEIN_SEPARATION, n_sites - 1) if protein else 1


def n_permutations(effective_number: float, n_sites: int) -> int:
    """Return how many times the columns are permuted: fewer where a fit takes long."""
    work = effective_number * n_sites * (n_sites - 1) / 2
    return int(np.clip(BUDGET / work, FEWEST_PERMUTATIONS, PERMUTATIONS))


def noise_tasks(
    states: States, weights: Array, gap: int | None, settings: Settings, separation: int, seed: int
) -> list[Task]:
    """Return the fits to permuted columns, each as a task."""
    rough = replace(settings, tol=max(settings.tol, TOL))
    common = (states, weights, gap, rough, separation, seed)
    count = n_permutations(float(weights.sum()), states.shape[1])
    return [Task(f"noise/{r}", noise_task, (*common, r)) for r in range(count)]


def noise_task(
    states: States, weights: Array, gap: int | None, settings: Settings, separation: int, seed: int, permutation: int
) -> Array:
    """Return largest score, spread of scores, largest dependence of independent columns, and all that is compared.

    What is compared with the pairs follows as `kept_scores`, and last whether the fit converged.

    As many sequences as the effective number are drawn, each with a probability that is its weight: related sequences
    share what they have by descent, and all of them, permuted, would be more independent data than there are. Then each
    column is permuted by itself, which keeps its frequencies and nothing of the pairs.
    """
    rng = stream(seed, "permuted columns", permutation)
    size = min(len(states), max(2, round(float(weights.sum()))))
    rows = np.arange(len(states)) if size == len(states) else _drawn(weights, size, rng)
    permuted = rng.permuted(states[rows], axis=0)
    corrected, dependence, converged = pair_scores(permuted, np.ones(size), gap, settings)
    varying = varying_sites(states)
    scores, depend = (scores_apart(each, varying, separation) for each in (corrected, dependence))
    largest, most = (float(each.max()) if len(each) else 0.0 for each in (scores, depend))
    compared = kept_scores(depend if states.shape[1] <= SHORT_SITES else scores)
    return np.concatenate([[largest, spread(scores), most], compared, [float(converged)]])


def judged(
    values: list[Array],
    scores: Array,
    varying: NDArray[np.bool_],
    pairs: list[Pair],
    separation: int,
    by_chance: Array | None = None,
    signed: Array | None = None,
) -> Evidence:
    """Compare ranked `pairs` with the largest scores of permuted columns, from the values of `noise_task`.

    The columns of the data and of B permutations are exchangeable where columns are independent, so that the data have
    the largest of the B + 1 largest scores in one of B + 1 cases. Descent and chains of interactions make all scores of
    the data scatter more, also those of pairs beyond the reach of any interaction, which most pairs are: the limit is
    widened by the ratio of the interquartile ranges where that is above 1. That can only take claims back. Where the
    sequences are short their dependences are compared in the same way, and no limit is widened; it is the largest
    number `by_chance` (L, L), of products with random signs, where that is larger.

    The q-values compare in the same two ways: by the scores of all permutations, times the widening, and of short
    sequences also by those of all trials with random signs, `signed` (K, L, L); of two q-values the larger one counts.
    """
    noise = [value[3:-1] for value in values if len(value) > 4]
    largest, spreads, depend = np.array([value[:3] for value in values]).T
    if len(scores) <= SHORT_SITES:
        chance = scores_apart(np.zeros_like(scores) if by_chance is None else by_chance, varying, separation)
        limit = max(float(depend.max()), float(chance.max()) if len(chance) else 0.0)
        own = [kept_scores(scores_apart(each, varying, separation)) for each in (() if signed is None else signed)]
        found = np.maximum(_q_values(pairs, noise, 1.0), _q_values(pairs, own, 1.0) if own else 0.0)
        return Evidence(limit, _above(pairs, limit), len(values), 1.0, is_short=True, q_values=found)
    usual = float(np.median(spreads))
    widening = max(1.0, spread(scores_apart(scores, varying, separation)) / usual) if usual > 0 else 1.0
    limit = float(largest.max()) * widening
    return Evidence(limit, _above(pairs, limit), len(values), widening, q_values=_q_values(pairs, noise, widening))


def _above(pairs: list[Pair], limit: float) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair.strength > limit, pairs))


def _q_values(pairs: list[Pair], noise: list[Array], widening: float) -> Array:
    return q_values(p_values(np.array([pair.strength for pair in pairs]) / widening, noise))


def scores_apart(scores: Array, varying: NDArray[np.bool_], separation: int) -> Array:
    """Return the scores of the pairs of varying sites that are at least `separation` apart, in one row."""
    i, j = np.triu_indices(len(scores), separation)
    kept = varying[i] & varying[j]
    return np.asarray(scores[i[kept], j[kept]])


def spread(scores: Array) -> float:
    """Return the interquartile range, which a quarter of strong pairs does not change; 0 for fewer than two scores."""
    if len(scores) < 2:
        return 0.0
    low, high = np.quantile(scores, [0.25, 0.75])
    return float(high - low)


def _drawn(weights: Array, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return np.asarray(np.sort(rng.choice(len(weights), size, replace=False, p=weights / weights.sum())))
