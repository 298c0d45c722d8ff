"""All substitutions of one sequence of a family, by the pair model and by sites alone."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from figures.analyse.sequences.independent_sites import effective_field_penalties, penalized_log_frequencies
from figures.analyse.sequences.models.record import SequenceModel
from theory.core import Array, DataFrame, Result
from theory.models.potts import mutation_scores

GAP = "-"


@dataclass(frozen=True, eq=False, repr=False)
class Mutations(Result):
    """The n substitutions of a sequence, site by site; the sites where it has a gap have none.

    `sites` (n,) counts from 0, `numbers` (n,) are the residue numbers, and `wild_types` and `mutants` (n,) the letters.
    `pair_scores` and `site_scores` (n,) are log P(mutant) - log P(sequence) in the pair model and in the model of sites
    alone: above 0 where the model finds the mutant likelier. `frequencies` (n,) are the weighted shares of the mutant
    letter in its column of the family; 0 where it was never seen there.
    """

    sites: NDArray[np.int64]
    numbers: NDArray[np.int64]
    wild_types: tuple[str, ...] = field(repr=False)
    mutants: tuple[str, ...] = field(repr=False)
    pair_scores: Array
    site_scores: Array
    frequencies: Array
    alphabet: tuple[str, ...] = field(repr=False)  # the letters of mutants

    @property
    def names(self) -> list[str]:
        """The substitutions as they are commonly written, as in A23V."""
        return [f"{a}{k}{b}" for a, k, b in zip(self.wild_types, self.numbers, self.mutants, strict=True)]

    def __len__(self) -> int:
        return len(self.sites)

    def to_frame(self) -> DataFrame:
        """Return a table with a row for each substitution; needs pandas."""
        from pandas import DataFrame

        return DataFrame(
            {
                "residue": self.numbers,
                "wild_type": self.wild_types,
                "mutant": self.mutants,
                "pair_score": self.pair_scores,
                "site_score": self.site_scores,
                "frequency": self.frequencies,
            }
        )


def family_mutations(model: SequenceModel) -> Mutations:
    """Score all substitutions of the target of a model, by pairs and by sites alone.

    Sites alone have the weighted frequencies of the columns, shrunk by the penalties as the pair model is, so that both
    differ in their couplings only. At each site there is a substitution for each letter of the alphabet but the gap and
    the one that is there.

    ValueError for a model without target, frequencies, weights or penalties.

    >>> from figures.analyse import Alignment, family_model
    >>> from simulate.potts import pseudo_likelihood
    >>> family = Alignment([[0, 0], [1, 1], [0, 0], [1, 1], [0, 1], [1, 0]], "AC")
    >>> found = family_model(pseudo_likelihood(family.sequences, 2, l2=0.01), family).with_target("AA")
    >>> family_mutations(found).to_frame().round(2).values.tolist()
    [[1, 'A', 'C', -0.66, 0.0, 0.5], [2, 'A', 'C', -0.66, 0.0, 0.5]]
    """
    target, frequencies, weights = model.target, model.frequencies, model.weights
    if target is None or frequencies is None or weights is None or model.l2 is None or model.field_l2 is None:
        raise ValueError(
            "model must have target, frequencies, weights, l2 and field_l2; give `reference` to family_model, or call "
            "with_target"
        )
    varying = frequencies.max(axis=1) < 1
    penalties = effective_field_penalties(frequencies, varying, model.l2, model.field_l2) / weights.sum()
    alone = penalized_log_frequencies(frequencies, penalties)
    pairs = mutation_scores(model.model, target)
    alphabet = np.array(model.alphabet)
    sites, colors = np.nonzero(_is_substitution(target, model.alphabet))
    return Mutations(
        sites=sites,
        numbers=model.numbers[sites],
        wild_types=tuple(alphabet[target[sites]].tolist()),
        mutants=tuple(alphabet[colors].tolist()),
        pair_scores=pairs[sites, colors],
        site_scores=alone[sites, colors] - alone[sites, target[sites]],
        frequencies=frequencies[sites, colors],
        alphabet=tuple(letter for letter in model.alphabet if letter != GAP),
        converged=model.converged,
    )


def _is_substitution(target: NDArray[np.integer], alphabet: tuple[str, ...]) -> NDArray[np.bool_]:
    """Say for each site and color (L, C) whether it is a substitution of a letter by another one."""
    letters = np.array([letter != GAP for letter in alphabet])
    return np.asarray((np.arange(len(alphabet)) != target[:, None]) & letters & letters[target][:, None])
